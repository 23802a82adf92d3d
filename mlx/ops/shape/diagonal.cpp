// Diagonals and triangles, made of slices, ranges and comparisons.
#include "mlx/error.h"
#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/reduce/reduce.h"
#include "mlx/ops/shape/shape.h"

namespace mlx::core {

namespace {

// Row numbers plus k as a column and column numbers as a row, to be compared with each other.
struct Numbers {
  array rows, columns;
};
Numbers number(int64_t n, int64_t m, int64_t k, std::string_view op, StreamOrDevice s) {
  if (n < 0 || m < 0) {
    fail<ValueError>("[{}] expected sizes that are not negative, got {} and {}", op, n, m);
  }
  bool small = std::max(n, m) < INT32_MAX / 2 && std::abs(k) < INT32_MAX / 2;
  Dtype t = small ? int32 : int64;
  array one = array::from_int(1, t);
  array rows = arange(array::from_int(k, t), one, n, s);
  return {expand_dims(rows, 1, s), arange(array::from_int(0, t), one, m, s)};
}

// Of a matrix with n rows and m columns, flattened: where diagonal k begins, and its length.
struct Line {
  int64_t start, count;
};
Line line(int64_t n, int64_t m, int64_t k) {
  if (k >= m || k <= -n) {
    return {0, 0};
  }
  return k >= 0 ? Line{k, std::min(n, m - k)} : Line{-k * m, std::min(n + k, m)};
}

array triangle(const array& a, int64_t k, std::string_view op, StreamOrDevice s) {
  if (a.ndim() < 2) {
    fail<ValueError>("[{}] expected at least 2 dimensions, got shape {}", op, a.shape());
  }
  Numbers x = number(a.shape(-2), a.shape(-1), k, op, s);
  return greater_equal(x.rows, x.columns, s);
}

}  // namespace

array eye(int64_t n, int64_t m, int64_t k, Dtype dtype, StreamOrDevice s) {
  Numbers x = number(n, m, k, "eye", s);
  return astype(equal(x.rows, x.columns, s), dtype, s);
}

array tri(int64_t n, int64_t m, int64_t k, Dtype dtype, StreamOrDevice s) {
  Numbers x = number(n, m, k, "tri", s);
  return astype(greater_equal(x.rows, x.columns, s), dtype, s);
}

array tril(const array& a, int64_t k, StreamOrDevice s) {
  return where(triangle(a, k, "tril", s), a, array(0.0, a.dtype()), s);
}

array triu(const array& a, int64_t k, StreamOrDevice s) {
  return where(triangle(a, k - 1, "triu", s), array(0.0, a.dtype()), a, s);
}

array diagonal(const array& a, int64_t offset, int axis1, int axis2, StreamOrDevice s) {
  if (a.ndim() < 2) {
    fail<ValueError>("[diagonal] expected at least 2 dimensions, got shape {}", a.shape());
  }
  int i = normalize_axis(axis1, a.ndim(), "diagonal");
  int j = normalize_axis(axis2, a.ndim(), "diagonal");
  if (i == j) {
    fail<ValueError>("[diagonal] axis1 and axis2 are the same axis {} of shape {}", i, a.shape());
  }
  Axes order;
  for (int x = 0; x < a.ndim(); ++x) {
    if (x != i && x != j) {
      order.push_back(x);
    }
  }
  int64_t n = a.shape()[i], m = a.shape()[j];
  order.push_back(i);
  order.push_back(j);
  array flat = flatten(transpose(a, order, s), -2, -1, s);
  Line x = line(n, m, offset);
  Shape start(size_t(flat.ndim()), 0), step(size_t(flat.ndim()), 1), count = flat.shape();
  start.back() = x.start;
  step.back() = m + 1;
  count.back() = x.count;
  return strided_slice(flat, std::move(start), std::move(step), std::move(count), s);
}

array diag(const array& a, int64_t k, StreamOrDevice s) {
  if (a.ndim() == 2) {
    return diagonal(a, k, 0, 1, s);
  }
  if (a.ndim() != 1) {
    fail<ValueError>("[diag] expected 1 or 2 dimensions, got shape {}", a.shape());
  }
  int64_t n = a.size() + std::abs(k);
  array zero = zeros(Shape{n * n}, a.dtype(), s);
  return reshape(slice_update(zero, a, Shape{line(n, n, k).start}, Shape{n + 1}, s), Shape{n, n},
                 s);
}

array trace(const array& a, int64_t offset, int axis1, int axis2, std::optional<Dtype> dtype,
            StreamOrDevice s) {
  array entries = diagonal(a, offset, axis1, axis2, s);
  int last = -1;
  return sum(dtype ? astype(entries, *dtype, s) : entries, std::span<const int>(&last, 1), false,
             s);
}

}  // namespace mlx::core
