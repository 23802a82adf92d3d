// Reduction and softmax kernels over contiguous memory, for the instruction set chosen at start.
// Compiled once per instruction set in backend/cpu/simd; all levels give the same bits, because the
// order in which values are combined does not depend on the width of the vectors. No std:: here.
#pragma once

#include <stdint.h>

#include "backend/cpu/tile.h"

namespace mlx::core::cpu {

// The same order as ReduceOp, without its header.
struct ReduceOps {
  enum : int {
#define REDUCE(Name, ...) Name,
#include "mlx/ops/reduce/reduce.def"
#undef REDUCE
    count
  };
};

// A total is what a reduction knows of the elements seen so far: a value in the accumulating type,
// for variances the moments. It is opaque to the driver, which only adds elements to totals, joins
// totals and has them finished.
struct ReduceKernel {
  int64_t total_size;  // bytes
  void (*start)(void* totals, int64_t n);
  // Adds n elements to one total.
  void (*row)(const void* x, int64_t n, void* total);
  // Adds n elements to each of `count` totals, whose elements begin `stride` apart; for short rows.
  void (*rows)(const void* x, int64_t stride, int64_t count, int64_t n, void* totals);
  // Adds `rows` rows, `stride` elements apart, of n elements to n totals.
  void (*columns)(const void* x, int64_t stride, int64_t rows, int64_t n, void* totals);
  // totals[i] = totals[i] joined by later[i].
  void (*merge)(void* totals, const void* later, int64_t n);
  // Narrows to the output dtype; `count` elements went into each total, `degrees` (count - ddof,
  // at least 0) divides variances.
  void (*finish)(const void* totals, int64_t n, double count, double degrees, void* out);
};

// `count` adjacent rows of n elements; `scratch` holds n floats.
struct SoftmaxKernel {
  void (*softmax)(const void* x, int64_t count, int64_t n, void* out, void* scratch);
  void (*logsumexp)(const void* x, int64_t count, int64_t n, void* out);
};

struct ReduceTable {
  ReduceKernel reduce[ReduceOps::count][TileTypes::count];  // by the input's dtype
  SoftmaxKernel softmax[TileTypes::count];                  // floating dtypes
};

MLX_INTERNAL const ReduceTable& reduce_table();
// The table of one of tile_levels(), for tests.
MLX_INTERNAL const ReduceTable& reduce_table(const char* level);

}  // namespace mlx::core::cpu
