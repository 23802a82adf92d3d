// slice, strided_slice, slice_update and what is made of slices: flip, split, unstack, roll.
#include "mlx/ops/shape/slice.h"

#include "mlx/error.h"
#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/shape/shape.h"
#include "mlx/transforms/trace.h"

namespace mlx::core {

namespace {

Shape with_front(ShapeView shape, int64_t value) {
  Shape out{value};
  out.append(shape.begin(), shape.end());
  return out;
}

void check_region(std::string_view op, ShapeView shape, ShapeView start, ShapeView step,
                  ShapeView count) {
  if (start.size() != shape.size() || step.size() != shape.size() || count.size() != shape.size()) {
    fail<ValueError>("[{}] expected a start, a step and a size for each axis of shape {}", op,
                     shape);
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    if (count[i] == 0) {
      continue;
    }
    int64_t last = start[i] + (count[i] - 1) * step[i];
    if (std::min(start[i], last) < 0 || std::max(start[i], last) >= shape[i]) {
      fail<ValueError>("[{}] elements {} to {} are outside axis {} of shape {}", op, start[i], last,
                       int64_t(i), shape);
    }
  }
}

bool everything(ShapeView shape, ShapeView start, ShapeView step, ShapeView count) {
  for (size_t i = 0; i < shape.size(); ++i) {
    if (count[i] != shape[i] || (shape[i] > 0 && start[i] != 0) || (shape[i] > 1 && step[i] != 1)) {
      return false;
    }
  }
  return true;
}

// Element numbers lo … hi - 1 along one axis.
array axis_range(const array& a, int axis, int64_t lo, int64_t hi, StreamOrDevice s) {
  Shape start(size_t(a.ndim()), 0), step(size_t(a.ndim()), 1), count = a.shape();
  start[axis] = lo;
  count[axis] = std::max<int64_t>(0, hi - lo);
  return strided_slice(a, std::move(start), std::move(step), std::move(count), s);
}

}  // namespace

std::string Slice::describe() const {
  return format("start={} step={} size={}", start, step, count);
}

std::vector<Shape> Slice::output_shapes(const std::vector<array>& inputs) const {
  check_region("slice", inputs[0].shape(), start, step, count);
  return {count};
}

bool Slice::view(const Operand& input, ShapeView, Strides& strides, int64_t& offset) const {
  strides = input.strides;
  offset = 0;
  for (size_t i = 0; i < start.size(); ++i) {
    offset += count[i] > 0 ? start[i] * strides[i] : 0;
    strides[i] *= step[i];
  }
  return true;
}

std::vector<array> Slice::vjp(const std::vector<array>& inputs,
                              const std::vector<array>& cotangents, const std::vector<int>&,
                              const std::vector<array>&) const {
  array zero = zeros(inputs[0].shape(), cotangents[0].dtype());
  return {slice_update(zero, cotangents[0], start, step)};
}

std::vector<array> Slice::jvp(const std::vector<array>&, const std::vector<array>& tangents,
                              const std::vector<int>&, const std::vector<array>&) const {
  return {strided_slice(tangents[0], start, step, count)};
}

VmapResult Slice::vmap(const std::vector<array>& inputs, const std::vector<int>& mapped,
                       Stream stream) const {
  array x = moveaxis(inputs[0], mapped[0], 0, stream);
  return {{strided_slice(x, with_front(start, 0), with_front(step, 1),
                         with_front(count, x.shape(0)), stream)},
          {0}};
}

std::string SliceUpdate::describe() const { return format("start={} step={}", start, step); }

std::vector<Shape> SliceUpdate::output_shapes(const std::vector<array>& inputs) const {
  check_region("slice_update", inputs[0].shape(), start, step, inputs[1].shape());
  return {inputs[0].shape()};
}

std::vector<array> SliceUpdate::vjp(const std::vector<array>& inputs,
                                    const std::vector<array>& cotangents,
                                    const std::vector<int>& argnums,
                                    const std::vector<array>&) const {
  const array& g = cotangents[0];
  std::vector<array> result;
  for (int k : argnums) {
    if (k == 0) {
      result.push_back(slice_update(g, zeros(inputs[1].shape(), g.dtype()), start, step));
    } else {
      result.push_back(strided_slice(g, start, step, inputs[1].shape()));
    }
  }
  return result;
}

std::vector<array> SliceUpdate::jvp(const std::vector<array>& inputs,
                                    const std::vector<array>& tangents,
                                    const std::vector<int>& argnums,
                                    const std::vector<array>&) const {
  array parts[2] = {zeros_like(inputs[0]), zeros_like(inputs[1])};
  for (size_t i = 0; i < argnums.size(); ++i) {
    parts[argnums[i]] = tangents[i];
  }
  return {slice_update(parts[0], parts[1], start, step)};
}

VmapResult SliceUpdate::vmap(const std::vector<array>& inputs, const std::vector<int>& mapped,
                             Stream stream) const {
  int64_t lanes = mapped[0] >= 0 ? inputs[0].shape(mapped[0]) : inputs[1].shape(mapped[1]);
  auto batched = [&](int k) {
    return mapped[k] >= 0 ? moveaxis(inputs[k], mapped[k], 0, stream)
                          : broadcast_to(inputs[k], with_front(inputs[k].shape(), lanes), stream);
  };
  return {{slice_update(batched(0), batched(1), with_front(start, 0), with_front(step, 1), stream)},
          {0}};
}

array strided_slice(const array& a, Shape start, Shape step, Shape count, StreamOrDevice s) {
  check_region("slice", a.shape(), start, step, count);
  if (everything(a.shape(), start, step, count) && !shapes_may_change()) {
    return a;
  }
  Shape shape = count;
  Ref<Primitive> p(new Slice(std::move(start), std::move(step), std::move(count)));
  return array::make(std::move(shape), a.dtype(), std::move(p), std::span(&a, 1), to_stream(s));
}

AxisSlice normalize_slice(std::optional<int64_t> start, std::optional<int64_t> stop, int64_t step,
                          int64_t n, std::string_view op) {
  if (step == 0) {
    fail<ValueError>("[{}] slice step cannot be 0", op);
  }
  // A bound counted from the end, then brought to where walking begins or ends.
  int64_t low = step < 0 ? -1 : 0, high = step < 0 ? n - 1 : n;
  auto bound = [&](std::optional<int64_t> b, int64_t otherwise) {
    return b ? std::clamp(*b < 0 ? *b + n : *b, low, high) : otherwise;
  };
  int64_t first = bound(start, step < 0 ? high : low);
  int64_t last = bound(stop, step < 0 ? low : high);
  uint64_t width = step < 0 ? -uint64_t(step) : uint64_t(step);
  int64_t distance = step < 0 ? first - last : last - first;
  int64_t count = distance > 0 ? int64_t((uint64_t(distance) - 1) / width) + 1 : 0;
  // A step that is never taken may be larger than any stride could express.
  return {count > 0 ? first : 0, count > 1 ? step : 1, count};
}

array slice(const array& a, Shape start, Shape stop, Shape strides, StreamOrDevice s) {
  if (int(start.size()) != a.ndim() || int(stop.size()) != a.ndim() ||
      int(strides.size()) != a.ndim()) {
    fail<ValueError>("[slice] expected a start, a stop and a step for each axis of shape {}",
                     a.shape());
  }
  Shape first, step, count;
  for (int i = 0; i < a.ndim(); ++i) {
    AxisSlice x = normalize_slice(start[i], stop[i], strides[i], a.shape()[i], "slice");
    first.push_back(x.start);
    step.push_back(x.step);
    count.push_back(x.count);
  }
  return strided_slice(a, std::move(first), std::move(step), std::move(count), s);
}

array slice_update(const array& a, const array& update, Shape start, Shape step, StreamOrDevice s) {
  check_region("slice_update", a.shape(), start, step, update.shape());
  array value = astype(update, a.dtype(), s);
  if (value.size() == 0) {
    return a;
  }
  if (everything(a.shape(), start, step, value.shape()) && !shapes_may_change()) {
    return value;
  }
  const array inputs[] = {a, value};
  return array::make(a.shape(), a.dtype(),
                     Ref<Primitive>(new SliceUpdate(std::move(start), std::move(step))), inputs,
                     to_stream(s));
}

array flip(const array& a, std::span<const int> axes, StreamOrDevice s) {
  Shape start(size_t(a.ndim()), 0), step(size_t(a.ndim()), 1);
  for (int i : normalize_axes(axes, a.ndim(), "flip")) {
    if (a.shape()[i] > 1) {
      start[i] = a.shape()[i] - 1;
      step[i] = -1;
    }
  }
  return strided_slice(a, std::move(start), std::move(step), a.shape(), s);
}

std::vector<array> split(const array& a, int64_t sections, int axis, StreamOrDevice s) {
  int at = normalize_axis(axis, a.ndim(), "split");
  int64_t n = a.shape()[at];
  if (sections <= 0 || n % sections != 0) {
    fail<ValueError>("[split] axis {} of shape {} cannot be cut into {} equal parts", axis,
                     a.shape(), sections);
  }
  // An empty axis can be cut into any number of empty parts: more than there is memory for.
  const int64_t most_empty = 1 << 20;
  if (n == 0 && sections > most_empty) {
    fail<ValueError>("[split] an empty axis can be cut into {} parts at most, got {}", most_empty,
                     sections);
  }
  std::vector<array> out;
  int64_t width = n / sections;
  for (int64_t i = 0; i < sections; ++i) {
    out.push_back(axis_range(a, at, i * width, (i + 1) * width, s));
  }
  return out;
}

std::vector<array> split(const array& a, ShapeView indices, int axis, StreamOrDevice s) {
  int at = normalize_axis(axis, a.ndim(), "split");
  int64_t n = a.shape()[at];
  std::vector<array> out;
  for (size_t i = 0; i <= indices.size(); ++i) {
    std::optional<int64_t> from, to;
    if (i > 0) {
      from = indices[i - 1];
    }
    if (i < indices.size()) {
      to = indices[i];
    }
    AxisSlice x = normalize_slice(from, to, 1, n, "split");
    out.push_back(axis_range(a, at, x.start, x.start + x.count, s));
  }
  return out;
}

std::vector<array> unstack(const array& a, int axis, StreamOrDevice s) {
  int at = normalize_axis(axis, a.ndim(), "unstack");
  std::vector<array> out;
  for (int64_t i = 0; i < a.shape()[at]; ++i) {
    out.push_back(squeeze(axis_range(a, at, i, i + 1, s), std::span<const int>(&at, 1), s));
  }
  return out;
}

array roll(const array& a, ShapeView shifts, std::span<const int> axes, StreamOrDevice s) {
  if (shifts.size() != axes.size() && shifts.size() != 1 && axes.size() != 1) {
    fail<ValueError>("[roll] {} shifts do not go with {} axes", int64_t(shifts.size()),
                     int64_t(axes.size()));
  }
  // One of either goes with any number of the other, with none as well.
  const size_t turns = shifts.size() == 1 ? axes.size() : shifts.size();
  array out = a;
  for (size_t i = 0; i < turns; ++i) {
    int at = normalize_axis(axes[axes.size() == 1 ? 0 : i], a.ndim(), "roll");
    int64_t n = a.shape()[at];
    int64_t shift = n > 0 ? shifts[shifts.size() == 1 ? 0 : i] % n : 0;
    shift += shift < 0 ? n : 0;
    if (shift != 0 || shapes_may_change()) {
      const array parts[] = {axis_range(out, at, n - shift, n, s),
                             axis_range(out, at, 0, n - shift, s)};
      out = concatenate(parts, at, s);
    }
  }
  return out;
}

}  // namespace mlx::core
