// Contractions made of matmul: tensordot, inner, outer, kron, vecdot.
#include <algorithm>

#include "mlx/error.h"
#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/matmul/matmul.h"
#include "mlx/ops/reduce/reduce.h"
#include "mlx/ops/shape/like.h"
#include "mlx/ops/shape/shape.h"

namespace mlx::core {

namespace {

bool contains(const Axes& axes, int d) {
  return std::find(axes.begin(), axes.end(), d) != axes.end();
}

Axes free_axes(const array& a, const Axes& contracted) {
  Axes free;
  for (int d = 0; d < a.ndim(); ++d) {
    if (!contains(contracted, d)) {
      free.push_back(d);
    }
  }
  return free;
}

// The axes `rows` and then `columns` of a as a matrix.
array as_matrix(const array& a, const Axes& rows, const Axes& columns, Stream s) {
  Shape shape{1, 1};
  for (int d : rows) {
    shape[0] *= a.shape(d);
  }
  for (int d : columns) {
    shape[1] *= a.shape(d);
  }
  Axes order = rows;
  order.append(columns.begin(), columns.end());
  return reshape(transpose(a, std::span<const int>(order), s), shape, s);
}

Axes contracted_axes(const array& a, std::span<const int> axes) {
  Axes result;
  for (int d : axes) {
    int axis = normalize_axis(d, a.ndim(), "tensordot");
    if (contains(result, axis)) {
      fail<ValueError>("[tensordot] axis {} of shape {} is named twice", d, a.shape());
    }
    result.push_back(axis);
  }
  return result;
}

}  // namespace

array tensordot(const array& a, const array& b, std::span<const int> axes_a,
                std::span<const int> axes_b, StreamOrDevice where) {
  Stream s = to_stream(where);
  if (axes_a.size() != axes_b.size()) {
    fail<ValueError>("[tensordot] expected as many axes of a as of b, got {} and {}", axes_a.size(),
                     axes_b.size());
  }
  if (!promote_types(a.dtype(), b.dtype()).is_inexact()) {
    fail<ValueError>("[tensordot] expected floating or complex dtypes, got {} and {}", a.dtype(),
                     b.dtype());
  }
  Axes left = contracted_axes(a, axes_a), right = contracted_axes(b, axes_b);
  for (size_t i = 0; i < left.size(); ++i) {
    if (a.shape(left[i]) != b.shape(right[i])) {
      fail<ValueError>("[tensordot] axis {} of {} and axis {} of {} differ in size", left[i],
                       a.shape(), right[i], b.shape());
    }
  }
  Axes free_a = free_axes(a, left), free_b = free_axes(b, right);
  Shape shape;
  for (int d : free_a) {
    shape.push_back(a.shape(d));
  }
  for (int d : free_b) {
    shape.push_back(b.shape(d));
  }
  array p = matmul(as_matrix(pin_shape(a), free_a, left, s),
                   as_matrix(pin_shape(b), right, free_b, s), s);
  return reshape(p, shape, s);
}

array tensordot(const array& a, const array& b, int axes, StreamOrDevice s) {
  int most = std::min(a.ndim(), b.ndim());
  if (axes < 0 || axes > most) {
    fail<ValueError>("[tensordot] expected 0 to {} axes for shapes {} and {}, got {}", most,
                     a.shape(), b.shape(), axes);
  }
  Axes left, right;
  for (int i = 0; i < axes; ++i) {
    left.push_back(a.ndim() - axes + i);
    right.push_back(i);
  }
  return tensordot(a, b, std::span<const int>(left), std::span<const int>(right), s);
}

array outer(const array& a, const array& b, StreamOrDevice s) {
  return multiply(expand_dims(flatten(a, 0, -1, s), 1, s), flatten(b, 0, -1, s), s);
}

array kron(const array& a, const array& b, StreamOrDevice s) {
  if (a.size() == 0 || b.size() == 0) {
    fail<ValueError>("[kron] expected operands with elements, got shapes {} and {}", a.shape(),
                     b.shape());
  }
  int ndim = std::max(a.ndim(), b.ndim());
  Shape left, right, product;  // a_0, 1, a_1, 1 … and 1, b_0, 1, b_1 …
  for (int i = 0; i < ndim; ++i) {
    int j = i - (ndim - a.ndim()), k = i - (ndim - b.ndim());
    int64_t m = j < 0 ? 1 : a.shape(j), n = k < 0 ? 1 : b.shape(k);
    left.push_back(m);
    left.push_back(1);
    right.push_back(1);
    right.push_back(n);
    product.push_back(element_count(Shape{m, n}, "kron"));
  }
  return reshape(multiply(reshape(pin_shape(a), left, s), reshape(pin_shape(b), right, s), s),
                 product, s);
}

array inner(const array& a, const array& b, StreamOrDevice s) {
  if (a.ndim() == 0 || b.ndim() == 0) {
    return multiply(a, b, s);
  }
  if (a.shape(-1) != b.shape(-1)) {
    fail<ValueError>("[inner] last dimensions differ in shapes {} and {}", a.shape(), b.shape());
  }
  const int last[] = {-1};
  return tensordot(a, b, last, last, s);
}

array vecdot(const array& a, const array& b, int axis, StreamOrDevice where) {
  Stream s = to_stream(where);
  if (a.ndim() == 0 || b.ndim() == 0) {
    fail<ValueError>("[vecdot] expected operands of at least one axis, got shapes {} and {}",
                     a.shape(), b.shape());
  }
  int i = normalize_axis(axis, a.ndim(), "vecdot"), j = normalize_axis(axis, b.ndim(), "vecdot");
  if (i - a.ndim() != j - b.ndim() || a.shape(i) != b.shape(j)) {
    fail<ValueError>("[vecdot] axis {} of shapes {} and {} is not one axis of one size", axis,
                     a.shape(), b.shape());
  }
  const int axes[] = {i - a.ndim()};
  return sum(multiply(conjugate(a, s), b, s), axes, false, s);
}

}  // namespace mlx::core
