// Products of a matrix and a vector, which only read the matrix once: kernels of our own.
#pragma once

#include "backend/cuda/encoder.h"

namespace mlx::core::cuda {

// y[r] = alpha · Σ_k matrix[r, k] x[k] + beta · c[r] for r < rows, k < depth, `batch` times.
// Strides in elements; one of the matrix is 1 unless it is a single row. y is contiguous and may be
// c.
struct Gemv {
  const void* matrix;
  const void* x;
  const void* c;  // null: no addend
  void* y;
  int64_t rows, depth;
  int64_t row_stride, depth_stride, x_stride, c_stride;
  int64_t batch, matrix_batch, x_batch, c_batch, y_batch;
  float alpha, beta;

  // Sums run along lines of memory; else across them.
  bool along() const {
    return depth_stride == 1 ? depth > 1 || row_stride != 1 : rows == 1 && depth > 1;
  }
};

// For the real floating dtypes; 16-bit ones are summed in float32 and rounded once.
void gemv(Dtype dtype, const Gemv& g, Encoder& encoder);

}  // namespace mlx::core::cuda
