// Elements as integers in sorting order. A canonical key is equal for elements that are equal in
// that order: NaNs, which come last, and the two zeros. An exact key gives its element back, but
// for NaNs.
#pragma once

#include <stdint.h>

#include <bit>
#include <limits>
#include <type_traits>

#include "mlx/types.h"

// Files that are compiled per instruction set include this one: nothing may be shared with them.
#define MLX_KEY_FN static inline __attribute__((always_inline))

namespace mlx::core::cpu {

template <typename T>
using KeyOf = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;  // bool … float32 fit 32 bits

template <typename T>
inline constexpr int half_infinity = std::is_same_v<T, float16_t> ? 0x7c00 : 0x7f80;

enum class KeyKind { canonical, exact };

// Bits of a float as an integer of the same order, and back.
template <typename I>
MLX_KEY_FN I ordered_bits(I bits) {
  return bits ^ (bits >> (8 * sizeof(I) - 1) & std::numeric_limits<I>::max());
}

template <KeyKind kind, typename T>
MLX_KEY_FN KeyOf<T> key_of(T v) {
  constexpr KeyOf<T> nan = std::numeric_limits<KeyOf<T>>::max();
  if constexpr (std::is_same_v<T, complex64_t>) {
    static_assert(kind == KeyKind::canonical);
    int64_t re = key_of<kind>(v.re), im = key_of<kind>(v.im);
    return (v.re != v.re) | (v.im != v.im) ? nan
                                           : re * (int64_t(1) << 32) + im + (int64_t(1) << 31);
  } else if constexpr (std::is_floating_point_v<T>) {
    KeyOf<T> key = ordered_bits(std::bit_cast<KeyOf<T>>(kind == KeyKind::exact ? v : v + T(0)));
    return v != v ? nan : key;
  } else if constexpr (std::is_same_v<T, float16_t> || std::is_same_v<T, bfloat16_t>) {
    int magnitude = v.bits & 0x7fff;
    int key = ordered_bits(int16_t(v.bits));
    if (kind == KeyKind::canonical && magnitude == 0) key = 0;
    return magnitude > half_infinity<T> ? nan : key;
  } else if constexpr (std::is_unsigned_v<T> && sizeof(T) >= 4) {
    return KeyOf<T>(v ^ (T(1) << (8 * sizeof(T) - 1)));
  } else {
    return KeyOf<T>(v);
  }
}

// The element of an exact key.
template <typename T>
MLX_KEY_FN T value_of(KeyOf<T> key) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::bit_cast<T>(ordered_bits(key));
  } else if constexpr (std::is_same_v<T, float16_t> || std::is_same_v<T, bfloat16_t>) {
    return T{uint16_t(ordered_bits(int16_t(key)))};
  } else if constexpr (std::is_unsigned_v<T> && sizeof(T) >= 4) {
    return T(key) ^ (T(1) << (8 * sizeof(T) - 1));
  } else {
    return T(key);
  }
}

template <typename T>
MLX_KEY_FN bool is_nan(T v) {
  if constexpr (std::is_same_v<T, complex64_t>) {
    return v.re != v.re || v.im != v.im;
  } else if constexpr (std::is_floating_point_v<T>) {
    return v != v;
  } else if constexpr (std::is_same_v<T, float16_t> || std::is_same_v<T, bfloat16_t>) {
    return (v.bits & 0x7fff) > half_infinity<T>;
  } else {
    return false;
  }
}

}  // namespace mlx::core::cpu
