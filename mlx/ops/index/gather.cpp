// gather over any set of axes, and take.
#include "mlx/ops/index/gather.h"

#include "mlx/error.h"
#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/index/common.h"
#include "mlx/ops/index/index.h"
#include "mlx/ops/shape/like.h"
#include "mlx/ops/shape/shape.h"

namespace mlx::core {

std::string Gather::describe() const {
  return format("axes={} position={}", shown(axes), position);
}

std::vector<Shape> Gather::output_shapes(const std::vector<array>& inputs) const {
  Shape index = common_shape("gather", inputs, 1);
  for (int axis : axes) {
    check_not_empty("gather", inputs[0], axis, index);
  }
  return {gathered_shape(inputs[0].shape(), index, axes, position)};
}

std::vector<array> Gather::vjp(const std::vector<array>& inputs,
                               const std::vector<array>& cotangents,
                               const std::vector<int>& argnums, const std::vector<array>&) const {
  std::vector<array> result;
  for (int k : argnums) {
    if (k > 0) {
      result.push_back(index_cotangent("gather", inputs[k]));
      continue;
    }
    array zero = full_like(inputs[0], array(0.0, cotangents[0].dtype()));
    result.push_back(scatter_add(zero, tail(inputs, 1), cotangents[0], axes, position));
  }
  return result;
}

std::vector<array> Gather::jvp(const std::vector<array>& inputs, const std::vector<array>& tangents,
                               const std::vector<int>& argnums,
                               const std::vector<array>& outputs) const {
  for (size_t i = 0; i < argnums.size(); ++i) {
    if (argnums[i] == 0) {
      return {gather(tangents[i], tail(inputs, 1), axes, position)};
    }
  }
  return {zeros_like(outputs[0])};
}

VmapResult Gather::vmap(const std::vector<array>& inputs, const std::vector<int>& mapped,
                        Stream stream) const {
  int64_t lanes = lane_count(inputs, mapped);
  bool same_indices = std::all_of(mapped.begin() + 1, mapped.end(), [](int m) { return m < 0; });
  if (same_indices) {
    array x = moveaxis(inputs[0], mapped[0], 0, stream);
    return {{gather(x, tail(inputs, 1), behind_lanes(axes), position + 1, stream)}, {0}};
  }
  std::vector<array> indices = lane_indices(inputs, mapped, 1, lanes, stream);
  if (mapped[0] < 0) {
    return {{gather(inputs[0], tail(indices, 1), axes, position, stream)}, {position}};
  }
  Axes all = behind_lanes(axes);
  all.insert(all.begin(), 0);
  array x = moveaxis(inputs[0], mapped[0], 0, stream);
  return {{gather(x, indices, all, position, stream)}, {position}};
}

array gather(const array& a, std::span<const array> indices, Axes axes, int position,
             StreamOrDevice s) {
  Indexing x = prepare_indices("gather", a, indices, axes, position, s);
  Shape shape = gathered_shape(a.shape(), x.shape, x.axes, position);
  std::vector<array> inputs{a};
  inputs.insert(inputs.end(), x.indices.begin(), x.indices.end());
  return array::make(std::move(shape), a.dtype(),
                     Ref<Primitive>(new Gather(std::move(x.axes), position)), inputs, to_stream(s));
}

array take(const array& a, const array& indices, int axis, StreamOrDevice s) {
  check_index_dtype("take", indices);
  int at = normalize_axis(axis, a.ndim(), "take");
  if (a.shape()[at] == 0 && indices.size() > 0) {
    fail<ValueError>("[take] cannot take from the empty axis {} of shape {}", axis, a.shape());
  }
  return gather(a, std::span(&indices, 1), Axes{at}, at, s);
}

array take(const array& a, const array& indices, StreamOrDevice s) {
  return take(flatten(a, 0, -1, s), indices, 0, s);
}

array take(const array& a, int64_t index, int axis, StreamOrDevice s) {
  int at = normalize_axis(axis, a.ndim(), "take");
  int64_t n = a.shape()[at];
  if (index < -n || index >= n) {
    fail<IndexError>("[take] index {} is outside axis {} of shape {}", index, axis, a.shape());
  }
  Shape start(size_t(a.ndim()), 0), step(size_t(a.ndim()), 1), count = a.shape();
  start[at] = index < 0 ? index + n : index;
  count[at] = 1;
  return squeeze(strided_slice(a, std::move(start), std::move(step), std::move(count), s),
                 std::span<const int>(&at, 1), s);
}

}  // namespace mlx::core
