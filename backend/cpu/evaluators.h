// The overloads of eval_cpu, one a primitive class: declared from the core's list, defined by
// family.
#pragma once

#include "backend/cpu/encoder.h"
#include "mlx/ops/primitives.h"

namespace mlx::core {

#define PRIMITIVE(Name, ...) void eval_cpu(const Name&, Inputs in, Outputs out, Encoder& encoder);
#include "mlx/ops/primitives.def"
#undef PRIMITIVE

}  // namespace mlx::core
