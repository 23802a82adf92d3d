// float32 mathematics of scalar.h, one text for scalars and SIMD vectors: polynomials from
// tools/minimax.py, fused multiply-adds where written and nowhere else, so that every device and
// every CPU instruction set gives the same bits. Bounds of the error are checked by
// tests/cpp/scalar_accuracy_test.cpp over the whole range (tools/ulp_sweep.cpp).
#pragma once

namespace mlx {
namespace core {
namespace scalar {
namespace impl {

template <typename T>
MLX_SCALAR_FN T infinity() {
  return m::from_bits(m::int_of<T>() + 0x7f800000);
}
template <typename T>
MLX_SCALAR_FN T quiet_nan() {
  return m::from_bits(m::int_of<T>() + 0x7fc00000);
}

// c0 + c1 x + c2 x^2 ...: Horner's rule, one rounding a step. Coefficients are given lowest power
// first.
template <typename T>
MLX_SCALAR_FN T poly(T, m::literal c0) {
  return m::lit<T>(c0);
}
template <typename T, typename... Rest>
MLX_SCALAR_FN T poly(T x, m::literal c0, Rest... rest) {
  return m::fma(poly(x, rest...), x, m::lit<T>(c0));
}

// 2^n for n in [-126, 127].
template <typename T>
MLX_SCALAR_FN T pow2(m::int_of<T> n) {
  return m::from_bits(m::shift_left(n + 127, 23));
}

// The nearest integer of |x| < 2^22, also as an integer.
template <typename T>
MLX_SCALAR_FN T nearest(T x, m::int_of<T>& n) {
  T magic = m::lit<T>(12582912.0);  // 1.5 * 2^23: its last bit is worth 1
  T shifted = x + magic;
  n = m::bits(shifted) - 0x4b400000;
  return shifted - magic;
}

// x = n ln2 + r with |r| < 0.3467; |x| < 2^20.
template <typename T>
MLX_SCALAR_FN T exp_reduce(T x, m::int_of<T>& n) {
  T k = nearest(x * m::lit<T>(1.44269502), n);
  return m::fma(k, m::lit<T>(1.90465421e-09), m::fma(k, m::lit<T>(-0.693147182), x));
}

// exp(r) - 1 for a reduced r, and (exp(r) - 1 - r) / r^2.
template <typename T>
MLX_SCALAR_FN T expm1_quotient(T r) {
  return poly(r, 0.5, 0.166666359, 0.0416665114, 0.00834151078, 0.00139305415, 0.000150447508);
}
template <typename T>
MLX_SCALAR_FN T expm1_reduced(T r) {
  return m::fma(r * r, expm1_quotient(r), r);
}

// p * 2^n for n in [-252, 254], in two halves: results near the ends of the range round once.
template <typename T>
MLX_SCALAR_FN T scale(T p, m::int_of<T> n) {
  m::int_of<T> half = n >> 1;
  return p * pow2<T>(half) * pow2<T>(n - half);
}

// Limits x where exp has long overflowed or vanished. A false comparison keeps x, so NaN survives.
template <typename T>
MLX_SCALAR_FN T exp_clamp(T x) {
  x = m::select(x > m::lit<T>(89), m::lit<T>(89), x);
  return m::select(x < m::lit<T>(-104.5), m::lit<T>(-104.5), x);
}

template <typename T>
MLX_SCALAR_FN T exp32(T x) {
  m::int_of<T> n;
  T r = exp_reduce(exp_clamp(x), n);
  return scale(m::lit<T>(1) + expm1_reduced(r), n);
}

// (exp(x) - 1) / 2 for -20 < x < 90: the half does not overflow before sinh does.
template <typename T>
MLX_SCALAR_FN T half_expm1(T x) {
  m::int_of<T> n;
  T e = expm1_reduced(exp_reduce(x, n));
  T t = pow2<T>(n - 2), h = m::fma(t, e, t - m::lit<T>(0.25));
  return h + h;
}

template <typename T>
MLX_SCALAR_FN T expm132(T x) {
  T clamped = m::select(x > m::lit<T>(89), m::lit<T>(89), x);
  clamped = m::select(x < m::lit<T>(-19), m::lit<T>(-19), clamped);
  T h = half_expm1(clamped);
  return m::select(m::abs(x) < m::lit<T>(1e-9), x, h + h);
}

// x = 2^e (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), for positive finite x.
template <typename T>
MLX_SCALAR_FN T log_reduce(T x, m::int_of<T>& e) {
  m::mask_of<T> subnormal = x < m::lit<T>(1.17549435e-38);
  x = m::select(subnormal, x * m::lit<T>(8388608), x);
  m::int_of<T> i = m::offset(m::bits(x), -0x3f3504f3);
  e = (i >> 23) - m::select(subnormal, m::int_of<T>() + 23, m::int_of<T>());
  return m::from_bits((i & 0x7fffff) + 0x3f3504f3) - m::lit<T>(1);
}

// y with log(1 + f) = f + y for a reduced f.
template <typename T>
MLX_SCALAR_FN T log_tail(T f) {
  T p = poly(f, 0.333333313, -0.250008225, 0.200012624, -0.166233242, 0.142008573, -0.131594345,
             0.127668947, -0.0764258727);
  return f * f * m::fma(f, p, m::lit<T>(-0.5));
}

// The values of a logarithm outside (0, inf).
template <typename T>
MLX_SCALAR_FN T log_edges(T x, T y) {
  T zero = m::lit<T>(0);
  T edge = m::select(x == zero, -infinity<T>(), m::select(x < zero, quiet_nan<T>(), x));
  return m::select((x > zero) & (x < infinity<T>()), y, edge);
}

template <typename T>
MLX_SCALAR_FN T log32(T x) {
  m::int_of<T> n;
  T f = log_reduce(x, n);
  T e = m::to_real(n);
  T y = m::fma(e, m::lit<T>(-1.90465421e-09), log_tail(f));
  return log_edges(x, m::fma(e, m::lit<T>(0.693147182), f + y));
}

template <typename T>
MLX_SCALAR_FN T log2_32(T x) {
  m::int_of<T> n;
  T f = log_reduce(x, n), y = log_tail(f);
  T high = m::lit<T>(1.44269502), low = m::lit<T>(1.92596303e-08);
  T r = m::fma(f, high, m::fma(f, low, y * high));
  return log_edges(x, m::to_real(n) + r);
}

template <typename T>
MLX_SCALAR_FN T log10_32(T x) {
  m::int_of<T> n;
  T f = log_reduce(x, n), y = log_tail(f), e = m::to_real(n);
  T high = m::lit<T>(0.434294492), low = m::lit<T>(-1.010305e-08);
  T r = m::fma(f, high, m::fma(f, low, m::fma(y, high, e * m::lit<T>(-1.43209888e-08))));
  return log_edges(x, m::fma(e, m::lit<T>(0.30103001), r));
}

// With 2^e the size of 1 + x, the fraction x 2^-e + (2^-e - 1) is exact, whatever was lost in 1 +
// x.
template <typename T>
MLX_SCALAR_FN T log1p32(T x) {
  T one = m::lit<T>(1);
  m::int_of<T> n = m::offset(m::bits(x + one), -0x3f3504f3) >> 23;
  T e = m::to_real(n);
  m::int_of<T> half = n >> 1;
  T a = pow2<T>(-half), b = pow2<T>(half - n);
  T f = m::fma(x * a, b, a * b - one);
  T y = m::fma(e, m::lit<T>(-1.90465421e-09), log_tail(f));
  T r = m::fma(e, m::lit<T>(0.693147182), f + y);
  r = m::select(m::abs(x) < m::lit<T>(1e-9), x, r);
  T edge = m::select(x == -one, -infinity<T>(), m::select(x < -one, quiet_nan<T>(), x));
  return m::select((x > -one) & (x < infinity<T>()), r, edge);
}

// Bits [32 i, 32 i + 32) of 2/pi after 32 zeros.
MLX_SCALAR_FN uint32_t two_over_pi(int i) {
  return i == 0   ? 0u
         : i == 1 ? 0xA2F9836Eu
         : i == 2 ? 0x4E441529u
         : i == 3 ? 0xFC2757D1u
         : i == 4 ? 0xF534DDC0u
         : i == 5 ? 0xDB629599u
         : i == 6 ? 0x3C439041u
         : i == 7 ? 0xFE5163ABu
                  : 0xDEBBC561u;
}

// Payne-Hanek for |x| > 8192 (finite): x = q pi/2 + r. The product of x's 24 bits with the 96 bits
// of 2/pi that matter is kept modulo 4 as a 64-bit fraction.
struct ReduceLarge {
  MLX_SCALAR_FN void at(float x, float, float& r, int32_t& q) {
    int32_t u = m::bits(x);
    int offset = int((u >> 23) & 0xff) - 120, word = offset >> 5, shift = offset & 31;
    uint64_t mantissa = uint64_t((u & 0x7fffff) | 0x800000);
    uint64_t w0 = (uint64_t(two_over_pi(word)) << 32) | two_over_pi(word + 1);
    uint64_t w1 = (uint64_t(two_over_pi(word + 1)) << 32) | two_over_pi(word + 2);
    uint64_t w2 = (uint64_t(two_over_pi(word + 2)) << 32) | two_over_pi(word + 3);
    uint64_t p0 = (w0 << shift) >> 32, p1 = (w1 << shift) >> 32, p2 = (w2 << shift) >> 32;
    uint64_t turn = (mantissa * p0 << 32) + mantissa * p1 + (mantissa * p2 >> 32);
    uint64_t quadrant = (turn + (uint64_t(1) << 61)) >> 62;
    // The fraction times pi/2 2^-62, both in two floats.
    int64_t fraction = int64_t(turn - (quadrant << 62));
    float high = float(fraction), low = float(fraction - int64_t(high));
    r = m::fma(high, 3.40612167e-19f, m::fma(low, 3.40612167e-19f, high * -9.47839643e-27f));
    q = int32_t(quadrant & 3);
  }
};

// |x| = q pi/2 + r with |r| <= pi/4; x at least 0. Infinity and NaN give NaN.
template <typename T>
MLX_SCALAR_FN T trig_reduce(T x, m::int_of<T>& q) {
  m::mask_of<T> large = (x > m::lit<T>(10000)) & (x < infinity<T>());
  T k = nearest(m::select(large, m::lit<T>(0), x) * m::lit<T>(0.636619747), q);
  // The first step is exact; the low parts meet before the only rounding that counts.
  T r0 = m::fma(k, m::lit<T>(-1.57079637), x);
  T p = k * m::lit<T>(-4.37113883e-08);
  T e = m::fma(k, m::lit<T>(-4.37113883e-08), -p);
  T r1 = r0 - p;
  T low = ((r0 - r1) - p) - e;
  T r = r1 + m::fma(k, m::lit<T>(1.71512451e-15), low);
  if (m::any(large)) m::each_lane<ReduceLarge>(large, x, x, r, q);
  return r;
}

template <typename T>
MLX_SCALAR_FN T sin_reduced(T r) {
  T z = r * r;
  return m::fma(r * z, poly(z, -0.166666552, 0.00833218917, -0.000195182743), r);
}
template <typename T>
MLX_SCALAR_FN T cos_reduced(T r) {
  T z = r * r;
  return m::fma(z * z, poly(z, 0.0416666456, -0.00138873095, 2.44323273e-05),
                m::fma(z, m::lit<T>(-0.5), m::lit<T>(1)));
}

// Puts bit 1 of q into the sign of y.
template <typename T>
MLX_SCALAR_FN T turn_sign(T y, m::int_of<T> q) {
  return m::from_bits(m::bits(y) ^ m::shift_left(q & 2, 30));
}
// Changes y's sign where x is negative.
template <typename T>
MLX_SCALAR_FN T times_sign(T y, T x) {
  return m::from_bits(m::bits(y) ^ (m::bits(x) & int32_t(0x80000000u)));
}

template <typename T>
MLX_SCALAR_FN void sincos32(T x, T& s, T& c) {
  m::int_of<T> q;
  T r = trig_reduce(m::abs(x), q);
  T sr = sin_reduced(r), cr = cos_reduced(r);
  m::mask_of<T> odd = (q & 1) != 0;
  s = times_sign(turn_sign(m::select(odd, cr, sr), q), x);
  c = turn_sign(m::select(odd, sr, cr), q + 1);
}

template <typename T>
MLX_SCALAR_FN T sin32(T x) {
  T s, c;
  sincos32(x, s, c);
  return s;
}
template <typename T>
MLX_SCALAR_FN T cos32(T x) {
  T s, c;
  sincos32(x, s, c);
  return c;
}
template <typename T>
MLX_SCALAR_FN T tan32(T x) {
  T s, c;
  sincos32(x, s, c);
  return s / c;
}

template <typename T>
MLX_SCALAR_FN T sinh32(T x) {
  T a = m::abs(x);
  T h = half_expm1(m::select(a > m::lit<T>(89.5), m::lit<T>(89.5), a));
  T y = h + h / (h + h + m::lit<T>(1));
  y = m::select(h < infinity<T>(), y, h);
  return m::copysign(m::select(a < m::lit<T>(1e-9), a, y), x);
}
template <typename T>
MLX_SCALAR_FN T cosh32(T x) {
  T a = m::abs(x);
  m::int_of<T> n;
  T r = exp_reduce(m::select(a > m::lit<T>(90), m::lit<T>(90), a), n);
  T h = scale(m::lit<T>(1) + expm1_reduced(r), n - 1);
  return h + m::lit<T>(0.25) / h;
}
template <typename T>
MLX_SCALAR_FN T tanh32(T x) {
  T a = m::abs(x), z = x * x;
  T small = m::fma(
      a * z, poly(z, -0.333333164, 0.133325443, -0.0538475476, 0.0210513491, -0.00624536537), a);
  T h = half_expm1(m::select(a > m::lit<T>(10), m::lit<T>(20), a + a));
  T y = h / (h + m::lit<T>(1));
  return m::copysign(m::select(a < m::lit<T>(0.55), small, y), x);
}

// asin(s) for 0 <= s <= 1/2.
template <typename T>
MLX_SCALAR_FN T asin_reduced(T s, T z) {
  return m::fma(s * z, poly(z, 0.166667521, 0.0749530941, 0.0454691537, 0.0241847429, 0.0421583876),
                s);
}
template <typename T>
MLX_SCALAR_FN T asin32(T x) {
  T a = m::abs(x), half = m::lit<T>(0.5);
  m::mask_of<T> large = a > half;
  T z = m::select(large, (m::lit<T>(1) - a) * half, a * a);
  T p = asin_reduced(m::select(large, m::sqrt(z), a), z);
  T y = m::lit<T>(1.57079637) - (p + p + m::lit<T>(4.37113883e-08));
  return m::copysign(m::select(large, y, p), x);
}
template <typename T>
MLX_SCALAR_FN T acos32(T x) {
  T a = m::abs(x), half = m::lit<T>(0.5);
  m::mask_of<T> large = a > half, negative = x < m::lit<T>(0);
  T z = m::select(large, (m::lit<T>(1) - a) * half, a * a);
  T p = asin_reduced(m::select(large, m::sqrt(z), a), z);
  T near_one =
      m::select(negative, m::lit<T>(3.14159274) - (p + p + m::lit<T>(8.74227766e-08)), p + p);
  T signed_p = m::select(negative, -p, p);
  return m::select(large, near_one, m::lit<T>(1.57079637) - (signed_p + m::lit<T>(4.37113883e-08)));
}

// atan(t) for 0 <= t <= 1.
template <typename T>
MLX_SCALAR_FN T atan_reduced(T t) {
  T z = t * t;
  return m::fma(t * z,
                poly(z, -0.333331525, 0.199937671, -0.14211002, 0.106657699, -0.0755166486,
                     0.0432048291, -0.0163632836, 0.00291945459),
                t);
}
template <typename T>
MLX_SCALAR_FN T atan32(T x) {
  T a = m::abs(x), one = m::lit<T>(1);
  m::mask_of<T> large = a > one;
  T p = atan_reduced(m::select(large, one / a, a));
  return m::copysign(m::select(large, m::lit<T>(1.57079637) - (p + m::lit<T>(4.37113883e-08)), p),
                     x);
}
template <typename T>
MLX_SCALAR_FN T atan2_32(T y, T x) {
  T ax = m::abs(x), ay = m::abs(y), zero = m::lit<T>(0);
  m::mask_of<T> steep = ay > ax;
  T small = m::select(steep, ax, ay), big = m::select(steep, ay, ax);
  // Equal sizes are 0/0, inf/inf or 1.
  T t = m::select(small == big, m::select(big == zero, zero, m::lit<T>(1)), small / big);
  T p = atan_reduced(t);
  p = m::select(steep, m::lit<T>(1.57079637) - (p + m::lit<T>(4.37113883e-08)), p);
  p = m::select(m::bits(x) < 0, m::lit<T>(3.14159274) - (p + m::lit<T>(8.74227766e-08)), p);
  return m::copysign(p, y);
}

template <typename T>
MLX_SCALAR_FN T asinh32(T x) {
  T a = m::abs(x), one = m::lit<T>(1), zero = m::lit<T>(0);
  m::mask_of<T> large = a > m::lit<T>(1e9);
  T t = m::select(large, a, a + a * a / (one + m::sqrt(m::fma(a, a, one))));
  T y = log1p32(t) + m::select(large, m::lit<T>(0.693147182), zero);
  return m::copysign(m::select(a < m::lit<T>(1e-9), a, y), x);
}
template <typename T>
MLX_SCALAR_FN T acosh32(T x) {
  T one = m::lit<T>(1), zero = m::lit<T>(0);
  m::mask_of<T> large = x > m::lit<T>(1e9);
  T t = x - one;
  T y = log1p32(m::select(large, x, t + m::sqrt(m::fma(t, t, t + t))));
  y = y + m::select(large, m::lit<T>(0.693147182), zero);
  return m::select(x < one, quiet_nan<T>(), y);
}
template <typename T>
MLX_SCALAR_FN T atanh32(T x) {
  T a = m::abs(x);
  T y = m::lit<T>(0.5) * log1p32((a + a) / (m::lit<T>(1) - a));
  return m::copysign(m::select(a < m::lit<T>(1e-9), a, y), x);
}

template <typename T>
MLX_SCALAR_FN T erf32(T x) {
  T a = m::abs(x), z = x * x;
  T small = m::fma(
      a,
      poly(z, 0.128379151, -0.376125008, 0.11281877, -0.0267685801, 0.00499585317, -0.000600379426),
      a);
  T b = m::select(a > m::lit<T>(4), m::lit<T>(4), a);
  T q = poly(b, 0.128551751, 0.635625243, 0.105262779, -0.022674242, 0.00293023279, -4.96174252e-05,
             -4.55745903e-05, 4.93763218e-06);
  m::int_of<T> n;
  T r = exp_reduce(-m::fma(b, q, b), n);
  T e = m::fma(pow2<T>(n), expm1_reduced(r), pow2<T>(n));
  return m::copysign(m::select(a < m::lit<T>(0.92), small, m::lit<T>(1) - e), x);
}

// Giles' single precision approximation; random normal numbers depend on these very coefficients.
template <typename T>
MLX_SCALAR_FN T erfinv32(T a) {
  T t = log32(m::fma(a, -a, m::lit<T>(1)));
  T tail = poly(t, 8.40016484e-1, -2.64646143e-1, 4.83185798e-3, 3.02698812e-3, 3.93552968e-4,
                2.84108955e-5, 1.22150334e-6, 2.93243101e-8, 3.03697567e-10);
  T middle = poly(t, 8.86226892e-1, -2.32015476e-1, 1.15392581e-2, 2.31468678e-3, -1.47697632e-4,
                  -5.61530760e-5, 1.12963626e-7, 1.22774793e-6, 1.43285448e-7, 5.43877832e-9);
  return a * m::select(m::abs(t) > m::lit<T>(6.125), tail, middle);
}

// log(a) of a positive finite a as high + low, about 32 bits right.
template <typename T>
MLX_SCALAR_FN T log_extended(T a, T& low) {
  m::int_of<T> n;
  T f = log_reduce(a, n), e = m::to_real(n), two = m::lit<T>(2);
  T d = f + two, d_low = f - (d - two);
  T inverse = m::lit<T>(1) / d, s = f * inverse;
  T rest = m::fma(-s, d_low, m::fma(-s, d, f)) * inverse;
  T z = s * s;
  T p = s * z * poly(z, 0.666666627, 0.400009751, 0.284984857, 0.242862329);
  // 16 bits of ln2: the product with e is exact, and larger than 2 s unless it is zero.
  T main = e * m::lit<T>(0.693145751953125), sum = main + (s + s);
  T lost = (s + s) - (sum - main);
  T tail = lost + m::fma(e, m::lit<T>(1.42860677e-06), p);
  T high = sum + tail;
  // The slope of the function at s is 2 / (1 - s^2).
  low = m::fma(rest, m::fma(two, z, two), tail - (high - sum));
  return high;
}

// exp(x + low) 2^-n with the sum 1 + r carried exactly: close to half a unit, so that exact powers
// come out exact.
template <typename T>
MLX_SCALAR_FN T exp_extended(T x, T low, m::int_of<T>& n) {
  T one = m::lit<T>(1), k = nearest(x * m::lit<T>(1.44269502), n);
  T main = m::fma(k, m::lit<T>(-0.693147182), x);
  T rest = m::fma(k, m::lit<T>(1.90465421e-09), low), r = main + rest;
  T tail = m::fma(r * r, expm1_quotient(r), rest), sum = one + main;
  return sum + (tail + (main - (sum - one)));
}

template <typename T>
MLX_SCALAR_FN T pow32(T x, T y) {
  T zero = m::lit<T>(0), one = m::lit<T>(1), inf = infinity<T>(), a = m::abs(x);
  T low, high = log_extended(a, low);
  m::mask_of<T> inside = (a > zero) & (a < inf);
  high = m::select(inside, high, m::select(a == zero, -inf, a));  // inf and NaN stay
  low = m::select(inside, low, zero);
  T product = y * high;
  T rest = m::fma(y, low, m::fma(y, high, -product));
  rest = m::select(m::abs(product) < m::lit<T>(200), rest, zero);
  product = m::select((a == one) & (y == y), zero, product);
  m::int_of<T> n;
  T p = exp_extended(exp_clamp(product), rest, n), result = scale(p, n);
  T half = y * m::lit<T>(0.5);
  m::mask_of<T> whole = m::trunc(y) == y;
  m::mask_of<T> odd = whole & (m::trunc(half) != half);
  result = m::select(odd, times_sign(result, x), result);
  m::mask_of<T> undefined = (x < zero) & (a < inf) & m::negate(whole) & (y == y);
  result = m::select(undefined, quiet_nan<T>(), result);
  return m::select((y == zero) | (x == one), one, result);
}

// The exact remainder of |x| by |y| with long division, 40 bits at a time, for quotients beyond
// float's integers.
struct LongRemainder {
  MLX_SCALAR_FN void at(float x, float y, float& r, int32_t&) {
    int32_t ux = m::bits(x) & 0x7fffffff, uy = m::bits(y) & 0x7fffffff;
    int ex = int(ux >> 23), ey = int(uy >> 23);
    uint64_t mx = uint64_t(ex == 0 ? ux : ((ux & 0x7fffff) | 0x800000));
    uint64_t my = uint64_t(ey == 0 ? uy : ((uy & 0x7fffff) | 0x800000));
    int shift = (ex == 0 ? 1 : ex) - (ey == 0 ? 1 : ey);
    mx %= my;
    for (; shift > 0; shift -= 40) mx = (mx << (shift < 40 ? shift : 40)) % my;
    // The remainder counts units of y's last place: exact, in two exact steps when those units are
    // subnormal.
    int unit = (ey == 0 ? 1 : ey) - 150, half = unit >> 1;
    r = float(uint32_t(mx)) * pow2<float>(half) * pow2<float>(unit - half);
  }
};

// Remainder with the sign of the divisor.
template <typename T>
MLX_SCALAR_FN T remainder32(T x, T y) {
  T ax = m::abs(x), ay = m::abs(y), zero = m::lit<T>(0);
  T quotient = ax / ay;
  m::mask_of<T> finite = (ax < infinity<T>()) & (ay < infinity<T>()) & (ay > zero);
  m::mask_of<T> large = finite & (quotient > m::lit<T>(4194304));
  T r = m::fma(-m::trunc(quotient), ay, ax);
  r = m::select(r < zero, r + ay, r);  // the quotient was rounded up to the next integer
  m::int_of<T> unused = m::bits(r);
  if (m::any(large)) m::each_lane<LongRemainder>(large, ax, ay, r, unused);
  r = m::select(finite, r,
                m::select((ax < infinity<T>()) & (ay == infinity<T>()), ax, quiet_nan<T>()));
  r = m::select((x == x) & (y == y), r, x + y);
  m::mask_of<T> differ = (m::bits(x) ^ m::bits(y)) < 0;
  r = m::select(differ & (r != zero), ay - r, r);
  return m::copysign(r, y);
}

// The rows' names for float32.
template <typename T>
MLX_SCALAR_FN T exp(T x, m::Real32) {
  return exp32(x);
}
template <typename T>
MLX_SCALAR_FN T expm1(T x, m::Real32) {
  return expm132(x);
}
template <typename T>
MLX_SCALAR_FN T log(T x, m::Real32) {
  return log32(x);
}
template <typename T>
MLX_SCALAR_FN T log2(T x, m::Real32) {
  return log2_32(x);
}
template <typename T>
MLX_SCALAR_FN T log10(T x, m::Real32) {
  return log10_32(x);
}
template <typename T>
MLX_SCALAR_FN T log1p(T x, m::Real32) {
  return log1p32(x);
}
template <typename T>
MLX_SCALAR_FN T sin(T x, m::Real32) {
  return sin32(x);
}
template <typename T>
MLX_SCALAR_FN T cos(T x, m::Real32) {
  return cos32(x);
}
template <typename T>
MLX_SCALAR_FN T tan(T x, m::Real32) {
  return tan32(x);
}
template <typename T>
MLX_SCALAR_FN T sinh(T x, m::Real32) {
  return sinh32(x);
}
template <typename T>
MLX_SCALAR_FN T cosh(T x, m::Real32) {
  return cosh32(x);
}
template <typename T>
MLX_SCALAR_FN T tanh(T x, m::Real32) {
  return tanh32(x);
}
template <typename T>
MLX_SCALAR_FN T asin(T x, m::Real32) {
  return asin32(x);
}
template <typename T>
MLX_SCALAR_FN T acos(T x, m::Real32) {
  return acos32(x);
}
template <typename T>
MLX_SCALAR_FN T atan(T x, m::Real32) {
  return atan32(x);
}
template <typename T>
MLX_SCALAR_FN T asinh(T x, m::Real32) {
  return asinh32(x);
}
template <typename T>
MLX_SCALAR_FN T acosh(T x, m::Real32) {
  return acosh32(x);
}
template <typename T>
MLX_SCALAR_FN T atanh(T x, m::Real32) {
  return atanh32(x);
}
template <typename T>
MLX_SCALAR_FN T erf(T x, m::Real32) {
  return erf32(x);
}
template <typename T>
MLX_SCALAR_FN T erfinv(T x, m::Real32) {
  return erfinv32(x);
}
template <typename T>
MLX_SCALAR_FN T power(T x, T y, m::Real32) {
  return pow32(x, y);
}
template <typename T>
MLX_SCALAR_FN T arctan2(T x, T y, m::Real32) {
  return atan2_32(x, y);
}
template <typename T>
MLX_SCALAR_FN T remainder(T x, T y, m::Real32) {
  return remainder32(x, y);
}

}  // namespace impl
}  // namespace scalar
}  // namespace core
}  // namespace mlx
