// What programs of tile kernels share: which kernel runs a step, and how operands come into tiles.
#pragma once

#include "backend/cpu/tile.h"
#include "mlx/layout.h"
#include "mlx/ops/elementwise/elementwise.h"

namespace mlx::core::cpu {

// RuntimeError where there is none.
TileFn tile_kernel(EwOp op, Dtype last_operand, Dtype result);

// Elements [begin, begin + n) of operand k of a walk: gathered into `slot`, or where they are if
// they are adjacent there.
const char* read_tile(const Plan& plan, int k, const char* data, int64_t itemsize, int64_t begin,
                      int64_t n, char* slot);

// Asks for memory that a later block of a program reads or writes. Steps on tiles leave the memory
// idle, and the processor's own prefetchers start anew at every block.
enum class Level { first, second };  // cache
template <Level level>
inline void prefetch(const char* x, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i += 64)
    __builtin_prefetch(x + i, 0, level == Level::first ? 3 : 2);
}

}  // namespace mlx::core::cpu
