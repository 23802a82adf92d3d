// Single host values of any dtype: conversion between element types and storage by dtype.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "mlx/dispatch.h"
#include "mlx/types.h"

namespace mlx::core {

template <typename T>
inline constexpr bool is_half_type = std::is_same_v<T, float16_t> || std::is_same_v<T, bfloat16_t>;

// Element types that have no arithmetic of their own go through float.
template <typename T>
auto widen(T v) {
  if constexpr (is_half_type<T>) {
    return to_float(v);
  } else {
    return v;
  }
}

// Conversion as the Cast op defines it: floats saturate into integers, NaN gives 0, complex drops
// its imaginary part, anything but zero is true.
template <typename To, typename From>
To convert_scalar(From v) {
  if constexpr (std::is_same_v<From, complex64_t>) {
    if constexpr (std::is_same_v<To, complex64_t>) {
      return v;
    } else if constexpr (std::is_same_v<To, bool>) {
      return v.re != 0 || v.im != 0;
    } else {
      return convert_scalar<To>(v.re);
    }
  } else if constexpr (is_half_type<From>) {
    if constexpr (std::is_same_v<From, To>) {
      return v;
    } else {
      return convert_scalar<To>(to_float(v));
    }
  } else if constexpr (std::is_same_v<To, complex64_t>) {
    return complex64_t{static_cast<float>(v), 0.0f};
  } else if constexpr (std::is_same_v<To, float16_t>) {
    return to_float16(static_cast<float>(v));
  } else if constexpr (std::is_same_v<To, bfloat16_t>) {
    return to_bfloat16(static_cast<float>(v));
  } else if constexpr (std::is_same_v<To, bool>) {
    return v != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (std::isnan(v)) {
      return To(0);
    }
    // The bounds are powers of two, so they are exact in From.
    constexpr From high = From(std::numeric_limits<To>::max() / 2 + 1) * From(2);
    if (v >= high) {
      return std::numeric_limits<To>::max();
    }
    if (v <= From(std::numeric_limits<To>::min())) {
      return std::numeric_limits<To>::min();
    }
    return static_cast<To>(v);
  } else {
    return static_cast<To>(v);
  }
}

// Writes `value` as an element of type `t`.
template <typename V>
void store_scalar(Dtype t, V value, void* to) {
  dispatch(AllTypes{}, t, "array", [&]<typename T>() {
    T v = convert_scalar<T>(value);
    std::memcpy(to, &v, sizeof v);
  });
}

}  // namespace mlx::core
