// Scans of the floating dtypes, all in vectors of double, rounded once. Along a row 16 elements at
// a time: a tree within them (after Sklansky: the upper half of every 2, 4, 8, 16 takes the last
// value of the lower half), then what came before. Down columns each has its own running value.
#include "backend/cpu/simd/scan_kernels.h"

namespace mlx::core::cpu::MLX_SIMD_ISA {
namespace {

constexpr int vectors = group / half_width;

// Elements as they are read and written, `count` vectors of double at a time.
template <typename E, int count>
struct Block {
  MLX_SIMD_FN void load(const typename E::T* x, D* v) {
    for (int u = 0; u < count / 2; ++u) {
      widen(E::at(x + u * simd::width), v[2 * u], v[2 * u + 1]);
    }
  }
  MLX_SIMD_FN void store(const D* v, typename E::T* y) {
    for (int u = 0; u < count / 2; ++u) {
      put_narrow(y + u * simd::width, narrow_pair(v[2 * u], v[2 * u + 1]));
    }
  }
};
template <int count>
struct Block<Float64, count> {
  MLX_SIMD_FN void load(const double* x, D* v) {
    for (int u = 0; u < count; ++u) v[u] = simd::load<D>(x + u * half_width);
  }
  MLX_SIMD_FN void store(const D* v, double* y) {
    for (int u = 0; u < count; ++u) simd::store(y + u * half_width, v[u]);
  }
};

// -0 is what changes no sum, not even its sign.
template <typename Mo>
struct Neutral {
  MLX_SIMD_FN double value() { return Mo::template identity<double>(); }
};
template <>
struct Neutral<monoid::Sum> {
  MLX_SIMD_FN double value() { return -0.0; }
};

template <typename Mo>
void start_floats(void* carries, int64_t n) {
  for (int64_t i = 0; i < n; ++i) ((double*)carries)[i] = Neutral<Mo>::value();
}
template <typename Mo>
void merge_floats(void* carries, const void* later, int64_t n) {
  double* c = (double*)carries;
  const double* l = (const double*)later;
  for (int64_t i = 0; i < n; ++i) c[i] = Mo::combine(c[i], l[i]);
}
template <typename Mo, typename T>
void nothing_floats(void* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    ((T*)out)[i] = scalar::convert<T>(Mo::template identity<double>());
}

template <typename Mo, typename E, bool reverse>
void row_floats_way(const typename E::T* x, int64_t n, double base, double* local,
                    typename E::T* y) {
  typedef Block<E, vectors> B;
  double l = *local;
  int64_t whole = n & ~int64_t(group - 1);
  for (int64_t i = 0; i < whole; i += group) {
    int64_t at = reverse ? n - group - i : i;
    D v[vectors];
    B::load(x + at, v);
    if (reverse) flip_group<vectors>(v);
    scan_group<Mo, vectors>(v);
    double total = v[vectors - 1][half_width - 1];
    if (y) {
      D before = m::lit<D>(Mo::combine(base, l));
      for (int u = 0; u < vectors; ++u) v[u] = Mo::combine(before, v[u]);
      if (reverse) flip_group<vectors>(v);
      B::store(v, y + at);
    }
    l = Mo::combine(l, total);
  }
  for (int64_t i = whole; i < n; ++i) {
    int64_t at = reverse ? n - 1 - i : i;
    l = Mo::combine(l, double(E::one(x + at)));
    if (y) y[at] = scalar::convert<typename E::T>(Mo::combine(base, l));
  }
  *local = l;
}

template <typename Mo, typename E>
void row_floats(const void* px, int64_t n, bool reverse, const void* base, void* local, void* out) {
  const auto* x = (const typename E::T*)px;
  auto* y = (typename E::T*)out;
  if (reverse) {
    row_floats_way<Mo, E, true>(x, n, *(const double*)base, (double*)local, y);
  } else {
    row_floats_way<Mo, E, false>(x, n, *(const double*)base, (double*)local, y);
  }
}

// `count` rows: the running values are read and written once for all of them.
template <typename Mo, typename E, int count>
MLX_SIMD_FN void column_rows(const typename E::T* x, int64_t x_stride, int64_t n,
                             const double* base, double* local, typename E::T* y,
                             int64_t out_stride) {
  typedef Block<E, 2> B;
  constexpr int w = 2 * half_width;
  int64_t body = n & ~int64_t(w - 1);
  for (int64_t j = 0; j < body; j += w) {
    D l[2] = {load<D>(local + j), load<D>(local + j + half_width)};
    for (int r = 0; r < count; ++r) {
      D v[2];
      B::load(x + r * x_stride + j, v);
      for (int u = 0; u < 2; ++u) v[u] = l[u] = Mo::combine(l[u], v[u]);
      if (!y) continue;
      if (base) {
        for (int u = 0; u < 2; ++u) v[u] = Mo::combine(load<D>(base + j + u * half_width), l[u]);
      }
      B::store(v, y + r * out_stride + j);
    }
    store(local + j, l[0]);
    store(local + j + half_width, l[1]);
  }
  for (int64_t j = body; j < n; ++j) {
    for (int r = 0; r < count; ++r) {
      local[j] = Mo::combine(local[j], double(E::one(x + r * x_stride + j)));
      if (!y) continue;
      double v = base ? Mo::combine(base[j], local[j]) : local[j];
      y[r * out_stride + j] = scalar::convert<typename E::T>(v);
    }
  }
}

template <typename Mo, typename E>
void columns_floats(const void* px, int64_t x_stride, int64_t rows, int64_t n, const void* base,
                    void* local, void* out, int64_t out_stride) {
  const auto* x = (const typename E::T*)px;
  auto* y = (typename E::T*)out;
  const double* b = (const double*)base;
  double* l = (double*)local;
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4, x += 4 * x_stride) {
    column_rows<Mo, E, 4>(x, x_stride, n, b, l, y, out_stride);
    if (y) y += 4 * out_stride;
  }
  for (; r < rows; ++r, x += x_stride) {
    column_rows<Mo, E, 1>(x, x_stride, n, b, l, y, out_stride);
    if (y) y += out_stride;
  }
}

template <typename Mo, typename E>
constexpr ScanKernel float_scan() {
  return {sizeof(double),    start_floats<Mo>,      merge_floats<Mo>,
          row_floats<Mo, E>, columns_floats<Mo, E>, nothing_floats<Mo, typename E::T>};
}

template <typename E>
void fill_floating(ScanTable& t, int type) {
  t.scan[ScanOps::CumSum][type] = float_scan<monoid::Sum, E>();
  t.scan[ScanOps::CumProd][type] = float_scan<monoid::Prod, E>();
  t.scan[ScanOps::CumMax][type] = float_scan<monoid::Max, E>();
  t.scan[ScanOps::CumMin][type] = float_scan<monoid::Min, E>();
  t.recurrence[type] = recurrence_plain<typename E::T, double>;
}

}  // namespace

void fill_float_scans(ScanTable& t) {
  fill_floating<Float32>(t, TileTypes::Float32);
  fill_floating<Float16>(t, TileTypes::Float16);
  fill_floating<BFloat16>(t, TileTypes::BFloat16);
  fill_floating<Float64>(t, TileTypes::Float64);
}

}  // namespace mlx::core::cpu::MLX_SIMD_ISA
