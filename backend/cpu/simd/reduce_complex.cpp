// Reductions of complex64. Built without GCC's vectoriser (CMakeLists.txt), which fuses the
// multiplications of complex products with their additions even where contraction is off.
#include "backend/cpu/simd/reduce_kernels.h"

namespace mlx::core::cpu::MLX_SIMD_ISA {
namespace {

using namespace monoid;  // NOLINT: Sum, Prod, Max, Min

}  // namespace

void fill_complex_reductions(ReduceTable& t) {
  constexpr int type = TileTypes::Complex64;
  typedef complex64_t Z;
  t.reduce[ReduceOps::Sum][type] = vector_kernel<Sum, Complex64, WideComplexSum, Z>();
  t.reduce[ReduceOps::Prod][type] = vector_kernel<Prod, Complex64, Same<Prod, Z>, Z>();
  t.reduce[ReduceOps::Max][type] = vector_kernel<Max, Complex64, Same<Max, Z>, Z>();
  t.reduce[ReduceOps::Min][type] = vector_kernel<Min, Complex64, Same<Min, Z>, Z>();
  t.reduce[ReduceOps::Mean][type] = vector_kernel<Sum, Complex64, WideComplexSum, Z>();
  t.reduce[ReduceOps::Mean][type].finish = finish_mean<WideComplex, Z>;
  // The variance of complex values is made of those of their parts.
}

}  // namespace mlx::core::cpu::MLX_SIMD_ISA
