// FitShape, ElementCount and PinnedSize: rules, and the functions that choose them or plain forms.
#include "mlx/ops/shape/like.h"

#include <algorithm>

#include "mlx/error.h"
#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/reduce/reduce.h"
#include "mlx/ops/shape/shape.h"
#include "mlx/transforms/trace.h"

namespace mlx::core {

namespace {

array fitted(Fit fit, const array& a, const array& like, StreamOrDevice s = {}) {
  const array inputs[] = {a, like};
  Ref<Primitive> p(new FitShape(fit));
  Shape shape = std::move(p->output_shapes({a, like})[0]);
  return array::make(std::move(shape), a.dtype(), std::move(p), inputs, to_stream(s));
}

// Sums of small integers are formed in 32 bits.
array fitted_sum(const array& a, const array& like) {
  Dtype t = a.dtype();
  bool small = t.is_bool() || (t.is_integer() && t.size() < 4);
  Dtype wide = !small ? t : t.is_bool() || t.is_signed() ? int32 : uint32;
  return astype(fitted(Fit::sum, astype(a, wide), like), t);
}

array counted(const array& a, Ref<ElementCount> count) {
  Dtype t = count->dtype;
  if (!shapes_may_change()) {
    return array(count->value(a.shape()), t);
  }
  return array::make(Shape{}, t, std::move(count), std::span(&a, 1), to_stream(StreamOrDevice{}));
}

array pinned(const array& a, int axis, int64_t size, StreamOrDevice s = {}) {
  return array::make(a.shape(), a.dtype(), Ref<Primitive>(new PinnedSize(axis, size)),
                     std::span(&a, 1), to_stream(s));
}

// Ones between the lanes, which come first, and the axes of a lane.
array with_rank(const array& a, int rank, Stream s) {
  Axes added;
  for (int i = a.ndim(); i < rank; ++i) {
    added.push_back(int(added.size()) + 1);
  }
  return added.empty() ? a : expand_dims(a, std::span<const int>(added), s);
}

}  // namespace

// ---- FitShape ----

std::string FitShape::describe() const {
  return fit == Fit::broadcast ? "broadcast" : fit == Fit::reshape ? "reshape" : "sum";
}

IndexRange FitShape::traced_inputs(TraceFor purpose, size_t count) const {
  bool derives = purpose == TraceFor::vjp || purpose == TraceFor::jvp;
  return {0, derives ? 1 : count};
}

std::vector<Shape> FitShape::output_shapes(const std::vector<array>& inputs) const {
  const Shape &from = inputs[0].shape(), &to = inputs[1].shape();
  bool fits = fit == Fit::reshape     ? inputs[0].size() == inputs[1].size()
              : fit == Fit::broadcast ? broadcast_shapes(from, to, "broadcast") == to
                                      : broadcast_shapes(from, to, "sum") == from;
  if (!fits) {
    fail<ValueError>("[{}] shape {} does not fit {}", describe(), from, to);
  }
  return {to};
}

bool FitShape::view(const Operand& input, ShapeView shape, Strides& strides, int64_t&) const {
  if (fit == Fit::sum) {
    strides = input.strides;
    return ShapeView(input.shape).size() == shape.size() && Shape(shape) == input.shape;
  }
  if (fit == Fit::reshape) {
    return reshape_strides(input.shape, input.strides, shape, strides);
  }
  strides = broadcast_strides(input.shape, input.strides, shape);
  return true;
}

std::vector<array> FitShape::vjp(const std::vector<array>& inputs,
                                 const std::vector<array>& cotangents, const std::vector<int>&,
                                 const std::vector<array>&) const {
  const array& g = cotangents[0];
  switch (fit) {
    case Fit::broadcast:
      return {fitted_sum(g, inputs[0])};
    case Fit::reshape:
      return {fitted(Fit::reshape, g, inputs[0])};
    case Fit::sum:
      return {fitted(Fit::broadcast, g, inputs[0])};
  }
  return {};
}

std::vector<array> FitShape::jvp(const std::vector<array>& inputs,
                                 const std::vector<array>& tangents, const std::vector<int>&,
                                 const std::vector<array>&) const {
  return {fitted(fit, tangents[0], inputs[1])};
}

VmapResult FitShape::vmap(const std::vector<array>& inputs, const std::vector<int>& axes,
                          Stream stream) const {
  int64_t lanes = axes[0] >= 0 ? inputs[0].shape(axes[0]) : inputs[1].shape(axes[1]);
  array x[2] = {inputs[0], inputs[1]};
  for (int k = 0; k < 2; ++k) {
    Shape shape = x[k].shape();
    shape.insert(shape.begin(), lanes);
    x[k] = axes[k] >= 0 ? moveaxis(x[k], axes[k], 0, stream)
                        : broadcast_to(x[k], std::move(shape), stream);
  }
  if (fit != Fit::reshape) {
    int rank = std::max(x[0].ndim(), x[1].ndim());
    x[0] = with_rank(x[0], rank, stream);
    array like = with_rank(x[1], rank, stream);
    array y = fitted(fit, x[0], like, stream);
    Axes added;
    for (int i = x[1].ndim(); i < rank; ++i) {
      added.push_back(int(added.size()) + 1);
    }
    return {{added.empty() ? y : squeeze(y, std::span<const int>(added), stream)}, {0}};
  }
  return {{fitted(fit, x[0], x[1], stream)}, {0}};
}

// ---- ElementCount ----

double ElementCount::value(ShapeView shape) const {
  double n = 1;
  for (int axis : axes) {
    n *= double(shape[size_t(axis)]);
  }
  return numerator ? *numerator / std::max(n - less, 0.0) : n;
}

std::string ElementCount::describe() const {
  return format("axes={} numerator={} less={}", Shape(axes.begin(), axes.end()),
                numerator.value_or(0.0), less);
}

std::vector<Shape> ElementCount::output_shapes(const std::vector<array>&) const {
  return {Shape{}};
}

std::vector<array> ElementCount::vjp(const std::vector<array>& inputs, const std::vector<array>&,
                                     const std::vector<int>&, const std::vector<array>&) const {
  return {zeros_like(inputs[0])};
}

std::vector<array> ElementCount::jvp(const std::vector<array>&, const std::vector<array>&,
                                     const std::vector<int>&,
                                     const std::vector<array>& outputs) const {
  return {zeros_like(outputs[0])};
}

VmapResult ElementCount::vmap(const std::vector<array>& inputs, const std::vector<int>& mapped,
                              Stream stream) const {
  Axes moved = axes;
  for (int& a : moved) {
    a += a >= mapped[0];
  }
  Ref<Primitive> p(new ElementCount(std::move(moved), numerator, less, dtype));
  return {{array::make(Shape{}, dtype, std::move(p), inputs, stream)}, {-1}};
}

// ---- PinnedSize ----

std::string PinnedSize::describe() const { return format("axis={} size={}", axis, size); }

std::vector<Shape> PinnedSize::output_shapes(const std::vector<array>& inputs) const {
  if (inputs[0].shape(axis) != size) {
    fail<ValueError>(
        "[compile] an axis has {} elements in this call; it had {} when the function was traced, "
        "and "
        "the trace depends on that",
        inputs[0].shape(axis), size);
  }
  return {inputs[0].shape()};
}

std::vector<array> PinnedSize::vjp(const std::vector<array>&, const std::vector<array>& cotangents,
                                   const std::vector<int>&, const std::vector<array>&) const {
  return {cotangents[0]};
}

std::vector<array> PinnedSize::jvp(const std::vector<array>&, const std::vector<array>& tangents,
                                   const std::vector<int>&, const std::vector<array>&) const {
  return {tangents[0]};
}

VmapResult PinnedSize::vmap(const std::vector<array>& inputs, const std::vector<int>& mapped,
                            Stream stream) const {
  return {{pinned(inputs[0], axis + (axis >= mapped[0]), size, stream)}, {mapped[0]}};
}

// ---- what rules call ----

array broadcast_like(const array& a, const array& like, StreamOrDevice s) {
  return shapes_may_change() ? fitted(Fit::broadcast, a, like, s)
                             : broadcast_to(a, like.shape(), s);
}

array reshape_like(const array& a, const array& like) {
  return shapes_may_change() ? fitted(Fit::reshape, a, like) : reshape(a, like.shape());
}

array sum_like(const array& a, const array& like) {
  return shapes_may_change() ? fitted_sum(a, like) : sum_to_shape(a, like.shape());
}

array full_like(const array& like, const array& value, StreamOrDevice s) {
  return broadcast_like(value, like, s);
}

array inverse_count(const array& a, const Axes& axes, double numerator, int less, Dtype dtype) {
  return counted(a, Ref<ElementCount>(new ElementCount(axes, numerator, less, dtype)));
}

array axis_size(const array& a, int axis, Dtype dtype) {
  return counted(a, Ref<ElementCount>(new ElementCount(Axes{axis}, {}, 0, dtype)));
}

array pin_size(const array& a, int axis) {
  return shapes_may_change() ? pinned(a, axis, a.shape(axis)) : a;
}

array pin_shape(const array& a) {
  array x = a;
  for (int axis = 0; axis < a.ndim(); ++axis) {
    x = pin_size(x, axis);
  }
  return x;
}

}  // namespace mlx::core
