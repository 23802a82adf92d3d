// argmax and argmin: functions, shape rule, vjp, jvp, vmap.
#include "mlx/ops/reduce/arg_reduce.h"

#include <limits>

#include "mlx/error.h"
#include "mlx/ops/reduce/reduce.h"
#include "mlx/ops/shape/shape.h"

namespace mlx::core {

namespace {

array arg_reduce(Extreme extreme, const array& a, std::optional<int> axis, bool keepdims,
                 StreamOrDevice s) {
  const char* op = extreme == Extreme::max ? "argmax" : "argmin";
  if (axis) {
    axis = normalize_axis(*axis, a.ndim(), op);
  }
  if (a.size() == 0) {
    fail<ValueError>("[{}] expected an array with elements, got shape {}", op, a.shape());
  }
  array x = axis ? a : reshape(a, {-1}, s);
  int along = axis.value_or(0);
  if (x.shape(along) - 1 > int64_t(std::numeric_limits<uint32_t>::max())) {
    fail<OverflowError>("[{}] positions along an axis of {} elements do not fit uint32", op,
                        x.shape(along));
  }
  Ref<Primitive> primitive(new ArgReduce(extreme, along, keepdims && axis));
  Shape shape = std::move(primitive->output_shapes({x})[0]);
  array y = array::make(std::move(shape), uint32, std::move(primitive),
                        std::span<const array>(&x, 1), to_stream(s));
  return keepdims && !axis ? reshape(y, Shape(a.ndim(), 1), s) : y;
}

}  // namespace

array argmax(const array& a, std::optional<int> axis, bool keepdims, StreamOrDevice s) {
  return arg_reduce(Extreme::max, a, axis, keepdims, s);
}
array argmin(const array& a, std::optional<int> axis, bool keepdims, StreamOrDevice s) {
  return arg_reduce(Extreme::min, a, axis, keepdims, s);
}

std::vector<Shape> ArgReduce::output_shapes(const std::vector<array>& inputs) const {
  Shape out = inputs[0].shape();
  if (keepdims) {
    out[axis] = 1;
  } else {
    out.erase(out.begin() + axis);
  }
  return {out};
}

std::string ArgReduce::describe() const {
  return "axis=" + std::to_string(axis) + (keepdims ? ", keepdims" : "");
}

std::vector<array> ArgReduce::vjp(const std::vector<array>& inputs, const std::vector<array>&,
                                  const std::vector<int>&, const std::vector<array>&) const {
  return {zeros_like(inputs[0])};
}

std::vector<array> ArgReduce::jvp(const std::vector<array>&, const std::vector<array>&,
                                  const std::vector<int>&,
                                  const std::vector<array>& outputs) const {
  return {zeros_like(outputs[0])};
}

VmapResult ArgReduce::vmap(const std::vector<array>& inputs, const std::vector<int>& mapped,
                           Stream stream) const {
  int at = mapped[0], along = axis < at ? axis : axis + 1;
  return {{arg_reduce(extreme, inputs[0], along, keepdims, stream)},
          {keepdims || axis >= at ? at : at - 1}};
}

}  // namespace mlx::core
