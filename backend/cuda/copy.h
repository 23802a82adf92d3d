// Moving elements between layouts on the device.
#pragma once

#include "backend/cuda/encoder.h"

namespace mlx::core::cuda {

// Copies the elements of `from` to `to`: equal shapes and item sizes, any strides.
void copy_operand(const Operand& from, const Operand& to, Encoder& encoder);

// `x` itself if it is row-major memory, else a copy that lives until the end of the task.
Operand make_dense(const Operand& x, Encoder& encoder);

}  // namespace mlx::core::cuda
