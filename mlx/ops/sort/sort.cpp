// Sort and partition in all modes: functions, shape rule, vjp, jvp, vmap; median.
#include "mlx/ops/sort/sort.h"

#include <algorithm>
#include <limits>

#include "mlx/error.h"
#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/index/index.h"
#include "mlx/ops/reduce/reduce.h"
#include "mlx/ops/shape/like.h"
#include "mlx/ops/shape/shape.h"
#include "mlx/transforms/trace.h"

namespace mlx::core {

namespace {

std::string_view op_name(SortMode mode) {
  switch (mode) {
    case SortMode::sort:
      return "sort";
    case SortMode::argsort:
      return "argsort";
    case SortMode::partition:
      return "partition";
    case SortMode::argpartition:
      return "argpartition";
    case SortMode::topk:
    case SortMode::argtopk:
      return "topk";
    case SortMode::argmiddle:
      return "median";
  }
  return {};
}

// The mode that gives the positions of the elements that `mode` gives.
SortMode positions_of(SortMode mode) {
  switch (mode) {
    case SortMode::sort:
      return SortMode::argsort;
    case SortMode::partition:
      return SortMode::argpartition;
    case SortMode::topk:
      return SortMode::argtopk;
    case SortMode::argsort:
    case SortMode::argpartition:
    case SortMode::argtopk:
    case SortMode::argmiddle:
      return mode;
  }
  return mode;
}

array sort_line(SortMode mode, const array& a, int axis, int64_t k, StreamOrDevice s) {
  Ref<Sort> primitive(new Sort(mode, axis, k));
  Shape shape = std::move(primitive->output_shapes({a})[0]);
  Dtype dtype = primitive->gives_positions() ? uint32 : a.dtype();
  return array::make(std::move(shape), dtype, std::move(primitive), std::span<const array>(&a, 1),
                     to_stream(s));
}

array sort_along(SortMode mode, const array& a, std::optional<int> axis, int64_t k,
                 StreamOrDevice s) {
  if (!axis) {
    return sort_line(mode, reshape(a, {-1}, s), 0, k, s);
  }
  return sort_line(mode, a, normalize_axis(*axis, a.ndim(), op_name(mode)), k, s);
}

}  // namespace

array sort(const array& a, std::optional<int> axis, StreamOrDevice s) {
  return sort_along(SortMode::sort, a, axis, 0, s);
}
array argsort(const array& a, std::optional<int> axis, StreamOrDevice s) {
  return sort_along(SortMode::argsort, a, axis, 0, s);
}
array partition(const array& a, int64_t kth, std::optional<int> axis, StreamOrDevice s) {
  return sort_along(SortMode::partition, a, axis, kth, s);
}
array argpartition(const array& a, int64_t kth, std::optional<int> axis, StreamOrDevice s) {
  return sort_along(SortMode::argpartition, a, axis, kth, s);
}

array topk(const array& a, int64_t k, std::optional<int> axis, StreamOrDevice s) {
  array x = axis ? a : reshape(a, {-1}, s);
  int along = axis ? normalize_axis(*axis, a.ndim(), "topk") : 0;
  return k == x.shape(along) && !shapes_may_change() ? x
                                                     : sort_line(SortMode::topk, x, along, k, s);
}

// The middle elements are gathered and averaged, so that derivatives are those of the two.
array median(const array& a, std::optional<std::span<const int>> axes, bool keepdims,
             StreamOrDevice s) {
  array x = astype(a, at_least_float(a.dtype()), s);
  Axes over;
  if (axes) {
    over = normalize_axes(*axes, a.ndim(), "median");
  } else {
    for (int i = 0; i < a.ndim(); ++i) over.push_back(i);
  }
  if (axes && over.empty()) {
    return x;
  }
  for (int i : over) {
    if (a.shape(i) == 0) {
      fail<ValueError>("[median] expected elements along the axes, got shape {}", a.shape());
    }
  }
  int along = over.empty() ? 0 : over[0];
  if (over.size() != 1) {  // the axes become one, behind the others
    Axes order;
    for (int i = 0; i < a.ndim(); ++i) {
      if (std::find(over.begin(), over.end(), i) == over.end()) order.push_back(i);
    }
    along = int(order.size());
    order.append(over.begin(), over.end());
    x = along == 0 ? reshape(x, {-1}, s) : flatten(transpose(x, order, s), along, -1, s);
  }
  array middle = take_along_axis(x, sort_line(SortMode::argmiddle, x, along, 0, s), along, s);
  array result = mean(middle, std::span<const int>(&along, 1), false, s);
  return keepdims ? expand_dims(result, over, s) : result;
}

std::string_view Sort::name() const {
  switch (mode) {
    case SortMode::sort:
      return "Sort";
    case SortMode::argsort:
      return "ArgSort";
    case SortMode::partition:
      return "Partition";
    case SortMode::argpartition:
      return "ArgPartition";
    case SortMode::topk:
      return "TopK";
    case SortMode::argtopk:
      return "ArgTopK";
    case SortMode::argmiddle:
      return "ArgMiddle";
  }
  return {};
}

bool Sort::gives_positions() const { return positions_of(mode) == mode; }

std::string Sort::describe() const {
  bool counts = mode != SortMode::sort && mode != SortMode::argsort && mode != SortMode::argmiddle;
  return counts ? format("axis={} k={}", axis, k) : format("axis={}", axis);
}

std::vector<Shape> Sort::output_shapes(const std::vector<array>& inputs) const {
  Shape shape = inputs[0].shape();
  int64_t n = shape[axis];
  if (gives_positions() && n - 1 > int64_t(std::numeric_limits<uint32_t>::max())) {
    fail<OverflowError>("[{}] positions along an axis of {} elements do not fit uint32",
                        op_name(mode), n);
  }
  switch (mode) {
    case SortMode::sort:
    case SortMode::argsort:
      break;
    case SortMode::partition:
    case SortMode::argpartition:
      if (k < -n || k >= n) {
        fail<ValueError>("[{}] kth is {}, expected a position along axis {} of shape {}",
                         op_name(mode), k, axis, shape);
      }
      break;
    case SortMode::topk:
    case SortMode::argtopk:
      if (k < 0 || k > n) {
        fail<ValueError>("[topk] k is {}, expected 0 to the size of axis {} of shape {}", k, axis,
                         shape);
      }
      shape[axis] = k;
      break;
    case SortMode::argmiddle:
      if (n == 0) {
        fail<ValueError>("[median] axis {} of shape {} is empty and has no median", axis, shape);
      }
      shape[axis] = 2;
      break;
  }
  return {shape};
}

std::vector<array> Sort::vjp(const std::vector<array>& inputs, const std::vector<array>& cotangents,
                             const std::vector<int>&, const std::vector<array>&) const {
  const array &x = inputs[0], &g = cotangents[0];
  if (gives_positions()) {
    return {zeros_like(x)};
  }
  array from = sort_line(positions_of(mode), x, axis, k, {});
  return {scatter_add_axis(full_like(x, array(0.0, g.dtype())), from, g, axis)};
}

std::vector<array> Sort::jvp(const std::vector<array>& inputs, const std::vector<array>& tangents,
                             const std::vector<int>&, const std::vector<array>& outputs) const {
  if (gives_positions()) {
    return {zeros_like(outputs[0])};
  }
  return {
      take_along_axis(tangents[0], sort_line(positions_of(mode), inputs[0], axis, k, {}), axis)};
}

VmapResult Sort::vmap(const std::vector<array>& inputs, const std::vector<int>& mapped,
                      Stream stream) const {
  int at = mapped[0], along = axis < at ? axis : axis + 1;
  return {{sort_line(mode, inputs[0], along, k, stream)}, {at}};
}

}  // namespace mlx::core
