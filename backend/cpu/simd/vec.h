// The SIMD layer: vectors of MLX_SIMD_BYTES as GCC/Clang vector extensions, and the few
// instructions these lack (fused multiply-add, rounding, half-precision conversion), for the
// instruction set that the file is compiled for. Everything has internal linkage: the same source
// is compiled once per instruction set into one library.
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define MLX_SIMD_FN static inline __attribute__((always_inline))

namespace mlx {
namespace core {
namespace simd {

constexpr int width = MLX_SIMD_BYTES / 4;  // lanes of a float vector
typedef float F __attribute__((vector_size(MLX_SIMD_BYTES)));
typedef int32_t I __attribute__((vector_size(MLX_SIMD_BYTES)));
typedef uint32_t U __attribute__((vector_size(MLX_SIMD_BYTES)));
typedef uint16_t H
    __attribute__((vector_size(MLX_SIMD_BYTES / 2)));                // float16 or bfloat16 of one F
typedef uint8_t B __attribute__((vector_size(MLX_SIMD_BYTES / 4)));  // bools of one F

template <typename V, typename P>
MLX_SIMD_FN V load(const P* p) {
  V v;
  memcpy(&v, p, sizeof v);
  return v;
}
template <typename V, typename P>
MLX_SIMD_FN void store(P* p, V v) {
  memcpy(p, &v, sizeof v);
}

#if defined(__AVX512F__) && MLX_SIMD_BYTES == 64

MLX_SIMD_FN F sqrt(F x) { return (F)_mm512_sqrt_ps((__m512)x); }
MLX_SIMD_FN F fma(F a, F b, F c) { return (F)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c); }
template <int mode>
MLX_SIMD_FN F round(F x) {
  return (F)_mm512_roundscale_ps((__m512)x, mode | _MM_FROUND_NO_EXC);
}
MLX_SIMD_FN bool any(I mask) { return _mm512_test_epi32_mask((__m512i)mask, (__m512i)mask) != 0; }
MLX_SIMD_FN B mask_bytes(I mask) {
  return (B)_mm_maskz_set1_epi8(_mm512_movepi32_mask((__m512i)mask), 1);
}
MLX_SIMD_FN F widen_half(H h) { return (F)_mm512_cvtph_ps((__m256i)h); }
MLX_SIMD_FN H narrow_half(F x) { return (H)_mm512_cvtps_ph((__m512)x, _MM_FROUND_TO_NEAREST_INT); }
// x * 2^n, rounded once.
MLX_SIMD_FN F scale(F x, I n) {
  return (F)_mm512_scalef_ps((__m512)x, _mm512_cvtepi32_ps((__m512i)n));
}
// The second operand if either is NaN.
MLX_SIMD_FN F least_of(F a, F b) { return (F)_mm512_min_ps((__m512)a, (__m512)b); }
MLX_SIMD_FN F greatest_of(F a, F b) { return (F)_mm512_max_ps((__m512)a, (__m512)b); }
MLX_SIMD_FN U widen_bits(H h) { return (U)_mm512_cvtepu16_epi32((__m256i)h); }
MLX_SIMD_FN H narrow_bits(U x) { return (H)_mm512_cvtepi32_epi16((__m512i)x); }
MLX_SIMD_FN void split(F a, F b, F& even, F& odd) {
  const __m512i e = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
  even = (F)_mm512_permutex2var_ps((__m512)a, e, (__m512)b);
  odd = (F)_mm512_permutex2var_ps((__m512)a, _mm512_add_epi32(e, _mm512_set1_epi32(1)), (__m512)b);
}
MLX_SIMD_FN void join(F even, F odd, F& a, F& b) {
  const __m512i low = _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  a = (F)_mm512_permutex2var_ps((__m512)even, low, (__m512)odd);
  b = (F)_mm512_permutex2var_ps((__m512)even, _mm512_add_epi32(low, _mm512_set1_epi32(8)),
                                (__m512)odd);
}

#elif defined(__AVX2__) && MLX_SIMD_BYTES == 32

MLX_SIMD_FN F sqrt(F x) { return (F)_mm256_sqrt_ps((__m256)x); }
MLX_SIMD_FN F fma(F a, F b, F c) { return (F)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c); }
template <int mode>
MLX_SIMD_FN F round(F x) {
  return (F)_mm256_round_ps((__m256)x, mode | _MM_FROUND_NO_EXC);
}
MLX_SIMD_FN bool any(I mask) { return _mm256_movemask_ps((__m256)mask) != 0; }
MLX_SIMD_FN B mask_bytes(I mask) {
  __m128i low = _mm256_castsi256_si128((__m256i)mask),
          high = _mm256_extracti128_si256((__m256i)mask, 1);
  __m128i words = _mm_packs_epi32(low, high);
  int64_t bytes = _mm_cvtsi128_si64(_mm_packs_epi16(words, words)) & 0x0101010101010101;
  return load<B>(&bytes);
}
MLX_SIMD_FN F widen_half(H h) { return (F)_mm256_cvtph_ps((__m128i)h); }
MLX_SIMD_FN H narrow_half(F x) { return (H)_mm256_cvtps_ph((__m256)x, _MM_FROUND_TO_NEAREST_INT); }
MLX_SIMD_FN U widen_bits(H h) { return (U)_mm256_cvtepu16_epi32((__m128i)h); }
MLX_SIMD_FN H narrow_bits(U x) {
  __m128i low = _mm256_castsi256_si128((__m256i)x), high = _mm256_extracti128_si256((__m256i)x, 1);
  return (H)_mm_packus_epi32(low, high);
}
MLX_SIMD_FN void split(F a, F b, F& even, F& odd) {
  __m256d e = _mm256_castps_pd(_mm256_shuffle_ps((__m256)a, (__m256)b, 0x88));
  __m256d o = _mm256_castps_pd(_mm256_shuffle_ps((__m256)a, (__m256)b, 0xdd));
  even = (F)_mm256_permute4x64_pd(e, 0xd8);
  odd = (F)_mm256_permute4x64_pd(o, 0xd8);
}
MLX_SIMD_FN void join(F even, F odd, F& a, F& b) {
  __m256 low = _mm256_unpacklo_ps((__m256)even, (__m256)odd),
         high = _mm256_unpackhi_ps((__m256)even, (__m256)odd);
  a = (F)_mm256_permute2f128_ps(low, high, 0x20);
  b = (F)_mm256_permute2f128_ps(low, high, 0x31);
}

#elif defined(__SSE4_1__) && MLX_SIMD_BYTES == 16

MLX_SIMD_FN F sqrt(F x) { return (F)_mm_sqrt_ps((__m128)x); }

// A fused multiply-add without the instruction: the product is exact in double, and the sum rounds
// a second time to float. Twice is wrong only where the first rounding lands on the middle of two
// floats, or the float is subnormal. There the sum is rounded to odd (last bit set when digits were
// lost), which makes the second rounding the only one.
MLX_SIMD_FN __m128d sum_to_odd(__m128d p, __m128d d) {
  __m128d s = _mm_add_pd(p, d), t = _mm_sub_pd(s, p);
  __m128d lost = _mm_add_pd(_mm_sub_pd(p, _mm_sub_pd(s, t)), _mm_sub_pd(d, t));
  __m128d direction = _mm_mul_pd(lost, s), zero = _mm_setzero_pd();
  __m128i outward = _mm_castpd_si128(_mm_cmplt_pd(direction, zero));
  __m128i inward = _mm_castpd_si128(_mm_cmpgt_pd(direction, zero));
  __m128i odd = _mm_srli_epi64(_mm_or_si128(outward, inward), 63);
  return _mm_castsi128_pd(_mm_or_si128(_mm_add_epi64(_mm_castpd_si128(s), outward), odd));
}
MLX_SIMD_FN __m128i rounds_twice(__m128d s) {
  __m128i bits = _mm_castpd_si128(s), rest = _mm_and_si128(bits, _mm_set1_epi64x(0x1fffffff));
  __m128d size = _mm_and_pd(s, _mm_castsi128_pd(_mm_set1_epi64x(0x7fffffffffffffff)));
  __m128d small = _mm_cmplt_pd(size, _mm_set1_pd(1.1754943508222875e-38));
  return _mm_or_si128(_mm_cmpeq_epi64(rest, _mm_set1_epi64x(0x10000000)), _mm_castpd_si128(small));
}
MLX_SIMD_FN F fma(F a, F b, F c) {
  __m128 x = (__m128)a, y = (__m128)b, z = (__m128)c;
  __m128d p0 = _mm_mul_pd(_mm_cvtps_pd(x), _mm_cvtps_pd(y)), d0 = _mm_cvtps_pd(z);
  x = _mm_movehl_ps(x, x), y = _mm_movehl_ps(y, y), z = _mm_movehl_ps(z, z);
  __m128d p1 = _mm_mul_pd(_mm_cvtps_pd(x), _mm_cvtps_pd(y)), d1 = _mm_cvtps_pd(z);
  __m128d s0 = _mm_add_pd(p0, d0), s1 = _mm_add_pd(p1, d1);
  __m128i twice = _mm_or_si128(rounds_twice(s0), rounds_twice(s1));
  if (__builtin_expect(!_mm_testz_si128(twice, twice), 0)) {
    s0 = sum_to_odd(p0, d0);
    s1 = sum_to_odd(p1, d1);
  }
  return (F)_mm_movelh_ps(_mm_cvtpd_ps(s0), _mm_cvtpd_ps(s1));
}
template <int mode>
MLX_SIMD_FN F round(F x) {
  return (F)_mm_round_ps((__m128)x, mode | _MM_FROUND_NO_EXC);
}
MLX_SIMD_FN bool any(I mask) { return _mm_movemask_ps((__m128)mask) != 0; }
MLX_SIMD_FN B mask_bytes(I mask) {
  __m128i words = _mm_packs_epi32((__m128i)mask, (__m128i)mask);
  int32_t bytes = _mm_cvtsi128_si32(_mm_packs_epi16(words, words)) & 0x01010101;
  return load<B>(&bytes);
}
#define MLX_SIMD_SOFT_HALF
MLX_SIMD_FN U widen_bits(H h) { return (U)_mm_cvtepu16_epi32(_mm_loadl_epi64((const __m128i*)&h)); }
MLX_SIMD_FN H narrow_bits(U x) {
  __m128i words = _mm_packus_epi32((__m128i)x, (__m128i)x);
  return load<H>(&words);
}
MLX_SIMD_FN void split(F a, F b, F& even, F& odd) {
  even = (F)_mm_shuffle_ps((__m128)a, (__m128)b, 0x88);
  odd = (F)_mm_shuffle_ps((__m128)a, (__m128)b, 0xdd);
}
MLX_SIMD_FN void join(F even, F odd, F& a, F& b) {
  a = (F)_mm_unpacklo_ps((__m128)even, (__m128)odd);
  b = (F)_mm_unpackhi_ps((__m128)even, (__m128)odd);
}

#elif defined(__aarch64__) && MLX_SIMD_BYTES == 16

MLX_SIMD_FN F sqrt(F x) { return (F)vsqrtq_f32((float32x4_t)x); }
MLX_SIMD_FN F fma(F a, F b, F c) {
  return (F)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
}
template <int mode>
MLX_SIMD_FN F round(F x) {
  float32x4_t v = (float32x4_t)x;
  return (F)(mode == 0   ? vrndnq_f32(v)
             : mode == 1 ? vrndmq_f32(v)
             : mode == 2 ? vrndpq_f32(v)
                         : vrndq_f32(v));
}
MLX_SIMD_FN bool any(I mask) { return vmaxvq_u32((uint32x4_t)mask) != 0; }
MLX_SIMD_FN B mask_bytes(I mask) {
  uint16x4_t words = vmovn_u32((uint32x4_t)mask);
  uint8x8_t bytes = vand_u8(vmovn_u16(vcombine_u16(words, words)), vdup_n_u8(1));
  return load<B>(&bytes);
}
MLX_SIMD_FN F widen_half(H h) { return (F)vcvt_f32_f16((float16x4_t)h); }
MLX_SIMD_FN H narrow_half(F x) { return (H)vcvt_f16_f32((float32x4_t)x); }
MLX_SIMD_FN U widen_bits(H h) { return (U)vmovl_u16((uint16x4_t)h); }
MLX_SIMD_FN H narrow_bits(U x) { return (H)vmovn_u32((uint32x4_t)x); }
MLX_SIMD_FN void split(F a, F b, F& even, F& odd) {
  even = (F)vuzp1q_f32((float32x4_t)a, (float32x4_t)b);
  odd = (F)vuzp2q_f32((float32x4_t)a, (float32x4_t)b);
}
MLX_SIMD_FN void join(F even, F odd, F& a, F& b) {
  a = (F)vzip1q_f32((float32x4_t)even, (float32x4_t)odd);
  b = (F)vzip2q_f32((float32x4_t)even, (float32x4_t)odd);
}

#else
#error "MLX_SIMD_BYTES does not fit the instruction set of this file"
#endif

MLX_SIMD_FN F select(I c, F a, F b) { return c ? a : b; }
MLX_SIMD_FN I select(I c, I a, I b) { return c ? a : b; }
MLX_SIMD_FN F splat(float x) { return x - F{}; }
MLX_SIMD_FN I splat(int32_t x) { return x + I{}; }

#if defined(MLX_SIMD_SOFT_HALF)
#undef MLX_SIMD_SOFT_HALF
// As the instructions do it: exponents are moved by a product with a power of two, subnormals
// included.
MLX_SIMD_FN F widen_half(H h) {
  I u = (I)widen_bits(h), magnitude = (u & 0x7fff) << 13;
  F value = (F)magnitude * splat(5.192296858534828e33f);  // 2^112
  I special = magnitude | 0x7f800000,
    quiet = special | select(magnitude > 0x0f800000, splat(0x400000), I{});
  I bits = select(magnitude >= 0x0f800000, quiet, (I)value);
  return (F)(bits | ((u & 0x8000) << 16));
}
MLX_SIMD_FN H narrow_half(F x) {
  I u = (I)x, magnitude = u & 0x7fffffff, sign = (I)((U)u >> 16) & 0x8000;
  I odd = (magnitude >> 13) & 1;
  I normal = (magnitude - 0x38000000 + 0xfff + odd) >> 13;
  I subnormal = (I)((F)magnitude + splat(0.5f)) - 0x3f000000;
  I nan = 0x7e00 | ((magnitude >> 13) & 0x3ff);
  I bits = select(magnitude < 0x38800000, subnormal, normal);
  bits = select(magnitude >= 0x477ff000, splat(0x7c00), bits);
  bits = select(magnitude > 0x7f800000, nan, bits);
  return narrow_bits((U)(bits | sign));
}
#endif

MLX_SIMD_FN F widen_bfloat(H h) { return (F)(widen_bits(h) << 16); }
MLX_SIMD_FN H narrow_bfloat(F x) {
#if defined(__AVX512F__) && MLX_SIMD_BYTES == 64
  __m512i u = (__m512i)x, odd = _mm512_and_si512(_mm512_srli_epi32(u, 16), _mm512_set1_epi32(1));
  __m512i rounded = _mm512_add_epi32(_mm512_add_epi32(u, _mm512_set1_epi32(0x7fff)), odd);
  __mmask16 nan = _mm512_cmp_ps_mask((__m512)x, (__m512)x, _CMP_UNORD_Q);
  rounded = _mm512_mask_or_epi32(rounded, nan, u, _mm512_set1_epi32(0x400000));
  return (H)_mm512_cvtepi32_epi16(_mm512_srli_epi32(rounded, 16));
#else
  U u = (U)x, rounded = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16, nan = (u >> 16) | 0x40u;
  return narrow_bits((U)select((I)(u & 0x7fffffffu) > 0x7f800000, (I)nan, (I)rounded));
#endif
}

}  // namespace simd
}  // namespace core
}  // namespace mlx
