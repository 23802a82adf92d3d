// The kernels of sort_table.h on all threads: sorting keys, and the positions that sort a line.
#pragma once

#include <stdint.h>

#include "backend/cpu/sort_keys.h"
#include "backend/cpu/sort_table.h"
#include "backend/cpu/thread_pool.h"
#include "mlx/dtype.h"

namespace mlx::core::cpu {

constexpr int64_t sorted_together = 1 << 15;  // elements of one line worth several threads

template <typename K>
const SortKernels<K>& sort_kernels() {
  if constexpr (sizeof(K) == 8) {
    return sort_table().wide;
  } else {
    return sort_table().narrow;
  }
}
template <typename T>
const KeyKernels& key_kernels() {
  return sort_table().keys[dtype_of<T>.index()];
}

// Ascending; the result is unique, so it does not matter how the work is cut.
void sort_keys(int32_t* keys, int64_t n);
void sort_keys(int64_t* keys, int64_t n);

// Sorts pairs of key and position (KeyKernels::pairs) by key; equal ones by position.
template <typename T>
void sort_pairs(const T* x, int64_t* pairs, int64_t n) {
  sort_keys(pairs, n);
  if constexpr (sizeof(KeyOf<T>) == 8) {
    // Pairs hold the upper halves of keys: runs of equal ones are sorted by the lower halves.
    for (int64_t i = 0, end; i < n; i = end) {
      for (end = i + 1; end < n && pairs[end] >> 32 == pairs[i] >> 32;) ++end;
      if (end - i == 1) continue;
      for (int64_t j = i; j < end; ++j) {
        uint32_t position = uint32_t(pairs[j]);
        uint64_t low = uint32_t(key_of<KeyKind::canonical>(x[position])) ^ 0x80000000u;
        pairs[j] = int64_t(low << 32 | position);
      }
      sort_keys(pairs + i, end - i);
    }
  }
}

// Pairs for all elements of x, in sorted order.
template <typename T>
void sorted_pairs(const T* x, int64_t n, int64_t* pairs) {
  parallel_for(n, sorted_together, [&](int64_t begin, int64_t end) {
    key_kernels<T>().pairs(x + begin, end - begin, begin, pairs + begin);
  });
  sort_pairs(x, pairs, n);
}

// The positions of x in sorted order; the scratch holds a pair for each.
template <typename T>
void sorted_order(const T* x, int64_t n, uint32_t* order, int64_t* pairs) {
  sorted_pairs(x, n, pairs);
  parallel_for(n, sorted_together, [&](int64_t begin, int64_t end) {
    sort_table().positions(pairs + begin, end - begin, order + begin);
  });
}

}  // namespace mlx::core::cpu
