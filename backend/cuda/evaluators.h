// The overloads of eval_gpu, one a primitive class that this backend computes itself. The rows of
// missing.def have none: the CPU runs them on the same memory.
#pragma once

#include "backend/cuda/encoder.h"
#include "mlx/ops/primitives.h"

namespace mlx::core {

template <typename P>
inline constexpr bool missing = false;
#define MISSING(Name) \
  template <>         \
  inline constexpr bool missing<Name> = true;
#include "backend/cuda/missing.def"
#undef MISSING

#define PRIMITIVE(Name, ...) void eval_gpu(const Name&, Inputs in, Outputs out, Encoder& encoder);
#include "mlx/ops/primitives.def"
#undef PRIMITIVE

// Whether the backend takes this case of a primitive; overloads refuse some.
inline bool supports_gpu(const Primitive&, std::span<const array>) { return true; }
bool supports_gpu(const Matmul&, std::span<const array> inputs);
bool supports_gpu(const AddMM&, std::span<const array> inputs);

namespace cuda {

// Null for what is missing.
Evaluator evaluator_of(PrimitiveId id);

}  // namespace cuda
}  // namespace mlx::core
