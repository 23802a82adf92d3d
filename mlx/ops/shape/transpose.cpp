// transpose and its special cases; always a view.
#include "mlx/ops/shape/transpose.h"

#include "mlx/error.h"
#include "mlx/ops/shape/shape.h"

namespace mlx::core {

namespace {

Axes identity_axes(int n) {
  Axes axes;
  for (int i = 0; i < n; ++i) {
    axes.push_back(i);
  }
  return axes;
}

Shape permuted(ShapeView shape, const Axes& axes) {
  Shape out;
  for (int a : axes) {
    out.push_back(shape[a]);
  }
  return out;
}

array permute(const array& a, Axes axes, StreamOrDevice s) {
  if (axes == identity_axes(a.ndim())) {
    return a;
  }
  Shape shape = permuted(a.shape(), axes);
  return array::make(std::move(shape), a.dtype(), Ref<Primitive>(new Transpose(std::move(axes))),
                     std::span(&a, 1), to_stream(s));
}

}  // namespace

std::string Transpose::describe() const {
  return format("axes={}", Shape(axes.begin(), axes.end()));
}

std::vector<Shape> Transpose::output_shapes(const std::vector<array>& inputs) const {
  return {permuted(inputs[0].shape(), axes)};
}

bool Transpose::view(const Operand& input, ShapeView, Strides& strides, int64_t&) const {
  strides = permuted(input.strides, axes);
  return true;
}

std::vector<array> Transpose::vjp(const std::vector<array>&, const std::vector<array>& cotangents,
                                  const std::vector<int>&, const std::vector<array>&) const {
  Axes inverse(axes.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    inverse[axes[i]] = int(i);
  }
  return {permute(cotangents[0], std::move(inverse), {})};
}

std::vector<array> Transpose::jvp(const std::vector<array>&, const std::vector<array>& tangents,
                                  const std::vector<int>&, const std::vector<array>&) const {
  return {permute(tangents[0], axes, {})};
}

VmapResult Transpose::vmap(const std::vector<array>& inputs, const std::vector<int>& mapped,
                           Stream stream) const {
  Axes batched{mapped[0]};
  for (int a : axes) {
    batched.push_back(a + (a >= mapped[0]));
  }
  return {{permute(inputs[0], std::move(batched), stream)}, {0}};
}

array transpose(const array& a, std::span<const int> axes, StreamOrDevice s) {
  if (int(axes.size()) != a.ndim()) {
    fail<ValueError>("[transpose] expected {} axes, got {}", a.ndim(), int64_t(axes.size()));
  }
  normalize_axes(axes, a.ndim(), "transpose");
  Axes order;
  for (int x : axes) {
    order.push_back(normalize_axis(x, a.ndim(), "transpose"));
  }
  return permute(a, std::move(order), s);
}

array transpose(const array& a, StreamOrDevice s) {
  Axes axes = identity_axes(a.ndim());
  std::reverse(axes.begin(), axes.end());
  return permute(a, std::move(axes), s);
}

array matrix_transpose(const array& a, StreamOrDevice s) {
  if (a.ndim() < 2) {
    fail<ValueError>("[matrix_transpose] expected at least 2 dimensions, got shape {}", a.shape());
  }
  return swapaxes(a, -1, -2, s);
}

array swapaxes(const array& a, int axis1, int axis2, StreamOrDevice s) {
  Axes axes = identity_axes(a.ndim());
  int i = normalize_axis(axis1, a.ndim(), "swapaxes");
  int j = normalize_axis(axis2, a.ndim(), "swapaxes");
  std::swap(axes[i], axes[j]);
  return permute(a, std::move(axes), s);
}

array moveaxis(const array& a, int source, int destination, StreamOrDevice s) {
  int from = normalize_axis(source, a.ndim(), "moveaxis");
  int to = normalize_axis(destination, a.ndim(), "moveaxis");
  Axes axes = identity_axes(a.ndim());
  axes.erase(axes.begin() + from);
  axes.insert(axes.begin() + to, from);
  return permute(a, std::move(axes), s);
}

}  // namespace mlx::core
