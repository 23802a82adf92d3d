// The SIMD dialect of scalar.h: T is a vector of floats or a pair of them for complex values.
// Scalars keep scalar_dialect.h.
#pragma once

#include "backend/cpu/simd/vec.h"
#include "mlx/ops/elementwise/scalar_dialect.h"

namespace mlx {
namespace core {

namespace simd {
struct C {
  F re, im;
};
}  // namespace simd

namespace m {

template <typename Kind>
struct Vector {
  typedef Kind kind;
  typedef simd::F real;
  typedef simd::I integer;
  typedef simd::I mask;
};
template <>
struct Traits<simd::F> : Vector<Real32> {};
template <>
struct Traits<simd::C> : Vector<Complex> {};

template <>
inline __attribute__((always_inline)) simd::F lit<simd::F>(literal c) {
  return simd::splat(float(c));
}
template <typename T>
MLX_SIMD_FN T make(simd::F re, simd::F im) {
  T z = {re, im};
  return z;
}

MLX_SIMD_FN simd::I negate(simd::I mask) { return ~mask; }
MLX_SIMD_FN bool any(simd::I mask) { return simd::any(mask); }
MLX_SIMD_FN simd::F select(simd::I c, simd::F a, simd::F b) { return simd::select(c, a, b); }
MLX_SIMD_FN simd::I select(simd::I c, simd::I a, simd::I b) { return simd::select(c, a, b); }
MLX_SIMD_FN simd::I bits(simd::F x) { return (simd::I)x; }
MLX_SIMD_FN simd::F from_bits(simd::I x) { return (simd::F)x; }
MLX_SIMD_FN simd::I offset(simd::I x, int32_t n) { return x + n; }
MLX_SIMD_FN simd::I shift_left(simd::I x, int n) { return x << n; }
MLX_SIMD_FN simd::F to_real(simd::I x) { return __builtin_convertvector(x, simd::F); }

MLX_SIMD_FN simd::F fma(simd::F a, simd::F b, simd::F c) { return simd::fma(a, b, c); }
MLX_SIMD_FN simd::F sqrt(simd::F x) { return simd::sqrt(x); }
MLX_SIMD_FN simd::F abs(simd::F x) { return (simd::F)((simd::I)x & 0x7fffffff); }
MLX_SIMD_FN simd::F copysign(simd::F x, simd::F sign) {
  return (simd::F)(((simd::I)x & 0x7fffffff) | ((simd::I)sign & ~0x7fffffff));
}
MLX_SIMD_FN simd::F rint(simd::F x) { return simd::round<0>(x); }
MLX_SIMD_FN simd::F floor(simd::F x) { return simd::round<1>(x); }
MLX_SIMD_FN simd::F ceil(simd::F x) { return simd::round<2>(x); }
MLX_SIMD_FN simd::F trunc(simd::F x) { return simd::round<3>(x); }

// The rare lanes that need a long way, one by one; out of line, so that the common way stays short.
template <typename F>
static __attribute__((noinline)) void each_lane_of(const simd::I* set, const simd::F* x,
                                                   const simd::F* y, simd::F* a, simd::I* b) {
  for (int i = 0; i < simd::width; ++i) {
    if ((*set)[i] == 0) continue;
    float r = (*a)[i];
    int32_t k = (*b)[i];
    F::at((*x)[i], (*y)[i], r, k);
    (*a)[i] = r;
    (*b)[i] = k;
  }
}
template <typename F>
MLX_SIMD_FN void each_lane(simd::I set, simd::F x, simd::F y, simd::F& a, simd::I& b) {
  simd::F r = a;
  simd::I k = b;
  each_lane_of<F>(&set, &x, &y, &r, &k);
  a = r;
  b = k;
}

}  // namespace m

#if defined(__AVX512F__) && MLX_SIMD_BYTES == 64
// Steps of real_math.h that AVX-512 has an instruction for; the same bits as the templates there.
namespace scalar {
namespace impl {
MLX_SIMD_FN simd::F scale(simd::F p, simd::I n) { return simd::scale(p, n); }
MLX_SIMD_FN simd::F exp_clamp(simd::F x) {
  return simd::greatest_of(simd::splat(-104.5f), simd::least_of(simd::splat(89.0f), x));
}
}  // namespace impl
}  // namespace scalar
#endif

}  // namespace core
}  // namespace mlx
