// The arithmetic of the rows of elementwise.def, one text for host scalars, SIMD vectors, CUDA and
// Metal. Bring a dialect first (scalar_dialect.h, or a device's own): it gives T its kind, `m::`
// functions and masks. Bodies use m::select, m::lit<T> and masks joined by & and | in place of
// branches, so that T may be a vector.
// - Compile without floating-point contraction; m::fma stands where an algorithm wants it and is
// exact everywhere
//   (emulated on CPUs without the instruction), so results are the same on every instruction set.
//   Only a NaN's sign and payload may differ.
// - float16 and bfloat16 are widened to float by the caller, and rounded once.
// - Rows whose result is bool return a mask.
#pragma once

#include "mlx/ops/elementwise/complex_math.h"
#include "mlx/ops/elementwise/real_math.h"
#if defined(MLX_HAS_DOUBLE)
#include "mlx/ops/elementwise/double_math.h"
#endif
#include "mlx/ops/elementwise/integer_math.h"

namespace mlx {
namespace core {
namespace scalar {

namespace impl {

// Rows whose text depends on the kind. Integer rows wrap: their bodies are in integer_math.h.

template <typename T>
MLX_SCALAR_FN T abs(T x, m::Real) {
  return m::abs(x);
}
template <typename T>
MLX_SCALAR_FN m::real_of<T> abs(T z, m::Complex) {
  return hypot32(z.re, z.im);
}
template <typename T>
MLX_SCALAR_FN T negative(T x, m::Real) {
  return -x;
}
template <typename T>
MLX_SCALAR_FN T negative(T z, m::Complex) {
  return m::make<T>(-z.re, -z.im);
}
template <typename T>
MLX_SCALAR_FN T sign(T x, m::Real) {
  T zero = m::lit<T>(0), y = m::select(x < zero, m::lit<T>(-1), x);
  return m::select(x > zero, m::lit<T>(1), m::select(x == zero, zero, y));
}
template <typename T>
MLX_SCALAR_FN T sign(T z, m::Complex) {
  typedef m::real_of<T> R;
  // Both parts near 1 at first, so that neither the size nor the quotients leave the range.
  R zero = m::lit<R>(0), s = unit_scale(larger(m::abs(z.re), m::abs(z.im)));
  R x = z.re * s, y = z.im * s, size = hypot32(x, y);
  m::mask_of<R> nan = (x != x) | (y != y) | (size == infinity<R>());
  x = m::select(nan, quiet_nan<R>(), m::select(size == zero, zero, x / size));
  y = m::select(nan, quiet_nan<R>(), m::select(size == zero, zero, y / size));
  return m::make<T>(x, y);
}
template <typename T>
MLX_SCALAR_FN T square(T x, m::Real) {
  return x * x;
}
template <typename T>
MLX_SCALAR_FN T square(T z, m::Complex) {
  return multiply_complex(z, z);
}
template <typename T>
MLX_SCALAR_FN T floor(T x, m::Real) {
  return m::floor(x);
}
template <typename T>
MLX_SCALAR_FN T ceil(T x, m::Real) {
  return m::ceil(x);
}
template <typename T>
MLX_SCALAR_FN T trunc(T x, m::Real) {
  return m::trunc(x);
}
template <typename T>
MLX_SCALAR_FN T round(T x, m::Real) {
  return m::rint(x);
}
template <typename T>
MLX_SCALAR_FN T round(T z, m::Complex) {
  return m::make<T>(m::rint(z.re), m::rint(z.im));
}
template <typename T>
MLX_SCALAR_FN T sqrt(T x, m::Real) {
  return m::sqrt(x);
}
template <typename T>
MLX_SCALAR_FN T sqrt(T z, m::Complex) {
  return sqrt_complex(z);
}
template <typename T>
MLX_SCALAR_FN T reciprocal(T x, m::Real) {
  return m::lit<T>(1) / x;
}
template <typename T>
MLX_SCALAR_FN T reciprocal(T z, m::Complex) {
  m::real_of<T> one = m::lit<m::real_of<T>>(1), zero = m::lit<m::real_of<T>>(0);
  return divide_complex(m::make<T>(one, zero), z);
}
template <typename T>
MLX_SCALAR_FN T rsqrt(T x, m::Real) {
  return m::lit<T>(1) / m::sqrt(x);
}
template <typename T>
MLX_SCALAR_FN T rsqrt(T z, m::Complex) {
  return reciprocal(sqrt_complex(z), m::Complex());
}
template <typename T>
MLX_SCALAR_FN T real(T x, m::Real) {
  return x;
}
template <typename T>
MLX_SCALAR_FN m::real_of<T> real(T z, m::Complex) {
  return z.re;
}
template <typename T>
MLX_SCALAR_FN T imag(T, m::Real) {
  return m::lit<T>(0);
}
template <typename T>
MLX_SCALAR_FN m::real_of<T> imag(T z, m::Complex) {
  return z.im;
}
template <typename T>
MLX_SCALAR_FN T conjugate(T x, m::Real) {
  return x;
}
template <typename T>
MLX_SCALAR_FN T conjugate(T z, m::Complex) {
  return m::make<T>(z.re, -z.im);
}

// Properties of a value, as masks.
template <typename T>
MLX_SCALAR_FN m::mask_of<T> truth(T x, m::Real) {
  return x != m::lit<T>(0);
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> truth(T z, m::Complex) {
  m::real_of<T> zero = m::lit<m::real_of<T>>(0);
  return (z.re != zero) | (z.im != zero);
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> is_nan(T x, m::Real) {
  return x != x;
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> is_nan(T z, m::Complex) {
  return (z.re != z.re) | (z.im != z.im);
}
// x - x is NaN for infinities and NaN, else zero.
template <typename T>
MLX_SCALAR_FN m::mask_of<T> is_finite(T x, m::Real) {
  return x - x == m::lit<T>(0);
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> is_inf(T x, m::Real) {
  return (x == x) & (x - x != m::lit<T>(0));
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> is_finite(T z, m::Complex) {
  return is_finite(z.re, m::Real()) & is_finite(z.im, m::Real());
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> is_inf(T z, m::Complex) {
  return is_inf(z.re, m::Real()) | is_inf(z.im, m::Real());
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> is_pos_inf(T x, m::Real) {
  return is_inf(x, m::Real()) & (x > m::lit<T>(0));
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> is_neg_inf(T x, m::Real) {
  return is_inf(x, m::Real()) & (x < m::lit<T>(0));
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> is_pos_inf(T z, m::Complex) {
  return is_pos_inf(z.re, m::Real());
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> is_neg_inf(T z, m::Complex) {
  return is_neg_inf(z.re, m::Real());
}

template <typename T>
MLX_SCALAR_FN T add(T a, T b, m::Real) {
  return a + b;
}
template <typename T>
MLX_SCALAR_FN T add(T a, T b, m::Complex) {
  return m::make<T>(a.re + b.re, a.im + b.im);
}
template <typename T>
MLX_SCALAR_FN T subtract(T a, T b, m::Real) {
  return a - b;
}
template <typename T>
MLX_SCALAR_FN T subtract(T a, T b, m::Complex) {
  return m::make<T>(a.re - b.re, a.im - b.im);
}
template <typename T>
MLX_SCALAR_FN T multiply(T a, T b, m::Real) {
  return a * b;
}
template <typename T>
MLX_SCALAR_FN T multiply(T a, T b, m::Complex) {
  return multiply_complex(a, b);
}
template <typename T>
MLX_SCALAR_FN T divide(T a, T b, m::Real) {
  return a / b;
}
template <typename T>
MLX_SCALAR_FN T divide(T a, T b, m::Complex) {
  return divide_complex(a, b);
}
template <typename T>
MLX_SCALAR_FN T floor_divide(T a, T b, m::Real) {
  return m::floor(a / b);
}
template <typename T>
MLX_SCALAR_FN T maximum(T a, T b, m::Real) {
  // The inner choice is one instruction of most CPUs; it keeps a if that is NaN.
  return m::select(b != b, b, m::select(b > a, b, a));
}
template <typename T>
MLX_SCALAR_FN T maximum(T a, T b, m::Complex) {
  // NaN in either part wins.
  m::mask_of<T> keep = m::negate(is_nan(b, m::Complex())) & m::negate(less_complex(a, b));
  return select_complex(keep | is_nan(a, m::Complex()), a, b);
}
template <typename T>
MLX_SCALAR_FN T minimum(T a, T b, m::Real) {
  return m::select(b != b, b, m::select(b < a, b, a));
}
template <typename T>
MLX_SCALAR_FN T minimum(T a, T b, m::Complex) {
  m::mask_of<T> keep = m::negate(is_nan(b, m::Complex())) & m::negate(less_complex(b, a));
  return select_complex(keep | is_nan(a, m::Complex()), a, b);
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> equal(T a, T b, m::Real) {
  return a == b;
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> equal(T a, T b, m::Complex) {
  return (a.re == b.re) & (a.im == b.im);
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> less(T a, T b, m::Real) {
  return a < b;
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> less(T a, T b, m::Complex) {
  return less_complex(a, b);
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> less_equal(T a, T b, m::Real) {
  return a <= b;
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> less_equal(T a, T b, m::Complex) {
  return less_complex(a, b) | equal(a, b, m::Complex());
}

// log(exp(a) + exp(b)) from the larger one; equal infinities have no difference.
template <typename T>
MLX_SCALAR_FN T logaddexp(T a, T b, m::Real) {
  T high = maximum(a, b, m::Real());
  T d = m::select(a == b, m::lit<T>(0), -m::abs(a - b));
  return high + log1p(exp(d, m::kind<T>()), m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T logaddexp(T a, T b, m::Complex) {
  T high = maximum(a, b, m::Complex()), low = minimum(a, b, m::Complex());
  m::real_of<T> zero = m::lit<m::real_of<T>>(0);
  T d = subtract(low, high, m::Complex());
  d = select_complex(equal(a, b, m::Complex()), m::make<T>(zero, zero), d);
  return add(high, log1p_complex(exp_complex(d)), m::Complex());
}

}  // namespace impl

// The rows.

template <typename T>
MLX_SCALAR_FN m::real_of<T> Abs(T x) {
  return impl::abs(x, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN m::real_of<T> Real(T x) {
  return impl::real(x, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN m::real_of<T> Imag(T x) {
  return impl::imag(x, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T Negative(T x) {
  return impl::negative(x, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T Sign(T x) {
  return impl::sign(x, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T Square(T x) {
  return impl::square(x, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T Floor(T x) {
  return impl::floor(x, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T Ceil(T x) {
  return impl::ceil(x, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T Trunc(T x) {
  return impl::trunc(x, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T Round(T x) {
  return impl::round(x, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T Exp(T x) {
  return impl::exp(x, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T Expm1(T x) {
  return impl::expm1(x, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T Log(T x) {
  return impl::log(x, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T Log2(T x) {
  return impl::log2(x, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T Log10(T x) {
  return impl::log10(x, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T Log1p(T x) {
  return impl::log1p(x, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T Sin(T x) {
  return impl::sin(x, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T Cos(T x) {
  return impl::cos(x, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T Tan(T x) {
  return impl::tan(x, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T Sinh(T x) {
  return impl::sinh(x, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T Cosh(T x) {
  return impl::cosh(x, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T Tanh(T x) {
  return impl::tanh(x, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T ArcSin(T x) {
  return impl::asin(x, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T ArcCos(T x) {
  return impl::acos(x, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T ArcTan(T x) {
  return impl::atan(x, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T ArcSinh(T x) {
  return impl::asinh(x, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T ArcCosh(T x) {
  return impl::acosh(x, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T ArcTanh(T x) {
  return impl::atanh(x, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T Sqrt(T x) {
  return impl::sqrt(x, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T Rsqrt(T x) {
  return impl::rsqrt(x, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T Reciprocal(T x) {
  return impl::reciprocal(x, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T Erf(T x) {
  return impl::erf(x, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T ErfInv(T x) {
  return impl::erfinv(x, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T Conjugate(T x) {
  return impl::conjugate(x, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T BitwiseInvert(T x) {
  return impl::bitwise_invert(x, m::kind<T>());
}
// n / (1 + e), corrected by what the sum 1 + e lost: for negative x that is most of the error.
template <typename T>
MLX_SCALAR_FN T Sigmoid(T x) {
  T one = m::lit<T>(1), e = Exp(-m::abs(x)), d = one + e, lost = e - (d - one);
  m::mask_of<T> negative = x < m::lit<T>(0);
  T y = m::select(negative, e, one) / d;
  T inverse = m::select(negative, one - y, y);  // 1 / d
  return y - y * inverse * lost;
}
template <typename T>
MLX_SCALAR_FN T Degrees(T x) {
  return x * m::lit<T>(57.29577951308232);
}
template <typename T>
MLX_SCALAR_FN T Radians(T x) {
  return x * m::lit<T>(0.017453292519943295);
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> LogicalNot(T x) {
  return m::negate(impl::truth(x, m::kind<T>()));
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> IsNan(T x) {
  return impl::is_nan(x, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> IsInf(T x) {
  return impl::is_inf(x, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> IsFinite(T x) {
  return impl::is_finite(x, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> IsPosInf(T x) {
  return impl::is_pos_inf(x, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> IsNegInf(T x) {
  return impl::is_neg_inf(x, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T Add(T a, T b) {
  return impl::add(a, b, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T Subtract(T a, T b) {
  return impl::subtract(a, b, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T Multiply(T a, T b) {
  return impl::multiply(a, b, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T Divide(T a, T b) {
  return impl::divide(a, b, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T FloorDivide(T a, T b) {
  return impl::floor_divide(a, b, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T Remainder(T a, T b) {
  return impl::remainder(a, b, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T Power(T a, T b) {
  return impl::power(a, b, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T Maximum(T a, T b) {
  return impl::maximum(a, b, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T Minimum(T a, T b) {
  return impl::minimum(a, b, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T LogAddExp(T a, T b) {
  return impl::logaddexp(a, b, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T ArcTan2(T a, T b) {
  return impl::arctan2(a, b, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T BitwiseAnd(T a, T b) {
  return impl::bitwise_and(a, b, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T BitwiseOr(T a, T b) {
  return impl::bitwise_or(a, b, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T BitwiseXor(T a, T b) {
  return impl::bitwise_xor(a, b, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T LeftShift(T a, T b) {
  return impl::left_shift(a, b, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN T RightShift(T a, T b) {
  return impl::right_shift(a, b, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> Equal(T a, T b) {
  return impl::equal(a, b, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> NotEqual(T a, T b) {
  return m::negate(impl::equal(a, b, m::kind<T>()));
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> Less(T a, T b) {
  return impl::less(a, b, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> LessEqual(T a, T b) {
  return impl::less_equal(a, b, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> Greater(T a, T b) {
  return impl::less(b, a, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> GreaterEqual(T a, T b) {
  return impl::less_equal(b, a, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> LogicalAnd(T a, T b) {
  return impl::truth(a, m::kind<T>()) & impl::truth(b, m::kind<T>());
}
template <typename T>
MLX_SCALAR_FN m::mask_of<T> LogicalOr(T a, T b) {
  return impl::truth(a, m::kind<T>()) | impl::truth(b, m::kind<T>());
}
// A change of type is convert<To>() (convert.h); to its own type there is nothing to do.
template <typename T>
MLX_SCALAR_FN T Cast(T x) {
  return x;
}
template <typename T>
MLX_SCALAR_FN T Select(m::mask_of<T> c, T a, T b) {
  return m::select(c, a, b);
}

}  // namespace scalar
}  // namespace core
}  // namespace mlx
