// The BLAS calls that evaluators use, overloaded by element type. All matrices are row-major; a
// call runs on the calling thread alone (threads are ours: callers cut their work into pieces), and
// may be made by any number of threads at once.
#pragma once

#include "mlx/types.h"

namespace mlx::core::cpu {

// Called before every call into the library: OpenBLAS would cut work for threads of its own.
void single_threaded();

enum class Stored : bool { plain, transposed };

// c = alpha · op(a) @ op(b) + beta · c for op(a) of m × k, op(b) of k × n; ld*: distance of rows as
// stored. With beta 0, c is written only.
void gemm(Stored sa, Stored sb, int m, int n, int k, float alpha, const float* a, int lda,
          const float* b, int ldb, float beta, float* c, int ldc);
void gemm(Stored sa, Stored sb, int m, int n, int k, float alpha, const double* a, int lda,
          const double* b, int ldb, float beta, double* c, int ldc);
void gemm(Stored sa, Stored sb, int m, int n, int k, float alpha, const complex64_t* a, int lda,
          const complex64_t* b, int ldb, float beta, complex64_t* c, int ldc);

// y += alpha · op(a) @ x for op(a) of m × k and contiguous y.
void gemv(Stored sa, int m, int k, float alpha, const float* a, int lda, const float* x, int incx,
          float* y);
void gemv(Stored sa, int m, int k, float alpha, const double* a, int lda, const double* x, int incx,
          double* y);
void gemv(Stored sa, int m, int k, float alpha, const complex64_t* a, int lda, const complex64_t* x,
          int incx, complex64_t* y);

}  // namespace mlx::core::cpu
