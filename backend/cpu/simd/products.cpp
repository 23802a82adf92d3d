// Matrix products on float32 panels; half types are widened as they are packed. For vectors that
// have fused multiply-adds and registers enough.
#include "backend/cpu/simd/product_kernels.h"

namespace mlx::core::cpu::MLX_SIMD_ISA {

#if MLX_SIMD_BYTES >= 32

namespace {

template <int rows, int vectors>
void multiply(int64_t k, const void* from, int64_t row_distance, int64_t step, const void* panel,
              int64_t panel_step, float* c, int64_t ldc, bool add) {
  const float *a = (const float*)from, *b = (const float*)panel;
  F sum[rows][vectors] = {};
  for (int64_t i = 0; i < k; ++i) {
    F right[vectors];
    MLX_UNROLL
    for (int v = 0; v < vectors; ++v) right[v] = load<F>(b + v * width);
    MLX_UNROLL
    for (int r = 0; r < rows; ++r) {
      F left = simd::splat(a[r * row_distance]);
      MLX_UNROLL
      for (int v = 0; v < vectors; ++v) sum[r][v] = simd::fma(left, right[v], sum[r][v]);
    }
    a += step;
    b += panel_step;
  }
  put_tile(sum, c, ldc, add);
}

template <typename E>
void pack(const void* from, int64_t stride, int64_t k_stride, int64_t count, int64_t k,
          int64_t line, void* to) {
  const char* p = (const char*)from;
  for (int64_t i = 0; stride == 1 && i < k; ++i) {
    // Along the lines, over all panels: what is near is read together.
    const char* q = p + i * k_stride * E::size;
    for (int64_t j = 0; j < count; j += line) {
      int64_t some = count - j < line ? count - j : line, wide = round_up(some, width), l = 0;
      float* panel = (float*)to + j * k + i * wide;
      for (; l + width <= some; l += width) store(panel + l, E::at(q, j + l));
      if (l < some) store(panel + l, read_some<E>(q + (j + l) * E::size, some - l));
    }
  }
  for (int64_t j = 0; stride != 1 && j < count; j += line) {
    int64_t some = count - j < line ? count - j : line, wide = round_up(some, width);
    float* panel = (float*)to + j * k;
    for (int64_t l = 0; l < some; l += width) {
      int64_t n = some - l < width ? some - l : width;
      for (int64_t i = 0; i < k; i += width) {
        int64_t depth = k - i < width ? k - i : width;
        F x[width] = {};
        for (int64_t r = 0; r < n; ++r) {
          x[r] = read_line<E>(p + ((j + l + r) * stride + i * k_stride) * E::size, k_stride, depth);
        }
        transpose(x);
        for (int64_t d = 0; d < depth; ++d) store(panel + (i + d) * wide + l, x[d]);
      }
    }
  }
}

template <typename E>
void pack_rows(const void* from, int64_t stride, int64_t count, int64_t k, void* to) {
  for (int64_t r = 0; r < count; ++r) {
    const char* p = (const char*)from + r * stride * E::size;
    float* q = (float*)to + r * k;
    int64_t i = 0;
    for (; i + width <= k; i += width) store(q + i, E::at(p, i));
    if (i < k) write_some<Float32>((char*)(q + i), read_some<E>(p + i * E::size, k - i), k - i);
  }
}

template <int rows>
void fill_rows(ProductKernels& t) {
  t.multiply[rows - 1][0] = multiply<rows, 1>;
  t.multiply[rows - 1][1] = multiply<rows, 2>;
  if constexpr (tile_vectors == 3) t.multiply[rows - 1][2] = multiply<rows, 3>;
  if constexpr (rows < tile_rows) fill_rows<rows + 1>(t);
}

template <typename E>
void fill_kernels(ProductKernels& t) {
  t.rows = tile_rows;
  t.vectors = tile_vectors;
  t.lanes = width;
  t.group = group_rows;
  t.in_place = E::size == 4;
  t.block_bytes = MLX_SIMD_BYTES == 32 ? 192 << 10 : 512 << 10;
  t.column_bytes = MLX_SIMD_BYTES == 32 ? 1024 : 2048;
  t.pack = pack<E>;
  t.pack_rows = pack_rows<E>;
  t.finish = finish<E>;
  t.finish_transposed = finish_transposed<E>;
  fill_rows<1>(t);
}

}  // namespace

void fill_products(ProductTable& t) {
  fill_kernels<Float32>(t.float32);
  fill_kernels<Float16>(t.float16);
  fill_kernels<BFloat16>(t.bfloat16);
}

#else

void fill_products(ProductTable&) {}

#endif

}  // namespace mlx::core::cpu::MLX_SIMD_ISA
