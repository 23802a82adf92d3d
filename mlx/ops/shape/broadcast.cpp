// broadcast_to and what is made of it: broadcast_arrays, repeat, tile, meshgrid.
#include "mlx/ops/shape/broadcast.h"

#include "mlx/error.h"
#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/reduce/reduce.h"
#include "mlx/ops/shape/like.h"
#include "mlx/ops/shape/shape.h"
#include "mlx/transforms/trace.h"

namespace mlx::core {

std::string Broadcast::describe() const { return format("shape={}", target); }

std::vector<Shape> Broadcast::output_shapes(const std::vector<array>& inputs) const {
  Shape shape = broadcast_shapes(target, inputs[0].shape(), "broadcast_to");
  if (shape != target) {
    fail<ValueError>("[broadcast_to] shape {} cannot be broadcast to {}", inputs[0].shape(),
                     target);
  }
  return {shape};
}

bool Broadcast::view(const Operand& input, ShapeView shape, Strides& strides, int64_t&) const {
  strides = broadcast_strides(input.shape, input.strides, shape);
  return true;
}

std::vector<array> Broadcast::vjp(const std::vector<array>& inputs,
                                  const std::vector<array>& cotangents, const std::vector<int>&,
                                  const std::vector<array>&) const {
  return {astype(sum_like(cotangents[0], inputs[0]), cotangents[0].dtype())};
}

std::vector<array> Broadcast::jvp(const std::vector<array>&, const std::vector<array>& tangents,
                                  const std::vector<int>&, const std::vector<array>&) const {
  return {broadcast_to(tangents[0], target)};
}

VmapResult Broadcast::vmap(const std::vector<array>& inputs, const std::vector<int>& mapped,
                           Stream stream) const {
  array x = moveaxis(inputs[0], mapped[0], 0, stream);
  Shape shape{x.shape(0)};
  shape.append(target.begin(), target.end());
  // Ones between the mapped axis and the lane's own axes keep them aligned with the target's end.
  Shape spread{x.shape(0)};
  spread.resize(size_t(1 + int(target.size()) - (x.ndim() - 1)), 1);
  spread.append(x.shape().begin() + 1, x.shape().end());
  return {{broadcast_to(reshape(x, std::move(spread), stream), std::move(shape), stream)}, {0}};
}

array broadcast_to(const array& a, Shape shape, StreamOrDevice s) {
  element_count(shape, "broadcast_to");
  if (shape == a.shape() && !shapes_may_change()) {
    return a;
  }
  Shape common = broadcast_shapes(shape, a.shape(), "broadcast_to");
  if (common != shape) {
    fail<ValueError>("[broadcast_to] shape {} cannot be broadcast to {}", a.shape(), shape);
  }
  return array::make(std::move(common), a.dtype(), Ref<Primitive>(new Broadcast(std::move(shape))),
                     std::span(&a, 1), to_stream(s));
}

std::vector<array> broadcast_arrays(std::span<const array> arrays, StreamOrDevice s) {
  Shape shape;
  for (const array& a : arrays) {
    shape = broadcast_shapes(shape, a.shape(), "broadcast_arrays");
  }
  std::vector<array> out;
  for (const array& a : arrays) {
    out.push_back(broadcast_to(a, shape, s));
  }
  return out;
}

array repeat(const array& a, int64_t repeats, int axis, StreamOrDevice s) {
  int at = normalize_axis(axis, a.ndim(), "repeat");
  if (repeats < 0) {
    fail<ValueError>("[repeat] expected a number of repeats that is not negative, got {}", repeats);
  }
  Shape result = a.shape();
  if (__builtin_mul_overflow(result[at], repeats, &result[at])) {
    fail<OverflowError>("[repeat] {} repeats of axis {} of shape {} are too many", repeats, axis,
                        a.shape());
  }
  Shape spread = a.shape();
  spread.insert(spread.begin() + at + 1, repeats);
  element_count(spread, "repeat");
  array wide = broadcast_to(expand_dims(pin_shape(a), at + 1, s), std::move(spread), s);
  return reshape(wide, std::move(result), s);
}

array tile(const array& a, Shape reps, StreamOrDevice s) {
  Shape shape = a.shape();
  while (reps.size() < shape.size()) {
    reps.insert(reps.begin(), 1);
  }
  while (shape.size() < reps.size()) {
    shape.insert(shape.begin(), 1);
  }
  Shape split, spread, result;
  for (size_t i = 0; i < reps.size(); ++i) {
    if (reps[i] < 0) {
      fail<ValueError>("[tile] expected repeats that are not negative, got {}", reps);
    }
    int64_t n;
    if (__builtin_mul_overflow(reps[i], shape[i], &n)) {
      fail<OverflowError>("[tile] {} repeats of shape {} are too many", reps, a.shape());
    }
    split.push_back(1);
    split.push_back(shape[i]);
    spread.push_back(reps[i]);
    spread.push_back(shape[i]);
    result.push_back(n);
  }
  element_count(result, "tile");
  if (result == a.shape()) {
    return a;
  }
  array wide = broadcast_to(reshape(pin_shape(a), std::move(split), s), std::move(spread), s);
  return reshape(wide, std::move(result), s);
}

std::vector<array> meshgrid(std::span<const array> arrays, Grid grid, GridOrder order,
                            StreamOrDevice s) {
  int n = int(arrays.size());
  std::vector<array> out;
  Shape full;
  for (int i = 0; i < n; ++i) {
    Shape shape(size_t(n), 1);
    shape[i] = arrays[i].size();
    full.push_back(arrays[i].size());
    out.push_back(reshape(pin_shape(arrays[i]), std::move(shape), s));
  }
  for (array& x : out) {
    if (grid == Grid::dense) {
      x = broadcast_to(x, full, s);
    }
    if (order == GridOrder::xy && n > 1) {
      x = swapaxes(x, 0, 1, s);
    }
  }
  return out;
}

}  // namespace mlx::core
