// Reduce: the functions sum, prod, max, min, all, any, mean, var, std, the shape rule, vjp, jvp and
// vmap.
#include "mlx/ops/reduce/reduce.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "mlx/error.h"
#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/shape/like.h"
#include "mlx/ops/shape/shape.h"

namespace mlx::core {

namespace {

Axes all_axes(int ndim) {
  Axes axes;
  for (int i = 0; i < ndim; ++i) {
    axes.push_back(i);
  }
  return axes;
}

Dtype result_dtype(ReduceResult rule, Dtype t) {
  switch (rule) {
    case ReduceResult::widened:
      if (t.is_bool()) return int32;
      return t.is_integer() && t.size() < 4 ? (t.is_signed() ? int32 : uint32) : t;
    case ReduceResult::same:
      return t;
    case ReduceResult::boolean:
      return bool_;
    case ReduceResult::floating:
      return at_least_float(t);
  }
  return t;
}

// Elements that meet in one output.
int64_t reduced_count(const array& x, const Axes& axes) {
  int64_t n = 1;
  for (int axis : axes) {
    n *= x.shape(axis);
  }
  return n;
}

array reduce(ReduceOp op, const array& a, Axes axes, bool keepdims, StreamOrDevice s,
             int ddof = 0) {
  const ReduceInfo& row = info(op);
  Dtype t = result_dtype(row.result, a.dtype());
  if (axes.empty() && op != ReduceOp::Var && op != ReduceOp::Std) {
    // Nothing is reduced: the value as it is, without the wider dtype of a sum.
    return row.result == ReduceResult::widened ? a : astype(a, t, s);
  }
  Ref<Primitive> primitive(new Reduce(op, std::move(axes), keepdims, ddof));
  Shape shape = std::move(primitive->output_shapes({a})[0]);
  return array::make(std::move(shape), t, std::move(primitive), std::span<const array>(&a, 1),
                     to_stream(s));
}

array reduce(ReduceOp op, const array& a, AxisSet axes, bool keepdims, StreamOrDevice s,
             int ddof = 0) {
  return reduce(op, a,
                axes ? normalize_axes(*axes, a.ndim(), info(op).python_name) : all_axes(a.ndim()),
                keepdims, s, ddof);
}

// A value of the output's shape, spread over the input's.
array spread(const array& y, const array& x, const Axes& axes, bool keepdims) {
  array kept =
      keepdims || axes.empty() ? y : expand_dims(y, std::span<const int>(axes.data(), axes.size()));
  return broadcast_like(kept, x);
}

array take_range(const array& x, int64_t first, int64_t count) {
  Shape start(x.ndim(), 0), step(x.ndim(), 1), size = x.shape();
  start.back() = first;
  size.back() = count;
  return strided_slice(x, start, step, size);
}

// For every element the product of all others along the last axis: pairs are multiplied up a tree,
// and each pair hands its outer product, times the partner, back down. There is no division, so
// zeros are harmless, to any order of derivative.
array products_of_others(const array& x) {
  std::vector<array> left, right;
  array level = x;
  Shape one_wide = x.shape();
  one_wide.back() = 1;
  while (level.shape(-1) > 1) {
    int64_t n = level.shape(-1), half = (n + 1) / 2;
    array a = take_range(level, 0, half), b = take_range(level, half, n - half);
    if (n % 2 == 1) {
      array padded[] = {b, ones(one_wide, x.dtype())};
      b = concatenate(padded, -1);
    }
    left.push_back(a);
    right.push_back(b);
    level = multiply(a, b);
  }
  array others = ones_like(level);
  for (size_t i = left.size(); i-- > 0;) {
    array both[] = {multiply(others, right[i]), multiply(others, left[i])};
    others = concatenate(both, -1);
    int64_t n = i == 0 ? x.shape(-1) : left[i - 1].shape(-1);
    if (others.shape(-1) != n) {
      others = take_range(others, 0, n);
    }
  }
  return others;
}

// Derivative of a product by each of its factors, in the shape of x.
array product_partials(const array& factors, const Axes& axes) {
  array x = pin_shape(factors);
  if (x.size() == 0) {
    return x;
  }
  Axes order;
  for (int i = 0; i < x.ndim(); ++i) {
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) {
      order.push_back(i);
    }
  }
  Shape flat;
  for (int axis : order) {
    flat.push_back(x.shape(axis));
  }
  flat.push_back(reduced_count(x, axes));
  order.append(axes.begin(), axes.end());
  array moved = transpose(x, std::span<const int>(order.data(), order.size()));
  array others = reshape(products_of_others(reshape(moved, flat)), moved.shape());
  Axes back(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    back[order[i]] = int(i);
  }
  return transpose(others, std::span<const int>(back.data(), back.size()));
}

// The elements that are the extreme, and in how many places it stands.
std::pair<array, array> extreme_places(const array& x, const array& y, const Axes& axes,
                                       bool keepdims) {
  array hits = equal(x, spread(y, x, axes, keepdims));
  array count = reduce(ReduceOp::Sum, hits, axes, keepdims, {});
  Dtype t = at_least_float(x.dtype());
  return {hits, astype(count, t.is_complex() ? float32 : t)};
}

// Half types are too coarse for differences of nearly equal values.
array precise(const array& x) {
  Dtype t = at_least_float(x.dtype());
  return astype(x, t.is_half() ? float32 : t);
}

array deviation(const array& x, const Axes& axes) {
  return subtract(x, reduce(ReduceOp::Mean, x, axes, true, {}));
}

// Of Var and Std: the derivative is the deviation from the mean times this factor of each output.
array moment_factor(ReduceOp op, const array& x, const array& y, const Axes& axes, int ddof) {
  array wide = precise(y);
  if (op == ReduceOp::Var) {
    return inverse_count(x, axes, 2.0, ddof, wide.dtype());
  }
  // Where nothing deviates the slope of least size is taken, as for abs.
  array zero = array(0.0, wide.dtype()), one = array(1.0, wide.dtype());
  array flat = equal(wide, zero);
  array root = where(flat, one, wide);
  return where(flat, zero, divide(inverse_count(x, axes, 1.0, ddof, wide.dtype()), root));
}

}  // namespace

array sum(const array& a, AxisSet axes, bool keepdims, StreamOrDevice s) {
  return reduce(ReduceOp::Sum, a, axes, keepdims, s);
}
array prod(const array& a, AxisSet axes, bool keepdims, StreamOrDevice s) {
  return reduce(ReduceOp::Prod, a, axes, keepdims, s);
}
array max(const array& a, AxisSet axes, bool keepdims, StreamOrDevice s) {
  return reduce(ReduceOp::Max, a, axes, keepdims, s);
}
array min(const array& a, AxisSet axes, bool keepdims, StreamOrDevice s) {
  return reduce(ReduceOp::Min, a, axes, keepdims, s);
}
array all(const array& a, AxisSet axes, bool keepdims, StreamOrDevice s) {
  return reduce(ReduceOp::All, a, axes, keepdims, s);
}
array any(const array& a, AxisSet axes, bool keepdims, StreamOrDevice s) {
  return reduce(ReduceOp::Any, a, axes, keepdims, s);
}
array mean(const array& a, AxisSet axes, bool keepdims, StreamOrDevice s) {
  return reduce(ReduceOp::Mean, a, axes, keepdims, s);
}
array var(const array& a, AxisSet axes, bool keepdims, int ddof, StreamOrDevice s) {
  if (a.dtype().is_complex()) {
    // |z - mean|² is the sum of the squared deviations of both parts.
    return add(var(real(a, s), axes, keepdims, ddof, s), var(imag(a, s), axes, keepdims, ddof, s),
               s);
  }
  return reduce(ReduceOp::Var, a, axes, keepdims, s, ddof);
}
array std(const array& a, AxisSet axes, bool keepdims, int ddof, StreamOrDevice s) {
  if (a.dtype().is_complex()) {
    return sqrt(var(a, axes, keepdims, ddof, s), s);
  }
  return reduce(ReduceOp::Std, a, axes, keepdims, s, ddof);
}

array count_nonzero(const array& a, AxisSet axes, bool keepdims, StreamOrDevice s) {
  array found = not_equal(a, array(0.0, a.dtype()), s);
  array count = astype(sum(found, axes, keepdims, s), int32, s);
  int64_t most = count.size() == 0 ? 0 : a.size() / count.size();
  if (most > int64_t(std::numeric_limits<int32_t>::max())) {
    fail<OverflowError>("[count_nonzero] counts of up to {} elements do not fit int32", most);
  }
  return count;
}

array sum_to_shape(const array& a, ShapeView shape, StreamOrDevice s) {
  int extra = a.ndim() - int(shape.size());
  if (extra < 0) {
    fail<ValueError>("[sum_to_shape] expected a shape that broadcasts to {}, got {}", a.shape(),
                     shape);
  }
  Axes axes;
  for (int i = 0; i < a.ndim(); ++i) {
    if (i < extra || (shape[i - extra] == 1 && a.shape(i) != 1)) {
      axes.push_back(i);
    } else if (shape[i - extra] != a.shape(i)) {
      fail<ValueError>("[sum_to_shape] expected a shape that broadcasts to {}, got {}", a.shape(),
                       shape);
    }
  }
  if (axes.empty()) {
    return a;
  }
  array total = astype(reduce(ReduceOp::Sum, a, std::move(axes), true, s), a.dtype(), s);
  return extra == 0 ? total : reshape(total, Shape(shape), s);
}

std::vector<Shape> Reduce::output_shapes(const std::vector<array>& inputs) const {
  const Shape& in = inputs[0].shape();
  Shape out;
  auto next = axes.begin();
  for (int i = 0; i < int(in.size()); ++i) {
    bool reduced = next != axes.end() && *next == i;
    if (reduced && in[i] == 0 && (op == ReduceOp::Max || op == ReduceOp::Min)) {
      std::string_view op_name = info(op).python_name;
      fail<ValueError>("[{}] axis {} of an array of shape {} is empty and has no {}", op_name, i,
                       in, op_name);
    }
    next += reduced;
    if (!reduced) {
      out.push_back(in[i]);
    } else if (keepdims) {
      out.push_back(1);
    }
  }
  return {out};
}

std::string Reduce::describe() const {
  std::string text = "axes=(";
  for (size_t i = 0; i < axes.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(axes[i]);
  }
  text += axes.size() == 1 ? ",)" : ")";
  if (keepdims) text += ", keepdims";
  if (ddof != 0) text += ", ddof=" + std::to_string(ddof);
  return text;
}

std::vector<array> Reduce::vjp(const std::vector<array>& inputs,
                               const std::vector<array>& cotangents, const std::vector<int>&,
                               const std::vector<array>& outputs) const {
  const array &x = inputs[0], &y = outputs[0];
  array g = cotangents[0];
  auto spread_over_x = [&](const array& a) { return spread(a, x, axes, keepdims); };
  switch (op) {
    case ReduceOp::Sum:
      g = spread_over_x(g);
      break;
    case ReduceOp::Mean:
      g = spread_over_x(multiply(g, inverse_count(x, axes, 1.0, 0, g.dtype())));
      break;
    case ReduceOp::Prod:
      g = multiply(spread_over_x(g), conjugate(product_partials(x, axes)));
      break;
    case ReduceOp::Max:
    case ReduceOp::Min: {
      // Chosen, not multiplied: an infinite cotangent must not turn into NaN elsewhere.
      auto [hits, count] = extreme_places(x, y, axes, keepdims);
      g = divide(g, count);
      g = where(hits, spread_over_x(g), array(0.0, g.dtype()));
      break;
    }
    case ReduceOp::All:
    case ReduceOp::Any:
      return {zeros_like(x)};
    case ReduceOp::Var:
    case ReduceOp::Std:
      g = multiply(precise(g), moment_factor(op, x, y, axes, ddof));
      g = multiply(spread_over_x(g), deviation(precise(x), axes));
      break;
  }
  return {astype(g, x.dtype())};
}

std::vector<array> Reduce::jvp(const std::vector<array>& inputs, const std::vector<array>& tangents,
                               const std::vector<int>&, const std::vector<array>& outputs) const {
  const array &x = inputs[0], &y = outputs[0];
  array t = tangents[0];
  auto total = [&](const array& a) { return reduce(ReduceOp::Sum, a, axes, keepdims, {}); };
  switch (op) {
    case ReduceOp::Sum:
      t = total(t);
      break;
    case ReduceOp::Mean:
      t = reduce(ReduceOp::Mean, t, axes, keepdims, {});
      break;
    case ReduceOp::Prod:
      t = total(multiply(t, product_partials(x, axes)));
      break;
    case ReduceOp::Max:
    case ReduceOp::Min: {
      auto [hits, count] = extreme_places(x, y, axes, keepdims);
      t = divide(total(where(hits, t, array(0.0, t.dtype()))), count);
      break;
    }
    case ReduceOp::All:
    case ReduceOp::Any:
      return {zeros_like(y)};
    case ReduceOp::Var:
    case ReduceOp::Std:
      t = total(multiply(precise(t), deviation(precise(x), axes)));
      t = multiply(t, moment_factor(op, x, y, axes, ddof));
      break;
  }
  return {astype(t, y.dtype())};
}

// The mapped axis stays where it is; the reduced axes behind it move up by one.
VmapResult Reduce::vmap(const std::vector<array>& inputs, const std::vector<int>& mapped,
                        Stream stream) const {
  int at = mapped[0];
  Axes shifted;
  int before = 0;
  for (int axis : axes) {
    before += axis < at;
    shifted.push_back(axis < at ? axis : axis + 1);
  }
  return {{reduce(op, inputs[0], std::move(shifted), keepdims, stream, ddof)},
          {keepdims ? at : at - before}};
}

}  // namespace mlx::core
