// pad: a constant border is written around the array, other borders are taken from it.
#include "mlx/error.h"
#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/index/index.h"
#include "mlx/ops/shape/shape.h"

namespace mlx::core {

namespace {

// The element of an axis of size n that stands at position i, which may lie outside.
int64_t mirrored(PadMode mode, int64_t i, int64_t n) {
  if (mode == PadMode::edge || (mode == PadMode::reflect && n == 1)) {
    return std::clamp<int64_t>(i, 0, n - 1);
  }
  // The border repeats with the period of one walk up and down.
  bool symmetric = mode == PadMode::symmetric;
  int64_t period = symmetric ? 2 * n : 2 * (n - 1);
  int64_t x = i % period;
  x += x < 0 ? period : 0;
  return x < n ? x : period - x - symmetric;
}

array pad_axis(const array& a, int axis, int64_t low, int64_t high, PadMode mode,
               StreamOrDevice s) {
  int64_t n = a.shape()[axis];
  if (n == 0) {
    fail<ValueError>("[pad] the empty axis {} of shape {} has nothing to pad with", axis,
                     a.shape());
  }
  std::vector<int64_t> index;
  index.reserve(size_t(low + n + high));
  for (int64_t i = -low; i < n + high; ++i) {
    index.push_back(mirrored(mode, i, n));
  }
  return take(a, array(index.data(), Shape{int64_t(index.size())}, int64), axis, s);
}

}  // namespace

array pad(const array& a, std::span<const int> axes, ShapeView low, ShapeView high,
          const array& value, PadMode mode, StreamOrDevice s) {
  if (low.size() != axes.size() || high.size() != axes.size()) {
    fail<ValueError>("[pad] expected a pair of widths for each of {} axes", int64_t(axes.size()));
  }
  normalize_axes(axes, a.ndim(), "pad");
  Shape start(size_t(a.ndim()), 0), shape = a.shape();
  for (size_t i = 0; i < axes.size(); ++i) {
    int axis = normalize_axis(axes[i], a.ndim(), "pad");
    if (low[i] < 0 || high[i] < 0) {
      fail<ValueError>("[pad] negative width ({}, {}) for axis {}", low[i], high[i], axis);
    }
    start[axis] = low[i];
    if (__builtin_add_overflow(shape[axis], low[i], &shape[axis]) ||
        __builtin_add_overflow(shape[axis], high[i], &shape[axis])) {
      fail<OverflowError>("[pad] widths ({}, {}) of axis {} are too large", low[i], high[i], axis);
    }
  }
  element_count(shape, "pad");
  if (mode == PadMode::constant) {
    return slice_update(full(shape, value, a.dtype(), s), a, std::move(start),
                        Shape(size_t(a.ndim()), 1), s);
  }
  array out = a;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (low[i] > 0 || high[i] > 0) {
      int axis = normalize_axis(axes[i], a.ndim(), "pad");
      out = pad_axis(out, axis, low[i], high[i], mode, s);
    }
  }
  return out;
}

}  // namespace mlx::core
