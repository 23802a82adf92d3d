// Matrix times vector for matrices of half types, read once from memory and widened in registers;
// the vector, the sums and the result are float32.
#include "backend/cpu/simd/loops.h"

namespace mlx::core::cpu::MLX_SIMD_ISA {

namespace {

MLX_SIMD_FN float lane_sum(F v) {
  float lanes[width], sum = 0;
  store(lanes, v);
  for (int i = 0; i < width; ++i) sum += lanes[i];
  return sum;
}

template <typename E>
MLX_SIMD_FN float widen_one(const void* p, int64_t i) {
  uint16_t padded[width] = {((const uint16_t*)p)[i]};
  return E::at(padded, 0)[0];
}

// Sums of `rows` rows, each in the same order whatever the number of rows.
template <typename E, int rows>
MLX_SIMD_FN void dot_rows(const char* m, int64_t ld, const float* x, int64_t n, float* y) {
  F even[rows] = {}, odd[rows] = {};
  int64_t k = 0;
  for (; k + 2 * width <= n; k += 2 * width) {
    F x0 = load<F>(x + k), x1 = load<F>(x + k + width);
    for (int r = 0; r < rows; ++r) {
      even[r] = simd::fma(E::at(m + 2 * r * ld, k), x0, even[r]);
      odd[r] = simd::fma(E::at(m + 2 * r * ld, k + width), x1, odd[r]);
    }
  }
  for (int r = 0; r < rows; ++r) {
    float rest = 0;
    for (int64_t i = k; i < n; ++i) rest += widen_one<E>(m + 2 * r * ld, i) * x[i];
    y[r] = lane_sum(even[r] + odd[r]) + rest;
  }
}

template <typename E>
void dot(const void* matrix, int64_t ld, int64_t rows, int64_t n, const float* x, float* y) {
  const char* m = (const char*)matrix;
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4) dot_rows<E, 4>(m + 2 * r * ld, ld, x, n, y + r);
  for (; r < rows; ++r) dot_rows<E, 1>(m + 2 * r * ld, ld, x, n, y + r);
}

// y += x[0] · row 0 + … for `count` rows that are read side by side.
template <typename E, int count>
MLX_SIMD_FN void add_rows(const char* m, int64_t ld, const float* x, float* y, int64_t n) {
  int64_t j = 0;
  for (; j + width <= n; j += width) {
    F sum = load<F>(y + j);
    for (int r = 0; r < count; ++r)
      sum = simd::fma(E::at(m + 2 * r * ld, j), simd::splat(x[r]), sum);
    store(y + j, sum);
  }
  for (; j < n; ++j) {
    for (int r = 0; r < count; ++r) y[j] += widen_one<E>(m + 2 * r * ld, j) * x[r];
  }
}

template <typename E>
void accumulate(const void* matrix, int64_t ld, int64_t rows, int64_t n, const float* x, float* y) {
  const char* m = (const char*)matrix;
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4) add_rows<E, 4>(m + 2 * r * ld, ld, x + r, y, n);
  for (; r < rows; ++r) add_rows<E, 1>(m + 2 * r * ld, ld, x + r, y, n);
}

}  // namespace

void fill_half_products(TileTable& t) {
  t.float16_products = {dot<Float16>, accumulate<Float16>};
  t.bfloat16_products = {dot<BFloat16>, accumulate<BFloat16>};
}

}  // namespace mlx::core::cpu::MLX_SIMD_ISA
