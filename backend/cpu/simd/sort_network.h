// Sorting of a block of R vectors without branches. The vectors are rows of a matrix whose columns
// are sorted by Batcher's network; then neighbouring columns are merged by bitonic networks until
// one is left, and the matrix is transposed. Batcher, "Sorting networks and their applications",
// 1968.
#pragma once

#include <utility>

#include "backend/cpu/simd/sort_lanes.h"

namespace mlx::core::cpu::MLX_SIMD_ISA {
namespace {

template <typename V>
MLX_SIMD_FN void exchange(V& a, V& b) {
  V low = least_of(a, b);
  b = most_of(a, b);
  a = low;
}

// Batcher's odd-even merge sort of R rows as pairs of rows.
template <int R>
struct OddEven {
  int count = 0;
  uint8_t a[R * R] = {}, b[R * R] = {};
  constexpr OddEven() {
    for (int p = 1; p < R; p *= 2) {
      for (int k = p; k >= 1; k /= 2) {
        for (int j = k % p; j + k < R; j += 2 * k) {
          for (int i = 0; i < k && i + j + k < R; ++i) {
            if ((i + j) / (2 * p) != (i + j + k) / (2 * p)) continue;
            a[count] = uint8_t(i + j);
            b[count++] = uint8_t(i + j + k);
          }
        }
      }
    }
  }
};
template <int R>
constexpr OddEven<R> odd_even;

template <int R, typename V, int... I>
MLX_SIMD_FN void sort_columns(V* v, std::integer_sequence<int, I...>) {
  (exchange(v[odd_even<R>.a[I]], v[odd_even<R>.b[I]]), ...);
}

template <typename V, int W, int flip, int... I>
MLX_SIMD_FN V flipped_lanes(V v, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(v, v, (I ^ flip)...);
}
// Lane i takes the value of lane i ^ flip.
template <typename K, int flip>
MLX_SIMD_FN Lanes<K> flipped(Lanes<K> v) {
  return flipped_lanes<Lanes<K>, lanes<K>, flip>(v, std::make_integer_sequence<int, lanes<K>>());
}

template <typename V, int W, int bit, int... I>
MLX_SIMD_FN V blended_lanes(V a, V b, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(a, b, (I & bit ? I + W : I)...);
}
// Lanes without the bit from a, those with it from b.
template <typename K, int bit>
MLX_SIMD_FN Lanes<K> blended(Lanes<K> a, Lanes<K> b) {
  return blended_lanes<Lanes<K>, lanes<K>, bit>(a, b, std::make_integer_sequence<int, lanes<K>>());
}

template <typename V, int W, int bit, int... I>
MLX_SIMD_FN void swap_lanes(V& a, V& b, std::integer_sequence<int, I...>) {
  V low = __builtin_shufflevector(a, b, (I & bit ? I - bit + W : I)...);
  b = __builtin_shufflevector(a, b, (I & bit ? I + W : I + bit)...);
  a = low;
}
// Exchanges the lanes of a with the bit and those of b without it.
template <typename K, int bit>
MLX_SIMD_FN void swapped(Lanes<K>& a, Lanes<K>& b) {
  swap_lanes<Lanes<K>, lanes<K>, bit>(a, b, std::make_integer_sequence<int, lanes<K>>());
}

// Bitonic merge down the columns.
template <int R, typename V>
MLX_SIMD_FN void merge_rows(V* v) {
  if constexpr (R > 1) {
#pragma GCC unroll 16
    for (int r = 0; r < R / 2; ++r) exchange(v[r], v[r + R / 2]);
    merge_rows<R / 2>(v);
    merge_rows<R / 2>(v + R / 2);
  }
}

template <typename K, int R, int distance>
MLX_SIMD_FN void merge_lanes(Lanes<K>* v) {
  if constexpr (distance > 0) {
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      Lanes<K> other = flipped<K, distance>(v[r]);
      v[r] = blended<K, distance>(least_of(v[r], other), most_of(v[r], other));
    }
    merge_lanes<K, R, distance / 2>(v);
  }
}

// Merges sorted runs of `columns` / 2 columns.
template <typename K, int R, int columns>
MLX_SIMD_FN void merge_columns(Lanes<K>* v) {
  if constexpr (columns <= lanes<K>) {
    constexpr int half = columns / 2;
    // The second run backwards makes a bitonic sequence: element i meets element n - 1 - i.
    if constexpr (R == 1) {
      Lanes<K> other = flipped<K, columns - 1>(v[0]);
      v[0] = blended<K, half>(least_of(v[0], other), most_of(v[0], other));
    } else {
#pragma GCC unroll 16
      for (int r = 0; r < R / 2; ++r) {
        Lanes<K> other = flipped<K, columns - 1>(v[R - 1 - r]);
        Lanes<K> low = least_of(v[r], other), high = most_of(v[r], other);
        v[r] = blended<K, half>(low, high);
        v[R - 1 - r] = flipped<K, columns - 1>(blended<K, half>(high, low));
      }
    }
    merge_lanes<K, R, half / 2>(v);
    merge_rows<R>(v);
    merge_columns<K, R, columns * 2>(v);
  }
}

// Swaps the bits of the row number, from `row_bit` up, with those of the lane, from `lane_bit` up.
template <typename K, int R, int row_bit, int lane_bit>
MLX_SIMD_FN void swap_bits(Lanes<K>* v) {
  if constexpr (row_bit < R && lane_bit < lanes<K>) {
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      if (!(r & row_bit)) swapped<K, lane_bit>(v[r], v[r + row_bit]);
    }
    swap_bits<K, R, row_bit * 2, lane_bit * 2>(v);
  }
}

// Where row r goes: transposed rows hold columns in an order of their own.
template <int R, int W>
constexpr int place_of_row(int r) {
  if (R >= W) return r % W * (R / W) + r / W;  // parts of columns
  int parts = W / R, low = r % parts, high = r / parts;
  return low * (R / parts) + high;
}

// Sorts R * lanes keys.
template <typename K, int R>
MLX_SIMD_FN void sort_block(K* x) {
  constexpr int W = lanes<K>;
  static_assert(R >= W || R == 1 || W / R <= R);
  Lanes<K> v[R];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) v[r] = simd::load<Lanes<K>>(x + r * W);
  if constexpr (R > 1) sort_columns<R>(v, std::make_integer_sequence<int, odd_even<R>.count>());
  merge_columns<K, R, 2>(v);
  if constexpr (R > 1) {
    swap_bits<K, R, 1, 1>(v);
    if constexpr (R < W) swap_bits<K, R, 1, R>(v);
  }
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) simd::store(x + place_of_row<R, W>(r) * W, v[r]);
}

}  // namespace
}  // namespace mlx::core::cpu::MLX_SIMD_ISA
