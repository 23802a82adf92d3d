// Elementwise rows on contiguous tiles, for the instruction set chosen at start. The arithmetic is
// mlx/ops/elementwise/scalar.h, compiled once per instruction set in backend/cpu/simd; all levels
// give the same bits. No std:: here: those files include it.
#pragma once

#include <stdint.h>

#include "mlx/api.h"

namespace mlx::core::cpu {

// The same order as EwOp and Dtype::Id, without their headers.
struct TileOps {
  enum : int {
#define OP(Name, ...) Name,
#include "mlx/ops/elementwise/elementwise.def"
#undef OP
    count
  };
};
struct TileTypes {
  enum : int {
#define DTYPE(Name, ...) Name,
#include "mlx/dtypes.def"
#undef DTYPE
    count
  };
};

// One op on n contiguous elements. Operands have been promoted to one dtype (but for Select's
// condition, a bool); a bool is a byte of 0 or 1. in[k] and out are the same address or do not
// overlap; the same address needs the same item size.
using TileFn = void (*)(const void* const* in, void* out, int64_t n);

// n copies of one element of 1, 2, 4 or 8 bytes.
using FillFn = void (*)(void* to, const void* value, int64_t itemsize, int64_t n);

// Threefry words of the counters (c0 + i, c1 + i) for i < n, none of which carries into bit 32 of
// the pair's index: first[i] and second[i] are the two results.
using ThreefryFn = void (*)(uint32_t k0, uint32_t k1, uint32_t c0, uint32_t c1, int64_t n,
                            void* first, void* second);

// Products of a matrix of half types, rows of n elements at a distance of ld, and a vector.
using HalfProductFn = void (*)(const void* matrix, int64_t ld, int64_t rows, int64_t n,
                               const float* x, float* y);
struct HalfProducts {
  HalfProductFn dot;         // y[r] = sum of row r times x (n)
  HalfProductFn accumulate;  // y (n) += sum of x[r] times row r
};

struct TileTable {
  const char* isa;  // "v2", "v3", "v4", "neon" or "base"
  // By the dtype of the last operand; null where the row does not accept it. Cast is not here.
  TileFn op[TileOps::count][TileTypes::count];
  TileFn cast[TileTypes::count][TileTypes::count];  // [from][to]
  FillFn fill;
  ThreefryFn threefry;
  HalfProducts float16_products, bfloat16_products;
};

// Chosen at the first call from the CPU and MLX_CPU_ISA.
MLX_INTERNAL const TileTable& tile_table();

// The levels of this build that the CPU can run, worst first; null-terminated.
MLX_INTERNAL const char* const* tile_levels();
// The table of one of these levels, for tests.
MLX_INTERNAL const TileTable& tile_table(const char* level);

}  // namespace mlx::core::cpu
