// The scalar dialect of scalar.h for the compilers of the host and of NVIDIA GPUs: T is one element
// (float, double, an integer, bool or complex64_t). A dialect is brought before scalar.h and
// defines MLX_SCALAR_FN, the kinds and the `m::` functions.
#pragma once

#include "mlx/types.h"

#if defined(__CUDACC__)
#define MLX_SCALAR_FN static __host__ __device__ __forceinline__
#else
#define MLX_SCALAR_FN static inline __attribute__((always_inline))
#endif
#define MLX_HAS_DOUBLE 1
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wbitwise-instead-of-logical"  // masks of scalars are bools
#endif

#if !defined(MLX_TYPES_NO_STDINT)
#include <math.h>
#include <string.h>
#endif

namespace mlx {
namespace core {
namespace m {

// Constants are written as `literal`, the widest type of the device, and rounded once by lit<T>.
typedef double literal;

// What arithmetic a type follows; rows are overloaded on it.
struct Real {};
struct Real32 : Real {};
struct Real64 : Real {};
struct Integer {};
struct Signed : Integer {};
struct Unsigned : Integer {};
struct Boolean {};
struct Complex {};
struct Half {
};  // float16_t, bfloat16_t: only convert<>() takes them, all arithmetic is done in float

// kind: as above. real: the type of a complex value's parts. wide: the unsigned type whose wrapping
// arithmetic serves T. integer: the integers as wide as a float. mask: what comparisons give.
template <typename Kind, typename Real, typename Wide>
struct Scalar {
  typedef Kind kind;
  typedef Real real;
  typedef Wide wide;
  typedef int32_t integer;
  typedef bool mask;
};
template <typename T>
struct Traits;
template <>
struct Traits<float> : Scalar<Real32, float, uint32_t> {};
template <>
struct Traits<double> : Scalar<Real64, double, uint64_t> {};
template <>
struct Traits<bool> : Scalar<Boolean, bool, uint32_t> {};
template <>
struct Traits<int8_t> : Scalar<Signed, int8_t, uint32_t> {};
template <>
struct Traits<uint8_t> : Scalar<Unsigned, uint8_t, uint32_t> {};
template <>
struct Traits<int16_t> : Scalar<Signed, int16_t, uint32_t> {};
template <>
struct Traits<uint16_t> : Scalar<Unsigned, uint16_t, uint32_t> {};
template <>
struct Traits<int32_t> : Scalar<Signed, int32_t, uint32_t> {};
template <>
struct Traits<uint32_t> : Scalar<Unsigned, uint32_t, uint32_t> {};
template <>
struct Traits<int64_t> : Scalar<Signed, int64_t, uint64_t> {};
template <>
struct Traits<uint64_t> : Scalar<Unsigned, uint64_t, uint64_t> {};
template <>
struct Traits<complex64_t> : Scalar<Complex, float, uint64_t> {};
template <>
struct Traits<float16_t> : Scalar<Half, float, uint32_t> {};
template <>
struct Traits<bfloat16_t> : Scalar<Half, float, uint32_t> {};

template <typename T>
using int_of = typename Traits<T>::integer;
template <typename T>
using mask_of = typename Traits<T>::mask;
template <typename T>
using real_of = typename Traits<T>::real;
template <typename T>
using wide_of = typename Traits<T>::wide;
template <typename T>
MLX_SCALAR_FN typename Traits<T>::kind kind() {
  return typename Traits<T>::kind();
}

template <typename T>
MLX_SCALAR_FN T lit(literal c) {
  return T(c);
}
template <typename T>
MLX_SCALAR_FN T make(float re, float im) {
  T z = {re, im};
  return z;
}

// Masks combine with & and |.
MLX_SCALAR_FN bool negate(bool x) { return !x; }
MLX_SCALAR_FN bool any(bool x) { return x; }
template <typename T>
MLX_SCALAR_FN T select(bool c, T a, T b) {
  return c ? a : b;
}

MLX_SCALAR_FN int32_t bits(float x) { return int32_t(float_bits(x)); }
MLX_SCALAR_FN float from_bits(int32_t x) { return bits_float(uint32_t(x)); }
// A sum and a shift to the left that wrap.
MLX_SCALAR_FN int32_t offset(int32_t x, int32_t n) { return int32_t(uint32_t(x) + uint32_t(n)); }
MLX_SCALAR_FN int32_t shift_left(int32_t x, int n) { return int32_t(uint32_t(x) << n); }
MLX_SCALAR_FN float to_real(int32_t x) { return float(x); }

#if defined(__CUDA_ARCH__)
MLX_SCALAR_FN float fma(float a, float b, float c) { return __fmaf_rn(a, b, c); }
MLX_SCALAR_FN float sqrt(float x) { return __fsqrt_rn(x); }
#else
MLX_SCALAR_FN float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
MLX_SCALAR_FN float sqrt(float x) { return __builtin_sqrtf(x); }
#endif
MLX_SCALAR_FN float abs(float x) { return bits_float(float_bits(x) & 0x7fffffffu); }
MLX_SCALAR_FN float copysign(float x, float sign) {
  return bits_float((float_bits(x) & 0x7fffffffu) | (float_bits(sign) & 0x80000000u));
}
MLX_SCALAR_FN float floor(float x) { return ::floorf(x); }
MLX_SCALAR_FN float ceil(float x) { return ::ceilf(x); }
MLX_SCALAR_FN float trunc(float x) { return ::truncf(x); }
MLX_SCALAR_FN float rint(float x) { return ::rintf(x); }

// Runs a scalar function f(x, y, &a, &b) on the lanes of a mask that is set somewhere.
template <typename F>
MLX_SCALAR_FN void each_lane(bool set, float x, float y, float& a, int32_t& b) {
  if (set) F::at(x, y, a, b);
}

// Truncated quotient, b neither 0 nor -1. Narrow types go through floating division, which is exact
// for them and vectorises.
template <typename T>
MLX_SCALAR_FN T quotient(T a, T b) {
#if defined(__CUDA_ARCH__)
  return T(a / b);
#else
  return sizeof(T) <= 2   ? T(int32_t(float(a) / float(b)))
         : sizeof(T) == 8 ? T(a / b)
         : T(-1) < T(0)   ? T(int32_t(double(a) / double(b)))
                          : T(int64_t(double(a) / double(b)));
#endif
}

// float64: the library of the device.
MLX_SCALAR_FN double abs(double x) { return ::fabs(x); }
MLX_SCALAR_FN double copysign(double x, double y) { return ::copysign(x, y); }
MLX_SCALAR_FN double sqrt(double x) { return ::sqrt(x); }
MLX_SCALAR_FN double floor(double x) { return ::floor(x); }
MLX_SCALAR_FN double ceil(double x) { return ::ceil(x); }
MLX_SCALAR_FN double trunc(double x) { return ::trunc(x); }
MLX_SCALAR_FN double rint(double x) { return ::rint(x); }
MLX_SCALAR_FN double exp(double x) { return ::exp(x); }
MLX_SCALAR_FN double expm1(double x) { return ::expm1(x); }
MLX_SCALAR_FN double log(double x) { return ::log(x); }
MLX_SCALAR_FN double log2(double x) { return ::log2(x); }
MLX_SCALAR_FN double log10(double x) { return ::log10(x); }
MLX_SCALAR_FN double log1p(double x) { return ::log1p(x); }
MLX_SCALAR_FN double sin(double x) { return ::sin(x); }
MLX_SCALAR_FN double cos(double x) { return ::cos(x); }
MLX_SCALAR_FN double tan(double x) { return ::tan(x); }
MLX_SCALAR_FN double sinh(double x) { return ::sinh(x); }
MLX_SCALAR_FN double cosh(double x) { return ::cosh(x); }
MLX_SCALAR_FN double tanh(double x) { return ::tanh(x); }
MLX_SCALAR_FN double asin(double x) { return ::asin(x); }
MLX_SCALAR_FN double acos(double x) { return ::acos(x); }
MLX_SCALAR_FN double atan(double x) { return ::atan(x); }
MLX_SCALAR_FN double asinh(double x) { return ::asinh(x); }
MLX_SCALAR_FN double acosh(double x) { return ::acosh(x); }
MLX_SCALAR_FN double atanh(double x) { return ::atanh(x); }
MLX_SCALAR_FN double erf(double x) { return ::erf(x); }
MLX_SCALAR_FN double erfc(double x) { return ::erfc(x); }
MLX_SCALAR_FN double pow(double x, double y) { return ::pow(x, y); }
MLX_SCALAR_FN double atan2(double y, double x) { return ::atan2(y, x); }
MLX_SCALAR_FN double fmod(double x, double y) { return ::fmod(x, y); }

}  // namespace m
}  // namespace core
}  // namespace mlx
