// Softmax and logsumexp of one row: the maximum, then exponentials and their sum, then the
// division.
#include "backend/cpu/simd/reduce_kernels.h"

namespace mlx::core::cpu::MLX_SIMD_ISA {
namespace {

template <typename E>
typename E::P row_max(const typename E::T* x, int64_t n) {
  typedef Same<monoid::Max, typename E::P> A;
  typename E::P high = A::identity();
  row<monoid::Max, E, A>(x, n, &high);
  return high;
}

// The sum of exp(x - high); the terms are stored if `to` is given. Blocks are added up in double.
template <typename E, bool stores>
double exponentials(const typename E::T* x, int64_t n, typename E::P high, typename E::P* to) {
  typedef typename E::P P;
  typedef typename E::V V;
  constexpr int lanes = E::lanes, w = E::width, k = lanes / w;
  double total = 0;
  V shift = m::lit<V>(high);
  for (int64_t i = 0; i < n; i += block_size) {
    int64_t m = n - i < block_size ? n - i : block_size, body = m & ~int64_t(lanes - 1);
    V acc[k] = {};
    for (int64_t j = i; j < i + body; j += lanes) {
      for (int u = 0; u < k; ++u) {
        V e = scalar::Exp(E::at(x + j + u * w) - shift);
        if (stores) E::put(to + j + u * w, e);
        acc[u] += e;
      }
    }
    P lane[lanes], rest[lanes] = {};
    for (int u = 0; u < k; ++u) E::put(lane + u * w, acc[u]);
    for (int64_t j = body; j < m; ++j) rest[j - body] = E::one(x + i + j) - high;
    for (int64_t j = 0; j < m - body; j += w) E::put(rest + j, scalar::Exp(E::get(rest + j)));
    for (int64_t j = 0; j < m - body; ++j) {
      if (stores) to[i + body + j] = rest[j];
      lane[j] += rest[j];
    }
    for (int h = lanes / 2; h > 0; h /= 2) {
      for (int j = 0; j < h; ++j) lane[j] += lane[j + h];
    }
    total += lane[0];
  }
  return total;
}

MLX_SIMD_FN void put_narrow(float* p, F x) { store(p, x); }
MLX_SIMD_FN void put_narrow(float16_t* p, F x) { store(p, simd::narrow_half(x)); }
MLX_SIMD_FN void put_narrow(bfloat16_t* p, F x) { store(p, simd::narrow_bfloat(x)); }

template <typename E>
void softmax_row(const void* px, int64_t n, void* out, void* scratch) {
  typedef typename E::T T;
  const T* x = (const T*)px;
  T* y = (T*)out;
  float high = row_max<E>(x, n);
  float* e = sizeof(T) == sizeof(float) ? (float*)out : (float*)scratch;
  float scale = float(1 / exponentials<E, true>(x, n, high, e));
  int64_t body = n & ~int64_t(E::width - 1);
  for (int64_t i = 0; i < body; i += E::width) put_narrow(y + i, load<F>(e + i) * scale);
  for (int64_t i = body; i < n; ++i) y[i] = scalar::convert<T>(e[i] * scale);
}

template <typename E>
void logsumexp_row(const void* px, int64_t n, void* out) {
  typedef typename E::T T;
  const T* x = (const T*)px;
  float high = row_max<E>(x, n);
  // An infinite maximum would give inf - inf.
  float shift = high - high == 0 ? high : 0;
  double sum = exponentials<E, false>(x, n, shift, nullptr);
  *(T*)out = scalar::convert<T>(double(shift) + m::log(sum));
}

// float64 has no vector exponential.
void softmax_row_64(const void* px, int64_t n, void* out, void*) {
  const double* x = (const double*)px;
  double* y = (double*)out;
  double high = row_max<Float64>(x, n);
  for (int64_t i = 0; i < n; ++i) y[i] = m::exp(x[i] - high);
  double sum = 0;
  row<monoid::Sum, Float64, Wide<monoid::Sum>>(y, n, &sum);
  for (int64_t i = 0; i < n; ++i) y[i] /= sum;
}
void logsumexp_row_64(const void* px, int64_t n, void* out) {
  const double* x = (const double*)px;
  double high = row_max<Float64>(x, n), shift = high - high == 0 ? high : 0, sum = 0;
  for (int64_t i = 0; i < n; i += block_size) {
    int64_t m = n - i < block_size ? n - i : block_size;
    double e[block_size];
    for (int64_t j = 0; j < m; ++j) e[j] = m::exp(x[i + j] - shift);
    sum += fold<monoid::Sum, Float64>(e, m);
  }
  *(double*)out = shift + m::log(sum);
}

}  // namespace

void fill_softmax(ReduceTable& t) {
  t.softmax[TileTypes::Float32] = {softmax_row<Float32>, logsumexp_row<Float32>};
  t.softmax[TileTypes::Float16] = {softmax_row<Float16>, logsumexp_row<Float16>};
  t.softmax[TileTypes::BFloat16] = {softmax_row<BFloat16>, logsumexp_row<BFloat16>};
  t.softmax[TileTypes::Float64] = {softmax_row_64, logsumexp_row_64};
}

}  // namespace mlx::core::cpu::MLX_SIMD_ISA
