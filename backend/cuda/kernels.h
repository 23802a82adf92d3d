// Kernels that stand outside of the table of rows, each behind a function that launches it.
#pragma once

#include <cstdint>

#include "backend/cuda/encoder.h"

namespace mlx::core::cuda {

// Writes the eight bytes of a scalar to device memory.
void store_scalar(Encoder& encoder, void* place, uint64_t bits);

// start + i·step: wrapping for integers, rounded once from double for the others. Both are values
// of the result's dtype.
void arange(const void* start, const void* step, const Operand& out, Encoder& encoder);

// Copies through tiles in shared memory where the two layouts run along different axes; false where
// that is no gain. Operands are of unsigned integers of the element size.
bool transpose_copy(const Operand& from, const Operand& to, Encoder& encoder);

}  // namespace mlx::core::cuda
