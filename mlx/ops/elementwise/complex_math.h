// complex64 mathematics of scalar.h: principal branches, signed zeros on the cuts as in C99 where
// float32 allows (Kahan, "Branch cuts for complex elementary functions"), no overflow in between. T
// has the parts re and im.
#pragma once

#include "mlx/ops/elementwise/real_math.h"

namespace mlx {
namespace core {
namespace scalar {
namespace impl {

template <typename T>
MLX_SCALAR_FN T select_complex(m::mask_of<T> c, T a, T b) {
  return m::make<T>(m::select(c, a.re, b.re), m::select(c, a.im, b.im));
}
template <typename T>
MLX_SCALAR_FN T scale_complex(T z, m::literal factor) {
  m::real_of<T> c = m::lit<m::real_of<T>>(factor);
  return m::make<T>(z.re * c, z.im * c);
}

template <typename R>
MLX_SCALAR_FN R larger(R a, R b) {
  return m::select(b > a, b, a);
}
template <typename R>
MLX_SCALAR_FN R smaller(R a, R b) {
  return m::select(b < a, b, a);
}

// The power of two that brings x, at least 0, to [1, 2); limited to [2^-126, 2^126], so that 1 / it
// is exact too.
template <typename R>
MLX_SCALAR_FN R unit_scale(R x) {
  m::int_of<R> n = 127 - (m::bits(x) >> 23);
  n = m::select(n > 126, m::int_of<R>() + 126, n);
  n = m::select(n < -126, m::int_of<R>() - 126, n);
  return pow2<R>(n);
}

template <typename R>
MLX_SCALAR_FN R hypot32(R x, R y) {
  R ax = m::abs(x), ay = m::abs(y), inf = infinity<R>();
  R s = unit_scale(larger(ax, ay));
  R a = ax * s, b = ay * s;
  R r = m::sqrt(m::fma(a, a, b * b)) * (m::lit<R>(1) / s);
  return m::select((ax == inf) | (ay == inf), inf, r);
}

template <typename T>
MLX_SCALAR_FN T multiply_complex(T a, T b) {
  return m::make<T>(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
}

// a / b with b brought near 1 first. b = 0 divides both parts by zero; an infinite b gives 0 for a
// finite a.
template <typename T>
MLX_SCALAR_FN T divide_complex(T a, T b) {
  typedef m::real_of<T> R;
  R zero = m::lit<R>(0), inf = infinity<R>();
  R size = larger(m::abs(b.re), m::abs(b.im));
  R s = unit_scale(size), c = b.re * s, d = b.im * s;
  R t = unit_scale(larger(m::abs(a.re), m::abs(a.im))), x = a.re * t, y = a.im * t;
  R n = m::fma(c, c, d * d), back = m::lit<R>(1) / t;
  R re = (m::fma(x, c, y * d) / n) * s * back, im = (m::fma(y, c, -(x * d)) / n) * s * back;
  m::mask_of<R> by_zero = size == zero;
  re = m::select(by_zero, a.re / m::copysign(zero, b.re), re);
  im = m::select(by_zero, a.im / m::copysign(zero, b.re), im);
  m::mask_of<R> by_inf = (m::abs(b.re) == inf) | (m::abs(b.im) == inf);
  m::mask_of<R> vanishes = by_inf & (m::abs(a.re) < inf) & (m::abs(a.im) < inf);
  return m::make<T>(m::select(vanishes, zero, re), m::select(vanishes, zero, im));
}

// exp(z); the imaginary part stays exactly zero on the real axis.
template <typename T>
MLX_SCALAR_FN T exp_complex(T z) {
  typedef m::real_of<T> R;
  R zero = m::lit<R>(0), s, c;
  sincos32(z.im, s, c);
  m::int_of<R> n;
  // 170 rather than 89: a small sine or cosine may bring the product back into range.
  R x = m::select(z.re > m::lit<R>(170), m::lit<R>(170), z.re);
  x = m::select(x < m::lit<R>(-170), m::lit<R>(-170), x);
  R p = m::lit<R>(1) + expm1_reduced(exp_reduce(x, n));
  R re = scale(p * c, n), im = scale(p * s, n);
  m::mask_of<R> vanishes = z.re == -infinity<R>();
  m::mask_of<R> grows = (z.re == infinity<R>()) & (m::abs(z.im) < infinity<R>());
  re = m::select(grows, m::copysign(infinity<R>(), c), re);
  im = m::select(grows, m::copysign(infinity<R>(), s), im);
  re = m::select(vanishes, zero, re);
  im = m::select(vanishes | (z.im == zero), m::select(z.im == zero, z.im, zero), im);
  return m::make<T>(re, im);
}

// log|z|: by log1p where |z| is near 1, from the larger part elsewhere.
template <typename R>
MLX_SCALAR_FN R log_abs(R x, R y) {
  R ax = m::abs(x), ay = m::abs(y), one = m::lit<R>(1), half = m::lit<R>(0.5), inf = infinity<R>();
  R big = larger(ax, ay), small = smaller(ax, ay);
  R near_arg = m::fma(big - one, big + one, small * small);
  m::mask_of<R> near = (big > half) & (big < m::lit<R>(2)) & (near_arg > -half);
  R t = m::select(small == big, one, small / big);
  R far_arg = t * t;
  R y1 = half * log1p32(m::select(near, near_arg, far_arg));
  R r = m::select(near, y1, log32(big) + y1);
  r = m::select((x == x) & (y == y), r, x + y);
  return m::select(big == inf, inf, m::select((ax == inf) | (ay == inf), inf, r));
}

template <typename T>
MLX_SCALAR_FN T log_complex(T z) {
  return m::make<T>(log_abs(z.re, z.im), atan2_32(z.im, z.re));
}

// log(1 + z): near 0 from x (2 + x) + y^2, whose sum with 1 is |1 + z|^2.
template <typename T>
MLX_SCALAR_FN T log1p_complex(T z) {
  typedef m::real_of<T> R;
  R one = m::lit<R>(1), half = m::lit<R>(0.5), u = z.re + one;
  R near_arg = m::fma(z.re, z.re + m::lit<R>(2), z.im * z.im);
  m::mask_of<R> near = (m::abs(z.re) < half) & (m::abs(z.im) < half);
  R re = m::select(near, half * log1p32(near_arg), log_abs(u, z.im));
  return m::make<T>(re, atan2_32(z.im, u));
}

template <typename T>
MLX_SCALAR_FN T sqrt_complex(T z) {
  typedef m::real_of<T> R;
  R zero = m::lit<R>(0), inf = infinity<R>();
  R ax = m::abs(z.re), ay = m::abs(z.im), size = larger(ax, ay);
  // An even power of two, so that its root is exact: tiny and huge values come to the middle of the
  // range.
  m::mask_of<R> tiny = size<m::lit<R>(1e-30), huge = size> m::lit<R>(1e30);
  R s = m::select(tiny, m::lit<R>(1.152921504606847e18),
                  m::select(huge, m::lit<R>(8.673617379884035e-19), m::lit<R>(1)));
  R back = m::select(tiny, m::lit<R>(9.313225746154785e-10),
                     m::select(huge, m::lit<R>(1073741824), m::lit<R>(1)));
  R x = ax * s, y = ay * s;
  R t = m::sqrt((hypot32(x, y) + x) * m::lit<R>(0.5));
  R other = m::select(t == zero, zero, y / (t + t));
  m::mask_of<R> right = m::bits(z.re) >= 0;
  R re = m::select(right, t, other) * back, im = m::select(right, other, t) * back;
  re = m::select(ay == inf, inf, re);
  im = m::select(ay == inf, inf, im);
  m::mask_of<R> on_axis = (ax == inf) & (ay < inf);
  re = m::select(on_axis, m::select(right, inf, zero), re);
  im = m::select(on_axis, m::select(right, zero, inf), im);
  return m::make<T>(re, m::copysign(im, z.im));
}

// sinh and cosh of x and the sine and cosine of y, halves of exp scaled late so that products
// overflow only when due.
template <typename T>
MLX_SCALAR_FN T sinh_complex(T z) {
  typedef m::real_of<T> R;
  R s, c;
  sincos32(z.im, s, c);
  R re = sinh32(z.re) * c, im = cosh32(z.re) * s;
  T large = exp_complex(m::make<T>(m::abs(z.re) - m::lit<R>(1), z.im));
  R e = m::lit<R>(1.35914091);  // e / 2
  m::mask_of<R> far = m::abs(z.re) > m::lit<R>(80);
  re = m::select(far, m::copysign(m::lit<R>(1), z.re) * (large.re * e), re);
  im = m::select(far, large.im * e, im);
  return m::make<T>(re, m::select(z.im == m::lit<R>(0), z.im, im));
}
template <typename T>
MLX_SCALAR_FN T cosh_complex(T z) {
  typedef m::real_of<T> R;
  R s, c, zero = m::lit<R>(0);
  sincos32(z.im, s, c);
  R re = cosh32(z.re) * c, im = sinh32(z.re) * s;
  T large = exp_complex(m::make<T>(m::abs(z.re) - m::lit<R>(1), z.im));
  R e = m::lit<R>(1.35914091);
  m::mask_of<R> far = m::abs(z.re) > m::lit<R>(80);
  re = m::select(far, large.re * e, re);
  im = m::select(far, m::copysign(m::lit<R>(1), z.re) * (large.im * e), im);
  return m::make<T>(re,
                    m::select((z.im == zero) | (z.re == zero), zero * m::copysign(z.im, z.re), im));
}
// Kahan's ctanh; beyond 9 the real part is +-1 and the imaginary part 4 sin y cos y exp(-2|x|).
template <typename T>
MLX_SCALAR_FN T tanh_complex(T z) {
  typedef m::real_of<T> R;
  R one = m::lit<R>(1), s, c;
  sincos32(z.im, s, c);
  R ax = m::abs(z.re), x = m::select(ax > m::lit<R>(10), m::lit<R>(10), ax);
  R sh = sinh32(x), ch = cosh32(x);
  // tanh z = (sinh x cosh x + i sin y cos y) / (sinh^2 x + cos^2 y)
  R d = m::fma(sh, sh, c * c);
  m::mask_of<R> far = ax > m::lit<R>(9);
  R re = m::select(far, one, sh * ch / d);
  R im = m::select(far, m::lit<R>(4) * s * c * exp32(m::lit<R>(-2) * ax), s * c / d);
  re = m::select((z.im == z.im) | (z.re == m::lit<R>(0)), re, z.im);
  return m::make<T>(m::copysign(re, z.re), m::select(z.im == m::lit<R>(0), z.im, im));
}

template <typename T>
MLX_SCALAR_FN T times_i(T z) {
  return m::make<T>(-z.im, z.re);
}
template <typename T>
MLX_SCALAR_FN T times_minus_i(T z) {
  return m::make<T>(z.im, -z.re);
}

template <typename T>
struct Roots {
  T minus, plus;  // sqrt(1 - z), sqrt(1 + z)
};
template <typename T>
MLX_SCALAR_FN Roots<T> roots_about_one(T z) {
  m::real_of<T> one = m::lit<m::real_of<T>>(1);
  Roots<T> r = {sqrt_complex(m::make<T>(one - z.re, -z.im)),
                sqrt_complex(m::make<T>(one + z.re, z.im))};
  return r;
}

// Where |z| > 2^40 the inverse functions are log(2 |z|) and an angle, and the products of roots
// might overflow.
template <typename T>
MLX_SCALAR_FN m::mask_of<T> is_far(T z) {
  m::real_of<T> limit = m::lit<m::real_of<T>>(1099511627776.0);
  return (m::abs(z.re) > limit) | (m::abs(z.im) > limit);
}
template <typename T>
MLX_SCALAR_FN m::real_of<T> log_twice_abs(T z) {
  return log_abs(z.re, z.im) + m::lit<m::real_of<T>>(0.693147182);
}

template <typename T>
MLX_SCALAR_FN T asin_complex(T z) {
  Roots<T> r = roots_about_one(z);
  m::real_of<T> d = r.minus.re * r.plus.re - r.minus.im * r.plus.im;
  m::real_of<T> e = r.minus.re * r.plus.im - r.minus.im * r.plus.re;
  m::mask_of<T> far = is_far(z);
  m::real_of<T> re = atan2_32(z.re, m::select(far, m::abs(z.im), d));
  return m::make<T>(re, m::copysign(m::select(far, log_twice_abs(z), asinh32(e)), z.im));
}
template <typename T>
MLX_SCALAR_FN T acos_complex(T z) {
  Roots<T> r = roots_about_one(z);
  m::real_of<T> e = r.plus.re * r.minus.im - r.plus.im * r.minus.re;
  m::mask_of<T> far = is_far(z);
  m::real_of<T> half = atan2_32(r.minus.re, r.plus.re);
  m::real_of<T> re = m::select(far, atan2_32(m::abs(z.im), z.re), half + half);
  return m::make<T>(re, m::copysign(m::select(far, log_twice_abs(z), asinh32(e)), -z.im));
}
template <typename T>
MLX_SCALAR_FN T acosh_complex(T z) {
  typedef m::real_of<T> R;
  R one = m::lit<R>(1);
  T minus = sqrt_complex(m::make<T>(z.re - one, z.im)),
    plus = sqrt_complex(m::make<T>(z.re + one, z.im));
  R half = atan2_32(minus.im, plus.re), re = asinh32(minus.re * plus.re + minus.im * plus.im);
  m::mask_of<R> far = is_far(z);
  return m::make<T>(m::select(far, log_twice_abs(z), re),
                    m::select(far, atan2_32(z.im, z.re), half + half));
}
template <typename T>
MLX_SCALAR_FN T atanh_complex(T z) {
  typedef m::real_of<T> R;
  R one = m::lit<R>(1), ax = m::abs(z.re), ay = m::abs(z.im), inf = infinity<R>();
  R u = one - ax, n = m::fma(u, u, ay * ay);
  R re = m::lit<R>(0.25) * log1p32(m::lit<R>(4) * ax / n);
  R im = m::lit<R>(0.5) * atan2_32(ay + ay, m::fma(u, one + ax, -(ay * ay)));
  // Beside 1 the squares underflow: (log|1 + z| - log|1 - z|) / 2.
  R beside = m::lit<R>(0.5) * (log_abs(one + ax, ay) - log_abs(u, ay));
  re = m::select(n < m::lit<R>(1e-12), beside, re);
  // Far out |z|^2 would overflow: atanh(z) = 1/z +- i pi/2.
  m::mask_of<R> far = (ax > m::lit<R>(1e9)) | (ay > m::lit<R>(1e9));
  R size = larger(ax, ay), t = smaller(ax, ay) / size;
  R inverse = ax / size / size / m::fma(t, t, one);
  re = m::select(far, m::select(size == inf, m::lit<R>(0), inverse), re);
  im = m::select(far, m::lit<R>(1.57079637), im);
  m::mask_of<R> nan = (z.re != z.re) | (z.im != z.im);
  re = m::select(nan, ax + ay, re);
  im = m::select(nan, ax + ay, im);
  return m::make<T>(m::copysign(re, z.re), m::copysign(im, z.im));
}

template <typename T>
MLX_SCALAR_FN T pow_complex(T z, T w) {
  typedef m::real_of<T> R;
  R zero = m::lit<R>(0);
  T p = exp_complex(multiply_complex(w, log_complex(z)));
  m::mask_of<R> at_zero = (z.re == zero) & (z.im == zero), vanishes = at_zero & (w.re > zero);
  m::mask_of<R> undefined = at_zero & m::negate(w.re > zero);
  p.re = m::select(vanishes, zero, m::select(undefined, quiet_nan<R>(), p.re));
  p.im = m::select(vanishes, zero, m::select(undefined, quiet_nan<R>(), p.im));
  return p;
}

// Lexicographic order: real part first. As for real numbers, NaN in any part is not less than
// anything.
template <typename T>
MLX_SCALAR_FN m::mask_of<T> less_complex(T a, T b) {
  m::mask_of<T> ordered = (a.im == a.im) & (b.im == b.im);
  return ((a.re < b.re) & ordered) | ((a.re == b.re) & (a.im < b.im));
}

// The rows' names for complex64.
template <typename T>
MLX_SCALAR_FN T exp(T z, m::Complex) {
  return exp_complex(z);
}
template <typename T>
MLX_SCALAR_FN T log(T z, m::Complex) {
  return log_complex(z);
}
template <typename T>
MLX_SCALAR_FN T log2(T z, m::Complex) {
  return scale_complex(log_complex(z), 1.4426950408889634);
}
template <typename T>
MLX_SCALAR_FN T log10(T z, m::Complex) {
  return scale_complex(log_complex(z), 0.4342944819032518);
}
template <typename T>
MLX_SCALAR_FN T log1p(T z, m::Complex) {
  return log1p_complex(z);
}
template <typename T>
MLX_SCALAR_FN T sinh(T z, m::Complex) {
  return sinh_complex(z);
}
template <typename T>
MLX_SCALAR_FN T cosh(T z, m::Complex) {
  return cosh_complex(z);
}
template <typename T>
MLX_SCALAR_FN T tanh(T z, m::Complex) {
  return tanh_complex(z);
}
template <typename T>
MLX_SCALAR_FN T sin(T z, m::Complex) {
  return times_minus_i(sinh_complex(times_i(z)));
}
template <typename T>
MLX_SCALAR_FN T cos(T z, m::Complex) {
  return cosh_complex(times_i(z));
}
template <typename T>
MLX_SCALAR_FN T tan(T z, m::Complex) {
  return times_minus_i(tanh_complex(times_i(z)));
}
template <typename T>
MLX_SCALAR_FN T asin(T z, m::Complex) {
  return asin_complex(z);
}
template <typename T>
MLX_SCALAR_FN T acos(T z, m::Complex) {
  return acos_complex(z);
}
template <typename T>
MLX_SCALAR_FN T atan(T z, m::Complex) {
  return times_minus_i(atanh_complex(times_i(z)));
}
template <typename T>
MLX_SCALAR_FN T asinh(T z, m::Complex) {
  return times_minus_i(asin_complex(times_i(z)));
}
template <typename T>
MLX_SCALAR_FN T acosh(T z, m::Complex) {
  return acosh_complex(z);
}
template <typename T>
MLX_SCALAR_FN T atanh(T z, m::Complex) {
  return atanh_complex(z);
}
template <typename T>
MLX_SCALAR_FN T power(T z, T w, m::Complex) {
  return pow_complex(z, w);
}

}  // namespace impl
}  // namespace scalar
}  // namespace core
}  // namespace mlx
