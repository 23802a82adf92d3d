// Element types that have no portable built-in form: float16, bfloat16, complex64, as plain
// structs. C++14 subset, no host-only headers: host compilers, nvcc, NVRTC and Metal read this
// text.
#pragma once

#if !defined(MLX_TYPES_NO_STDINT)
#include <stdint.h>
#endif

#if defined(__CUDACC__)
#define MLX_TYPE_FN __host__ __device__ inline
#elif !defined(MLX_TYPE_FN)
#define MLX_TYPE_FN inline
#endif

namespace mlx {
namespace core {

struct float16_t {
  uint16_t bits;
};

struct bfloat16_t {
  uint16_t bits;
};

struct complex64_t {
  float re;
  float im;
};

union FloatBits {
  float value;
  uint32_t bits;
};

MLX_TYPE_FN uint32_t float_bits(float x) {
  FloatBits u;
  u.value = x;
  return u.bits;
}

MLX_TYPE_FN float bits_float(uint32_t x) {
  FloatBits u;
  u.bits = x;
  return u.value;
}

MLX_TYPE_FN float to_float(bfloat16_t x) { return bits_float(uint32_t(x.bits) << 16); }

// Round to nearest even; NaN stays a quiet NaN, where it is computed in integers one of the same
// sign and upper payload.
MLX_TYPE_FN bfloat16_t to_bfloat16(float x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  uint32_t pair;  // the instruction for pairs is the faster one
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(0.0f), "f"(x));
  bfloat16_t y;
  y.bits = uint16_t(pair);
  return y;
#else
  uint32_t u = float_bits(x);
  bfloat16_t r;
  if ((u & 0x7fffffffu) > 0x7f800000u) {
    r.bits = uint16_t((u >> 16) | 0x40u);
  } else {
    r.bits = uint16_t((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
  }
  return r;
#endif
}

MLX_TYPE_FN float to_float(float16_t h) {
#if defined(__CUDA_ARCH__)
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(h.bits));
  return y;
#else
  uint32_t sign = uint32_t(h.bits & 0x8000u) << 16;
  uint32_t exponent = (h.bits >> 10) & 0x1fu;
  uint32_t mantissa = h.bits & 0x3ffu;
  if (exponent == 0x1fu) {
    uint32_t quiet = mantissa != 0 ? 0x400000u : 0u;  // as the instructions do it
    return bits_float(sign | 0x7f800000u | quiet | (mantissa << 13));
  }
  if (exponent == 0) {
    // Subnormal: the value is mantissa * 2^-24, exact in float32.
    float v = float(mantissa) * 5.9604644775390625e-8f;
    return bits_float(float_bits(v) | sign);
  }
  return bits_float(sign | ((exponent + 112u) << 23) | (mantissa << 13));
#endif
}

// Round to nearest even; overflow gives infinity.
MLX_TYPE_FN float16_t to_float16(float x) {
#if defined(__CUDA_ARCH__)
  float16_t y;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
  return y;
#else
  uint32_t u = float_bits(x);
  uint32_t sign = (u >> 16) & 0x8000u;
  uint32_t magnitude = u & 0x7fffffffu;
  float16_t r;
  if (magnitude > 0x7f800000u) {
    r.bits = uint16_t(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  } else if (magnitude >= 0x477ff000u) {  // 65520 and above round to infinity
    r.bits = uint16_t(sign | 0x7c00u);
  } else if (magnitude < 0x38800000u) {  // below 2^-14: subnormal, let the adder round
    float v = bits_float(magnitude) + 0.5f;
    r.bits = uint16_t(sign | (float_bits(v) - 0x3f000000u));
  } else {
    uint32_t odd = (magnitude >> 13) & 1u;
    r.bits = uint16_t(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
  }
  return r;
#endif
}

}  // namespace core
}  // namespace mlx
