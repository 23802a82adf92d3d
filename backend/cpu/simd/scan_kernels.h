// The loops of scan_table.h that follow one element after the other, as templates over a policy;
// included by the files compiled per instruction set, all internal linkage.
#pragma once

#include "backend/cpu/scan_table.h"
#include "backend/cpu/simd/reduce_kernels.h"

#if defined(__clang__)
#define MLX_SCAN_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define MLX_SCAN_LOOP _Pragma("GCC ivdep")
#endif

namespace mlx::core::cpu::MLX_SIMD_ISA {
namespace {

// How elements enter a carry, carries join, and results leave it.
template <typename Mo, typename T, typename A = T>
struct Step {
  typedef T Stored;
  typedef A Carry;
  MLX_SIMD_FN A identity() { return Mo::template identity<A>(); }
  MLX_SIMD_FN A lift(T x) { return A(x); }
  MLX_SIMD_FN A combine(A a, A b) { return Mo::combine(a, b); }
  MLX_SIMD_FN T lower(A a) { return T(a); }
};

template <typename S>
void start_plain(void* carries, int64_t n) {
  auto* c = (typename S::Carry*)carries;
  for (int64_t i = 0; i < n; ++i) c[i] = S::identity();
}
template <typename S>
void merge_plain(void* carries, const void* later, int64_t n) {
  auto* c = (typename S::Carry*)carries;
  const auto* l = (const typename S::Carry*)later;
  for (int64_t i = 0; i < n; ++i) c[i] = S::combine(c[i], l[i]);
}
template <typename S>
void nothing_plain(void* out, int64_t n) {
  auto* y = (typename S::Stored*)out;
  for (int64_t i = 0; i < n; ++i) y[i] = S::lower(S::identity());
}

template <typename S>
void row_plain(const void* px, int64_t n, bool reverse, const void* base, void* local, void* out) {
  typedef typename S::Carry A;
  const auto* x = (const typename S::Stored*)px;
  auto* y = (typename S::Stored*)out;
  A b = *(const A*)base, l = *(A*)local;
  int64_t step = reverse ? -1 : 1;
  if (reverse) x += n - 1, y = y ? y + (n - 1) : y;
  if (!y) {
    for (int64_t i = 0; i < n; ++i, x += step) l = S::combine(l, S::lift(*x));
  } else {
    for (int64_t i = 0; i < n; ++i, x += step, y += step) {
      l = S::combine(l, S::lift(*x));
      *y = S::lower(S::combine(b, l));
    }
  }
  *(A*)local = l;
}

template <typename S>
void columns_plain(const void* px, int64_t x_stride, int64_t rows, int64_t n, const void* base,
                   void* local, void* out, int64_t out_stride) {
  typedef typename S::Carry A;
  const auto* x = (const typename S::Stored*)px;
  auto* y = (typename S::Stored*)out;
  const A* b = (const A*)base;
  A* l = (A*)local;
  for (int64_t r = 0; r < rows; ++r, x += x_stride) {
    if (!y) {
      MLX_SCAN_LOOP
      for (int64_t j = 0; j < n; ++j) l[j] = S::combine(l[j], S::lift(x[j]));
      continue;
    }
    if (b) {
      MLX_SCAN_LOOP
      for (int64_t j = 0; j < n; ++j) {
        l[j] = S::combine(l[j], S::lift(x[j]));
        y[j] = S::lower(S::combine(b[j], l[j]));
      }
    } else {
      MLX_SCAN_LOOP
      for (int64_t j = 0; j < n; ++j) {
        l[j] = S::combine(l[j], S::lift(x[j]));
        y[j] = S::lower(l[j]);
      }
    }
    y += out_stride;
  }
}

template <typename S>
constexpr ScanKernel plain_scan() {
  return {sizeof(typename S::Carry), start_plain<S>,  merge_plain<S>, row_plain<S>,
          columns_plain<S>,          nothing_plain<S>};
}

// Type of the elements, and the type they are multiplied and added in.
template <typename T, typename A>
void recurrence_plain(const void* pa, const void* pb, int64_t stride, int64_t rows, int64_t n,
                      bool inclusive, void* carries, void* out) {
  const T *a = (const T*)pa, *b = (const T*)pb;
  T* y = (T*)out;
  A* h = (A*)carries;
  for (int64_t r = 0; r < rows; ++r, a += stride, b += stride, y += stride) {
    if (inclusive) {
      MLX_SCAN_LOOP
      for (int64_t j = 0; j < n; ++j) {
        A f = scalar::convert<A>(a[j]), g = scalar::convert<A>(b[j]);
        h[j] = f == A(0) ? g : A(f * h[j] + g);
        y[j] = scalar::convert<T>(h[j]);
      }
    } else {
      MLX_SCAN_LOOP
      for (int64_t j = 0; j < n; ++j) {
        A f = scalar::convert<A>(a[j]), g = scalar::convert<A>(b[j]);
        y[j] = scalar::convert<T>(h[j]);
        h[j] = f == A(0) ? g : A(f * h[j] + g);
      }
    }
  }
}

// ---- groups of 16 elements in vectors ----

constexpr int group = 16;
constexpr int half_width = simd::width / 2;  // lanes of a vector of double
typedef float HalfF __attribute__((vector_size(MLX_SIMD_BYTES / 2)));
typedef monoid::LogSumOf<F> LogSums;

template <int... i>
struct Lanes {};
template <int n>
struct LanesOf;
template <>
struct LanesOf<2> {
  typedef Lanes<0, 1> type;
};
template <>
struct LanesOf<4> {
  typedef Lanes<0, 1, 2, 3> type;
};
template <>
struct LanesOf<8> {
  typedef Lanes<0, 1, 2, 3, 4, 5, 6, 7> type;
};
template <>
struct LanesOf<16> {
  typedef Lanes<0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15> type;
};

// What a scan moves between the lanes of a vector V.
template <typename V, int w, typename L = typename LanesOf<w>::type>
struct Moves;
template <typename V, int w, int... i>
struct Moves<V, w, Lanes<i...>> {
  static constexpr int width = w;
  // The last lane, everywhere.
  MLX_SIMD_FN V last(V v) { return __builtin_shufflevector(v, v, (i * 0 + w - 1)...); }
  MLX_SIMD_FN V flipped(V v) { return __builtin_shufflevector(v, v, (w - 1 - i)...); }
  // The upper half of every 2·h lanes: the last lane of the lower half; the result of joining it.
  template <int h>
  MLX_SIMD_FN V below(V v) {
    return __builtin_shufflevector(v, v, (i & h ? (i & ~(2 * h - 1)) | (h - 1) : i)...);
  }
  template <int h>
  MLX_SIMD_FN V blend(V v, V joined) {
    return __builtin_shufflevector(v, joined, (i & h ? w + i : i)...);
  }
};
template <typename V>
struct MovesOf;
template <>
struct MovesOf<D> : Moves<D, half_width> {};
template <>
struct MovesOf<F> : Moves<F, simd::width> {};
template <>
struct MovesOf<LogSums> {
  typedef MovesOf<F> M;
  static constexpr int width = M::width;
  MLX_SIMD_FN LogSums last(LogSums v) { return {M::last(v.high), M::last(v.sum)}; }
  MLX_SIMD_FN LogSums flipped(LogSums v) { return {M::flipped(v.high), M::flipped(v.sum)}; }
  template <int h>
  MLX_SIMD_FN LogSums below(LogSums v) {
    return {M::below<h>(v.high), M::below<h>(v.sum)};
  }
  template <int h>
  MLX_SIMD_FN LogSums blend(LogSums v, LogSums joined) {
    return {M::blend<h>(v.high, joined.high), M::blend<h>(v.sum, joined.sum)};
  }
};

template <typename Mo, int h, typename V>
MLX_SIMD_FN V join_halves(V v) {
  typedef MovesOf<V> M;
  return M::template blend<h>(v, Mo::combine(M::template below<h>(v), v));
}

template <typename Mo, int vectors, typename V>
MLX_SIMD_FN void scan_group(V* v) {
  constexpr int w = MovesOf<V>::width;
  for (int u = 0; u < vectors; ++u) {
    if constexpr (w >= 2) v[u] = join_halves<Mo, 1>(v[u]);
    if constexpr (w >= 4) v[u] = join_halves<Mo, 2>(v[u]);
    if constexpr (w >= 8) v[u] = join_halves<Mo, 4>(v[u]);
    if constexpr (w >= 16) v[u] = join_halves<Mo, 8>(v[u]);
  }
  for (int h = 1; h < vectors; h *= 2) {
    for (int u = 0; u < vectors; ++u) {
      if (u & h) v[u] = Mo::combine(MovesOf<V>::last(v[(u & ~(2 * h - 1)) | (h - 1)]), v[u]);
    }
  }
}

template <int vectors, typename V>
MLX_SIMD_FN void flip_group(V* v) {
  V w[vectors];
  for (int u = 0; u < vectors; ++u) w[u] = MovesOf<V>::flipped(v[vectors - 1 - u]);
  for (int u = 0; u < vectors; ++u) v[u] = w[u];
}

// A vector of float as two of double.
template <int... i>
MLX_SIMD_FN void widen_lanes(F v, D& low, D& high, Lanes<i...>) {
  HalfF a = __builtin_shufflevector(v, v, i...),
        b = __builtin_shufflevector(v, v, (half_width + i)...);
  low = __builtin_convertvector(a, D);
  high = __builtin_convertvector(b, D);
}
template <int... i>
MLX_SIMD_FN F narrow_lanes(D low, D high, Lanes<i...>) {
  HalfF a = __builtin_convertvector(low, HalfF), b = __builtin_convertvector(high, HalfF);
  return __builtin_shufflevector(a, b, i..., (half_width + i)...);
}
MLX_SIMD_FN void widen(F v, D& low, D& high) {
  widen_lanes(v, low, high, LanesOf<half_width>::type());
}
MLX_SIMD_FN F narrow_pair(D low, D high) {
  return narrow_lanes(low, high, LanesOf<half_width>::type());
}

}  // namespace

void fill_float_scans(ScanTable& t);
void fill_log_scans(ScanTable& t);
void fill_complex_scans(ScanTable& t);
void fill_integer_scans(ScanTable& t);

}  // namespace mlx::core::cpu::MLX_SIMD_ISA
