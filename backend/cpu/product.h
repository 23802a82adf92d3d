// One batch of matrix products as the evaluators describe it to whatever computes it.
#pragma once

#include "backend/cpu/encoder.h"
#include "mlx/dtype.h"
#include "mlx/layout.h"

namespace mlx::core::cpu {

// Multiplications worth a hand-over to another thread.
inline constexpr double piece_work = 1e6;

inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// A matrix as it lies in memory; strides in elements.
struct Matrix {
  const char* data = nullptr;
  int64_t rows = 0, columns = 0, row_stride = 0, column_stride = 0;

  Matrix transposed() const { return {data, columns, rows, column_stride, row_stride}; }
};

// out = alpha · a @ b + beta · c, the matrices of `out` dense; beta 0: c is not read.
struct Product {
  Dtype dtype = float32;
  Matrix a, b, c;  // c.data null: there is none
  char* out = nullptr;
  float alpha = 1, beta = 0;
  Plan batch;  // operands a, b, c, out

  int64_t m() const { return a.rows; }
  int64_t n() const { return b.columns; }
  int64_t k() const { return a.columns; }
};

// The products, on the pool; results do not depend on the number of threads.
void multiply(const Product& p, std::string_view op, Encoder& e);

// True if the product was done, by our own kernels on packed panels.
bool try_packed_product(const Product& p);

}  // namespace mlx::core::cpu
