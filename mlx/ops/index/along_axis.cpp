// take_along_axis, put_along_axis and their derivatives.
#include "mlx/error.h"
#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/index/common.h"
#include "mlx/ops/index/gather.h"
#include "mlx/ops/index/index.h"
#include "mlx/ops/shape/like.h"
#include "mlx/ops/shape/shape.h"

namespace mlx::core {

namespace {

// Array and indices with equal sizes on all axes but `axis`.
struct Aligned {
  array a, indices;
};
Aligned align(std::string_view op, const array& a, const array& indices, int axis,
              StreamOrDevice s) {
  check_index_dtype(op, indices);
  if (indices.ndim() != a.ndim()) {
    fail<ValueError>("[{}] expected indices with the {} dimensions of the array, got shape {}", op,
                     a.ndim(), indices.shape());
  }
  Shape array_shape = a.shape(), index_shape = indices.shape();
  array_shape[axis] = index_shape[axis] = 1;
  Shape common = broadcast_shapes(array_shape, index_shape, op);
  array_shape = index_shape = common;
  array_shape[axis] = a.shape()[axis];
  index_shape[axis] = indices.shape()[axis];
  check_not_empty(op, a, axis, index_shape);
  return {
      array_shape == a.shape() ? a : broadcast_to(a, std::move(array_shape), s),
      index_shape == indices.shape() ? indices : broadcast_to(indices, std::move(index_shape), s)};
}

void check_aligned(std::string_view op, const array& a, const array& indices, int axis) {
  Shape shape = indices.shape();
  shape[axis] = a.shape()[axis];
  if (shape != a.shape()) {
    fail<ValueError>("[{}] indices of shape {} do not fit an array of shape {} along axis {}", op,
                     indices.shape(), a.shape(), axis);
  }
}

array put_with(ScatterMode mode, const array& a, const array& indices, const array& values,
               int axis, StreamOrDevice s) {
  std::string_view op = "put_along_axis";
  int at = normalize_axis(axis, a.ndim(), op);
  auto [base, index] = align(op, a, indices, at, s);
  if (base.shape() != a.shape()) {
    fail<ValueError>("[{}] indices of shape {} do not fit an array of shape {}", op,
                     indices.shape(), a.shape());
  }
  array updates = broadcast_like(astype(values, a.dtype(), s), index);
  if (updates.size() == 0) {
    return a;
  }
  const array inputs[] = {base, updates, index};
  return array::make(a.shape(), a.dtype(), Ref<Primitive>(new ScatterAxis(mode, at)), inputs,
                     to_stream(s));
}

}  // namespace

std::string GatherAxis::describe() const { return format("axis={}", axis); }

std::vector<Shape> GatherAxis::output_shapes(const std::vector<array>& inputs) const {
  check_aligned("take_along_axis", inputs[0], inputs[1], axis);
  check_not_empty("take_along_axis", inputs[0], axis, inputs[1].shape());
  return {inputs[1].shape()};
}

std::vector<array> GatherAxis::vjp(const std::vector<array>& inputs,
                                   const std::vector<array>& cotangents,
                                   const std::vector<int>& argnums,
                                   const std::vector<array>&) const {
  std::vector<array> result;
  for (int k : argnums) {
    if (k > 0) {
      result.push_back(index_cotangent("take_along_axis", inputs[k]));
      continue;
    }
    array zero = full_like(inputs[0], array(0.0, cotangents[0].dtype()));
    result.push_back(scatter_add_axis(zero, inputs[1], cotangents[0], axis));
  }
  return result;
}

std::vector<array> GatherAxis::jvp(const std::vector<array>& inputs,
                                   const std::vector<array>& tangents,
                                   const std::vector<int>& argnums,
                                   const std::vector<array>& outputs) const {
  for (size_t i = 0; i < argnums.size(); ++i) {
    if (argnums[i] == 0) {
      return {take_along_axis(tangents[i], inputs[1], axis)};
    }
  }
  return {zeros_like(outputs[0])};
}

VmapResult GatherAxis::vmap(const std::vector<array>& inputs, const std::vector<int>& mapped,
                            Stream stream) const {
  int64_t lanes = lane_count(inputs, mapped);
  return {{take_along_axis(lanes_first(inputs[0], mapped[0], lanes, stream),
                           lanes_first(inputs[1], mapped[1], lanes, stream), axis + 1, stream)},
          {0}};
}

std::string ScatterAxis::describe() const {
  return format("mode={} axis={}", mode_name(mode), axis);
}

std::vector<Shape> ScatterAxis::output_shapes(const std::vector<array>& inputs) const {
  check_aligned("put_along_axis", inputs[0], inputs[2], axis);
  if (inputs[1].shape() != inputs[2].shape()) {
    fail<ValueError>("[put_along_axis] values of shape {} do not fit indices of shape {}",
                     inputs[1].shape(), inputs[2].shape());
  }
  return {inputs[0].shape()};
}

std::vector<array> ScatterAxis::vjp(const std::vector<array>& inputs,
                                    const std::vector<array>& cotangents,
                                    const std::vector<int>& argnums,
                                    const std::vector<array>&) const {
  const array& g = cotangents[0];
  const array& index = inputs[2];
  array zero(0.0, g.dtype());
  std::vector<array> result;
  for (int k : argnums) {
    if (k == 2) {
      result.push_back(index_cotangent("put_along_axis", index));
    } else if (k == 0) {
      result.push_back(mode == ScatterMode::add ? g : put_along_axis(g, index, zero, axis));
    } else {
      array picked = take_along_axis(g, index, axis);
      array counts(true);
      if (mode == ScatterMode::add) {
        // What was outside the axis was ignored.
        array n = axis_size(g, axis, int64), i = astype(index, int64);
        counts = logical_and(greater_equal(i, negative(n)), less(i, n));
      } else {
        // Only the update that was written last has an effect.
        array number =
            reshape(arange(array::from_int(0, int64), array::from_int(1, int64), index.size()),
                    index.shape());
        array none = full_like(inputs[0], array::from_int(-1, int64));
        array winner = put_along_axis(none, index, number, axis);
        counts = equal(take_along_axis(winner, index, axis), number);
      }
      result.push_back(where(counts, picked, zero));
    }
  }
  return result;
}

std::vector<array> ScatterAxis::jvp(const std::vector<array>& inputs,
                                    const std::vector<array>& tangents,
                                    const std::vector<int>& argnums,
                                    const std::vector<array>&) const {
  array parts[2] = {zeros_like(inputs[0]), zeros_like(inputs[1])};
  for (size_t i = 0; i < argnums.size(); ++i) {
    if (argnums[i] < 2) {
      parts[argnums[i]] = tangents[i];
    }
  }
  return {put_with(mode, parts[0], inputs[2], parts[1], axis, {})};
}

VmapResult ScatterAxis::vmap(const std::vector<array>& inputs, const std::vector<int>& mapped,
                             Stream stream) const {
  int64_t lanes = lane_count(inputs, mapped);
  auto batched = [&](int k) { return lanes_first(inputs[k], mapped[k], lanes, stream); };
  return {{put_with(mode, batched(0), batched(2), batched(1), axis + 1, stream)}, {0}};
}

array take_along_axis(const array& a, const array& indices, int axis, StreamOrDevice s) {
  int at = normalize_axis(axis, a.ndim(), "take_along_axis");
  auto [base, index] = align("take_along_axis", a, indices, at, s);
  Shape shape = index.shape();
  const array inputs[] = {base, index};
  return array::make(std::move(shape), a.dtype(), Ref<Primitive>(new GatherAxis(at)), inputs,
                     to_stream(s));
}

array put_along_axis(const array& a, const array& indices, const array& values, int axis,
                     StreamOrDevice s) {
  return put_with(ScatterMode::assign, a, indices, values, axis, s);
}

array scatter_add_axis(const array& a, const array& indices, const array& values, int axis,
                       StreamOrDevice s) {
  return put_with(ScatterMode::add, a, indices, values, axis, s);
}

}  // namespace mlx::core
