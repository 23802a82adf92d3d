// slice and slice_update at starts that are arrays.
#include "mlx/ops/index/dynamic.h"

#include "mlx/error.h"
#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/index/common.h"
#include "mlx/ops/index/index.h"
#include "mlx/ops/shape/like.h"
#include "mlx/ops/shape/shape.h"

namespace mlx::core {

namespace {

void check_window(std::string_view op, ShapeView shape, ShapeView size) {
  bool fits = size.size() == shape.size();
  for (size_t i = 0; fits && i < shape.size(); ++i) {
    fits = size[i] >= 0 && size[i] <= shape[i];
  }
  if (!fits) {
    fail<ValueError>("[{}] a window of size {} does not fit an array of shape {}", op, size, shape);
  }
}

// Starts as a vector with one entry for each axis.
array check_start(std::string_view op, const array& start, size_t count, StreamOrDevice s) {
  check_index_dtype(op, start);
  if (start.ndim() > 1 || start.size() != int64_t(count)) {
    fail<ValueError>("[{}] expected {} start indices, one for each axis, got shape {}", op,
                     int64_t(count), start.shape());
  }
  return reshape(start, Shape{int64_t(count)}, s);
}

Axes positive_axes(std::string_view op, std::span<const int> axes, int ndim) {
  normalize_axes(axes, ndim, op);
  Axes out;
  for (int axis : axes) {
    out.push_back(normalize_axis(axis, ndim, op));
  }
  return out;
}

// Every lane's window as index arrays for gather and scatter. The windows' axes that have a start
// come right after the lanes: index arrays have the shape (lanes, size[axes[0]], …).
struct LaneWindows {
  std::vector<array> indices;
  Axes axes;       // of the array with the lanes in front
  Axes to_window;  // transposes (lanes, indexed axes, other axes) to (lanes, axes in order)
  Axes to_index;   // and back
};

LaneWindows lane_windows(const array& x, const array& start, const Axes& axes, ShapeView size,
                         Stream s) {
  int k = int(axes.size()), ndim = x.ndim() - 1;
  int64_t lanes = x.shape(0);
  auto along = [&](const array& values, int axis) {
    Shape shape(size_t(k + 1), 1);
    shape[axis] = values.size();
    return reshape(values, std::move(shape), s);
  };
  auto count = [&](int64_t n) {
    return arange(array::from_int(0, int64), array::from_int(1, int64), n, s);
  };
  LaneWindows w;
  w.indices.push_back(along(count(lanes), 0));
  w.axes.push_back(0);
  w.to_index.push_back(0);
  for (int j = 0; j < k; ++j) {
    int64_t n = x.shape(axes[j] + 1), width = size[axes[j]];
    array first = astype(take(start, j, 1, s), int64, s);
    array zero = array::from_int(0, int64);
    first = where(less(first, zero, s), add(first, array::from_int(n, int64), s), first, s);
    first = minimum(maximum(first, zero, s), array::from_int(n - width, int64), s);
    w.indices.push_back(add(along(first, 0), along(count(width), j + 1), s));
    w.axes.push_back(axes[j] + 1);
    w.to_index.push_back(axes[j] + 1);
  }
  for (int i = 1; i <= ndim; ++i) {
    if (std::find(w.axes.begin(), w.axes.end(), i) == w.axes.end()) {
      w.to_index.push_back(i);
    }
  }
  w.to_window.resize(w.to_index.size());
  for (int i = 0; i <= ndim; ++i) {
    w.to_window[w.to_index[i]] = i;
  }
  return w;
}

// The part of an array that windows can reach on axes without a start.
array reachable(const array& x, const Axes& axes, ShapeView size, int lane_axes, StreamOrDevice s) {
  Shape start(size_t(x.ndim()), 0), step(size_t(x.ndim()), 1), count = x.shape();
  for (int i = 0; i < int(size.size()); ++i) {
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) {
      count[i + lane_axes] = size[i];
    }
  }
  return strided_slice(x, std::move(start), std::move(step), std::move(count), s);
}

Shape with_lanes(int64_t lanes, ShapeView shape) {
  Shape out{lanes};
  out.append(shape.begin(), shape.end());
  return out;
}

std::span<const int> view_of(const Axes& axes) { return {axes.data(), axes.size()}; }

}  // namespace

std::string DynamicSlice::describe() const { return format("axes={} size={}", shown(axes), size); }

std::vector<Shape> DynamicSlice::output_shapes(const std::vector<array>& inputs) const {
  check_window("slice", inputs[0].shape(), size);
  return {size};
}

std::vector<array> DynamicSlice::vjp(const std::vector<array>& inputs,
                                     const std::vector<array>& cotangents,
                                     const std::vector<int>& argnums,
                                     const std::vector<array>&) const {
  std::vector<array> result;
  for (int k : argnums) {
    if (k == 1) {
      result.push_back(index_cotangent("slice", inputs[1]));
    } else {
      array zero = full_like(inputs[0], array(0.0, cotangents[0].dtype()));
      result.push_back(slice_update(zero, cotangents[0], inputs[1], view_of(axes)));
    }
  }
  return result;
}

std::vector<array> DynamicSlice::jvp(const std::vector<array>& inputs,
                                     const std::vector<array>& tangents,
                                     const std::vector<int>& argnums,
                                     const std::vector<array>& outputs) const {
  for (size_t i = 0; i < argnums.size(); ++i) {
    if (argnums[i] == 0) {
      return {slice(tangents[i], inputs[1], view_of(axes), size)};
    }
  }
  return {zeros_like(outputs[0])};
}

VmapResult DynamicSlice::vmap(const std::vector<array>& inputs, const std::vector<int>& mapped,
                              Stream stream) const {
  int64_t lanes = lane_count(inputs, mapped);
  array x = lanes_first(inputs[0], mapped[0], lanes, stream);
  if (mapped[1] < 0) {
    Axes moved = behind_lanes(axes);
    return {{slice(x, inputs[1], view_of(moved), with_lanes(lanes, size), stream)}, {0}};
  }
  x = reachable(x, axes, size, 1, stream);
  LaneWindows w = lane_windows(x, moveaxis(inputs[1], mapped[1], 0, stream), axes, size, stream);
  array picked = gather(x, w.indices, w.axes, 0, stream);
  return {{transpose(picked, view_of(w.to_window), stream)}, {0}};
}

std::string DynamicSliceUpdate::describe() const { return format("axes={}", shown(axes)); }

std::vector<Shape> DynamicSliceUpdate::output_shapes(const std::vector<array>& inputs) const {
  check_window("slice_update", inputs[0].shape(), inputs[1].shape());
  return {inputs[0].shape()};
}

std::vector<array> DynamicSliceUpdate::vjp(const std::vector<array>& inputs,
                                           const std::vector<array>& cotangents,
                                           const std::vector<int>& argnums,
                                           const std::vector<array>&) const {
  const array &g = cotangents[0], &start = inputs[2];
  std::vector<array> result;
  for (int k : argnums) {
    if (k == 2) {
      result.push_back(index_cotangent("slice_update", start));
    } else if (k == 1) {
      result.push_back(slice(g, start, view_of(axes), inputs[1].shape()));
    } else {
      array zero = zeros(inputs[1].shape(), g.dtype());
      result.push_back(slice_update(g, zero, start, view_of(axes)));
    }
  }
  return result;
}

std::vector<array> DynamicSliceUpdate::jvp(const std::vector<array>& inputs,
                                           const std::vector<array>& tangents,
                                           const std::vector<int>& argnums,
                                           const std::vector<array>&) const {
  array parts[2] = {zeros_like(inputs[0]), zeros_like(inputs[1])};
  for (size_t i = 0; i < argnums.size(); ++i) {
    if (argnums[i] < 2) {
      parts[argnums[i]] = tangents[i];
    }
  }
  return {slice_update(parts[0], parts[1], inputs[2], view_of(axes))};
}

VmapResult DynamicSliceUpdate::vmap(const std::vector<array>& inputs,
                                    const std::vector<int>& mapped, Stream stream) const {
  int64_t lanes = lane_count(inputs, mapped);
  array x = lanes_first(inputs[0], mapped[0], lanes, stream);
  array update = lanes_first(inputs[1], mapped[1], lanes, stream);
  if (mapped[2] < 0) {
    Axes moved = behind_lanes(axes);
    return {{slice_update(x, update, inputs[2], view_of(moved), stream)}, {0}};
  }
  Shape size(update.shape().begin() + 1, update.shape().end());
  array part = reachable(x, axes, size, 1, stream);
  LaneWindows w = lane_windows(part, moveaxis(inputs[2], mapped[2], 0, stream), axes, size, stream);
  array written =
      scatter(part, w.indices, transpose(update, view_of(w.to_index), stream), w.axes, 0, stream);
  return {
      {slice_update(x, written, Shape(size_t(x.ndim()), 0), Shape(size_t(x.ndim()), 1), stream)},
      {0}};
}

array slice(const array& a, const array& start, std::span<const int> axes, Shape size,
            StreamOrDevice s) {
  Axes at = positive_axes("slice", axes, a.ndim());
  const array inputs[] = {a, check_start("slice", start, at.size(), s)};
  check_window("slice", a.shape(), size);
  Shape shape = size;
  return array::make(std::move(shape), a.dtype(),
                     Ref<Primitive>(new DynamicSlice(std::move(at), std::move(size))), inputs,
                     to_stream(s));
}

array slice_update(const array& a, const array& update, const array& start,
                   std::span<const int> axes, StreamOrDevice s) {
  std::string_view op = "slice_update";
  Axes at = positive_axes(op, axes, a.ndim());
  array first = check_start(op, start, at.size(), s);
  array value = astype(update, a.dtype(), s);
  if (value.ndim() < a.ndim()) {
    // Along a missing axis the window is the whole axis, or one element where it has a start.
    Shape shape;
    for (int i = 0; i < a.ndim() - value.ndim(); ++i) {
      bool placed = std::find(at.begin(), at.end(), i) != at.end();
      shape.push_back(placed ? 1 : a.shape(i));
    }
    shape.append(value.shape().begin(), value.shape().end());
    value = broadcast_to(value, std::move(shape), s);
  }
  check_window(op, a.shape(), value.shape());
  if (value.size() == 0) {
    return a;
  }
  const array inputs[] = {a, value, first};
  return array::make(a.shape(), a.dtype(), Ref<Primitive>(new DynamicSliceUpdate(std::move(at))),
                     inputs, to_stream(s));
}

}  // namespace mlx::core
