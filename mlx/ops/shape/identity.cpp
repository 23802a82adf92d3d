// copy, contiguous and stop_gradient.
#include "mlx/ops/shape/identity.h"

#include "mlx/ops/shape/shape.h"

namespace mlx::core {

namespace {

array apply(Primitive* p, const array& a, StreamOrDevice s) {
  return array::make(a.shape(), a.dtype(), Ref<Primitive>(p), std::span(&a, 1), to_stream(s));
}

bool column_contiguous(const Operand& x) {
  Shape shape(x.shape.rbegin(), x.shape.rend());
  Strides strides(x.strides.rbegin(), x.strides.rend());
  return is_row_contiguous(shape, strides);
}

}  // namespace

std::vector<Shape> Copy::output_shapes(const std::vector<array>& inputs) const {
  return {inputs[0].shape()};
}

bool Copy::view(const Operand& input, ShapeView, Strides& strides, int64_t&) const {
  strides = input.strides;
  return true;
}

std::vector<array> Copy::vjp(const std::vector<array>&, const std::vector<array>& cotangents,
                             const std::vector<int>&, const std::vector<array>&) const {
  return {cotangents[0]};
}

std::vector<array> Copy::jvp(const std::vector<array>&, const std::vector<array>& tangents,
                             const std::vector<int>&, const std::vector<array>&) const {
  return {tangents[0]};
}

VmapResult Copy::vmap(const std::vector<array>& inputs, const std::vector<int>& mapped,
                      Stream stream) const {
  return {{copy(inputs[0], stream)}, {mapped[0]}};
}

std::vector<Shape> Contiguous::output_shapes(const std::vector<array>& inputs) const {
  return {inputs[0].shape()};
}

bool Contiguous::view(const Operand& input, ShapeView, Strides& strides, int64_t&) const {
  strides = input.strides;
  return input.row_contiguous || (allow_col_major && column_contiguous(input));
}

std::vector<array> Contiguous::vjp(const std::vector<array>&, const std::vector<array>& cotangents,
                                   const std::vector<int>&, const std::vector<array>&) const {
  return {cotangents[0]};
}

std::vector<array> Contiguous::jvp(const std::vector<array>&, const std::vector<array>& tangents,
                                   const std::vector<int>&, const std::vector<array>&) const {
  return {tangents[0]};
}

VmapResult Contiguous::vmap(const std::vector<array>& inputs, const std::vector<int>& mapped,
                            Stream stream) const {
  array x = moveaxis(inputs[0], mapped[0], 0, stream);
  return {{contiguous(x, allow_col_major, stream)}, {0}};
}

std::vector<Shape> StopGradient::output_shapes(const std::vector<array>& inputs) const {
  return {inputs[0].shape()};
}

bool StopGradient::view(const Operand& input, ShapeView, Strides& strides, int64_t&) const {
  strides = input.strides;
  return true;
}

std::vector<array> StopGradient::vjp(const std::vector<array>& inputs, const std::vector<array>&,
                                     const std::vector<int>&, const std::vector<array>&) const {
  return {zeros_like(inputs[0])};
}

std::vector<array> StopGradient::jvp(const std::vector<array>& inputs, const std::vector<array>&,
                                     const std::vector<int>&, const std::vector<array>&) const {
  return {zeros_like(inputs[0])};
}

VmapResult StopGradient::vmap(const std::vector<array>& inputs, const std::vector<int>& mapped,
                              Stream stream) const {
  return {{stop_gradient(inputs[0], stream)}, {mapped[0]}};
}

array copy(const array& a, StreamOrDevice s) { return apply(new Copy(), a, s); }

array contiguous(const array& a, bool allow_col_major, StreamOrDevice s) {
  return apply(new Contiguous(allow_col_major), a, s);
}

array stop_gradient(const array& a, StreamOrDevice s) { return apply(new StopGradient(), a, s); }

}  // namespace mlx::core
