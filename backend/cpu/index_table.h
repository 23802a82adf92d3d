// Kernels of the index family for the instruction set chosen at start. Compiled once per
// instruction set in backend/cpu/simd. No std:: here.
#pragma once

#include <stdint.h>

#include "mlx/api.h"

namespace mlx::core::cpu {

// Elements are moved as bits: one kernel for each item size, 1 << k bytes.
struct IndexTable {
  // The `kept` elements of x under the true ones of `mask`, one after the other.
  void (*pack[4])(const void* x, const uint8_t* mask, int64_t n, int64_t kept, void* out);
  // out[i] = x[index[i]]: negative indices count from the end of x, which has `size` < 2^31
  // elements, and those outside are clamped. If they are not signed they are uint32_t.
  void (*take[4])(const void* x, const int32_t* index, bool is_signed, int64_t n, int64_t size,
                  void* out);
};

MLX_INTERNAL const IndexTable& index_table();
// The table of one of tile_levels(), for tests.
MLX_INTERNAL const IndexTable& index_table(const char* level);

constexpr int index_kernel(int64_t itemsize) {
  return itemsize == 1 ? 0 : itemsize == 2 ? 1 : itemsize == 4 ? 2 : 3;
}

}  // namespace mlx::core::cpu
