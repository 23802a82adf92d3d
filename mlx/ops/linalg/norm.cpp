// Norms of vectors and matrices and the cross product, made of other ops.
#include <algorithm>
#include <cmath>
#include <limits>

#include "mlx/error.h"
#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/linalg/linalg.h"
#include "mlx/ops/reduce/reduce.h"
#include "mlx/ops/shape/shape.h"

namespace mlx::core::linalg {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// In [0, ndim) and distinct, in the order given.
Axes ordered_axes(const array& a, AxisSet axes) {
  Axes result;
  if (!axes) {
    for (int i = 0; i < a.ndim(); ++i) {
      result.push_back(i);
    }
    return result;
  }
  normalize_axes(*axes, a.ndim(), "linalg.norm");  // raises
  for (int axis : *axes) {
    result.push_back(normalize_axis(axis, a.ndim(), "linalg.norm"));
  }
  return result;
}

// What norms are computed in: float32 at least.
array widened(const array& a, Stream s) {
  Dtype t = at_least_float(a.dtype());
  return astype(a, t.is_half() ? float32 : t, s);
}

array magnitudes(const array& a, Stream s) { return abs(widened(a, s), s); }

// Without magnitudes, whose slope at 0 is not defined: that of the squares is.
array squares(const array& a, Stream s) {
  array x = widened(a, s);
  return x.dtype().is_complex() ? add(square(real(x, s), s), square(imag(x, s), s), s)
                                : square(x, s);
}

Dtype norm_dtype(const array& a) {
  Dtype t = at_least_float(a.dtype());
  return t.is_complex() ? float32 : t;
}

// x^p; where x is 0 the slope is 0 and not infinite.
array safe_power(const array& x, double p, Stream s) {
  array zero = array(0.0, x.dtype()), one = array(1.0, x.dtype());
  array none = equal(x, zero, s);
  array inner = where(none, one, x, s);
  array y = p == 0.5 ? sqrt(inner, s) : power(inner, array(p, x.dtype()), s);
  return where(none, p < 0 ? array(infinity, x.dtype()) : zero, y, s);
}

array two_norm(const array& a, std::span<const int> axes, bool keepdims, Stream s) {
  return safe_power(sum(squares(a, s), axes, keepdims, s), 0.5, s);
}

array vector_norm(const array& a, double ord, std::span<const int> axis, bool keepdims, Stream s) {
  array x = magnitudes(a, s);
  if (ord == infinity) {
    return max(x, axis, keepdims, s);
  }
  if (ord == -infinity) {
    return min(x, axis, keepdims, s);
  }
  if (ord == 0) {
    array found = not_equal(x, array(0.0, x.dtype()), s);
    return sum(astype(found, x.dtype(), s), axis, keepdims, s);
  }
  if (ord == 1) {
    return sum(x, axis, keepdims, s);
  }
  if (ord == 2) {
    return two_norm(a, axis, keepdims, s);
  }
  return safe_power(sum(safe_power(x, ord, s), axis, keepdims, s), 1.0 / ord, s);
}

// The singular values of the matrices in two axes, along a last one.
array singular_values(const array& a, const Axes& axes, Stream s) {
  Axes order;
  for (int i = 0; i < a.ndim(); ++i) {
    if (i != axes[0] && i != axes[1]) {
      order.push_back(i);
    }
  }
  order.append(axes.begin(), axes.end());
  return svd(transpose(widened(a, s), std::span<const int>(order), s), false, s)[0];
}

enum class Spectral { greatest, least, sum };

array spectral_norm(const array& a, Spectral which, const Axes& axes, bool keepdims, Stream s) {
  array values = singular_values(a, axes, s);
  const int last[] = {-1};
  array y = which == Spectral::sum        ? sum(values, last, false, s)
            : which == Spectral::greatest ? max(values, last, false, s)
                                          : min(values, last, false, s);
  if (!keepdims) {
    return y;
  }
  Axes sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  return expand_dims(y, std::span<const int>(sorted), s);
}

// Greatest or least sum of magnitudes over one axis.
array extreme_sum(const array& a, int summed, int searched, bool greatest, bool keepdims,
                  Stream s) {
  const int over[] = {summed}, along[] = {searched}, both[] = {summed, searched};
  array sums = sum(magnitudes(a, s), over, true, s);
  array y = greatest ? max(sums, along, true, s) : min(sums, along, true, s);
  return keepdims ? y : squeeze(y, both, s);
}

array matrix_norm(const array& a, double ord, const Axes& axes, bool keepdims, Stream s) {
  int rows = axes[0], columns = axes[1];
  if (std::abs(ord) == 1) {
    return extreme_sum(a, rows, columns, ord > 0, keepdims, s);
  }
  if (std::abs(ord) == infinity) {
    return extreme_sum(a, columns, rows, ord > 0, keepdims, s);
  }
  if (std::abs(ord) == 2) {
    return spectral_norm(a, ord > 0 ? Spectral::greatest : Spectral::least, axes, keepdims, s);
  }
  fail<ValueError>(
      "[linalg.norm] expected ord 1, -1, 2, -2, inf, -inf, 'fro' or 'nuc' for a "
      "matrix, got {}",
      ord);
}

void check_axes(const array& a, const Axes& axes) {
  if (axes.empty() || axes.size() > 2) {
    fail<ValueError>("[linalg.norm] expected an order over one or two axes, got {} of shape {}",
                     axes.size(), a.shape());
  }
}

}  // namespace

array norm(const array& a, AxisSet axis_set, bool keepdims, StreamOrDevice where) {
  Stream s = to_stream(where);
  Axes axes = ordered_axes(a, axis_set);
  if (axis_set && axes.size() > 2) {
    fail<ValueError>("[linalg.norm] expected at most two axes, got {}", axes.size());
  }
  return astype(two_norm(a, std::span<const int>(axes), keepdims, s), norm_dtype(a), s);
}

array norm(const array& a, double ord, AxisSet axis_set, bool keepdims, StreamOrDevice where) {
  Stream s = to_stream(where);
  Axes axes = ordered_axes(a, axis_set);
  check_axes(a, axes);
  array y = axes.size() == 1 ? vector_norm(a, ord, std::span<const int>(axes), keepdims, s)
                             : matrix_norm(a, ord, axes, keepdims, s);
  return astype(y, norm_dtype(a), s);
}

array norm(const array& a, std::string_view ord, AxisSet axis_set, bool keepdims,
           StreamOrDevice where) {
  Stream s = to_stream(where);
  Axes axes = ordered_axes(a, axis_set);
  if (ord != "fro" && ord != "f" && ord != "nuc") {
    fail<ValueError>("[linalg.norm] expected ord 'fro', 'f' or 'nuc' or a number, got '{}'", ord);
  }
  if (axes.size() != 2) {
    fail<ValueError>("[linalg.norm] ord '{}' is for two axes, got {} of shape {}", ord, axes.size(),
                     a.shape());
  }
  array y = ord == "nuc" ? spectral_norm(a, Spectral::sum, axes, keepdims, s)
                         : two_norm(a, std::span<const int>(axes), keepdims, s);
  return astype(y, norm_dtype(a), s);
}

namespace {

// The coordinates along `axis`, each as a last axis of one; a missing third one is 0.
std::vector<array> coordinates(const array& a, int axis, Dtype t, Stream s) {
  int along = normalize_axis(axis, a.ndim(), "linalg.cross");
  int64_t n = a.shape(along);
  if (n != 2 && n != 3) {
    fail<ValueError>("[linalg.cross] expected an axis of size 2 or 3, got {} in shape {}", n,
                     a.shape());
  }
  std::vector<array> parts = split(astype(moveaxis(a, along, -1, s), t, s), n, -1, s);
  if (n == 2) {
    parts.push_back(zeros_like(parts[0], s));
  }
  return parts;
}

}  // namespace

array cross(const array& a, const array& b, int axis, StreamOrDevice where) {
  Stream s = to_stream(where);
  Dtype t = promote_types(a.dtype(), b.dtype());
  std::vector<array> x = coordinates(a, axis, t, s), y = coordinates(b, axis, t, s);
  auto component = [&](int i, int j) {
    return subtract(multiply(x[i], y[j], s), multiply(x[j], y[i], s), s);
  };
  array parts[] = {component(1, 2), component(2, 0), component(0, 1)};
  array result = concatenate(parts, -1, s);
  return moveaxis(result, -1, normalize_axis(axis, result.ndim(), "linalg.cross"), s);
}

}  // namespace mlx::core::linalg
