// The LAPACK calls that evaluators use, overloaded by element type. Matrices are column-major, as
// Fortran has them. A call runs on the calling thread alone, and may be made by any number of
// threads at once. The result is LAPACK's info: 0, or why there is no solution.
#pragma once

#include "mlx/types.h"

namespace mlx::core::cpu {

// The decomposition of m × n matrices: `job` 'A' for all vectors or 'N' for none. `a` is destroyed.
// With `size` -1 only the wanted size of `work` is stored in its first element.
int gesdd(char job, int m, int n, float* a, float* s, float* u, float* vt, float* work, int size,
          float* real_work, int* int_work);
int gesdd(char job, int m, int n, double* a, double* s, double* u, double* vt, double* work,
          int size, double* real_work, int* int_work);
int gesdd(char job, int m, int n, complex64_t* a, float* s, complex64_t* u, complex64_t* vt,
          complex64_t* work, int size, float* real_work, int* int_work);

}  // namespace mlx::core::cpu
