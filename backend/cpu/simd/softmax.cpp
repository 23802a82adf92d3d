// Softmax and logsumexp of rows: the maximum, then exponentials and their sum, then the
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
// On the way the next row is asked for.
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
      prefetch_run(x + n + j, lanes);
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

// Short rows go several at a time through one buffer, so that the exponentials are whole vectors.
constexpr int64_t short_row = 32;
constexpr int64_t run_size = 1024;

// exp(x - shift) of `count` rows of n elements; shift[r] is the maximum of row r, or 0 instead of
// infinity if `finite` asks for that. The buffer is a whole number of vectors.
template <bool finite>
void short_exponentials(float* e, int64_t count, int64_t n, float* shift) {
  for (int64_t r = 0; r < count; ++r) {
    float* row = e + r * n;
    float high = row[0];
    for (int64_t i = 1; i < n; ++i) high = monoid::Max::combine(high, row[i]);
    if (finite && high - high != 0) high = 0;
    for (int64_t i = 0; i < n; ++i) row[i] -= high;
    shift[r] = high;
  }
  int64_t used = (count * n + simd::width - 1) & ~int64_t(simd::width - 1);
  for (int64_t i = count * n; i < used; ++i) e[i] = 0;
  for (int64_t i = 0; i < used; i += simd::width) store(e + i, scalar::Exp(load<F>(e + i)));
}

MLX_SIMD_FN float short_sum(const float* e, int64_t n) {
  float sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += e[i];
  return sum;
}

template <typename E>
void short_softmax(const typename E::T* x, int64_t count, int64_t n, typename E::T* y) {
  float e[run_size], shift[run_size];
  for (int64_t step = run_size / n, r = 0; r < count; r += step) {
    int64_t m = count - r < step ? count - r : step;
    widen_run<E>(x + r * n, m * n, e);
    short_exponentials<false>(e, m, n, shift);
    for (int64_t j = 0; j < m; ++j) {
      float* row = e + j * n;
      float scale = 1 / short_sum(row, n);
      for (int64_t i = 0; i < n; ++i) row[i] *= scale;
    }
    narrow_run<E>(e, m * n, y + r * n);
  }
}

template <typename E>
void softmax_rows(const void* px, int64_t count, int64_t n, void* out, void* scratch) {
  typedef typename E::T T;
  const T* x = (const T*)px;
  T* y = (T*)out;
  if (n <= short_row) return short_softmax<E>(x, count, n, y);
  for (int64_t r = 0; r < count; ++r, x += n, y += n) {
    float high = row_max<E>(x, n);
    float* e = sizeof(T) == sizeof(float) ? (float*)y : (float*)scratch;
    F scale = m::lit<F>(float(1 / exponentials<E, true>(x, n, high, e)));
    int64_t body = n & ~int64_t(E::width - 1);
    for (int64_t i = 0; i < body; i += E::width) put_narrow(y + i, load<F>(e + i) * scale);
    for (int64_t i = body; i < n; ++i) y[i] = scalar::convert<T>(e[i] * scale[0]);
  }
}

template <typename E>
void logsumexp_rows(const void* px, int64_t count, int64_t n, void* out) {
  typedef typename E::T T;
  const T* x = (const T*)px;
  T* y = (T*)out;
  if (n > short_row) {
    for (int64_t r = 0; r < count; ++r, x += n) {
      float high = row_max<E>(x, n);
      // An infinite maximum would give inf - inf.
      float shift = high - high == 0 ? high : 0;
      double sum = exponentials<E, false>(x, n, shift, nullptr);
      y[r] = scalar::convert<T>(double(shift) + m::log(sum));
    }
    return;
  }
  float e[run_size], shift[run_size];
  for (int64_t step = run_size / n, r = 0; r < count; r += step) {
    int64_t m = count - r < step ? count - r : step;
    widen_run<E>(x + r * n, m * n, e);
    short_exponentials<true>(e, m, n, shift);
    for (int64_t j = 0; j < m; ++j)
      y[r + j] = scalar::convert<T>(double(shift[j]) + m::log(double(short_sum(e + j * n, n))));
  }
}

// float64 has no vector exponential.
void softmax_rows_64(const void* px, int64_t count, int64_t n, void* out, void*) {
  const double* x = (const double*)px;
  double* y = (double*)out;
  for (int64_t r = 0; r < count; ++r, x += n, y += n) {
    double high = row_max<Float64>(x, n), sum = 0;
    for (int64_t i = 0; i < n; ++i) y[i] = m::exp(x[i] - high);
    row<monoid::Sum, Float64, Wide<monoid::Sum>>(y, n, &sum);
    for (int64_t i = 0; i < n; ++i) y[i] /= sum;
  }
}
void logsumexp_rows_64(const void* px, int64_t count, int64_t n, void* out) {
  const double* x = (const double*)px;
  for (int64_t r = 0; r < count; ++r, x += n) {
    double high = row_max<Float64>(x, n), shift = high - high == 0 ? high : 0, sum = 0;
    for (int64_t i = 0; i < n; i += block_size) {
      int64_t m = n - i < block_size ? n - i : block_size;
      double e[block_size];
      for (int64_t j = 0; j < m; ++j) e[j] = m::exp(x[i + j] - shift);
      sum += fold<monoid::Sum, Float64>(e, m);
    }
    ((double*)out)[r] = shift + m::log(sum);
  }
}

}  // namespace

void fill_softmax(ReduceTable& t) {
  t.softmax[TileTypes::Float32] = {softmax_rows<Float32>, logsumexp_rows<Float32>};
  t.softmax[TileTypes::Float16] = {softmax_rows<Float16>, logsumexp_rows<Float16>};
  t.softmax[TileTypes::BFloat16] = {softmax_rows<BFloat16>, logsumexp_rows<BFloat16>};
  t.softmax[TileTypes::Float64] = {softmax_rows_64, logsumexp_rows_64};
}

}  // namespace mlx::core::cpu::MLX_SIMD_ISA
