// The Walsh–Hadamard transform as a few products with small matrices of ±1: a Hadamard matrix of
// order m·2^k is the Kronecker product of one of order m and of k of order 2.
#include <cmath>
#include <string_view>

#include "mlx/error.h"
#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/matmul/matmul.h"
#include "mlx/ops/shape/like.h"
#include "mlx/ops/shape/shape.h"

namespace mlx::core {

namespace {

constexpr int64_t most_factor = 64;  // order of the matrices that one product takes

using Signs = std::vector<float>;

// Sylvester's matrix of order 2^k: the sign of (i, j) is the parity of the bits of i & j.
Signs sylvester_matrix(int64_t n) {
  Signs h(size_t(n * n));
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      h[size_t(i * n + j)] = __builtin_parityll(uint64_t(i & j)) ? -1.0f : 1.0f;
    }
  }
  return h;
}

// Paley's second construction (1933) for 2·(5 + 1): the symmetric conference matrix of the squares
// modulo 5, its zeros and signs replaced by blocks of 2 × 2.
Signs paley_matrix() {
  constexpr int residues[] = {0, 1, -1, -1, 1};
  constexpr float sign_block[] = {1, 1, 1, -1}, zero_block[] = {1, -1, -1, -1};
  Signs h(144);
  for (int i = 0; i < 12; ++i) {
    for (int j = 0; j < 12; ++j) {
      int row = i / 2, column = j / 2, part = i % 2 * 2 + j % 2;
      int entry = row == 0 || column == 0 ? 1 : residues[(column - row + 5) % 5];
      h[size_t(i * 12 + j)] = row == column ? zero_block[part] : float(entry) * sign_block[part];
    }
  }
  return h;
}

// Orders 20 and 28 after Williamson (1944): four by four circulant blocks, given by their first
// rows; each further row is the one above turned right by one.
Signs circulant_matrix(const std::string_view (&blocks)[16]) {
  int64_t b = int64_t(blocks[0].size()), n = 4 * b;
  Signs h(size_t(n * n));
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      char sign = blocks[i / b * 4 + j / b][size_t((j - i % b + n) % b)];
      h[size_t(i * n + j)] = sign == '+' ? 1.0f : -1.0f;
    }
  }
  return h;
}
constexpr std::string_view blocks_20[16] = {"+----", "+----", "++--+", "+-++-", "-++++", "+----",
                                            "-+--+", "++--+", "--++-", "+-++-", "+----", "-++++",
                                            "-+--+", "--++-", "+----", "+----"};
constexpr std::string_view blocks_28[16] = {
    "+------", "++----+", "+-+--+-", "+--++--", "--++++-", "+------", "-++--++", "+-+--+-",
    "-+-++-+", "+--++--", "+------", "--++++-", "-++--++", "-+-++-+", "++----+", "+------"};

Signs odd_matrix(int64_t m) {
  return m == 12 ? paley_matrix() : circulant_matrix(m == 20 ? blocks_20 : blocks_28);
}

// The m of n = m·2^k.
int64_t odd_order(int64_t n) {
  for (int64_t m : {1, 12, 20, 28}) {
    int64_t power = n / m;
    if (n % m == 0 && power > 0 && (power & (power - 1)) == 0) {
      return m;
    }
  }
  fail<ValueError>(
      "[hadamard_transform] expected a last axis of size m·2^k with m = 1, 12, 20 or "
      "28, got {}",
      n);
}

// Applies h (order f) to axis 1 of x seen as (outer, f, inner).
array apply(const Signs& h, int64_t f, int64_t outer, int64_t inner, const array& x, Stream s) {
  array matrix = astype(array(h.data(), Shape{f, f}, float32), x.dtype(), s);
  if (inner == 1) {
    return matmul(reshape(x, {outer, f}, s), transpose(matrix, s), s);
  }
  return matmul(matrix, reshape(x, {outer, f, inner}, s), s);
}

}  // namespace

array hadamard_transform(const array& a, std::optional<float> scale, StreamOrDevice where) {
  Stream s = to_stream(where);
  if (a.size() == 0) {
    fail<ValueError>("[hadamard_transform] expected an array with elements, got shape {}",
                     a.shape());
  }
  int64_t n = a.ndim() == 0 ? 1 : a.shape(-1), m = odd_order(n);
  Dtype t = at_least_float(a.dtype());
  array x = astype(pin_shape(a), t.is_half() ? float32 : t, s);
  int64_t outer = a.size() / n, inner = n / m;
  if (m > 1) {
    x = apply(odd_matrix(m), m, outer, inner, x, s);
    outer *= m;
  }
  while (inner > 1) {
    int64_t f = std::min(inner, most_factor);
    inner /= f;
    x = apply(sylvester_matrix(f), f, outer, inner, x, s);
    outer *= f;
  }
  double factor = scale ? double(*scale) : 1.0 / std::sqrt(double(n));
  Dtype real = x.dtype().is_complex() ? float32 : x.dtype();
  return astype(multiply(reshape(x, a.shape(), s), array(factor, real), s), t, s);
}

}  // namespace mlx::core
