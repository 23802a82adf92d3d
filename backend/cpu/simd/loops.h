// Loops over tiles: vectors for float types and complex64, plain loops (which compilers vectorise)
// for everything else, and the filling of a TileTable from elementwise.def. Included by the files
// compiled per instruction set; all internal linkage.
#pragma once

#define MLX_TYPE_FN static inline __attribute__((always_inline))
#include "backend/cpu/simd/dialect.h"
#include "backend/cpu/tile.h"
#include "mlx/ops/elementwise/convert.h"

// Iterations are independent: operands and result are the same array or do not overlap.
#if defined(__clang__)
#define MLX_SIMD_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define MLX_SIMD_LOOP _Pragma("GCC ivdep")
#endif

namespace mlx::core::cpu::MLX_SIMD_ISA {
namespace {

using simd::C;
using simd::F;
using simd::I;
using simd::load;
using simd::store;
using simd::width;

enum class Result { same, floating, boolean, magnitude, shift };
enum class Accepts { any, real, integral, number };

namespace rows {
#define OP(Name, ...)                                          \
  struct Name {                                                \
    template <typename... T>                                   \
    static __attribute__((always_inline)) auto apply(T... x) { \
      return scalar::Name(x...);                               \
    }                                                          \
  };
#include "mlx/ops/elementwise/elementwise.def"
#undef OP
}  // namespace rows

// How one vector of elements is read and written; at() is in elements.
struct Float32 {
  static constexpr int type = TileTypes::Float32, size = 4;
  static constexpr bool complex = false;
  MLX_SIMD_FN F at(const void* p, int64_t i) { return load<F>((const char*)p + 4 * i); }
  MLX_SIMD_FN void put(void* p, int64_t i, F x) { store((char*)p + 4 * i, x); }
};
struct Float16 {
  static constexpr int type = TileTypes::Float16, size = 2;
  static constexpr bool complex = false;
  MLX_SIMD_FN F at(const void* p, int64_t i) {
    return simd::widen_half(load<simd::H>((const char*)p + 2 * i));
  }
  MLX_SIMD_FN void put(void* p, int64_t i, F x) { store((char*)p + 2 * i, simd::narrow_half(x)); }
};
struct BFloat16 {
  static constexpr int type = TileTypes::BFloat16, size = 2;
  static constexpr bool complex = false;
  MLX_SIMD_FN F at(const void* p, int64_t i) {
    return simd::widen_bfloat(load<simd::H>((const char*)p + 2 * i));
  }
  MLX_SIMD_FN void put(void* p, int64_t i, F x) { store((char*)p + 2 * i, simd::narrow_bfloat(x)); }
};
struct Complex64 {
  static constexpr int type = TileTypes::Complex64, size = 8;
  static constexpr bool complex = true;
  MLX_SIMD_FN C at(const void* p, int64_t i) {
    C z;
    const char* q = (const char*)p + 8 * i;
    simd::split(load<F>(q), load<F>(q + sizeof(F)), z.re, z.im);
    return z;
  }
  MLX_SIMD_FN void put(void* p, int64_t i, C z) {
    F a, b;
    simd::join(z.re, z.im, a, b);
    char* q = (char*)p + 8 * i;
    store(q, a);
    store(q + sizeof(F), b);
  }
};
struct Mask {
  static constexpr int size = 1;
  MLX_SIMD_FN void put(void* p, int64_t i, I mask) { store((char*)p + i, simd::mask_bytes(mask)); }
};

// Whole vectors only: one copy of the row's code serves body and tail.
template <typename Row, int arity, typename In, typename Out>
__attribute__((noinline)) void whole_vectors(const void* const* in, void* out, int64_t n) {
  const void *a = in[0], *b = in[arity > 1 ? 1 : 0];
  for (int64_t i = 0; i < n; i += width) {
    if constexpr (arity == 1) {
      Out::put(out, i, Row::apply(In::at(a, i)));
    } else {
      Out::put(out, i, Row::apply(In::at(a, i), In::at(b, i)));
    }
  }
}

// The tail goes through padded copies.
[[maybe_unused]] void run(TileFn whole, int arity, int in_size, int out_size, const void* const* in,
                          void* out, int64_t n) {
  int64_t body = n & ~int64_t(width - 1);
  if (body > 0) whole(in, out, body);
  if (body == n) return;
  alignas(64) char pads[2][width * 8] = {}, result[width * 8];
  const void* padded[2] = {pads[0], pads[1]};
  for (int k = 0; k < arity; ++k)
    memcpy(pads[k], (const char*)in[k] + body * in_size, (n - body) * in_size);
  whole(padded, result, width);
  memcpy((char*)out + body * out_size, result, (n - body) * out_size);
}

template <typename Row, int arity, typename In, typename Out>
void vector_tile(const void* const* in, void* out, int64_t n) {
  run(whole_vectors<Row, arity, In, Out>, arity, In::size, Out::size, in, out, n);
}

// bool as the byte that it is: compilers vectorise bytes, not bools.
template <typename T>
struct Stored {
  using type = T;
};
template <>
struct Stored<bool> {
  using type = uint8_t;
};
template <typename T>
using stored = typename Stored<T>::type;

template <typename Row, int arity, typename T>
void scalar_tile(const void* const* in, void* out, int64_t n) {
  using In = stored<T>;
  const In *a = (const In*)in[0], *b = (const In*)in[arity > 1 ? 1 : 0];
  if constexpr (arity == 1) {
    auto* o = (stored<decltype(Row::apply(T()))>*)out;
    MLX_SIMD_LOOP
    for (int64_t i = 0; i < n; ++i) o[i] = Row::apply(T(a[i]));
  } else {
    auto* o = (stored<decltype(Row::apply(T(), T()))>*)out;
    MLX_SIMD_LOOP
    for (int64_t i = 0; i < n; ++i) o[i] = Row::apply(T(a[i]), T(b[i]));
  }
}

template <typename Row, int arity, Result result, Accepts accepts, typename In>
constexpr TileFn vector_row() {
  if constexpr (arity == 3 || accepts == Accepts::integral ||
                (accepts == Accepts::real && In::complex)) {
    return nullptr;
  } else if constexpr (result == Result::boolean) {
    return vector_tile<Row, arity, In, Mask>;
  } else if constexpr (result == Result::magnitude && In::complex) {
    return vector_tile<Row, arity, In, Float32>;
  } else {
    return vector_tile<Row, arity, In, In>;
  }
}

template <typename Row, int arity, Result result, Accepts accepts, typename T>
constexpr TileFn scalar_row() {
  constexpr bool boolean = sizeof(T) == 1 && T(2) == T(1), floating = T(0.5) != T(0) && !boolean;
  if constexpr (arity == 3 || (result == Result::floating && !floating) ||
                (accepts == Accepts::integral && floating) ||
                (boolean && (accepts == Accepts::number || result == Result::shift))) {
    return nullptr;
  } else {
    return scalar_tile<Row, arity, T>;
  }
}

template <typename In>
void fill_vector_rows(TileTable& t) {
#define OP(Name, python, arity, result, accepts, ...) \
  t.op[TileOps::Name][In::type] =                     \
      vector_row<rows::Name, arity, Result::result, Accepts::accepts, In>();
#include "mlx/ops/elementwise/elementwise.def"
#undef OP
  t.op[TileOps::Cast][In::type] = nullptr;
}

template <typename T>
void fill_scalar_rows(TileTable& t, int type) {
#define OP(Name, python, arity, result, accepts, ...) \
  t.op[TileOps::Name][type] = scalar_row<rows::Name, arity, Result::result, Accepts::accepts, T>();
#include "mlx/ops/elementwise/elementwise.def"
#undef OP
  t.op[TileOps::Cast][type] = nullptr;
}

}  // namespace

// One filler a file; tile.cpp calls them through fill().
void fill_float32(TileTable& t);
void fill_float16(TileTable& t);
void fill_bfloat16(TileTable& t);
void fill_float64(TileTable& t);
void fill_integers(TileTable& t);
void fill_complex(TileTable& t);
void fill_casts(TileTable& t);
void fill_random(TileTable& t);
void fill_half_products(TileTable& t);

}  // namespace mlx::core::cpu::MLX_SIMD_ISA
