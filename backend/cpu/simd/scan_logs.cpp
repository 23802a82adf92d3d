// logcumsumexp: a running sum of exponentials is a greatest exponent and a sum relative to it, so
// that an element costs one exponential and one logarithm and nothing overflows or is lost. Sums
// that go on for long are kept in double.
#include "backend/cpu/simd/scan_kernels.h"

namespace mlx::core::cpu::MLX_SIMD_ISA {
namespace {

using monoid::LogSum;
constexpr int width = simd::width;
constexpr int vectors = group / width;
typedef monoid::LogSumOf<double> Total;
typedef monoid::LogSumOf<float> One;

// The carries of n lanes: n sums, then n exponents.
struct Carries {
  double* sum;
  float* high;

  MLX_SIMD_FN Carries of(void* p, int64_t n) { return {(double*)p, (float*)((double*)p + n)}; }
  MLX_SIMD_FN Carries of(const void* p, int64_t n) { return of((void*)p, n); }
  Total get(int64_t i) const { return {double(high[i]), sum[i]}; }
  void put(int64_t i, Total t) {
    high[i] = float(t.high);
    sum[i] = t.sum;
  }
};

void start(void* carries, int64_t n) {
  Carries c = Carries::of(carries, n);
  for (int64_t i = 0; i < n; ++i) c.put(i, LogSum::identity<double>());
}
void merge(void* carries, const void* later, int64_t n) {
  Carries c = Carries::of(carries, n), l = Carries::of(later, n);
  for (int64_t i = 0; i < n; ++i) c.put(i, LogSum::combine(c.get(i), l.get(i)));
}
template <typename T>
void nothing(void* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    ((T*)out)[i] = scalar::convert<T>(LogSum::identity<double>().high);
}

MLX_SIMD_FN LogSums splat(Total t) { return {m::lit<F>(float(t.high)), m::lit<F>(float(t.sum))}; }

// The first `count` of the elements in v, which become results; adds them to `local`.
MLX_SIMD_FN void scan_logs(LogSums* v, int count, Total base, Total& local) {
  scan_group<LogSum, vectors>(v);
  int last = (count - 1) / width, lane = (count - 1) % width;
  Total total = {double(v[last].high[lane]), double(v[last].sum[lane])};
  LogSums before = splat(LogSum::combine(base, local));
  for (int u = 0; u < vectors; ++u) v[u] = LogSum::combine(before, v[u]);
  local = LogSum::combine(local, total);
}

template <typename E>
void row(const void* px, int64_t n, bool reverse, const void* base, void* local, void* out) {
  typedef typename E::T T;
  const T* x = (const T*)px;
  T* y = (T*)out;
  Carries c = Carries::of(local, 1);
  Total b = Carries::of(base, 1).get(0), l = c.get(0);
  LogSums v[vectors];
  int64_t whole = n & ~int64_t(group - 1);
  for (int64_t i = 0; i < whole; i += group) {
    int64_t at = reverse ? n - group - i : i;
    for (int u = 0; u < vectors; ++u) v[u] = LogSum::lift(E::at(x + at + u * width));
    if (reverse) flip_group<vectors>(v);
    scan_logs(v, group, b, l);
    if (!y) continue;
    if (reverse) flip_group<vectors>(v);
    for (int u = 0; u < vectors; ++u) put_narrow(y + at + u * width, LogSum::lower(v[u]));
  }
  if (int rest = int(n - whole)) {
    float pad[group];
    int step = reverse ? -1 : 1;
    int64_t at = reverse ? rest - 1 : whole;
    for (int i = 0; i < group; ++i) pad[i] = i < rest ? E::one(x + at + i * step) : pad[0];
    for (int u = 0; u < vectors; ++u) v[u] = LogSum::lift(load<F>(pad + u * width));
    scan_logs(v, rest, b, l);
    for (int u = 0; u < vectors; ++u) store(pad + u * width, LogSum::lower(v[u]));
    for (int i = 0; y && i < rest; ++i) y[at + i * step] = scalar::convert<T>(pad[i]);
  }
  c.put(0, l);
}

// One vector of columns by one element each; the results without `base`.
MLX_SIMD_FN LogSums step(F x, float* high, double* sum) {
  F h = load<F>(high), one = m::lit<F>(1), zero = m::lit<F>(0);
  F less = scalar::Exp(zero - m::select(x == h, zero, m::abs(x - h)));
  F keep = m::select(x > h, less, one), term = m::select(x > h, one, less);
  D k[2], t[2], s[2];
  widen(keep, k[0], k[1]);
  widen(term, t[0], t[1]);
  for (int u = 0; u < 2; ++u) {
    s[u] = load<D>(sum + u * half_width) * k[u] + t[u];
    store(sum + u * half_width, s[u]);
  }
  h = scalar::Maximum(h, x);
  store(high, h);
  return {h, narrow_pair(s[0], s[1])};
}

template <typename E>
void columns(const void* px, int64_t x_stride, int64_t rows, int64_t n, const void* base,
             void* local, void* out, int64_t out_stride) {
  typedef typename E::T T;
  Carries l = Carries::of(local, n), b = Carries::of(base ? base : local, n);
  for (int64_t j = 0; j < n; j += width) {
    const T* x = (const T*)px + j;
    T* y = out ? (T*)out + j : nullptr;
    int64_t m = n - j < width ? n - j : width;
    float high[width] = {}, base_high[width] = {}, base_sum[width] = {};
    double sum[width] = {};
    for (int64_t i = 0; i < m; ++i) high[i] = l.high[j + i], sum[i] = l.sum[j + i];
    for (int64_t i = 0; base && i < m; ++i)
      base_high[i] = b.high[j + i], base_sum[i] = float(b.sum[j + i]);
    LogSums before = {load<F>(base_high), load<F>(base_sum)};
    for (int64_t r = 0; r < rows; ++r) {
      T pad[width] = {};
      const T* from = x + r * x_stride;
      if (m < width) {
        for (int64_t i = 0; i < m; ++i) pad[i] = from[i];
        from = pad;
      }
      LogSums v = step(E::at(from), high, sum);
      if (!out) continue;
      if (base) v = LogSum::combine(before, v);
      T* to = m < width ? pad : y + r * out_stride;
      put_narrow(to, LogSum::lower(v));
      for (int64_t i = 0; m < width && i < m; ++i) y[r * out_stride + i] = pad[i];
    }
    for (int64_t i = 0; i < m; ++i) l.high[j + i] = high[i], l.sum[j + i] = sum[i];
  }
}

template <typename E>
constexpr ScanKernel log_scan() {
  return {2 * sizeof(double), start, merge, row<E>, columns<E>, nothing<typename E::T>};
}

// float64 has no vector exponential.
struct DoubleLogSum {
  typedef double Stored;
  typedef Total Carry;
  MLX_SIMD_FN Total identity() { return LogSum::identity<double>(); }
  MLX_SIMD_FN Total lift(double x) { return LogSum::lift(x); }
  MLX_SIMD_FN Total combine(Total a, Total b) { return LogSum::combine(a, b); }
  MLX_SIMD_FN double lower(Total a) { return LogSum::lower(a); }
};

}  // namespace

void fill_log_scans(ScanTable& t) {
  auto& row = t.scan[ScanOps::LogCumSumExp];
  row[TileTypes::Float32] = log_scan<Float32>();
  row[TileTypes::Float16] = log_scan<Float16>();
  row[TileTypes::BFloat16] = log_scan<BFloat16>();
  row[TileTypes::Float64] = plain_scan<DoubleLogSum>();
}

}  // namespace mlx::core::cpu::MLX_SIMD_ISA
