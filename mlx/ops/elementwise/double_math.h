// float64 mathematics of scalar.h: the device's library (errors of about one unit in the last
// place).
#pragma once

#include "mlx/ops/elementwise/real_math.h"

namespace mlx {
namespace core {
namespace scalar {
namespace impl {

template <typename T>
MLX_SCALAR_FN T exp(T x, m::Real64) {
  return m::exp(x);
}
template <typename T>
MLX_SCALAR_FN T expm1(T x, m::Real64) {
  return m::expm1(x);
}
template <typename T>
MLX_SCALAR_FN T log(T x, m::Real64) {
  return m::log(x);
}
template <typename T>
MLX_SCALAR_FN T log2(T x, m::Real64) {
  return m::log2(x);
}
template <typename T>
MLX_SCALAR_FN T log10(T x, m::Real64) {
  return m::log10(x);
}
template <typename T>
MLX_SCALAR_FN T log1p(T x, m::Real64) {
  return m::log1p(x);
}
template <typename T>
MLX_SCALAR_FN T sin(T x, m::Real64) {
  return m::sin(x);
}
template <typename T>
MLX_SCALAR_FN T cos(T x, m::Real64) {
  return m::cos(x);
}
template <typename T>
MLX_SCALAR_FN T tan(T x, m::Real64) {
  return m::tan(x);
}
template <typename T>
MLX_SCALAR_FN T sinh(T x, m::Real64) {
  return m::sinh(x);
}
template <typename T>
MLX_SCALAR_FN T cosh(T x, m::Real64) {
  return m::cosh(x);
}
template <typename T>
MLX_SCALAR_FN T tanh(T x, m::Real64) {
  return m::tanh(x);
}
template <typename T>
MLX_SCALAR_FN T asin(T x, m::Real64) {
  return m::asin(x);
}
template <typename T>
MLX_SCALAR_FN T acos(T x, m::Real64) {
  return m::acos(x);
}
template <typename T>
MLX_SCALAR_FN T atan(T x, m::Real64) {
  return m::atan(x);
}
template <typename T>
MLX_SCALAR_FN T asinh(T x, m::Real64) {
  return m::asinh(x);
}
template <typename T>
MLX_SCALAR_FN T acosh(T x, m::Real64) {
  return m::acosh(x);
}
template <typename T>
MLX_SCALAR_FN T atanh(T x, m::Real64) {
  return m::atanh(x);
}
template <typename T>
MLX_SCALAR_FN T erf(T x, m::Real64) {
  return m::erf(x);
}
template <typename T>
MLX_SCALAR_FN T power(T x, T y, m::Real64) {
  return m::pow(x, y);
}
template <typename T>
MLX_SCALAR_FN T arctan2(T y, T x, m::Real64) {
  return m::atan2(y, x);
}

// Remainder with the sign of the divisor.
template <typename T>
MLX_SCALAR_FN T remainder(T x, T y, m::Real64) {
  T zero = m::lit<T>(0), r = m::fmod(x, y);
  r = m::select((r != zero) & ((r < zero) != (y < zero)), r + y, r);
  return m::select(r == zero, m::copysign(zero, y), r);
}

// Giles' float approximation, sharpened by two of Halley's steps on erfc, which keeps its digits
// near 1.
template <typename T>
MLX_SCALAR_FN T erfinv(T x, m::Real64) {
  T a = m::abs(x), one = m::lit<T>(1), zero = m::lit<T>(0);
  T rest = one - a;
  T t = m::log(rest * (one + a));
  T small = t * m::lit<T>(-2.32015476e-1) + m::lit<T>(8.86226892e-1);
  small = a * (small + t * t * (m::lit<T>(1.15392581e-2) + t * m::lit<T>(2.31468678e-3)));
  T large = m::sqrt(-t) -
            m::log(m::sqrt(-t * m::lit<T>(3.141592653589793)) + one) / (m::sqrt(-t) + m::sqrt(-t));
  T y = m::select(t > m::lit<T>(-5), small, large);
  for (int i = 0; i < 4; ++i) {
    // f / f' of erfc(y) - rest; the slope of erfc is -2/sqrt(pi) exp(-y^2).
    T u = m::select(a < m::lit<T>(0.5), m::erf(y) - a, rest - m::erfc(y)) * m::exp(y * y) *
          m::lit<T>(0.8862269254527580);
    y = y - u / (one + y * u);
  }
  y = m::select(rest == zero, one / zero, y);
  y = m::select(a > one, zero / zero, m::select(a == zero, a, y));
  return m::copysign(m::select(x == x, y, x), x);
}

}  // namespace impl
}  // namespace scalar
}  // namespace core
}  // namespace mlx
