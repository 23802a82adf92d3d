// Kernels of the sorts on contiguous memory, for the instruction set chosen at start. Compiled once
// per instruction set in backend/cpu/simd; results are unique, so all levels agree. No std:: here.
#pragma once

#include <stdint.h>

#include "backend/cpu/tile.h"

namespace mlx::core::cpu {

template <typename K>
struct SortKernels {
  // Ascending. So many partitions of partitions may go wrong (sort_rounds) before a slower method
  // that cannot is taken.
  void (*sort)(K* keys, int64_t n, int rounds);
  // Brings the key of rank k to its place, lesser or equal ones before it, the others behind it.
  void (*select)(K* keys, int64_t n, int64_t k, int rounds);
  // Brings keys less than the pivot to the front and returns their number.
  int64_t (*part)(K* keys, int64_t n, K pivot);
  int64_t (*count)(const K* keys, int64_t n, K key);  // those equal to the key
};

// Elements as keys (sort_keys.h): int32_t for elements of up to 32 bits, int64_t for longer ones.
struct KeyKernels {
  void (*exact)(const void* x, int64_t n, void* keys);   // keys may be x
  void (*values)(const void* keys, int64_t n, void* y);  // of exact keys; y may be keys
  void (*canonical)(const void* x, int64_t n, void* keys);
  // Key (its upper half if it has 64 bits) and position: element i is number first + i.
  void (*pairs)(const void* x, int64_t n, int64_t first, int64_t* pairs);
};

constexpr int sort_rounds(int64_t n) { return 2 * (64 - __builtin_clzll(uint64_t(n) | 1)) + 8; }

struct SortTable {
  SortKernels<int32_t> narrow;
  SortKernels<int64_t> wide;
  KeyKernels keys[TileTypes::count];
  // Positions of keys less than `middle` and of the first `equals` that are equal to it, in order
  // and counted by the result, to `before`; the positions of the others to `behind`. Whole vectors
  // are written: both need room for 16 positions more than they get.
  int64_t (*divide)(const int32_t* keys, int64_t n, int32_t middle, int64_t equals,
                    uint32_t* before, uint32_t* behind);
  void (*positions)(const int64_t* pairs, int64_t n, uint32_t* positions);
};

MLX_INTERNAL const SortTable& sort_table();
// The table of one of tile_levels(), for tests.
MLX_INTERNAL const SortTable& sort_table(const char* level);

}  // namespace mlx::core::cpu
