// softmax and logsumexp: the last axes as primitives, other axes and complex values made of others.
#include "mlx/ops/reduce/softmax.h"

#include "mlx/error.h"
#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/reduce/reduce.h"
#include "mlx/ops/shape/like.h"
#include "mlx/ops/shape/shape.h"

namespace mlx::core {

namespace {

// The axes if they are the last ones (or none, which is a last axis of one element), so that
// reshaping makes them one.
bool are_last(const Axes& axes, int ndim) {
  return axes.empty() || axes.front() == ndim - int(axes.size());
}

Axes axes_of(const array& a, AxisSet axes, std::string_view op) {
  if (axes) {
    return normalize_axes(*axes, a.ndim(), op);
  }
  Axes all;
  for (int i = 0; i < a.ndim(); ++i) {
    all.push_back(i);
  }
  return all;
}

array join_last(const array& x, size_t count, StreamOrDevice s) {
  if (count == 1) {
    return x;
  }
  // No axis at all is one of one element.
  return count == 0 ? expand_dims(x, x.ndim(), s) : flatten(x, x.ndim() - int(count), -1, s);
}

std::span<const int> view_of(const Axes& axes) { return {axes.data(), axes.size()}; }

array last_axis(Ref<Primitive> primitive, const array& x, StreamOrDevice s) {
  Shape shape = std::move(primitive->output_shapes({x})[0]);
  return array::make(std::move(shape), x.dtype(), std::move(primitive),
                     std::span<const array>(&x, 1), to_stream(s));
}

// The dtype the composed forms compute in.
Dtype wide_dtype(Dtype t) { return t.is_half() ? float32 : t; }

}  // namespace

// The sum is always formed in float32 at least, so `precise` asks for nothing more.
array softmax(const array& a, AxisSet axis_set, bool, StreamOrDevice s) {
  Axes axes = axes_of(a, axis_set, "softmax");
  if (a.size() == 0) {
    return a;
  }
  Dtype t = at_least_float(a.dtype());
  array x = astype(a, t, s);
  if (are_last(axes, a.ndim()) && !t.is_complex()) {
    array y = last_axis(Ref<Primitive>(new Softmax()), join_last(x, axes.size(), s), s);
    return axes.size() == 1 ? y : reshape_like(y, a);
  }
  x = astype(x, wide_dtype(t), s);
  array e = exp(subtract(x, stop_gradient(max(x, view_of(axes), true, s), s), s), s);
  return astype(divide(e, sum(e, view_of(axes), true, s), s), t, s);
}

array logsumexp(const array& a, AxisSet axis_set, bool keepdims, StreamOrDevice s) {
  Axes axes = axes_of(a, axis_set, "logsumexp");
  if (a.size() == 0) {
    fail<ValueError>("[logsumexp] expected an array with elements, got shape {}", a.shape());
  }
  Dtype t = at_least_float(a.dtype());
  array x = astype(a, t, s);
  if (are_last(axes, a.ndim()) && !t.is_complex()) {
    array y = last_axis(Ref<Primitive>(new LogSumExp()), join_last(x, axes.size(), s), s);
    return keepdims && !axes.empty() ? expand_dims(y, view_of(axes), s) : y;
  }
  x = astype(x, wide_dtype(t), s);
  array high = stop_gradient(max(x, view_of(axes), true, s), s);
  // An infinite maximum would give inf - inf.
  high = where(isfinite(high, s), high, array(0.0, x.dtype()), s);
  array total = sum(exp(subtract(x, high, s), s), view_of(axes), true, s);
  array y = astype(add(log(total, s), high, s), t, s);
  return keepdims || axes.empty() ? y : squeeze(y, view_of(axes), s);
}

std::vector<Shape> Softmax::output_shapes(const std::vector<array>& inputs) const {
  return {inputs[0].shape()};
}

namespace {

// The Jacobian of softmax is symmetric: cotangents and tangents go the same way.
array softmax_derivative(const array& y, const array& v) {
  const int last = -1;
  array weighted = multiply(y, v);
  array total = sum(weighted, std::span<const int>(&last, 1), true);
  return subtract(weighted, multiply(y, total));
}

}  // namespace

std::vector<array> Softmax::vjp(const std::vector<array>&, const std::vector<array>& cotangents,
                                const std::vector<int>&, const std::vector<array>& outputs) const {
  return {softmax_derivative(outputs[0], cotangents[0])};
}

std::vector<array> Softmax::jvp(const std::vector<array>&, const std::vector<array>& tangents,
                                const std::vector<int>&, const std::vector<array>& outputs) const {
  return {softmax_derivative(outputs[0], tangents[0])};
}

VmapResult Softmax::vmap(const std::vector<array>& inputs, const std::vector<int>& axes,
                         Stream stream) const {
  array x = moveaxis(inputs[0], axes[0], 0, stream);
  return {{last_axis(Ref<Primitive>(new Softmax()), x, stream)}, {0}};
}

std::vector<Shape> LogSumExp::output_shapes(const std::vector<array>& inputs) const {
  Shape out = inputs[0].shape();
  out.pop_back();
  return {out};
}

std::vector<array> LogSumExp::vjp(const std::vector<array>& inputs,
                                  const std::vector<array>& cotangents, const std::vector<int>&,
                                  const std::vector<array>&) const {
  const int last = -1;
  array weights = softmax(inputs[0], std::span<const int>(&last, 1));
  return {multiply(weights, expand_dims(cotangents[0], -1))};
}

std::vector<array> LogSumExp::jvp(const std::vector<array>& inputs,
                                  const std::vector<array>& tangents, const std::vector<int>&,
                                  const std::vector<array>&) const {
  const int last = -1;
  array weights = softmax(inputs[0], std::span<const int>(&last, 1));
  return {sum(multiply(weights, tangents[0]), std::span<const int>(&last, 1))};
}

VmapResult LogSumExp::vmap(const std::vector<array>& inputs, const std::vector<int>& axes,
                           Stream stream) const {
  array x = moveaxis(inputs[0], axes[0], 0, stream);
  return {{last_axis(Ref<Primitive>(new LogSumExp()), x, stream)}, {0}};
}

}  // namespace mlx::core
