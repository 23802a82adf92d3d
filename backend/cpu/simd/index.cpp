// Elements under a mask, eight bytes of the mask at a time, and elements at 32-bit indices.
#include "backend/cpu/index_table.h"
#include "backend/cpu/simd/sort_lanes.h"

namespace mlx::core::cpu::MLX_SIMD_ISA {
namespace {

// Bit i is byte i of the mask, which is 0 or 1.
MLX_SIMD_FN uint32_t bits_of(const uint8_t* mask) {
  return uint32_t(simd::load<uint64_t>(mask) * 0x0102040810204080 >> 56);
}

template <typename K>
MLX_SIMD_FN K* pack_eight(const K* x, uint32_t bits, K* out) {
  constexpr int lanes = moved<K>;
  for (int i = 0; i < 8; i += lanes) {
    uint32_t some = bits >> i & ((1u << lanes) - 1);
    simd::store(out, parted(simd::load<Moved<K>>(x + i), some));
    out += __builtin_popcount(some);
  }
  return out;
}

template <int bytes>
constexpr Permutations<8, bytes> permutations_of_eight;

typedef uint8_t Bytes __attribute__((vector_size(16)));
MLX_SIMD_FN Bytes shuffled(Bytes v, Bytes from) {
#if defined(__x86_64__)
  return (Bytes)_mm_shuffle_epi8((__m128i)v, (__m128i)from);
#else
  return (Bytes)vqtbl1q_u8((uint8x16_t)v, (uint8x16_t)from);
#endif
}

// Small elements are shuffled as the bytes of one vector.
template <typename K>
MLX_SIMD_FN K* shuffle_eight(const K* x, uint32_t bits, K* out) {
  constexpr int bytes = 8 * sizeof(K);
  Bytes v = {}, from = {};
  memcpy(&v, x, bytes);
  memcpy(&from, permutations_of_eight<sizeof(K)>.at[bits], bytes);
  v = shuffled(v, from);
  memcpy(out, &v, bytes);
  return out + __builtin_popcount(bits);
}
MLX_SIMD_FN uint8_t* pack_eight(const uint8_t* x, uint32_t bits, uint8_t* out) {
  return shuffle_eight(x, bits, out);
}
MLX_SIMD_FN uint16_t* pack_eight(const uint16_t* x, uint32_t bits, uint16_t* out) {
  return shuffle_eight(x, bits, out);
}

template <typename K>
void pack(const void* px, const uint8_t* mask, int64_t n, int64_t kept, void* pout) {
  const K* x = (const K*)px;
  K *out = (K*)pout, *end = out + kept;
  int64_t i = 0;
  // Whole vectors are written: only as long as there is room for one.
  for (; i + 8 <= n && end - out >= 16; i += 8) {
    out = pack_eight(x + i, bits_of(mask + i), out);
  }
  for (; i < n && out < end; ++i) {
    *out = x[i];
    out += mask[i];
  }
}

// Runs of indices that are inside, as most are, need no work but a look.
template <typename T>
void take(const void* px, const int32_t* index, bool is_signed, int64_t n, int64_t size,
          void* pout) {
  constexpr int64_t run = 256;
  const T* x = (const T*)px;
  T* out = (T*)pout;
  for (int64_t first = 0; first < n; first += run) {
    const int32_t* at = index + first;
    int64_t count = n - first < run ? n - first : run;
    uint32_t most = 0;
    for (int64_t i = 0; i < count; ++i) {
      uint32_t v = uint32_t(at[i]);
      most = most < v ? v : most;
    }
    int32_t inside[run];
    if (int64_t(most) >= size) {
      int32_t last = int32_t(size - 1), from_end = is_signed ? int32_t(size) : 0;
      for (int64_t i = 0; i < count; ++i) {
        int32_t v = at[i] < 0 ? at[i] + from_end : at[i];
        v = v < 0 ? (is_signed ? 0 : last) : v;
        inside[i] = v > last ? last : v;
      }
      at = inside;
    }
    for (int64_t i = 0; i < count; ++i) {
      out[first + i] = x[at[i]];
      __asm__ volatile("");  // one by one: gather instructions take longer
    }
  }
}

}  // namespace

void fill_index(IndexTable& t) {
  t.pack[0] = pack<uint8_t>;
  t.pack[1] = pack<uint16_t>;
  t.pack[2] = pack<int32_t>;
  t.pack[3] = pack<int64_t>;
  t.take[0] = take<uint8_t>;
  t.take[1] = take<uint16_t>;
  t.take[2] = take<uint32_t>;
  t.take[3] = take<uint64_t>;
}

}  // namespace mlx::core::cpu::MLX_SIMD_ISA
