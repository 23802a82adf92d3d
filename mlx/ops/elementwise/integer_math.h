// Integer and boolean arithmetic of scalar.h: everything wraps, nothing traps. Scalars only:
// compilers vectorise loops over these by themselves.
#pragma once

namespace mlx {
namespace core {
namespace scalar {
namespace impl {

template <typename T>
MLX_SCALAR_FN T lowest() {
  return T(T(-1) < T(0) ? m::wide_of<T>(1) << (8 * sizeof(T) - 1) : 0);
}
template <typename T>
MLX_SCALAR_FN T highest() {
  return T(~lowest<T>());
}
template <typename T>
MLX_SCALAR_FN T wrapping_negative(T x) {
  return T(m::wide_of<T>(0) - m::wide_of<T>(x));
}

template <typename T>
MLX_SCALAR_FN T abs(T x, m::Signed) {
  return m::select(x < T(0), wrapping_negative(x), x);
}
template <typename T>
MLX_SCALAR_FN T abs(T x, m::Unsigned) {
  return x;
}
template <typename T>
MLX_SCALAR_FN T negative(T x, m::Integer) {
  return wrapping_negative(x);
}
template <typename T>
MLX_SCALAR_FN T sign(T x, m::Integer) {
  return T(T(x > T(0)) - T(x < T(0)));
}
template <typename T>
MLX_SCALAR_FN T square(T x, m::Integer) {
  return T(m::wide_of<T>(x) * m::wide_of<T>(x));
}
template <typename T>
MLX_SCALAR_FN T add(T a, T b, m::Integer) {
  return T(m::wide_of<T>(a) + m::wide_of<T>(b));
}
template <typename T>
MLX_SCALAR_FN T subtract(T a, T b, m::Integer) {
  return T(m::wide_of<T>(a) - m::wide_of<T>(b));
}
template <typename T>
MLX_SCALAR_FN T multiply(T a, T b, m::Integer) {
  return T(m::wide_of<T>(a) * m::wide_of<T>(b));
}
template <typename T>
MLX_SCALAR_FN T maximum(T a, T b, m::Integer) {
  return m::select(a < b, b, a);
}
template <typename T>
MLX_SCALAR_FN T minimum(T a, T b, m::Integer) {
  return m::select(b < a, b, a);
}

// Division as NumPy's: x // 0 = 0, x % 0 = 0, lowest // -1 wraps, remainders take the sign of the
// divisor. A divisor of 0 or -1 is replaced by 1, so nothing traps.
template <typename T>
MLX_SCALAR_FN T floor_divide(T a, T b, m::Unsigned) {
  T d = m::select(b == T(0), T(1), b);
  return m::select(b == T(0), T(0), m::quotient(a, d));
}
template <typename T>
MLX_SCALAR_FN T remainder(T a, T b, m::Unsigned) {
  T d = m::select(b == T(0), T(1), b);
  return T(m::wide_of<T>(a) - m::wide_of<T>(m::quotient(a, d)) * m::wide_of<T>(d));
}
template <typename T>
MLX_SCALAR_FN T floor_divide(T a, T b, m::Signed) {
  T d = m::select((b == T(0)) | (b == T(-1)), T(1), b);
  T q = m::quotient(a, d);
  T r = T(m::wide_of<T>(a) - m::wide_of<T>(q) * m::wide_of<T>(d));
  q = T(q - T((r != T(0)) & (T(r ^ d) < T(0))));
  return m::select(b == T(0), T(0), m::select(b == T(-1), wrapping_negative(a), q));
}
template <typename T>
MLX_SCALAR_FN T remainder(T a, T b, m::Signed) {
  T d = m::select((b == T(0)) | (b == T(-1)), T(1), b);
  T r = T(m::wide_of<T>(a) - m::wide_of<T>(m::quotient(a, d)) * m::wide_of<T>(d));
  return m::select((r != T(0)) & (T(r ^ d) < T(0)), T(m::wide_of<T>(r) + m::wide_of<T>(d)), r);
}

// By squaring; a negative exponent gives 0.
template <typename T>
MLX_SCALAR_FN T power(T a, T b, m::Integer) {
  m::wide_of<T> result = 1, base = m::wide_of<T>(a);
  for (T e = b; e > T(0); e = T(e >> 1)) {
    result = (e & T(1)) != T(0) ? result * base : result;
    base = base * base;
  }
  return m::select(b < T(0), T(0), T(result));
}

// A count of at least the width, or below 0, shifts everything out.
template <typename T>
MLX_SCALAR_FN T left_shift(T a, T b, m::Integer) {
  bool inside = (b >= T(0)) & (b < T(8 * sizeof(T)));
  m::wide_of<T> y = m::wide_of<T>(a) << m::select(inside, m::wide_of<T>(b), m::wide_of<T>(0));
  return m::select(inside, T(y), T(0));
}
template <typename T>
MLX_SCALAR_FN T right_shift(T a, T b, m::Signed) {
  T last = T(8 * sizeof(T) - 1);
  return T(a >> m::select((b >= T(0)) & (b < last), b, last));
}
template <typename T>
MLX_SCALAR_FN T right_shift(T a, T b, m::Unsigned) {
  bool inside = b < T(8 * sizeof(T));
  return m::select(inside, T(a >> m::select(inside, b, T(0))), T(0));
}
template <typename T>
MLX_SCALAR_FN T bitwise_and(T a, T b, m::Integer) {
  return T(a & b);
}
template <typename T>
MLX_SCALAR_FN T bitwise_or(T a, T b, m::Integer) {
  return T(a | b);
}
template <typename T>
MLX_SCALAR_FN T bitwise_xor(T a, T b, m::Integer) {
  return T(a ^ b);
}
template <typename T>
MLX_SCALAR_FN T bitwise_invert(T x, m::Integer) {
  return T(~x);
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> equal(T a, T b, m::Integer) {
  return a == b;
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> less(T a, T b, m::Integer) {
  return a < b;
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> less_equal(T a, T b, m::Integer) {
  return a <= b;
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> truth(T x, m::Integer) {
  return x != T(0);
}

// bool: sum is or, product is and, difference is exclusive or.
template <typename T>
MLX_SCALAR_FN T add(T a, T b, m::Boolean) {
  return T(a | b);
}
template <typename T>
MLX_SCALAR_FN T subtract(T a, T b, m::Boolean) {
  return T(a ^ b);
}
template <typename T>
MLX_SCALAR_FN T multiply(T a, T b, m::Boolean) {
  return T(a & b);
}
template <typename T>
MLX_SCALAR_FN T maximum(T a, T b, m::Boolean) {
  return T(a | b);
}
template <typename T>
MLX_SCALAR_FN T minimum(T a, T b, m::Boolean) {
  return T(a & b);
}
template <typename T>
MLX_SCALAR_FN T floor_divide(T a, T b, m::Boolean) {
  return T(a & b);
}
template <typename T>
MLX_SCALAR_FN T power(T a, T b, m::Boolean) {
  return T(a | !b);
}
template <typename T>
MLX_SCALAR_FN T bitwise_and(T a, T b, m::Boolean) {
  return T(a & b);
}
template <typename T>
MLX_SCALAR_FN T bitwise_or(T a, T b, m::Boolean) {
  return T(a | b);
}
template <typename T>
MLX_SCALAR_FN T bitwise_xor(T a, T b, m::Boolean) {
  return T(a ^ b);
}
template <typename T>
MLX_SCALAR_FN T remainder(T, T, m::Boolean) {
  return false;
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> equal(T a, T b, m::Boolean) {
  return a == b;
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> less(T a, T b, m::Boolean) {
  return !a & b;
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> less_equal(T a, T b, m::Boolean) {
  return !a | b;
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> truth(T x, m::Boolean) {
  return x;
}
template <typename T>
MLX_SCALAR_FN T bitwise_invert(T x, m::Boolean) {
  return !x;
}
template <typename T>
MLX_SCALAR_FN T abs(T x, m::Boolean) {
  return x;
}
template <typename T>
MLX_SCALAR_FN T sign(T x, m::Boolean) {
  return x;
}
template <typename T>
MLX_SCALAR_FN T square(T x, m::Boolean) {
  return x;
}

// What floating types have and the others only answer.
template <typename T>
MLX_SCALAR_FN T floor(T x, m::Integer) {
  return x;
}
template <typename T>
MLX_SCALAR_FN T ceil(T x, m::Integer) {
  return x;
}
template <typename T>
MLX_SCALAR_FN T trunc(T x, m::Integer) {
  return x;
}
template <typename T>
MLX_SCALAR_FN T round(T x, m::Integer) {
  return x;
}
template <typename T>
MLX_SCALAR_FN T real(T x, m::Integer) {
  return x;
}
template <typename T>
MLX_SCALAR_FN T conjugate(T x, m::Integer) {
  return x;
}
template <typename T>
MLX_SCALAR_FN T imag(T, m::Integer) {
  return T(0);
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> is_nan(T, m::Integer) {
  return false;
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> is_inf(T, m::Integer) {
  return false;
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> is_pos_inf(T, m::Integer) {
  return false;
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> is_neg_inf(T, m::Integer) {
  return false;
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> is_finite(T, m::Integer) {
  return true;
}
template <typename T>
MLX_SCALAR_FN T floor(T x, m::Boolean) {
  return x;
}
template <typename T>
MLX_SCALAR_FN T ceil(T x, m::Boolean) {
  return x;
}
template <typename T>
MLX_SCALAR_FN T trunc(T x, m::Boolean) {
  return x;
}
template <typename T>
MLX_SCALAR_FN T round(T x, m::Boolean) {
  return x;
}
template <typename T>
MLX_SCALAR_FN T real(T x, m::Boolean) {
  return x;
}
template <typename T>
MLX_SCALAR_FN T conjugate(T x, m::Boolean) {
  return x;
}
template <typename T>
MLX_SCALAR_FN T imag(T, m::Boolean) {
  return T(0);
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> is_nan(T, m::Boolean) {
  return false;
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> is_inf(T, m::Boolean) {
  return false;
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> is_pos_inf(T, m::Boolean) {
  return false;
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> is_neg_inf(T, m::Boolean) {
  return false;
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> is_finite(T, m::Boolean) {
  return true;
}

}  // namespace impl
}  // namespace scalar
}  // namespace core
}  // namespace mlx
