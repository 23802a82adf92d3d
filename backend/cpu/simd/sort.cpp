// Sorting and selecting keys: quicksort whose partitions move a vector at a time, down to blocks
// that a network sorts. Bramas, "A novel hybrid quicksort algorithm vectorized using AVX-512 on
// Intel Skylake", 2017; Floyd and Rivest, "Expected time bounds for selection", 1975.
#include "backend/cpu/simd/sort_network.h"
#include "backend/cpu/sort_table.h"

namespace mlx::core::cpu::MLX_SIMD_ISA {
namespace {

constexpr int block_rows = 16;
template <typename K>
constexpr int64_t block = block_rows * lanes<K>;  // keys sorted by one network
constexpr int64_t few = 12;                       // keys that insertion sorts best

template <typename K>
MLX_SIMD_FN void insertion_sort(K* x, int64_t n) {
  for (int64_t i = 1; i < n; ++i) {
    K key = x[i];
    int64_t j = i;
    for (; j > 0 && key < x[j - 1]; --j) x[j] = x[j - 1];
    x[j] = key;
  }
}

// When partitions went wrong too often.
template <typename K>
__attribute__((noinline)) void heap_sort(K* x, int64_t n) {
  auto sift = [x](int64_t i, int64_t end) {
    for (int64_t child; (child = 2 * i + 1) < end; i = child) {
      child += child + 1 < end && x[child] < x[child + 1];
      if (!(x[i] < x[child])) return;
      K t = x[i];
      x[i] = x[child];
      x[child] = t;
    }
  };
  for (int64_t i = n / 2; i-- > 0;) sift(i, n);
  for (int64_t end = n - 1; end > 0; --end) {
    K t = x[0];
    x[0] = x[end];
    x[end] = t;
    sift(0, end);
  }
}

template <typename K, int rows>
__attribute__((noinline)) void sort_rows(K* x, int64_t n) {
  constexpr int64_t all = rows * lanes<K>;
  if (n == all) return sort_block<K, rows>(x);
  alignas(64) K padded[all];
  memcpy(padded, x, size_t(n) * sizeof(K));
  for (int64_t i = n; i < all; ++i) padded[i] = greatest<K>;
  sort_block<K, rows>(padded);
  memcpy(x, padded, size_t(n) * sizeof(K));
}

template <typename K>
MLX_SIMD_FN void sort_up_to_block(K* x, int64_t n) {
  if (n <= few) {
    insertion_sort(x, n);
  } else if (n <= 4 * lanes<K>) {
    sort_rows<K, 4>(x, n);
  } else if (n <= 8 * lanes<K>) {
    sort_rows<K, 8>(x, n);
  } else {
    sort_rows<K, 16>(x, n);
  }
}

// Partition of one block and more, in place. Vectors are read from the side where there is less
// room between what was read and what was written, so that both sides have room for a whole step.
template <typename K>
__attribute__((noinline)) int64_t part(K* x, int64_t n, K pivot) {
  typedef Moved<K> V;
  constexpr int64_t W = moved<K>;
  constexpr int step = MLX_SIMD_BYTES == 64 ? 8 : 4;  // vectors
  constexpr int64_t room = step * W;
  const V p = all_lanes<V>(pivot);
  if (n < 2 * room) {
    int64_t count = 0;
    for (int64_t i = 0; i < n; ++i) {
      K key = x[i];
      x[i] = x[count];
      x[count] = key;
      count += key < pivot;
    }
    return count;
  }
  K rest[3 * room + W];  // the first and the last steps, and what is left between
  memcpy(rest, x, sizeof(K) * room);
  memcpy(rest + room, x + n - room, sizeof(K) * room);
  int64_t read = room, read_end = n - room, write = 0, write_end = n;
  while (read_end - read >= room) {
    bool left = read - write <= write_end - read_end;
    const K* from = x + (left ? read : read_end - room);
    read += left ? room : 0;
    read_end -= left ? 0 : room;
    V v[step];
#pragma GCC unroll 8
    for (int i = 0; i < step; ++i) v[i] = simd::load<V>(from + i * W);
#pragma GCC unroll 8
    for (int i = 0; i < step; ++i) {
      uint32_t mask = less(v[i], p);
      int count = __builtin_popcount(mask);
      V sides = parted(v[i], mask);
      simd::store(x + write, sides);
      simd::store(x + write_end - W, sides);
      write += count;
      write_end -= W - count;
    }
  }
  int64_t size = read_end - read;
  memcpy(rest + 2 * room, x + read, sizeof(K) * size_t(size));
  size += 2 * room;
  // What is left fills the gap exactly: there is no room for whole vectors any more.
  K low[3 * room + W], high[3 * room + W];
  int64_t lows = 0, highs = 3 * room + W, i = 0;
  for (; i + W <= size; i += W) {
    V v = simd::load<V>(rest + i);
    uint32_t mask = less(v, p);
    int count = __builtin_popcount(mask);
    V sides = parted(v, mask);
    simd::store(low + lows, sides);
    simd::store(high + highs - W, sides);
    lows += count;
    highs -= W - count;
  }
  for (; i < size; ++i) {
    bool before = rest[i] < pivot;
    low[lows] = high[highs - 1] = rest[i];
    lows += before;
    highs -= !before;
  }
  memcpy(x + write, low, sizeof(K) * size_t(lows));
  memcpy(x + write + lows, high + highs, sizeof(K) * size_t(size - lows));
  return write + lows;
}

template <typename V>
MLX_SIMD_FN V middle_of(V a, V b, V c) {
  V low = least_of(a, b), high = most_of(a, b);
  return most_of(low, least_of(high, c));
}

// The median of the lanes of medians of vectors from all over x.
template <typename K>
MLX_SIMD_FN K pivot_of(const K* x, int64_t n) {
  typedef Lanes<K> V;
  constexpr int64_t W = lanes<K>;
  alignas(64) K sample[W];
  if (n < 16 * block<K>) {
    int64_t far = (n - W) / 2;
    simd::store(sample,
                middle_of(simd::load<V>(x), simd::load<V>(x + far), simd::load<V>(x + 2 * far)));
  } else {
    V m[3];
    int64_t far = (n - W) / 8;
    for (int i = 0; i < 3; ++i) {
      const K* at = x + 3 * i * far;
      const K* last = i == 2 ? x + n - W : at + 2 * far;
      m[i] = middle_of(simd::load<V>(at), simd::load<V>(at + far), simd::load<V>(last));
    }
    simd::store(sample, middle_of(m[0], m[1], m[2]));
  }
  sort_block<K, 1>(sample);
  return sample[W / 2];
}

template <typename K>
void quicksort(K* x, int64_t n, int rounds) {
  while (n > block<K>) {
    if (rounds-- == 0) return heap_sort(x, n);
    K pivot = pivot_of(x, n);
    int64_t count = part(x, n, pivot);
    if (count == 0) {  // the pivot is the least key: put all equal ones in front
      if (pivot == greatest<K>) return;
      count = part(x, n, K(pivot + 1));
      x += count;
      n -= count;
    } else if (count < n - count) {
      quicksort(x, count, rounds);
      x += count;
      n -= count;
    } else {
      quicksort(x + count, n - count, rounds);
      n = count;
    }
  }
  sort_up_to_block(x, n);
}

// A pivot a little beyond rank k, on the side that leaves fewer keys.
template <typename K>
MLX_SIMD_FN K pivot_near(const K* x, int64_t n, int64_t k) {
  constexpr int64_t W = lanes<K>, size = 4 * W, margin = 2;
  alignas(64) K sample[size];
  int64_t far = n / size;
  for (int64_t i = 0; i < size; ++i) sample[i] = x[i * far + far / 2];
  sort_up_to_block(sample, size);
  int64_t at = k / far;
  at = at < size / 2 ? at + margin : at - margin;
  return sample[at < 0 ? 0 : at < size ? at : size - 1];
}

template <typename K>
void select(K* x, int64_t n, int64_t k, int rounds) {
  while (n > block<K>) {
    if (rounds-- == 0) return heap_sort(x, n);
    K pivot = pivot_near(x, n, k);
    int64_t count = part(x, n, pivot);
    if (k < count) {
      n = count;
      continue;
    }
    x += count;
    n -= count;
    k -= count;
    if (count > 0) continue;
    // The pivot is the least key.
    if (pivot == greatest<K>) return;
    count = part(x, n, K(pivot + 1));
    if (k < count) return;
    x += count;
    n -= count;
    k -= count;
  }
  sort_up_to_block(x, n);
}

template <typename K>
int64_t count(const K* keys, int64_t n, K key) {
  int64_t total = 0;
  for (int64_t i = 0; i < n;) {
    K some = 0;
    for (int64_t end = n - i < 1 << 16 ? n : i + (1 << 16); i < end; ++i) some += keys[i] == key;
    total += some;
  }
  return total;
}

int64_t divide(const int32_t* keys, int64_t n, int32_t middle, int64_t equals, uint32_t* before,
               uint32_t* behind) {
  typedef Moved<int32_t> V;
  constexpr int64_t W = moved<int32_t>;
  const V m = all_lanes<V>(middle);
  V position;
  for (int i = 0; i < W; ++i) position[i] = i;
  int64_t lows = 0, highs = 0, i = 0;
  auto one = [&](int64_t at) {
    bool low = keys[at] < middle || (keys[at] == middle && equals-- > 0);
    (low ? before[lows] : behind[highs]) = uint32_t(at);
    lows += low;
    highs += !low;
  };
  for (; i + W <= n; i += W, position += int32_t(W)) {
    V v = simd::load<V>(keys + i);
    uint32_t low = less(v, m), high = less(m, v);
    int count = __builtin_popcount(low);
    if (count + __builtin_popcount(high) == W) {
      simd::store(before + lows, parted(position, low));
      simd::store(behind + highs, parted(position, high));
      lows += count;
      highs += W - count;
    } else {
      for (int64_t j = i; j < i + W; ++j) one(j);
    }
  }
  for (; i < n; ++i) one(i);
  return lows;
}

void positions(const int64_t* pairs, int64_t n, uint32_t* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = uint32_t(pairs[i]);
}

}  // namespace

void fill_sorts(SortTable& t) {
  t.narrow = {quicksort<int32_t>, select<int32_t>, part<int32_t>, count<int32_t>};
  t.wide = {quicksort<int64_t>, select<int64_t>, part<int64_t>, count<int64_t>};
  t.divide = divide;
  t.positions = positions;
}

}  // namespace mlx::core::cpu::MLX_SIMD_ISA
