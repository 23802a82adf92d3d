// Matrix products of bfloat16 by the instruction of AVX512-BF16, which adds two products to a
// float32, rounding after each. It takes subnormal numbers for zero and gives none.
#include "backend/cpu/simd/product_kernels.h"

namespace mlx::core::cpu::MLX_SIMD_ISA {

#if defined(__AVX512F__) && MLX_SIMD_BYTES == 64

namespace {

#define MLX_BF16_FN __attribute__((target("avx512bf16")))

MLX_BF16_FN static inline __attribute__((always_inline)) F add_pairs(F sum, I a, I b) {
  return (F)_mm512_dpbf16_ps((__m512)sum, (__m512bh)a, (__m512bh)b);
}

template <int rows, int vectors>
MLX_BF16_FN void multiply(int64_t k, const void* from, int64_t row_distance, int64_t step,
                          const void* panel, int64_t panel_step, float* c, int64_t ldc, bool add) {
  const uint16_t *a = (const uint16_t*)from, *b = (const uint16_t*)panel;
  F sum[rows][vectors] = {};
  for (int64_t i = 0; i + 2 <= k; i += 2) {
    I right[vectors];
    MLX_UNROLL
    for (int v = 0; v < vectors; ++v) right[v] = load<I>(b + 2 * v * width);
    MLX_UNROLL
    for (int r = 0; r < rows; ++r) {
      int32_t pair;
      memcpy(&pair, a + r * row_distance, sizeof pair);
      I left = simd::splat(pair);
      MLX_UNROLL
      for (int v = 0; v < vectors; ++v) sum[r][v] = add_pairs(sum[r][v], left, right[v]);
    }
    a += step;
    b += panel_step;
  }
  if (k % 2 != 0) {
    MLX_UNROLL
    for (int r = 0; r < rows; ++r) {
      I left = simd::splat(int32_t(a[r * row_distance]));
      MLX_UNROLL
      for (int v = 0; v < vectors; ++v)
        sum[r][v] = add_pairs(sum[r][v], left, load<I>(b + 2 * v * width));
    }
  }
  put_tile(sum, c, ldc, add);
}

// 2n elements in pairs, of which the first `count` are at p.
MLX_SIMD_FN I read_pairs(const uint16_t* p, int64_t stride, int64_t count) {
  if (stride == 1 && count == 2 * width) return load<I>(p);
  uint16_t elements[2 * width] = {};
  if (stride == 1) {
    memcpy(elements, p, 2 * count);
  } else {
    for (int64_t i = 0; i < count; ++i) elements[i] = p[i * stride];
  }
  return load<I>(elements);
}

MLX_SIMD_FN simd::U widen_some(const uint16_t* p, int64_t n) {
  simd::H h = {};
  if (n >= width) {
    h = load<simd::H>(p);
  } else {
    memcpy(&h, p, 2 * n);
  }
  return simd::widen_bits(h);
}

void pack(const void* from, int64_t stride, int64_t k_stride, int64_t count, int64_t k,
          int64_t line, void* to) {
  const uint16_t* p = (const uint16_t*)from;
  int64_t padded = k + k % 2;
  for (int64_t i = 0; stride == 1 && i < k; i += 2) {
    const uint16_t *low = p + i * k_stride, *high = low + k_stride;
    for (int64_t j = 0; j < count; j += line) {
      int64_t some = count - j < line ? count - j : line, wide = round_up(some, width);
      uint16_t* panel = (uint16_t*)to + j * padded + i * wide;
      for (int64_t l = 0; l < some; l += width) {
        simd::U pairs = widen_some(low + j + l, some - l);
        if (i + 1 < k) pairs |= widen_some(high + j + l, some - l) << 16;
        store(panel + 2 * l, pairs);
      }
    }
  }
  for (int64_t j = 0; stride != 1 && j < count; j += line) {
    int64_t some = count - j < line ? count - j : line, wide = round_up(some, width);
    uint16_t* panel = (uint16_t*)to + j * padded;
    for (int64_t l = 0; l < some; l += width) {
      int64_t n = some - l < width ? some - l : width;
      for (int64_t i = 0; i < k; i += 2 * width) {
        int64_t depth = k - i < 2 * width ? k - i : 2 * width;
        F x[width] = {};
        for (int64_t r = 0; r < n; ++r)
          x[r] = (F)read_pairs(p + (j + l + r) * stride + i * k_stride, k_stride, depth);
        transpose(x);
        for (int64_t d = 0; 2 * d < depth; ++d) store(panel + (i + 2 * d) * wide + 2 * l, x[d]);
      }
    }
  }
}

template <int rows>
void fill_rows(ProductKernels& t) {
  t.multiply[rows - 1][0] = multiply<rows, 1>;
  t.multiply[rows - 1][1] = multiply<rows, 2>;
  t.multiply[rows - 1][2] = multiply<rows, 3>;
  if constexpr (rows < tile_rows) fill_rows<rows + 1>(t);
}

}  // namespace

bool fill_bfloat16_products(ProductTable& t) {
  if (!__builtin_cpu_supports("avx512bf16")) return false;
  ProductKernels& kernels = t.bfloat16;
  kernels.pair = 2;
  kernels.item = 2;
  kernels.in_place = true;
  kernels.pack = pack;
  kernels.pack_rows = nullptr;
  fill_rows<1>(kernels);
  return true;
}

#else

bool fill_bfloat16_products(ProductTable&) { return false; }

#endif

}  // namespace mlx::core::cpu::MLX_SIMD_ISA
