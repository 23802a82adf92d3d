// Calls into Accelerate or OpenBLAS (whose symbols may carry a prefix).
#include "backend/cpu/blas.h"

#if defined(MLX_BLAS_ACCELERATE)
#include <Accelerate/Accelerate.h>
#else
#include <cblas.h>
#endif

#if !defined(BLAS_SYMBOL_PREFIX)
#define BLAS_SYMBOL_PREFIX
#endif

namespace mlx::core::cpu {

namespace {

namespace blas {
#define MLX_JOIN_2(a, b) a##b
#define MLX_JOIN(a, b) MLX_JOIN_2(a, b)
#define BLAS(name, symbol) constexpr auto* name = &MLX_JOIN(BLAS_SYMBOL_PREFIX, symbol);
#include "backend/cpu/blas.def"
#if !defined(MLX_BLAS_ACCELERATE)
BLAS(set_num_threads, openblas_set_num_threads)
#endif
#undef BLAS
#undef MLX_JOIN
#undef MLX_JOIN_2
}  // namespace blas

CBLAS_TRANSPOSE op(Stored s) { return s == Stored::plain ? CblasNoTrans : CblasTrans; }

// What is stored has the rows and columns of op(a) exchanged.
int stored_rows(Stored s, int m, int k) { return s == Stored::plain ? m : k; }

}  // namespace

void single_threaded() {
#if !defined(MLX_BLAS_ACCELERATE)
  static const bool done = (blas::set_num_threads(1), true);
  (void)done;
#endif
}

void gemm(Stored sa, Stored sb, int m, int n, int k, float alpha, const float* a, int lda,
          const float* b, int ldb, float beta, float* c, int ldc) {
  single_threaded();
  blas::sgemm(CblasRowMajor, op(sa), op(sb), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void gemm(Stored sa, Stored sb, int m, int n, int k, float alpha, const double* a, int lda,
          const double* b, int ldb, float beta, double* c, int ldc) {
  single_threaded();
  blas::dgemm(CblasRowMajor, op(sa), op(sb), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void gemm(Stored sa, Stored sb, int m, int n, int k, float alpha, const complex64_t* a, int lda,
          const complex64_t* b, int ldb, float beta, complex64_t* c, int ldc) {
  single_threaded();
  const complex64_t factor = {alpha, 0}, keep = {beta, 0};
  blas::cgemm(CblasRowMajor, op(sa), op(sb), m, n, k, &factor, a, lda, b, ldb, &keep, c, ldc);
}

void gemv(Stored sa, int m, int k, float alpha, const float* a, int lda, const float* x, int incx,
          float* y) {
  single_threaded();
  int rows = stored_rows(sa, m, k), columns = stored_rows(sa, k, m);
  blas::sgemv(CblasRowMajor, op(sa), rows, columns, alpha, a, lda, x, incx, 1.0f, y, 1);
}

void gemv(Stored sa, int m, int k, float alpha, const double* a, int lda, const double* x, int incx,
          double* y) {
  single_threaded();
  int rows = stored_rows(sa, m, k), columns = stored_rows(sa, k, m);
  blas::dgemv(CblasRowMajor, op(sa), rows, columns, alpha, a, lda, x, incx, 1.0, y, 1);
}

void gemv(Stored sa, int m, int k, float alpha, const complex64_t* a, int lda, const complex64_t* x,
          int incx, complex64_t* y) {
  single_threaded();
  int rows = stored_rows(sa, m, k), columns = stored_rows(sa, k, m);
  const complex64_t factor = {alpha, 0}, one = {1, 0};
  blas::cgemv(CblasRowMajor, op(sa), rows, columns, &factor, a, lda, x, incx, &one, y, 1);
}

}  // namespace mlx::core::cpu
