// Kernels of the sorts on contiguous memory, for the instruction set chosen at start. Compiled once
// per instruction set in backend/cpu/simd; results are unique, so all levels agree. No std:: here.
#pragma once

#include <stdint.h>

#include "backend/cpu/tile.h"

namespace mlx::core::cpu {

template <typename K>
struct SortKernels {
  void (*sort)(K* keys, int64_t n);
  // Brings the key of rank k to its place, lesser or equal ones before it, the others behind it.
  void (*select)(K* keys, int64_t n, int64_t k);
  // Brings keys less than the pivot to the front and returns their number.
  int64_t (*part)(K* keys, int64_t n, K pivot);
};

// Elements as keys (sort_keys.h): int32_t for elements of up to 32 bits, int64_t for longer ones.
struct KeyKernels {
  void (*exact)(const void* x, int64_t n, void* keys);   // keys may be x
  void (*values)(const void* keys, int64_t n, void* y);  // of exact keys; y may be keys
  void (*canonical)(const void* x, int64_t n, void* keys);
  // Key (its upper half if it has 64 bits) and position: element i is number first + i.
  void (*pairs)(const void* x, int64_t n, int64_t first, int64_t* pairs);
};

struct SortTable {
  SortKernels<int32_t> narrow;
  SortKernels<int64_t> wide;
  KeyKernels keys[TileTypes::count];
  // Positions of keys less than `middle` and of the first `equals` that are equal to it, in order
  // and counted by the result, to `before`; the positions of the others to `behind`. Both have room
  // for n more than they get… and no more than `sort_slack` elements are written past the end.
  int64_t (*divide)(const int32_t* keys, int64_t n, int32_t middle, int64_t equals,
                    uint32_t* before, uint32_t* behind);
  void (*positions)(const int64_t* pairs, int64_t n, uint32_t* positions);
};

MLX_INTERNAL const SortTable& sort_table();
// The table of one of tile_levels(), for tests.
MLX_INTERNAL const SortTable& sort_table(const char* level);

}  // namespace mlx::core::cpu
