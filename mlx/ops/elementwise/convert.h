// convert<To>(x): the conversions between element types, the same on every device. Floats outside
// an integer's range saturate and NaN gives 0; integers wrap; complex values lose their imaginary
// part; anything nonzero, NaN too, is true. float16 and bfloat16 are reached through float32; from
// float64 without rounding twice.
#pragma once

#include "mlx/ops/elementwise/scalar.h"

namespace mlx {
namespace core {
namespace scalar {
namespace impl {

MLX_SCALAR_FN void narrow(float x, float16_t& y) { y = to_float16(x); }
MLX_SCALAR_FN void narrow(float x, bfloat16_t& y) { y = to_bfloat16(x); }

// Real to integer. The bounds are powers of two, so they are exact in From; where lowest - 1 is
// not, both give lowest.
template <typename To, typename From>
MLX_SCALAR_FN To saturate(From x) {
  const int digits = int(8 * sizeof(To)) - (To(-1) < To(0) ? 1 : 0);
  From above = From(m::wide_of<To>(1) << (digits - 1)) * From(2);
  From below = To(-1) < To(0) ? -above - From(1) : From(-1);
  bool inside = (x > below) & (x < above);
  To y = To(m::select(inside, x, From(0)));
  return m::select(
      inside, y, m::select(x >= above, highest<To>(), m::select(x <= below, lowest<To>(), To(0))));
}

#if defined(MLX_HAS_DOUBLE)
// float64 to float32 towards zero with the lost digits left in the last bit: rounding that once
// more is exact.
MLX_SCALAR_FN float round_to_odd(double x) {
  float y = float(x);
  double rest = x - double(y);
  int32_t u = m::bits(y);
  bool lost = (rest > 0) | (rest < 0), outward = lost & ((rest > 0) == (x < 0));
  u -= int32_t(outward);
  return m::from_bits(u | int32_t(lost));
}
#endif

// The steps by kinds of the target (a tag) and of the source.
template <typename To, typename From, typename K>
MLX_SCALAR_FN To convert(From x, m::Boolean, K) {
  return truth(x, K());
}
template <typename To, typename From>
MLX_SCALAR_FN To convert(From x, m::Integer, m::Real) {
  return saturate<To>(x);
}
template <typename To, typename From>
MLX_SCALAR_FN To convert(From x, m::Integer, m::Integer) {
  return To(x);
}
template <typename To, typename From>
MLX_SCALAR_FN To convert(From x, m::Integer, m::Boolean) {
  return To(x);
}
template <typename To, typename From, typename K>
MLX_SCALAR_FN To convert(From x, m::Real, K) {
  return To(x);
}
template <typename To, typename From, typename K>
MLX_SCALAR_FN To convert(From x, m::Half, K) {
  To y;
  narrow(float(x), y);
  return y;
}
#if defined(MLX_HAS_DOUBLE)
template <typename To, typename From>
MLX_SCALAR_FN To convert(From x, m::Half, m::Real64) {
  To y;
  narrow(round_to_odd(x), y);
  return y;
}
#endif
template <typename To, typename From, typename K>
MLX_SCALAR_FN To convert(From x, m::Complex, K) {
  return m::make<To>(float(x), 0.0f);
}

template <typename From>
MLX_SCALAR_FN From widen(From x) {
  return x;
}
MLX_SCALAR_FN float widen(float16_t x) { return to_float(x); }
MLX_SCALAR_FN float widen(bfloat16_t x) { return to_float(x); }

// Complex sources: truth looks at both parts, everything else at the real one.
template <typename To>
struct FromComplex {
  MLX_SCALAR_FN To at(complex64_t z) { return convert<To>(z.re, m::kind<To>(), m::Real32()); }
};
template <>
struct FromComplex<bool> {
  MLX_SCALAR_FN bool at(complex64_t z) { return (z.re != 0) | (z.im != 0); }
};
template <>
struct FromComplex<complex64_t> {
  MLX_SCALAR_FN complex64_t at(complex64_t z) { return z; }
};

}  // namespace impl

template <typename To, typename From>
MLX_SCALAR_FN To convert(From x) {
  auto wide = impl::widen(x);
  return impl::convert<To>(wide, m::kind<To>(), m::kind<decltype(wide)>());
}
template <typename To>
MLX_SCALAR_FN To convert(complex64_t z) {
  return impl::FromComplex<To>::at(z);
}

}  // namespace scalar
}  // namespace core
}  // namespace mlx
