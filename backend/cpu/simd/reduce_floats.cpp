// Reductions of the floating dtypes.
#include "backend/cpu/simd/reduce_kernels.h"

namespace mlx::core::cpu::MLX_SIMD_ISA {
namespace {

using namespace monoid;  // NOLINT: Sum, Prod, Max, Min

template <typename E>
void fill_floating(ReduceTable& t, int type) {
  typedef typename E::T T;
  typedef typename E::P P;
  auto set = [&](int op, ReduceKernel k) { t.reduce[op][type] = k; };
  set(ReduceOps::Sum, vector_kernel<Sum, E, Wide<Sum>, T>());
  set(ReduceOps::Prod, vector_kernel<Prod, E, Wide<Prod>, T>());
  set(ReduceOps::Max, vector_kernel<Max, E, Same<Max, P>, T>());
  set(ReduceOps::Min, vector_kernel<Min, E, Same<Min, P>, T>());
  ReduceKernel mean = vector_kernel<Sum, E, Wide<Sum>, T>();
  mean.finish = finish_mean<double, T>;
  set(ReduceOps::Mean, mean);
  set(ReduceOps::Var, moments_kernel<E, T, false>());
  set(ReduceOps::Std, moments_kernel<E, T, true>());
}

}  // namespace

void fill_float_reductions(ReduceTable& t) {
  fill_floating<Float32>(t, TileTypes::Float32);
  fill_floating<Float16>(t, TileTypes::Float16);
  fill_floating<BFloat16>(t, TileTypes::BFloat16);
  fill_floating<Float64>(t, TileTypes::Float64);
}

}  // namespace mlx::core::cpu::MLX_SIMD_ISA
