// Reductions of bool and the integers, and all/any of every dtype, which look at bits only.
#include "backend/cpu/simd/reduce_kernels.h"

namespace mlx::core::cpu::MLX_SIMD_ISA {
namespace {

using monoid::Max;
using monoid::Min;
using monoid::Prod;
using monoid::Sum;

// Nonzero means a bit of `mask` (all but the signs of floats) is set. The accumulator is as wide as
// the element: for any, the bits seen; for all, nonzero once a zero was seen.
template <typename U, U mask>
struct BitsOf {
  typedef U Stored;
  MLX_SIMD_FN U one(U x) { return x & mask; }
};
template <typename U, U mask>
struct ZeroOf {
  typedef U Stored;
  MLX_SIMD_FN U one(U x) { return U((x & mask) == 0); }
};

template <typename U, bool if_zero>
void finish_truth(const void* totals, int64_t n, double, double, void* out) {
  for (int64_t i = 0; i < n; ++i) ((uint8_t*)out)[i] = (((const U*)totals)[i] == 0) == if_zero;
}

// A row is left as soon as the answer is known.
template <typename E, typename A>
void truth_row(const void* px, int64_t n, void* total) {
  typedef typename A::Total T;
  const T* x = (const T*)px;
  for (int64_t i = 0; i < n && *(T*)total == 0; i += 4 * block_size) {
    int64_t m = n - i < 4 * block_size ? n - i : 4 * block_size;
    plain_row<monoid::Any, E, A>(x + i, m, total);
  }
}

// Rows that are not short one by one.
template <auto row, auto short_rows, typename T, typename Total>
void rows_of(const void* px, int64_t stride, int64_t count, int64_t n, void* totals) {
  constexpr int64_t short_row = 32;
  if (n < short_row) return short_rows(px, stride, count, n, totals);
  for (int64_t r = 0; r < count; ++r) row((const T*)px + r * stride, n, (Total*)totals + r);
}

template <typename E, typename U, bool if_zero>
constexpr ReduceKernel truth_kernel() {
  typedef Same<monoid::Any, U> A;
  return {sizeof(U),
          start<A>,
          truth_row<E, A>,
          rows_of<truth_row<E, A>, plain_rows<monoid::Any, E, A>, U, U>,
          plain_columns<monoid::Any, E, A>,
          merge<A>,
          finish_truth<U, if_zero>};
}

template <typename U, U mask>
void fill_truth(ReduceTable& t, int type) {
  t.reduce[ReduceOps::Any][type] = truth_kernel<BitsOf<U, mask>, U, false>();
  t.reduce[ReduceOps::All][type] = truth_kernel<ZeroOf<U, mask>, U, true>();
}

// Doubles in a fixed number of lanes, as the vector loops have it.
template <typename T>
void mean_row(const void* px, int64_t n, void* total) {
  const T* x = (const T*)px;
  for (int64_t i = 0; i < n; i += block_size, x += block_size) {
    int64_t m = n - i < block_size ? n - i : block_size, body = m & ~int64_t(15);
    double lane[16] = {};
    for (int64_t j = 0; j < body; j += 16) {
      for (int u = 0; u < 16; ++u) lane[u] += double(x[j + u]);
    }
    for (int64_t j = body; j < m; ++j) lane[j - body] += double(x[j]);
    for (int h = 8; h > 0; h /= 2) {
      for (int u = 0; u < h; ++u) lane[u] += lane[u + h];
    }
    *(double*)total += lane[0];
  }
}

// Blocks are widened to double and handed to the loops of float64.
template <typename T>
void moments_row_of(const void* px, int64_t n, void* total) {
  const T* x = (const T*)px;
  double wide[block_size];
  for (int64_t i = 0; i < n; i += block_size) {
    int64_t m = n - i < block_size ? n - i : block_size;
    for (int64_t j = 0; j < m; ++j) wide[j] = double(x[i + j]);
    moments_row<Float64>(wide, m, total);
  }
}
template <typename T>
void moments_rows_of(const void* px, int64_t stride, int64_t count, int64_t n, void* totals) {
  const T* x = (const T*)px;
  for (int64_t r = 0; r < count; ++r) moments_row_of<T>(x + r * stride, n, (Moment*)totals + r);
}
template <typename T>
void moments_columns_of(const void* px, int64_t stride, int64_t rows, int64_t n, void* totals) {
  constexpr int64_t wide_columns = 64;
  const T* x = (const T*)px;
  double wide[block_rows * wide_columns];
  for (int64_t j = 0; j < n; j += wide_columns) {
    int64_t m = n - j < wide_columns ? n - j : wide_columns;
    for (int64_t r = 0; r < rows; r += block_rows) {
      int64_t k = rows - r < block_rows ? rows - r : block_rows;
      for (int64_t i = 0; i < k; ++i) {
        for (int64_t c = 0; c < m; ++c) wide[i * m + c] = double(x[(r + i) * stride + j + c]);
      }
      moments_columns<Float64>(wide, m, k, m, (Moment*)totals + j);
    }
  }
}

template <typename T, typename A>
void fill_integer(ReduceTable& t, int type) {
  auto set = [&](int op, ReduceKernel k) { t.reduce[op][type] = k; };
  set(ReduceOps::Sum, plain_kernel<Sum, Plain<T, A>, Same<Sum, A>, A>());
  set(ReduceOps::Prod, plain_kernel<Prod, Plain<T, A>, Same<Prod, A>, A>());
  set(ReduceOps::Max, plain_kernel<Max, Plain<T, T>, Same<Max, T>, T>());
  set(ReduceOps::Min, plain_kernel<Min, Plain<T, T>, Same<Min, T>, T>());
  ReduceKernel mean = plain_kernel<Sum, Plain<T, double>, Wide<Sum>, float>();
  mean.row = mean_row<T>;
  mean.rows = rows_of<mean_row<T>, plain_rows<Sum, Plain<T, double>, Wide<Sum>>, T, double>;
  mean.finish = finish_mean<double, float>;
  set(ReduceOps::Mean, mean);
  ReduceKernel var = moments_kernel<Float64, float, false>();
  var.row = moments_row_of<T>;
  var.rows = moments_rows_of<T>;
  var.columns = moments_columns_of<T>;
  set(ReduceOps::Var, var);
  var.finish = finish_moments<float, true>;
  set(ReduceOps::Std, var);
}

}  // namespace

void fill_integer_reductions(ReduceTable& t) {
  fill_integer<uint8_t, uint32_t>(t, TileTypes::UInt8);
  fill_integer<uint16_t, uint32_t>(t, TileTypes::UInt16);
  fill_integer<uint32_t, uint32_t>(t, TileTypes::UInt32);
  fill_integer<uint64_t, uint64_t>(t, TileTypes::UInt64);
  fill_integer<int8_t, int32_t>(t, TileTypes::Int8);
  fill_integer<int16_t, int32_t>(t, TileTypes::Int16);
  fill_integer<int32_t, int32_t>(t, TileTypes::Int32);
  fill_integer<int64_t, int64_t>(t, TileTypes::Int64);
  // A bool is a byte of 0 or 1.
  fill_integer<uint8_t, int32_t>(t, TileTypes::Bool);
  fill_truth<uint8_t, 0xff>(t, TileTypes::Bool);
  fill_truth<uint8_t, 0xff>(t, TileTypes::UInt8);
  fill_truth<uint8_t, 0xff>(t, TileTypes::Int8);
  fill_truth<uint16_t, 0xffff>(t, TileTypes::UInt16);
  fill_truth<uint16_t, 0xffff>(t, TileTypes::Int16);
  fill_truth<uint32_t, 0xffffffff>(t, TileTypes::UInt32);
  fill_truth<uint32_t, 0xffffffff>(t, TileTypes::Int32);
  fill_truth<uint64_t, 0xffffffffffffffff>(t, TileTypes::UInt64);
  fill_truth<uint64_t, 0xffffffffffffffff>(t, TileTypes::Int64);
  fill_truth<uint16_t, 0x7fff>(t, TileTypes::Float16);
  fill_truth<uint16_t, 0x7fff>(t, TileTypes::BFloat16);
  fill_truth<uint32_t, 0x7fffffff>(t, TileTypes::Float32);
  fill_truth<uint64_t, 0x7fffffffffffffff>(t, TileTypes::Float64);
  fill_truth<uint64_t, 0x7fffffff7fffffff>(t, TileTypes::Complex64);
}

}  // namespace mlx::core::cpu::MLX_SIMD_ISA
