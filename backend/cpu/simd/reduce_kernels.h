// The loops of reduce_table.h as templates over monoid and element type; included by the files
// compiled per instruction set, all internal linkage.
// - Floats: values go into a fixed number of lanes, blocks of 1024 lanes are folded as a tree and
//   the blocks added up in a wider type, so the error does not grow with the length in practice.
// - Columns: blocks of 64 rows the same way, several columns at a time.
// - Integers: plain loops, which compilers vectorise; order does not matter there.
#pragma once

#define MLX_TYPE_FN static inline __attribute__((always_inline))
#include "backend/cpu/reduce_table.h"
#include "backend/cpu/simd/dialect.h"

// Vectors of double in the dialect; scalar.h looks these up.
namespace mlx::core {

namespace simd {
typedef double D __attribute__((vector_size(MLX_SIMD_BYTES)));
typedef int64_t L __attribute__((vector_size(MLX_SIMD_BYTES)));
}  // namespace simd

namespace m {
template <>
struct Traits<simd::D> {
  typedef Real64 kind;
  typedef simd::D real;
  typedef simd::L mask;
};
template <>
inline __attribute__((always_inline)) simd::D lit<simd::D>(literal c) {
  return c - simd::D{};
}
MLX_SIMD_FN simd::D select(simd::L c, simd::D a, simd::D b) { return c ? a : b; }
}  // namespace m

}  // namespace mlx::core

#include "mlx/ops/elementwise/convert.h"
#include "mlx/ops/reduce/monoid.h"

namespace mlx::core {
namespace cpu::MLX_SIMD_ISA {
namespace {

using simd::C;
using simd::D;
using simd::F;
using simd::H;
using simd::load;
using simd::store;

constexpr int64_t block_size = 1024;  // elements of a row between two roundings to the total
constexpr int64_t block_rows = 64;
constexpr int64_t strip_size = 1024;  // columns whose partial results stay in L1

// Element types. T: as stored. P: as accumulated within a block. V: a vector of P.
struct Float32 {
  typedef float T;
  typedef float P;
  typedef F V;
  static constexpr int lanes = 32, width = simd::width;
  MLX_SIMD_FN V at(const T* p) { return load<F>(p); }
  MLX_SIMD_FN P one(const T* p) { return *p; }
  MLX_SIMD_FN V get(const P* p) { return load<F>(p); }
  MLX_SIMD_FN void put(P* p, V x) { store(p, x); }
  // 2 * width elements, in an order of the type's own: in_order undoes it.
  MLX_SIMD_FN void pair(const T* p, V& a, V& b) { a = at(p), b = at(p + width); }
  MLX_SIMD_FN void in_order(V&, V&) {}
};
struct Float16 : Float32 {
  typedef float16_t T;
  MLX_SIMD_FN V at(const T* p) { return simd::widen_half(load<H>(p)); }
  MLX_SIMD_FN P one(const T* p) { return to_float(*p); }
  MLX_SIMD_FN void pair(const T* p, V& a, V& b) { a = at(p), b = at(p + width); }
};
struct BFloat16 : Float32 {
  typedef bfloat16_t T;
  MLX_SIMD_FN V at(const T* p) { return simd::widen_bfloat(load<H>(p)); }
  MLX_SIMD_FN P one(const T* p) { return to_float(*p); }
  // Even elements, odd elements: one operation each.
  MLX_SIMD_FN void pair(const T* p, V& a, V& b) {
    simd::I words = load<simd::I>(p);
    a = (V)(words << 16);
    b = (V)(words & ~0xffff);
  }
  MLX_SIMD_FN void in_order(V& a, V& b) { simd::join(a, b, a, b); }
};
struct Float64 {
  typedef double T;
  typedef double P;
  typedef D V;
  static constexpr int lanes = 16, width = simd::width / 2;
  MLX_SIMD_FN V at(const T* p) { return load<D>(p); }
  MLX_SIMD_FN P one(const T* p) { return *p; }
  MLX_SIMD_FN V get(const P* p) { return load<D>(p); }
  MLX_SIMD_FN void put(P* p, V x) { store(p, x); }
  MLX_SIMD_FN void pair(const T* p, V& a, V& b) { a = at(p), b = at(p + width); }
  MLX_SIMD_FN void in_order(V&, V&) {}
};
struct Complex64 {
  typedef complex64_t T;
  typedef complex64_t P;
  typedef C V;
  static constexpr int lanes = 32, width = simd::width;
  MLX_SIMD_FN V at(const T* p) {
    const float* q = (const float*)p;
    C z;
    simd::split(load<F>(q), load<F>(q + width), z.re, z.im);
    return z;
  }
  MLX_SIMD_FN P one(const T* p) { return *p; }
  MLX_SIMD_FN V get(const P* p) { return at(p); }
  MLX_SIMD_FN void pair(const T* p, V& a, V& b) { a = at(p), b = at(p + width); }
  MLX_SIMD_FN void in_order(V&, V&) {}
  MLX_SIMD_FN void put(P* p, V z) {
    F a, b;
    simd::join(z.re, z.im, a, b);
    store((float*)p, a);
    store((float*)p + width, b);
  }
};

// ---- accumulators across blocks ----

struct WideComplex {
  double re, im;
};

// How a partial result enters a total, and totals each other. Same: the type of the partial result.
template <typename Mo, typename A>
struct Same {
  typedef A Total;
  static Total identity() { return Mo::template identity<A>(); }
  static Total widen(A x) { return x; }
  static Total combine(A a, A b) { return Mo::combine(a, b); }
};
template <typename Mo>
struct Wide {
  typedef double Total;
  static Total identity() { return Mo::template identity<double>(); }
  static Total widen(double x) { return x; }
  static Total combine(double a, double b) { return Mo::combine(a, b); }
};
struct WideComplexSum {
  typedef WideComplex Total;
  static Total identity() { return {0, 0}; }
  static Total widen(complex64_t x) { return {x.re, x.im}; }
  static Total combine(Total a, Total b) { return {a.re + b.re, a.im + b.im}; }
};

template <typename A>
void start(void* totals, int64_t n) {
  typedef typename A::Total T;
  for (int64_t i = 0; i < n; ++i) ((T*)totals)[i] = A::identity();
}

template <typename A>
void merge(void* totals, const void* later, int64_t n) {
  typedef typename A::Total T;
  T* a = (T*)totals;
  const T* b = (const T*)later;
  for (int64_t i = 0; i < n; ++i) a[i] = A::combine(a[i], b[i]);
}

// ---- vector loops ----

// Max and Min of floats in the one instruction CPUs have for them, which loses NaN: that is looked
// for afterwards, in the first-level cache.
template <typename Mo>
struct Pick {
  static constexpr bool usable = false;
};
template <>
struct Pick<monoid::Max> {
  static constexpr bool usable = true;
  MLX_SIMD_FN F pick(F a, F b) { return b > a ? b : a; }
};
template <>
struct Pick<monoid::Min> {
  static constexpr bool usable = true;
  MLX_SIMD_FN F pick(F a, F b) { return b < a ? b : a; }
};

// Blocks folded at once. Each is a stream of its own to the processor's prefetchers, which stop at
// the ends of pages: one after the other, a third of the memory's bandwidth is lost. Where a block
// is passed over twice, the second time asks for memory that comes next, and two are enough.
template <typename E, bool twice>
constexpr int side = sizeof(typename E::V) > MLX_SIMD_BYTES || MLX_SIMD_BYTES < 32 ? 1
                     : MLX_SIMD_BYTES < 64 || twice                                ? 2
                                                                                   : 4;

template <typename Mo, typename E>
constexpr bool picks = Pick<Mo>::usable && sizeof(typename E::P) == 4;

template <typename T>
MLX_SIMD_FN void prefetch_run(const T* x, int64_t n) {
  for (int64_t i = 0; i < n; i += 64 / int64_t(sizeof(T))) __builtin_prefetch(x + i);
}

// Folds whole groups of lanes of `blocks` blocks, `stride` elements apart, to one group each.
template <typename Mo, typename E, int blocks>
MLX_SIMD_FN void fold_lanes(const typename E::T* x, int64_t stride, int64_t n,
                            typename E::V (*acc)[E::lanes / E::width]) {
  constexpr int lanes = E::lanes, w = E::width, k = lanes / w;
  for (int b = 0; b < blocks; ++b) {
    for (int u = 0; u < k; u += 2) E::pair(x + b * stride + u * w, acc[b][u], acc[b][u + 1]);
  }
  for (int64_t i = lanes; i + lanes <= n; i += lanes) {
    for (int b = 0; b < blocks; ++b) {
      for (int u = 0; u < k; u += 2) {
        typename E::V v[2];
        E::pair(x + b * stride + i + u * w, v[0], v[1]);
        for (int c = 0; c < 2; ++c) {
          if constexpr (picks<Mo, E>) {
            acc[b][u + c] = Pick<Mo>::pick(acc[b][u + c], v[c]);
          } else {
            acc[b][u + c] = Mo::combine(acc[b][u + c], v[c]);
          }
        }
      }
    }
  }
  for (int b = 0; b < blocks; ++b) {
    for (int u = 0; u < k; u += 2) E::in_order(acc[b][u], acc[b][u + 1]);
  }
}

MLX_SIMD_FN void note_unordered(simd::I& found, F a, F b) {
#if MLX_SIMD_BYTES == 64
  __mmask16 m = _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_UNORD_Q);
  found = (simd::I)_mm512_mask_set1_epi32((__m512i)found, m, -1);
#else
  found |= (a != a) | (b != b);
#endif
}

// Whether there is a NaN in whole groups of lanes. On the way the next block is asked for.
template <typename E>
MLX_SIMD_FN bool has_nan(const typename E::T* x, int64_t n, const typename E::T* next) {
  constexpr int lanes = E::lanes, w = E::width;
  simd::I found = {};
  for (int64_t i = 0; i + lanes <= n; i += lanes) {
    prefetch_run(next + i, lanes);
    for (int j = 0; j < lanes; j += 2 * w) {
      F a, b;
      E::pair(x + i + j, a, b);
      note_unordered(found, a, b);
    }
  }
  return simd::any(found);
}

// The same as fold_lanes of one block with the monoid's own operation.
template <typename Mo, typename E>
__attribute__((noinline)) void fold_nans(const typename E::T* x, int64_t n, typename E::V* acc) {
  constexpr int lanes = E::lanes, w = E::width, k = lanes / w;
  for (int u = 0; u < k; ++u) acc[u] = E::at(x + u * w);
  for (int64_t i = lanes; i + lanes <= n; i += lanes) {
    for (int u = 0; u < k; ++u) acc[u] = Mo::combine(acc[u], E::at(x + i + u * w));
  }
}

// Lane j + h in the place of lane j.
template <int h, typename V>
MLX_SIMD_FN V rotate(V v) {
  constexpr int w = sizeof(V) / sizeof(v[0]);
  if constexpr (w == 16) {
    return __builtin_shufflevector(v, v, h, h + 1, h + 2, h + 3, h + 4, h + 5, h + 6, h + 7, h + 8,
                                   h + 9, h + 10, h + 11, h + 12, h + 13, h + 14, h + 15);
  } else if constexpr (w == 8) {
    return __builtin_shufflevector(v, v, h, h + 1, h + 2, h + 3, h + 4, h + 5, h + 6, h + 7);
  } else if constexpr (w == 4) {
    return __builtin_shufflevector(v, v, h, h + 1, h + 2, h + 3);
  } else {
    return __builtin_shufflevector(v, v, h, h + 1);
  }
}
template <int h>
MLX_SIMD_FN C rotate(C z) {
  C r = {rotate<h>(z.re), rotate<h>(z.im)};
  return r;
}
template <typename V>
MLX_SIMD_FN auto first_lane(V v) {
  return v[0];
}
MLX_SIMD_FN complex64_t first_lane(C z) { return m::make<complex64_t>(z.re[0], z.im[0]); }

// Folds the lanes of a vector as a tree into the first; the others are worth nothing.
template <typename Mo, typename V>
MLX_SIMD_FN V fold_vector(V v) {
  if constexpr (sizeof(v) / sizeof(first_lane(v)) >= 16) v = Mo::combine(v, rotate<8>(v));
  if constexpr (sizeof(v) / sizeof(first_lane(v)) >= 8) v = Mo::combine(v, rotate<4>(v));
  if constexpr (sizeof(v) / sizeof(first_lane(v)) >= 4) v = Mo::combine(v, rotate<2>(v));
  return Mo::combine(v, rotate<1>(v));
}

// One group of lanes joined by the rest of its block, to one value.
template <typename Mo, typename E>
MLX_SIMD_FN typename E::P fold_group(typename E::V* acc, const typename E::T* x, int64_t n) {
  constexpr int lanes = E::lanes, w = E::width, k = lanes / w;
  int64_t i = n & ~int64_t(lanes - 1);
  if (i < n) {
    typename E::P lane[lanes];
    for (int u = 0; u < k; ++u) E::put(lane + u * w, acc[u]);
    for (int64_t j = 0; i + j < n; ++j) lane[j] = Mo::combine(lane[j], E::one(x + i + j));
    for (int u = 0; u < k; ++u) acc[u] = E::get(lane + u * w);
  }
#pragma GCC unroll 3
  for (int h = k / 2; h > 0; h /= 2) {
    for (int u = 0; u < h; ++u) acc[u] = Mo::combine(acc[u], acc[u + h]);
  }
  return first_lane(fold_vector<Mo>(acc[0]));
}

// Folds `blocks` blocks of n elements (up to block_size), `stride` elements apart. The same number
// at `next` will come next.
template <typename Mo, typename E, int blocks>
void fold_blocks(const typename E::T* x, int64_t stride, int64_t n, const typename E::T* next,
                 typename E::P* to) {
  typedef typename E::P P;
  if (n < E::lanes) {
    for (int b = 0; b < blocks; ++b, x += stride) {
      P t = Mo::template identity<P>();
      for (int64_t i = 0; i < n; ++i) t = Mo::combine(t, E::one(x + i));
      to[b] = t;
    }
    return;
  }
  typename E::V acc[blocks][E::lanes / E::width];
  fold_lanes<Mo, E, blocks>(x, stride, n, acc);
  if constexpr (picks<Mo, E>) {
    for (int b = 0; b < blocks; ++b) {
      if (has_nan<E>(x + b * stride, n, next + b * stride))
        fold_nans<Mo, E>(x + b * stride, n, acc[b]);
    }
  }
  for (int b = 0; b < blocks; ++b) to[b] = fold_group<Mo, E>(acc[b], x + b * stride, n);
}

template <typename Mo, typename E>
MLX_SIMD_FN typename E::P fold(const typename E::T* x, int64_t n) {
  typename E::P t;
  fold_blocks<Mo, E, 1>(x, 0, n, x, &t);
  return t;
}

// Calls f.at<blocks>(x, stride, n, next, totals, step) for all blocks of a row in their order,
// several at a time, which go to one total.
template <typename E, typename Total, typename Blocks>
MLX_SIMD_FN void for_blocks(const typename E::T* x, int64_t n, Total* t, Blocks f) {
  constexpr int k = Blocks::side;
  constexpr int64_t run = k * block_size;
  int64_t i = 0;
  for (; i + run <= n; i += run) f.template at<k>(x + i, block_size, block_size, x + i + run, t, 0);
  for (; i < n; i += block_size) {
    int64_t m = n - i < block_size ? n - i : block_size;
    f.template at<1>(x + i, 0, m, x + i + block_size, t, 0);
  }
}

// The same for `count` rows, `stride` elements apart: blocks of short rows side by side, each to a
// total of its own.
template <typename E, typename Total, typename Blocks>
MLX_SIMD_FN void for_rows(const typename E::T* x, int64_t stride, int64_t count, int64_t n,
                          Total* t, Blocks f) {
  constexpr int k = Blocks::side;
  int64_t r = 0;
  if (n < k * block_size) {
    for (; r + k <= count; r += k) {
      const typename E::T* row = x + r * stride;
      for (int64_t i = 0; i < n; i += block_size) {
        int64_t m = n - i < block_size ? n - i : block_size;
        f.template at<k>(row + i, stride, m, row + i + k * stride, t + r, 1);
      }
    }
  }
  for (; r < count; ++r) for_blocks<E>(x + r * stride, n, t + r, f);
}

template <typename Mo, typename E, typename A>
struct AddBlocks {
  static constexpr int side = cpu::MLX_SIMD_ISA::side<E, picks<Mo, E>>;
  template <int blocks>
  MLX_SIMD_FN void at(const typename E::T* x, int64_t stride, int64_t n, const typename E::T* next,
                      typename A::Total* t, int64_t step) {
    typename E::P p[blocks];
    fold_blocks<Mo, E, blocks>(x, stride, n, next, p);
    for (int b = 0; b < blocks; ++b) t[b * step] = A::combine(t[b * step], A::widen(p[b]));
  }
};

template <typename Mo, typename E, typename A>
void row(const void* px, int64_t n, void* total) {
  for_blocks<E>((const typename E::T*)px, n, (typename A::Total*)total, AddBlocks<Mo, E, A>());
}

template <typename E>
MLX_SIMD_FN void widen_run(const typename E::T* x, int64_t n, typename E::P* to) {
  int64_t body = n & ~int64_t(E::width - 1);
  for (int64_t i = 0; i < body; i += E::width) E::put(to + i, E::at(x + i));
  for (int64_t i = body; i < n; ++i) to[i] = E::one(x + i);
}

MLX_SIMD_FN void put_narrow(float* p, F x) { store(p, x); }
MLX_SIMD_FN void put_narrow(float16_t* p, F x) { store(p, simd::narrow_half(x)); }
MLX_SIMD_FN void put_narrow(bfloat16_t* p, F x) { store(p, simd::narrow_bfloat(x)); }

template <typename E>
void narrow_run(const float* e, int64_t n, typename E::T* y) {
  int64_t body = n & ~int64_t(E::width - 1);
  for (int64_t i = 0; i < body; i += E::width) put_narrow(y + i, load<F>(e + i));
  for (int64_t i = body; i < n; ++i) y[i] = scalar::convert<typename E::T>(e[i]);
}

// Rows shorter than a group of lanes go one by one. Half types are widened by vectors first where
// the rows are adjacent.
template <typename Mo, typename E, typename A>
void rows(const void* px, int64_t stride, int64_t count, int64_t n, void* totals) {
  typedef typename E::P P;
  const auto* x = (const typename E::T*)px;
  auto* t = (typename A::Total*)totals;
  if (n >= E::lanes) return for_rows<E>(x, stride, count, n, t, AddBlocks<Mo, E, A>());
  if constexpr (sizeof(typename E::T) < sizeof(P)) {
    if (stride == n) {
      P wide[block_size];
      for (int64_t step = block_size / n, r = 0; r < count; r += step) {
        int64_t m = count - r < step ? count - r : step;
        widen_run<E>(x + r * n, m * n, wide);
        rows<Mo, Float32, A>(wide, n, m, n, t + r);
      }
      return;
    }
  }
  for (int64_t r = 0; r < count; ++r, x += stride) {
    P p = Mo::template identity<P>();
    for (int64_t i = 0; i < n; ++i) p = Mo::combine(p, E::one(x + i));
    t[r] = A::combine(t[r], A::widen(p));
  }
}

// part[j] joined by the elements of `rows` (at least one) rows; the first row replaces part.
template <typename Mo, typename E>
void fold_rows(const typename E::T* x, int64_t stride, int64_t rows, int64_t n,
               typename E::P* part) {
  constexpr int w = E::width;
  int64_t body = n & ~int64_t(w - 1), r = 1;
  for (int64_t j = 0; j < body; j += w) E::put(part + j, E::at(x + j));
  for (int64_t j = body; j < n; ++j) part[j] = E::one(x + j);
  for (; r + 4 <= rows; r += 4) {
    const typename E::T *a = x + r * stride, *b = a + stride, *c = b + stride, *d = c + stride;
    for (int64_t j = 0; j < body; j += w) {
      auto y = Mo::combine(Mo::combine(E::at(a + j), E::at(b + j)),
                           Mo::combine(E::at(c + j), E::at(d + j)));
      E::put(part + j, Mo::combine(E::get(part + j), y));
    }
    for (int64_t j = body; j < n; ++j) {
      auto y = Mo::combine(Mo::combine(E::one(a + j), E::one(b + j)),
                           Mo::combine(E::one(c + j), E::one(d + j)));
      part[j] = Mo::combine(part[j], y);
    }
  }
  for (; r < rows; ++r) {
    const typename E::T* a = x + r * stride;
    for (int64_t j = 0; j < body; j += w)
      E::put(part + j, Mo::combine(E::get(part + j), E::at(a + j)));
    for (int64_t j = body; j < n; ++j) part[j] = Mo::combine(part[j], E::one(a + j));
  }
}

template <typename Mo, typename E, typename A>
void columns(const void* px, int64_t stride, int64_t rows, int64_t n, void* totals) {
  const auto* x = (const typename E::T*)px;
  auto* t = (typename A::Total*)totals;
  typename E::P part[strip_size];
  for (int64_t j = 0; j < n; j += strip_size) {
    int64_t m = n - j < strip_size ? n - j : strip_size;
    for (int64_t r = 0; r < rows; r += block_rows) {
      int64_t k = rows - r < block_rows ? rows - r : block_rows;
      fold_rows<Mo, E>(x + r * stride + j, stride, k, m, part);
      for (int64_t i = 0; i < m; ++i) t[j + i] = A::combine(t[j + i], A::widen(part[i]));
    }
  }
}

// ---- plain loops ----

// Values of T as they enter an accumulator.
template <typename T, typename A>
struct Plain {
  typedef T Stored;
  MLX_SIMD_FN A one(T x) { return A(x); }
};

template <typename Mo, typename E, typename A>
void plain_row(const void* px, int64_t n, void* total) {
  typedef typename A::Total T;
  const auto* x = (const typename E::Stored*)px;
  T t = *(T*)total;
  for (int64_t i = 0; i < n; ++i) t = Mo::combine(t, E::one(x[i]));
  *(T*)total = t;
}

template <typename Mo, typename E, typename A>
void plain_rows(const void* px, int64_t stride, int64_t count, int64_t n, void* totals) {
  typedef typename A::Total T;
  const auto* x = (const typename E::Stored*)px;
  T* t = (T*)totals;
  for (int64_t r = 0; r < count; ++r, x += stride) {
    T p = t[r];
    for (int64_t i = 0; i < n; ++i) p = Mo::combine(p, E::one(x[i]));
    t[r] = p;
  }
}

template <typename Mo, typename E, typename A>
void plain_columns(const void* px, int64_t stride, int64_t rows, int64_t n, void* totals) {
  typedef typename A::Total T;
  const auto* x = (const typename E::Stored*)px;
  T* t = (T*)totals;
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4, x += 4 * stride) {
    const auto *a = x, *b = a + stride, *c = b + stride, *d = c + stride;
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) {
      T first = Mo::combine(E::one(a[j]), E::one(b[j]));
      T second = Mo::combine(E::one(c[j]), E::one(d[j]));
      t[j] = Mo::combine(t[j], Mo::combine(first, second));
    }
  }
  for (; r < rows; ++r, x += stride) {
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) t[j] = Mo::combine(t[j], E::one(x[j]));
  }
}

// ---- results ----

// complex64 only narrows from the wide pair.
template <typename Out>
MLX_SIMD_FN Out narrow(double x) {
  return scalar::convert<Out>(x);
}
template <typename Out>
MLX_SIMD_FN Out narrow(float x) {
  return scalar::convert<Out>(x);
}
template <typename Out>
MLX_SIMD_FN Out narrow(WideComplex z) {
  return m::make<Out>(float(z.re), float(z.im));
}
template <typename Out>
MLX_SIMD_FN Out narrow(Out x) {
  return x;
}
MLX_SIMD_FN double over(double x, double n) { return x / n; }
MLX_SIMD_FN WideComplex over(WideComplex z, double n) { return {z.re / n, z.im / n}; }

template <typename Total, typename Out>
void finish(const void* totals, int64_t n, double, double, void* out) {
  for (int64_t i = 0; i < n; ++i) ((Out*)out)[i] = narrow<Out>(((const Total*)totals)[i]);
}
template <typename Total, typename Out>
void finish_mean(const void* totals, int64_t n, double count, double, void* out) {
  for (int64_t i = 0; i < n; ++i)
    ((Out*)out)[i] = narrow<Out>(over(((const Total*)totals)[i], count));
}

// ---- moments ----

typedef monoid::MomentsOf<double> Moment;

template <typename Out, bool root>
void finish_moments(const void* totals, int64_t n, double, double degrees, void* out) {
  for (int64_t i = 0; i < n; ++i) {
    double v = ((const Moment*)totals)[i].squares / degrees;
    ((Out*)out)[i] = narrow<Out>(root ? __builtin_sqrt(v) : v);
  }
}

// From sums of d = x - shift and d²; the shift is near the mean, so little cancels.
MLX_SIMD_FN Moment moment_of(double n, double shift, double first, double second) {
  double squares = second - first * first / n;
  return {n, shift + first / n, squares < 0 ? 0 : squares};
}

// A block's moments join t; its elements were just read, and are in the first-level cache. On the
// way the block at `next` is asked for.
template <typename E>
MLX_SIMD_FN void add_moments(const typename E::T* x, int64_t n, const typename E::T* next,
                             typename E::P sum, Moment* t) {
  typedef typename E::P P;
  typedef typename E::V V;
  constexpr int lanes = E::lanes, w = E::width, k = lanes / w;
  int64_t body = n & ~int64_t(lanes - 1);
  P shift = sum / P(n);
  V center = m::lit<V>(shift), first[k] = {}, second[k] = {};
  for (int64_t j = 0; j < body; j += lanes) {
    prefetch_run(next + j, lanes);
    for (int u = 0; u < k; u += 2) {
      V v[2];
      E::pair(x + j + u * w, v[0], v[1]);
      for (int c = 0; c < 2; ++c) {
        V d = v[c] - center;
        first[u + c] += d;
        second[u + c] += d * d;
      }
    }
  }
  for (int u = 0; u < k; u += 2) {
    E::in_order(first[u], first[u + 1]);
    E::in_order(second[u], second[u + 1]);
  }
  if (body < n) {
    P a[lanes], b[lanes];
    for (int u = 0; u < k; ++u) E::put(a + u * w, first[u]), E::put(b + u * w, second[u]);
    for (int64_t j = body; j < n; ++j) {
      P d = E::one(x + j) - shift;
      a[j - body] += d;
      b[j - body] += d * d;
    }
    for (int u = 0; u < k; ++u) first[u] = E::get(a + u * w), second[u] = E::get(b + u * w);
  }
  typedef monoid::Sum S;
#pragma GCC unroll 3
  for (int h = k / 2; h > 0; h /= 2) {
    for (int u = 0; u < h; ++u) first[u] += first[u + h], second[u] += second[u + h];
  }
  P a = first_lane(fold_vector<S>(first[0])), b = first_lane(fold_vector<S>(second[0]));
  *t = monoid::Moments::combine(*t, moment_of(double(n), shift, a, b));
}

template <typename E>
struct AddMoments {
  static constexpr int side = cpu::MLX_SIMD_ISA::side<E, true>;
  template <int blocks>
  MLX_SIMD_FN void at(const typename E::T* x, int64_t stride, int64_t n, const typename E::T* next,
                      Moment* t, int64_t step) {
    typename E::P sums[blocks];
    fold_blocks<monoid::Sum, E, blocks>(x, stride, n, next, sums);
    for (int b = 0; b < blocks; ++b) {
      const typename E::T* y = x + b * stride;
      add_moments<E>(y, n, next + b * stride, sums[b], t + b * step);
    }
  }
};

template <typename E>
void moments_row(const void* px, int64_t n, void* total) {
  for_blocks<E>((const typename E::T*)px, n, (Moment*)total, AddMoments<E>());
}

template <typename E>
void moments_rows(const void* px, int64_t stride, int64_t count, int64_t n, void* totals) {
  for_rows<E>((const typename E::T*)px, stride, count, n, (Moment*)totals, AddMoments<E>());
}

template <typename E>
void moments_strip(const typename E::T* x, int64_t stride, int64_t rows, int64_t n, Moment* t) {
  typedef typename E::P P;
  constexpr int w = E::width;
  constexpr int64_t strip = strip_size / 2;
  static_assert(strip_size % strip == 0);
  P shift[strip], first[strip], second[strip];
  int64_t body = n & ~int64_t(w - 1);
  fold_rows<monoid::Sum, E>(x, stride, rows, n, shift);
  for (int64_t j = 0; j < n; ++j) {
    shift[j] /= P(rows);
    first[j] = second[j] = 0;
  }
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    const auto *p = x + r * stride, *q = p + stride, *u = q + stride, *v = u + stride;
    for (int64_t j = 0; j < body; j += w) {
      auto m = E::get(shift + j);
      auto a = E::at(p + j) - m, b = E::at(q + j) - m, c = E::at(u + j) - m, d = E::at(v + j) - m;
      E::put(first + j, E::get(first + j) + ((a + b) + (c + d)));
      E::put(second + j, E::get(second + j) + ((a * a + b * b) + (c * c + d * d)));
    }
    for (int64_t j = body; j < n; ++j) {
      P m = shift[j];
      P a = E::one(p + j) - m, b = E::one(q + j) - m, c = E::one(u + j) - m, d = E::one(v + j) - m;
      first[j] += (a + b) + (c + d);
      second[j] += (a * a + b * b) + (c * c + d * d);
    }
  }
  for (; r < rows; ++r) {
    const auto* p = x + r * stride;
    for (int64_t j = 0; j < body; j += w) {
      auto d = E::at(p + j) - E::get(shift + j);
      E::put(first + j, E::get(first + j) + d);
      E::put(second + j, E::get(second + j) + d * d);
    }
    for (int64_t j = body; j < n; ++j) {
      P d = E::one(p + j) - shift[j];
      first[j] += d;
      second[j] += d * d;
    }
  }
  for (int64_t j = 0; j < n; ++j)
    t[j] = monoid::Moments::combine(t[j], moment_of(double(rows), shift[j], first[j], second[j]));
}

template <typename E>
void moments_columns(const void* px, int64_t stride, int64_t rows, int64_t n, void* totals) {
  const auto* x = (const typename E::T*)px;
  constexpr int64_t strip = strip_size / 2;
  for (int64_t j = 0; j < n; j += strip) {
    int64_t m = n - j < strip ? n - j : strip;
    for (int64_t r = 0; r < rows; r += block_rows) {
      int64_t k = rows - r < block_rows ? rows - r : block_rows;
      moments_strip<E>(x + r * stride + j, stride, k, m, (Moment*)totals + j);
    }
  }
}

struct MomentTotals {
  typedef Moment Total;
  static Total identity() { return {0, 0, 0}; }
  static Total combine(Total a, Total b) { return monoid::Moments::combine(a, b); }
};

// ---- entries ----

template <typename Mo, typename E, typename A, typename Out>
constexpr ReduceKernel vector_kernel() {
  typedef typename A::Total T;
  return {sizeof(T),         start<A>, row<Mo, E, A>, rows<Mo, E, A>,
          columns<Mo, E, A>, merge<A>, finish<T, Out>};
}
template <typename Mo, typename E, typename A, typename Out>
constexpr ReduceKernel plain_kernel() {
  typedef typename A::Total T;
  return {
      sizeof(T), start<A>,      plain_row<Mo, E, A>, plain_rows<Mo, E, A>, plain_columns<Mo, E, A>,
      merge<A>,  finish<T, Out>};
}
template <typename E, typename Out, bool root>
constexpr ReduceKernel moments_kernel() {
  return {sizeof(Moment),     start<MomentTotals>, moments_row<E>,           moments_rows<E>,
          moments_columns<E>, merge<MomentTotals>, finish_moments<Out, root>};
}

}  // namespace

void fill_float_reductions(ReduceTable& t);
void fill_complex_reductions(ReduceTable& t);
void fill_integer_reductions(ReduceTable& t);
void fill_softmax(ReduceTable& t);

}  // namespace cpu::MLX_SIMD_ISA
}  // namespace mlx::core
