// The kernels of single elementwise rows: one over packs of up to 16 bytes, one element by element.
#pragma once

#include "backend/cuda/elementwise.h"
#include "backend/cuda/pack.h"
#include "mlx/ops/elementwise/scalar_dialect.h"
// after the dialect
#include "mlx/ops/elementwise/convert.h"

namespace mlx {
namespace core {
namespace cuda {

enum class Result { same, floating, boolean, magnitude, shift };
enum class Accepts { any, real, integral, number };

namespace rows {
#define OP(Name, ...)                                      \
  struct Name {                                            \
    template <typename... T>                               \
    static __device__ __forceinline__ auto apply(T... x) { \
      return scalar::Name(x...);                           \
    }                                                      \
  };
#include "mlx/ops/elementwise/elementwise.def"
#undef OP
}  // namespace rows

template <typename A, typename B>
constexpr int pack_elements() {
  int small = sizeof(A) < sizeof(B) ? sizeof(A) : sizeof(B);
  return 16 / small > 8 ? 8 : 16 / small;
}

// What a row does to packs of its operands. Operand 0 of the walk is the result.
template <typename Row, typename In, typename Out, int arity, int V>
__global__ void row_kernel(Walk w, char* out, Source a, Source b) {
  uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= w.count) return;
  int64_t at[arity + 1];
  locate(w, i, at);
  int n = elements_of<V>(w, i);
  Pack<Out, V> y;
  Pack<In, V> x = load_pack<In, V>(a, at[1], w.repeated & 2, n);
  if constexpr (arity == 1) {
#pragma unroll
    for (int j = 0; j < V; ++j) y.at[j] = narrow<Out>(Row::apply(widen(x.at[j])));
  } else {
    Pack<In, V> z = load_pack<In, V>(b, at[2], w.repeated & 4, n);
#pragma unroll
    for (int j = 0; j < V; ++j) y.at[j] = narrow<Out>(Row::apply(widen(x.at[j]), widen(z.at[j])));
  }
  store_pack<Out, V>(out + at[0], y, n);
}

template <typename From, typename To, int V>
__global__ void cast_kernel(Walk w, char* out, Source a) {
  uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= w.count) return;
  int64_t at[2];
  locate(w, i, at);
  int n = elements_of<V>(w, i);
  Pack<From, V> x = load_pack<From, V>(a, at[1], w.repeated & 2, n);
  Pack<To, V> y;
#pragma unroll
  for (int j = 0; j < V; ++j) y.at[j] = scalar::convert<To>(x.at[j]);
  store_pack<To, V>(out + at[0], y, n);
}

// T is the unsigned type of the element size.
template <typename T, int V>
__global__ void select_kernel(Walk w, char* out, Source c, Source a, Source b) {
  uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= w.count) return;
  int64_t at[4];
  locate(w, i, at);
  int n = elements_of<V>(w, i);
  Pack<uint8_t, V> m = load_pack<uint8_t, V>(c, at[1], w.repeated & 2, n);
  Pack<T, V> x = load_pack<T, V>(a, at[2], w.repeated & 4, n);
  Pack<T, V> z = load_pack<T, V>(b, at[3], w.repeated & 8, n);
  Pack<T, V> y;
#pragma unroll
  for (int j = 0; j < V; ++j) y.at[j] = m.at[j] ? x.at[j] : z.at[j];
  store_pack<T, V>(out + at[0], y, n);
}

// ---- filling the table ----

template <typename T>
constexpr bool is_floating = false;
template <>
constexpr bool is_floating<float> = true;
template <>
constexpr bool is_floating<double> = true;
template <>
constexpr bool is_floating<float16_t> = true;
template <>
constexpr bool is_floating<bfloat16_t> = true;
template <typename T>
constexpr bool is_complex = false;
template <>
constexpr bool is_complex<complex64_t> = true;
template <typename T>
constexpr bool is_boolean = false;
template <>
constexpr bool is_boolean<bool> = true;

template <typename T, Result result>
struct ResultOf {
  typedef T type;
};
template <typename T>
struct ResultOf<T, Result::boolean> {
  typedef bool type;
};
template <>
struct ResultOf<complex64_t, Result::magnitude> {
  typedef float type;
};

template <typename Row, int arity, Result result, Accepts accepts, typename T>
RowKernels row_kernels() {
  constexpr bool exact = !is_floating<T> && !is_complex<T>;
  if constexpr (arity == 3 || (result == Result::floating && exact) ||
                (accepts == Accepts::integral && !exact) ||
                (accepts == Accepts::real && is_complex<T>) ||
                (is_boolean<T> && (accepts == Accepts::number || result == Result::shift))) {
    return {};
  } else {
    typedef typename ResultOf<T, result>::type Out;
    constexpr int V = pack_elements<T, Out>();
    return {reinterpret_cast<const void*>(&row_kernel<Row, T, Out, arity, V>),
            reinterpret_cast<const void*>(&row_kernel<Row, T, Out, arity, 1>), V};
  }
}

template <typename T>
void fill_rows(KernelTable& t, int type) {
#define OP(Name, python, arity, result, accepts, ...) \
  t.rows[KernelOps::Name][type] =                     \
      row_kernels<rows::Name, arity, Result::result, Accepts::accepts, T>();
#include "mlx/ops/elementwise/elementwise.def"
#undef OP
  t.rows[KernelOps::Cast][type] = {};
}

}  // namespace cuda
}  // namespace core
}  // namespace mlx
