// Kernels of blocked matrix products, for the instruction set chosen at start; compiled once per
// instruction set in backend/cpu/simd. No std:: here. What every element is made of (a chain of
// fused multiply-adds over the block's k, in order) does not depend on the size of the tile.
#pragma once

#include <stdint.h>

#include "mlx/api.h"

namespace mlx::core::cpu {

// A tile of the output takes up to `rows` rows of a and a panel of b, up to `vectors` vectors of
// `lanes` columns. The kernels walk k in steps of `pair`; distances are in elements.
//
//   panel     [k / pair][columns, in whole vectors][pair], padded with zeros
//   a         read where it is (in_place, if the elements of a row are neighbours), or packed: as
//             panels of up to `group` rows, or as rows of k elements
struct ProductKernels {
  static constexpr int most_rows = 8, most_vectors = 3;

  // `count` lines of k elements as panels of `line` lines; the last may be narrower.
  using Pack = void (*)(const void* from, int64_t stride, int64_t k_stride, int64_t count,
                        int64_t k, int64_t line, void* to);
  using PackRows = void (*)(const void* from, int64_t stride, int64_t count, int64_t k, void* to);
  // c = a @ panel, or c + a @ panel; whole vectors of columns.
  using Multiply = void (*)(int64_t k, const void* a, int64_t row_distance, int64_t step,
                            const void* panel, int64_t panel_step, float* c, int64_t ldc, bool add);
  // out = alpha · sum + beta · c, rounded to the dtype; what has a factor of 0 is not read.
  struct Result {
    const float* sum;
    int64_t sum_distance;
    float alpha, beta;
    const void* c;
    int64_t c_row_stride, c_column_stride;
    void* out;
    int64_t out_distance;
  };
  using Finish = void (*)(const Result& r, int64_t rows, int64_t columns);

  int rows = 0, vectors = 0, lanes = 0, group = 0, pair = 1;
  int item = 4;  // bytes of an element as the kernels read it
  bool in_place = false;
  // Bytes of a block of panels, which should stay in the second cache, and of one column of it.
  int block_bytes = 0, column_bytes = 0;
  Pack pack;
  PackRows pack_rows;
  Multiply multiply[most_rows][most_vectors];  // [rows - 1][vectors - 1]
  Finish finish;                               // rows of `out` lie out_distance apart
  Finish finish_transposed;                    // columns do
};

struct ProductTable {
  // rows is 0 where the instruction set has none: BLAS does it.
  ProductKernels float32, float16, bfloat16;
};

// Chosen with tile_table(). An instruction for products of bfloat16 is used where the CPU has it,
// unless MLX_CPU_ISA names a level, which is then kept to.
MLX_INTERNAL const ProductTable& product_table();

}  // namespace mlx::core::cpu
