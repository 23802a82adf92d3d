// Scan kernels for the instruction set chosen at start. Compiled once per instruction set in
// backend/cpu/simd; all levels give the same bits, because the order in which values are combined
// does not depend on the width of the vectors. No std:: here.
#pragma once

#include <stdint.h>

#include "backend/cpu/tile.h"

namespace mlx::core::cpu {

// The same order as ScanOp, without its header.
struct ScanOps {
  enum : int {
#define SCAN(Name, ...) Name,
#include "mlx/ops/reduce/scan.def"
#undef SCAN
    count
  };
};

// A carry is what a scan knows of the elements passed so far, in the accumulating type; opaque to
// the driver. Carries of n lanes fill n·carry_size bytes and are only read as n.
struct ScanKernel {
  int64_t carry_size;
  void (*start)(void* carries, int64_t n);
  // carries[i] = carries[i] joined by later[i].
  void (*merge)(void* carries, const void* later, int64_t n);
  // out[i] = base joined by `local` and x[0 … i], backwards if `reverse`; the elements are added to
  // `local`. Null for out: the elements are only added. x and out are the same or do not overlap.
  void (*row)(const void* x, int64_t n, bool reverse, const void* base, void* local, void* out);
  // The same down `rows` rows of n adjacent elements, the rows apart by strides (elements) of any
  // sign. Null for base: nothing comes before.
  void (*columns)(const void* x, int64_t x_stride, int64_t rows, int64_t n, const void* base,
                  void* local, void* out, int64_t out_stride);
  // n results of a scan over nothing.
  void (*nothing)(void* out, int64_t n);
};

// h = a·h + b down rows of n adjacent elements; row r of a, b and out is r·stride elements on, and
// `carries` holds 16 bytes a lane, zeros at first. `inclusive`: stored after the step, else before.
using RecurrenceFn = void (*)(const void* a, const void* b, int64_t stride, int64_t rows, int64_t n,
                              bool inclusive, void* carries, void* out);

struct ScanTable {
  ScanKernel scan[ScanOps::count][TileTypes::count];
  RecurrenceFn recurrence[TileTypes::count];
};

MLX_INTERNAL const ScanTable& scan_table();
// The table of one of tile_levels(), for tests.
MLX_INTERNAL const ScanTable& scan_table(const char* level);

}  // namespace mlx::core::cpu
