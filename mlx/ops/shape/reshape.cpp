// reshape, flatten, unflatten, squeeze, expand_dims: one primitive with a rule for each.
#include "mlx/ops/shape/reshape.h"

#include "mlx/error.h"
#include "mlx/ops/shape/like.h"
#include "mlx/ops/shape/shape.h"
#include "mlx/transforms/trace.h"

namespace mlx::core {

namespace {

// Puts the size that `total` elements leave in place of a -1.
Shape resolve(ShapeView target, int64_t total, ShapeView from, std::string_view op) {
  Shape out(target);
  int unknown = -1;
  int64_t known = 1;
  for (size_t i = 0; i < target.size(); ++i) {
    if (target[i] == -1 && unknown < 0) {
      unknown = int(i);
    } else if (target[i] == -1) {
      fail<ValueError>("[{}] at most one size can be -1, got {}", op, target);
    } else if (target[i] < 0) {
      fail<ValueError>("[{}] negative size in shape {}", op, target);
    } else if (__builtin_mul_overflow(known, target[i], &known)) {
      known = element_count(target.subspan(i + 1), op) == 0 ? 0 : INT64_MAX;
      break;
    }
  }
  if (unknown >= 0 && known != 0 && total % known == 0) {
    out[unknown] = total / known;
    return out;
  }
  if (unknown >= 0 || known != total) {
    fail<ValueError>("[{}] cannot turn shape {} with {} elements into {}", op, from, total, target);
  }
  return out;
}

array reshaped(const array& a, ReshapeKind kind, Axes axes, Shape target, StreamOrDevice s) {
  Ref<Primitive> p(new Reshape(kind, std::move(axes), std::move(target)));
  Shape shape = static_cast<const Reshape&>(*p).apply(a.shape());
  // A shape that is given may differ from the input's at another time.
  bool given = kind == ReshapeKind::reshape || kind == ReshapeKind::unflatten;
  if (shape == a.shape() && !(given && shapes_may_change())) {
    return a;
  }
  return array::make(std::move(shape), a.dtype(), std::move(p), std::span(&a, 1), to_stream(s));
}

bool contains(const Axes& axes, int axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

}  // namespace

std::string_view Reshape::name() const {
  switch (kind) {
    case ReshapeKind::reshape:
      return "Reshape";
    case ReshapeKind::flatten:
      return "Flatten";
    case ReshapeKind::unflatten:
      return "Unflatten";
    case ReshapeKind::squeeze:
      return "Squeeze";
    case ReshapeKind::expand_dims:
      return "ExpandDims";
  }
  return {};
}

std::string Reshape::describe() const {
  Shape shown(axes.begin(), axes.end());
  switch (kind) {
    case ReshapeKind::reshape:
      return format("shape={}", target);
    case ReshapeKind::unflatten:
      return format("axis={} shape={}", axes[0], target);
    case ReshapeKind::flatten:
    case ReshapeKind::squeeze:
    case ReshapeKind::expand_dims:
      return format("axes={}", shown);
  }
  return {};
}

Shape Reshape::apply(ShapeView shape) const {
  Shape out;
  switch (kind) {
    case ReshapeKind::reshape:
      return resolve(target, element_count(shape), shape, "reshape");
    case ReshapeKind::flatten:
      if (shape.empty()) {
        return Shape{1};
      }
      out.append(shape.begin(), shape.begin() + axes[0]);
      out.push_back(element_count(shape.subspan(axes[0], axes[1] - axes[0] + 1), "flatten"));
      out.append(shape.begin() + axes[1] + 1, shape.end());
      return out;
    case ReshapeKind::unflatten: {
      int axis = axes[0];
      Shape inner = resolve(target, shape[axis], shape.subspan(axis, 1), "unflatten");
      out.append(shape.begin(), shape.begin() + axis);
      out.append(inner.begin(), inner.end());
      out.append(shape.begin() + axis + 1, shape.end());
      return out;
    }
    case ReshapeKind::squeeze:
      for (int i = 0; i < int(shape.size()); ++i) {
        if (!contains(axes, i)) {
          out.push_back(shape[i]);
        } else if (shape[i] != 1) {
          fail<ValueError>("[squeeze] expected size 1 along axis {}, got shape {}", i, shape);
        }
      }
      return out;
    case ReshapeKind::expand_dims:
      for (size_t i = 0, next = 0; i < shape.size() + axes.size(); ++i) {
        out.push_back(contains(axes, int(i)) ? 1 : shape[next++]);
      }
      return out;
  }
  return out;
}

std::vector<Shape> Reshape::output_shapes(const std::vector<array>& inputs) const {
  return {apply(inputs[0].shape())};
}

bool Reshape::view(const Operand& input, ShapeView shape, Strides& strides, int64_t&) const {
  return reshape_strides(input.shape, input.strides, shape, strides);
}

std::vector<array> Reshape::vjp(const std::vector<array>& inputs,
                                const std::vector<array>& cotangents, const std::vector<int>&,
                                const std::vector<array>&) const {
  const array& g = cotangents[0];
  if (kind == ReshapeKind::squeeze) {
    return {expand_dims(g, axes)};
  }
  if (kind == ReshapeKind::expand_dims) {
    return {squeeze(g, axes)};
  }
  return {reshape_like(g, inputs[0])};
}

std::vector<array> Reshape::jvp(const std::vector<array>&, const std::vector<array>& tangents,
                                const std::vector<int>&, const std::vector<array>&) const {
  return {reshaped(tangents[0], kind, axes, target, {})};
}

// The mapped axis goes first; the rule then applies to the axes behind it.
VmapResult Reshape::vmap(const std::vector<array>& inputs, const std::vector<int>& mapped,
                         Stream stream) const {
  array x = moveaxis(inputs[0], mapped[0], 0, stream);
  if (kind == ReshapeKind::reshape || x.ndim() == 1) {
    ShapeView lane = ShapeView(x.shape()).subspan(1);
    Shape out = apply(lane);
    out.insert(out.begin(), x.shape(0));
    return {{reshape(x, std::move(out), stream)}, {0}};
  }
  Axes shifted = axes;
  for (int& a : shifted) {
    ++a;
  }
  return {{reshaped(x, kind, std::move(shifted), target, stream)}, {0}};
}

array reshape(const array& a, Shape shape, StreamOrDevice s) {
  return reshaped(a, ReshapeKind::reshape, {}, std::move(shape), s);
}

array flatten(const array& a, int start_axis, int end_axis, StreamOrDevice s) {
  int n = std::max(a.ndim(), 1);
  int first = std::max(0, start_axis < 0 ? start_axis + n : start_axis);
  int last = std::min(n - 1, end_axis < 0 ? end_axis + n : end_axis);
  if (a.ndim() == 0) {  // one axis of one element, whichever axes are asked for
    first = last = 0;
  }
  if (first > last) {
    fail<ValueError>("[flatten] start_axis {} lies behind end_axis {} for {} dimensions",
                     start_axis, end_axis, a.ndim());
  }
  return reshaped(a, ReshapeKind::flatten, Axes{first, last}, {}, s);
}

array unflatten(const array& a, int axis, Shape shape, StreamOrDevice s) {
  if (shape.empty()) {
    fail<ValueError>("[unflatten] expected at least one size, got an empty shape");
  }
  int at = normalize_axis(axis, a.ndim(), "unflatten");
  return reshaped(a, ReshapeKind::unflatten, Axes{at}, std::move(shape), s);
}

array squeeze(const array& a, std::span<const int> axes, StreamOrDevice s) {
  return reshaped(a, ReshapeKind::squeeze, normalize_axes(axes, a.ndim(), "squeeze"), {}, s);
}

array squeeze(const array& a, StreamOrDevice s) {
  Axes axes;
  for (int i = 0; i < a.ndim(); ++i) {
    if (a.shape()[i] == 1) {
      axes.push_back(i);
    }
  }
  return reshaped(a, ReshapeKind::squeeze, std::move(axes), {}, s);
}

array expand_dims(const array& a, std::span<const int> axes, StreamOrDevice s) {
  int64_t rank = a.ndim() + int64_t(axes.size());
  return reshaped(a, ReshapeKind::expand_dims, normalize_axes(axes, rank, "expand_dims"), {}, s);
}

array expand_dims(const array& a, int axis, StreamOrDevice s) {
  return expand_dims(a, std::span<const int>(&axis, 1), s);
}

array at_least_1d(const array& a, StreamOrDevice s) {
  return a.ndim() == 0 ? reshape(a, Shape{1}, s) : a;
}

array at_least_2d(const array& a, StreamOrDevice s) {
  switch (a.ndim()) {
    case 0:
      return reshape(a, Shape{1, 1}, s);
    case 1:
      return expand_dims(a, 0, s);
    default:
      return a;
  }
}

array at_least_3d(const array& a, StreamOrDevice s) {
  switch (a.ndim()) {
    case 0:
      return reshape(a, Shape{1, 1, 1}, s);
    case 1:
      return expand_dims(a, Axes{0, 2}, s);
    case 2:
      return expand_dims(a, 2, s);
    default:
      return a;
  }
}

}  // namespace mlx::core
