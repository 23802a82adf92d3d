// The .npy format of NumPy.
#pragma once

#include <memory>

#include "mlx/graph/array.h"
#include "mlx/io/stream.h"

namespace mlx::core {

struct NpyArray {
  array value;   // read at evaluation
  uint64_t end;  // position behind its data
};

// The array that begins at `offset`. RuntimeError for anything that is not valid.
MLX_API NpyArray load_npy(std::shared_ptr<Reader> in, uint64_t offset = 0);

// Evaluates and writes the array; column-major ones keep their order.
MLX_API void save_npy(Writer& out, const array& a);

}  // namespace mlx::core
