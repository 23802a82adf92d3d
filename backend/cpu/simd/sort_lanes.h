// Vectors of sorting keys: minimum and maximum, masks of comparisons, and parted(v, mask): lanes of
// the mask in front, the others behind them, for the instruction set the file is compiled for.
#pragma once

#include "backend/cpu/simd/vec.h"

namespace mlx::core::cpu::MLX_SIMD_ISA {
namespace {

template <typename K>
struct LanesOf {
  typedef K type __attribute__((vector_size(MLX_SIMD_BYTES)));
  static constexpr int width = MLX_SIMD_BYTES / sizeof(K);
};
template <typename K>
using Lanes = typename LanesOf<K>::type;
template <typename K>
constexpr int lanes = LanesOf<K>::width;

template <typename K>
constexpr K greatest = K(~(uint64_t(1) << (8 * sizeof(K) - 1)));

template <typename V, typename K>
MLX_SIMD_FN V all_lanes(K x) {
  return x - V{};
}

// The byte of lane i of a permutation for every mask: set lanes first, then the others, in order.
template <int count, int bytes>
struct Permutations {
  alignas(64) uint8_t at[1 << count][count * bytes];
  constexpr Permutations() : at() {
    for (int mask = 0; mask < 1 << count; ++mask) {
      int to = 0;
      for (int set = 1; set >= 0; --set) {
        for (int lane = 0; lane < count; ++lane) {
          if ((mask >> lane & 1) != set) continue;
          for (int b = 0; b < bytes; ++b) at[mask][to * bytes + b] = uint8_t(lane * bytes + b);
          ++to;
        }
      }
    }
  }
};

#if defined(__AVX512F__) && MLX_SIMD_BYTES == 64

typedef Lanes<int32_t> V32;
typedef Lanes<int64_t> V64;
MLX_SIMD_FN V32 least_of(V32 a, V32 b) { return (V32)_mm512_min_epi32((__m512i)a, (__m512i)b); }
MLX_SIMD_FN V32 most_of(V32 a, V32 b) { return (V32)_mm512_max_epi32((__m512i)a, (__m512i)b); }
MLX_SIMD_FN V64 least_of(V64 a, V64 b) { return (V64)_mm512_min_epi64((__m512i)a, (__m512i)b); }
MLX_SIMD_FN V64 most_of(V64 a, V64 b) { return (V64)_mm512_max_epi64((__m512i)a, (__m512i)b); }

// Eight lanes at a time: a permutation from a table is faster than compressing and expanding.
typedef int32_t Moved32 __attribute__((vector_size(32)));
typedef V64 Moved64;
constexpr Permutations<8, 1> permutations;
MLX_SIMD_FN uint32_t less(Moved32 a, Moved32 b) {
  return _mm256_cmplt_epi32_mask((__m256i)a, (__m256i)b);
}
MLX_SIMD_FN uint32_t less(V64 a, V64 b) { return _mm512_cmplt_epi64_mask((__m512i)a, (__m512i)b); }
MLX_SIMD_FN Moved32 parted(Moved32 v, uint32_t mask) {
  __m256i from = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i*)permutations.at[mask]));
  return (Moved32)_mm256_permutevar8x32_epi32((__m256i)v, from);
}
MLX_SIMD_FN V64 parted(V64 v, uint32_t mask) {
  __m512i from = _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i*)permutations.at[mask]));
  return (V64)_mm512_permutexvar_epi64(from, (__m512i)v);
}

#else

template <typename V>
MLX_SIMD_FN V least_of(V a, V b) {
  return a < b ? a : b;
}
template <typename V>
MLX_SIMD_FN V most_of(V a, V b) {
  return a < b ? b : a;
}

#if defined(__AVX2__) && MLX_SIMD_BYTES == 32

typedef Lanes<int32_t> V32;
typedef Lanes<int64_t> V64;
typedef V32 Moved32;
typedef V64 Moved64;
constexpr Permutations<8, 1> permutations32;
constexpr Permutations<4, 2> permutations64;  // of 32-bit halves
MLX_SIMD_FN uint32_t less(V32 a, V32 b) {
  return uint32_t(_mm256_movemask_ps((__m256)_mm256_cmpgt_epi32((__m256i)b, (__m256i)a)));
}
MLX_SIMD_FN uint32_t less(V64 a, V64 b) {
  return uint32_t(_mm256_movemask_pd((__m256d)_mm256_cmpgt_epi64((__m256i)b, (__m256i)a)));
}
MLX_SIMD_FN __m256i permute(__m256i v, const uint8_t* lanes) {
  __m256i index = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i*)lanes));
  return _mm256_permutevar8x32_epi32(v, index);
}
MLX_SIMD_FN V32 parted(V32 v, uint32_t mask) {
  return (V32)permute((__m256i)v, permutations32.at[mask]);
}
MLX_SIMD_FN V64 parted(V64 v, uint32_t mask) {
  return (V64)permute((__m256i)v, permutations64.at[mask]);
}

#else

typedef Lanes<int32_t> V32;
typedef Lanes<int64_t> V64;
typedef V32 Moved32;
typedef V64 Moved64;
constexpr Permutations<4, 4> permutations32;
constexpr Permutations<2, 8> permutations64;

#if defined(__x86_64__)
MLX_SIMD_FN uint32_t less(V32 a, V32 b) {
  return uint32_t(_mm_movemask_ps((__m128)_mm_cmpgt_epi32((__m128i)b, (__m128i)a)));
}
MLX_SIMD_FN uint32_t less(V64 a, V64 b) {
  return uint32_t(_mm_movemask_pd((__m128d)_mm_cmpgt_epi64((__m128i)b, (__m128i)a)));
}
MLX_SIMD_FN V32 parted(V32 v, uint32_t mask) {
  return (V32)_mm_shuffle_epi8((__m128i)v, *(const __m128i*)permutations32.at[mask]);
}
MLX_SIMD_FN V64 parted(V64 v, uint32_t mask) {
  return (V64)_mm_shuffle_epi8((__m128i)v, *(const __m128i*)permutations64.at[mask]);
}
#else
MLX_SIMD_FN uint32_t less(V32 a, V32 b) {
  const uint32_t bit[4] = {1, 2, 4, 8};
  return vaddvq_u32(vandq_u32((uint32x4_t)(a < b), vld1q_u32(bit)));
}
MLX_SIMD_FN uint32_t less(V64 a, V64 b) {
  const uint64_t bit[2] = {1, 2};
  return uint32_t(vaddvq_u64(vandq_u64((uint64x2_t)(a < b), vld1q_u64(bit))));
}
MLX_SIMD_FN V32 parted(V32 v, uint32_t mask) {
  return (V32)vqtbl1q_u8((uint8x16_t)v, vld1q_u8(permutations32.at[mask]));
}
MLX_SIMD_FN V64 parted(V64 v, uint32_t mask) {
  return (V64)vqtbl1q_u8((uint8x16_t)v, vld1q_u8(permutations64.at[mask]));
}
#endif
#endif

#endif

// The vectors that keys are moved in.
template <typename K>
struct MovedOf {
  typedef Moved32 type;
};
template <>
struct MovedOf<int64_t> {
  typedef Moved64 type;
};
template <typename K>
using Moved = typename MovedOf<K>::type;
template <typename K>
constexpr int moved = sizeof(Moved<K>) / sizeof(K);

}  // namespace
}  // namespace mlx::core::cpu::MLX_SIMD_ISA
