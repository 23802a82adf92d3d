// Threefry words by vectors of counters; several vectors at once, since the rounds of one depend on
// each other.
#define MLX_TYPE_FN static inline __attribute__((always_inline))
#include "backend/cpu/simd/vec.h"
#include "backend/cpu/tile.h"
#include "mlx/ops/random/threefry.h"

namespace mlx::core::cpu::MLX_SIMD_ISA {

namespace {

using simd::U;
using simd::width;

constexpr int together = 4;

struct Block {
  random::WordPair<U> word[together];
};

MLX_SIMD_FN U lanes() {
  U u = {};
  for (int i = 0; i < width; ++i) u[i] = uint32_t(i);
  return u;
}

MLX_SIMD_FN Block words(uint32_t k0, uint32_t k1, uint32_t c0, uint32_t c1) {
  Block b;
  for (int v = 0; v < together; ++v) {
    U at = lanes() + uint32_t(v * width);
    b.word[v] = random::WordPair<U>{at + c0, at + c1};
    b.word[v] = random::threefry<U>(k0, k1, b.word[v]);
  }
  return b;
}

void threefry_words(uint32_t k0, uint32_t k1, uint32_t c0, uint32_t c1, int64_t n, void* first,
                    void* second) {
  constexpr int64_t step = together * width;
  char *x0 = (char*)first, *x1 = (char*)second;
  int64_t i = 0;
  for (; i + step <= n; i += step) {
    Block b = words(k0, k1, c0 + uint32_t(i), c1 + uint32_t(i));
    for (int v = 0; v < together; ++v) {
      simd::store(x0 + 4 * (i + v * width), b.word[v].x0);
      simd::store(x1 + 4 * (i + v * width), b.word[v].x1);
    }
  }
  if (i < n) {
    Block b = words(k0, k1, c0 + uint32_t(i), c1 + uint32_t(i));
    uint32_t rest0[step], rest1[step];
    for (int v = 0; v < together; ++v) {
      simd::store(rest0 + v * width, b.word[v].x0);
      simd::store(rest1 + v * width, b.word[v].x1);
    }
    memcpy(x0 + 4 * i, rest0, size_t(4 * (n - i)));
    memcpy(x1 + 4 * i, rest1, size_t(4 * (n - i)));
  }
}

}  // namespace

void fill_random(TileTable& t) { t.threefry = threefry_words; }

}  // namespace mlx::core::cpu::MLX_SIMD_ISA
