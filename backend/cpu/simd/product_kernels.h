// Tiles of a matrix product in registers, and the packing that feeds them: what float32 panels and
// panels of bfloat16 pairs have in common. Included by the files compiled per instruction set.
#pragma once

#include "backend/cpu/product_table.h"
#include "backend/cpu/simd/loops.h"

#if defined(__clang__)
#define MLX_UNROLL _Pragma("clang loop unroll(full)")
#else
#define MLX_UNROLL _Pragma("GCC unroll 16")
#endif

namespace mlx::core::cpu::MLX_SIMD_ISA {
namespace {

// Accumulators for rows × vectors, the vectors of b and one of a fit the registers.
constexpr int tile_rows = MLX_SIMD_BYTES == 32 ? 6 : 8;
constexpr int tile_vectors = MLX_SIMD_BYTES == 32 ? 2 : 3;
constexpr int group_rows = MLX_SIMD_BYTES == 32 ? 24 : 16;  // tiles and vectors, both whole
constexpr int64_t panel_columns = tile_vectors * width;

MLX_SIMD_FN int64_t round_up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

// Rows and columns of width × width floats change places.
MLX_SIMD_FN void transpose(F (&x)[width]) {
  F y[width];
  MLX_UNROLL
  for (int half = width; half > 1; half /= 2) {
    MLX_UNROLL
    for (int i = 0; i < width / 2; ++i) simd::join(x[i], x[i + width / 2], y[2 * i], y[2 * i + 1]);
    MLX_UNROLL
    for (int i = 0; i < width; ++i) x[i] = y[i];
  }
}

// One vector from the first n of its elements.
template <typename E>
MLX_SIMD_FN F read_some(const char* p, int64_t n) {
  char padded[width * E::size] = {};
  memcpy(padded, p, n * E::size);
  return E::at(padded, 0);
}
template <typename E>
MLX_SIMD_FN void write_some(char* p, F x, int64_t n) {
  char padded[width * E::size];
  E::put(padded, 0, x);
  memcpy(p, padded, n * E::size);
}

template <int rows, int vectors>
MLX_SIMD_FN void put_tile(const F (&sum)[rows][vectors], float* c, int64_t ldc, bool add) {
  MLX_UNROLL
  for (int r = 0; r < rows; ++r) {
    MLX_UNROLL
    for (int v = 0; v < vectors; ++v) {
      float* p = c + r * ldc + v * width;
      store(p, add ? load<F>(p) + sum[r][v] : sum[r][v]);
    }
  }
}

// n elements at a distance of `stride`, in a vector.
template <typename E>
MLX_SIMD_FN F read_line(const char* p, int64_t stride, int64_t n) {
  if (stride == 1) return n == width ? E::at(p, 0) : read_some<E>(p, n);
  char lanes[width * E::size] = {};
  for (int64_t l = 0; l < n; ++l) memcpy(lanes + l * E::size, p + l * stride * E::size, E::size);
  return E::at(lanes, 0);
}

// beta · c is added to x, and n elements of that are written.
template <typename E>
MLX_SIMD_FN void put_result(F x, float beta, const char* c, int64_t c_stride, char* out,
                            int64_t n) {
  if (beta != 0) x += simd::splat(beta) * read_line<E>(c, c_stride, n);
  if (n == width) {
    E::put(out, 0, x);
  } else {
    write_some<E>(out, x, n);
  }
}

MLX_SIMD_FN F scaled_sum(const float* p, float alpha, int64_t n) {
  if (alpha == 0) return F{};
  return read_line<Float32>((const char*)p, 1, n) * simd::splat(alpha);
}

template <typename E>
void finish(const ProductKernels::Result& r, int64_t rows, int64_t columns) {
  for (int64_t i = 0; i < rows; ++i) {
    const float* sum = r.sum + i * r.sum_distance;
    char* out = (char*)r.out + i * r.out_distance * E::size;
    const char* c = (const char*)r.c + i * r.c_row_stride * E::size;
    for (int64_t j = 0; j < columns; j += width) {
      int64_t n = columns - j < width ? columns - j : width;
      put_result<E>(scaled_sum(sum + j, r.alpha, n), r.beta, c + j * r.c_column_stride * E::size,
                    r.c_column_stride, out + j * E::size, n);
    }
  }
}

template <typename E>
void finish_transposed(const ProductKernels::Result& r, int64_t rows, int64_t columns) {
  for (int64_t i = 0; i < rows; i += width) {
    int64_t m = rows - i < width ? rows - i : width;
    for (int64_t j = 0; j < columns; j += width) {
      int64_t n = columns - j < width ? columns - j : width;
      F x[width] = {};
      for (int64_t l = 0; l < m; ++l)
        x[l] = scaled_sum(r.sum + (i + l) * r.sum_distance + j, r.alpha, n);
      transpose(x);
      for (int64_t l = 0; l < n; ++l) {
        const char* c =
            (const char*)r.c + (i * r.c_row_stride + (j + l) * r.c_column_stride) * E::size;
        char* out = (char*)r.out + (i + (j + l) * r.out_distance) * E::size;
        put_result<E>(x[l], r.beta, c, r.c_row_stride, out, m);
      }
    }
  }
}

}  // namespace
}  // namespace mlx::core::cpu::MLX_SIMD_ISA
