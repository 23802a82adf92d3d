// Calls of LAPACK by its Fortran symbols, which Accelerate, OpenBLAS (with a prefix) and the
// reference library have in common.
#include "backend/cpu/lapack.h"

#include "backend/cpu/blas.h"

#if defined(MLX_BLAS_ACCELERATE)
#include <Accelerate/Accelerate.h>
#endif

#if !defined(BLAS_SYMBOL_PREFIX)
#define BLAS_SYMBOL_PREFIX
#endif
#define MLX_JOIN_2(a, b) a##b
#define MLX_JOIN(a, b) MLX_JOIN_2(a, b)

#if !defined(MLX_BLAS_ACCELERATE)
extern "C" {
#define LAPACK(name, symbol, ...) void MLX_JOIN(BLAS_SYMBOL_PREFIX, symbol)(__VA_ARGS__);
#include "backend/cpu/lapack.def"
#undef LAPACK
}
#endif

namespace mlx::core::cpu {

namespace {

namespace lapack {
#define LAPACK(name, symbol, ...) constexpr auto* name = &MLX_JOIN(BLAS_SYMBOL_PREFIX, symbol);
#include "backend/cpu/lapack.def"
#undef LAPACK
#undef MLX_JOIN
#undef MLX_JOIN_2
}  // namespace lapack

#if defined(MLX_BLAS_ACCELERATE)
using Complex = __LAPACK_float_complex*;
#else
using Complex = void*;
#endif

}  // namespace

int gesdd(char job, int m, int n, float* a, float* s, float* u, float* vt, float* work, int size,
          float*, int* int_work) {
  single_threaded();
  int info = 0;
  lapack::sgesdd(&job, &m, &n, a, &m, s, u, &m, vt, &n, work, &size, int_work, &info);
  return info;
}

int gesdd(char job, int m, int n, double* a, double* s, double* u, double* vt, double* work,
          int size, double*, int* int_work) {
  single_threaded();
  int info = 0;
  lapack::dgesdd(&job, &m, &n, a, &m, s, u, &m, vt, &n, work, &size, int_work, &info);
  return info;
}

int gesdd(char job, int m, int n, complex64_t* a, float* s, complex64_t* u, complex64_t* vt,
          complex64_t* work, int size, float* real_work, int* int_work) {
  single_threaded();
  int info = 0;
  lapack::cgesdd(&job, &m, &n, Complex(a), &m, s, Complex(u), &m, Complex(vt), &n, Complex(work),
                 &size, real_work, int_work, &info);
  return info;
}

}  // namespace mlx::core::cpu
