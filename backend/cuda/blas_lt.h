// Products of matrices by cuBLASLt: strided batches in row-major terms.
#pragma once

#include "backend/cuda/encoder.h"

namespace mlx::core::cuda {

// A matrix in memory: rows `ld` elements apart, or columns if it is transposed.
struct GemmOperand {
  const void* data = nullptr;
  bool transposed = false;
  int64_t ld = 1;
  int64_t batch_stride = 0;
};

// out (m, n) = alpha·a (m, k) b (k, n) + beta·c + bias, `batch` times. Rows of `out` follow each
// other. Sizes and distances of rows fit into an int.
struct Gemm {
  Dtype dtype = float32;
  int64_t m = 0, n = 0, k = 0;
  int64_t batch = 1;
  GemmOperand a, b;
  GemmOperand c;  // read if beta is not zero; may be `out` itself
  void* out = nullptr;
  int64_t out_batch_stride = 0;
  const void* bias = nullptr;  // a row for all rows: 16 and 32-bit floats only
  float alpha = 1, beta = 0;
};

// False if cuBLASLt has no algorithm for it; nothing was queued then.
bool gemm(const Gemm& g, Encoder& encoder);

}  // namespace mlx::core::cuda
