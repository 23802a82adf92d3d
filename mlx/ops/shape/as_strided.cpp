// as_strided and view(dtype).
#include "mlx/ops/shape/as_strided.h"

#include "mlx/error.h"
#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/index/index.h"
#include "mlx/ops/shape/shape.h"

namespace mlx::core {

namespace {

// For each element of the result its position in the flattened input.
array positions(const AsStrided& p, int64_t size) {
  Dtype t = size > INT32_MAX ? int64 : int32;
  array index = array::from_int(p.offset, t);
  int n = int(p.shape.size());
  for (int i = 0; i < n; ++i) {
    Shape shape(size_t(n), 1);
    shape[i] = p.shape[i];
    array along = arange(array::from_int(0, t), array::from_int(p.strides[i], t), p.shape[i]);
    index = add(index, reshape(along, std::move(shape)));
  }
  return broadcast_to(index, p.shape);
}

// The size of the last axis after its bits are read as `to`.
Shape viewed_shape(ShapeView shape, Dtype from, Dtype to) {
  Shape out(shape);
  if (from.size() == to.size()) {
    return out;
  }
  if (shape.empty()) {
    fail<ValueError>("[view] a 0-d {} array cannot be viewed as {}: the sizes differ", from, to);
  }
  int64_t bytes;
  if (__builtin_mul_overflow(shape.back(), from.size(), &bytes) || bytes % to.size() != 0) {
    fail<ValueError>("[view] the last axis of shape {} ({}) does not hold whole {} elements", shape,
                     from, to);
  }
  out.back() = bytes / to.size();
  return out;
}

}  // namespace

std::string AsStrided::describe() const {
  return format("shape={} strides={} offset={}", shape, strides, offset);
}

std::vector<Shape> AsStrided::output_shapes(const std::vector<array>&) const { return {shape}; }

bool AsStrided::view(const Operand& input, ShapeView, Strides& out, int64_t& first) const {
  if (!input.row_contiguous) {
    return false;
  }
  out = strides;
  first = element_count(shape) > 0 ? offset : 0;
  return true;
}

std::vector<array> AsStrided::vjp(const std::vector<array>& inputs,
                                  const std::vector<array>& cotangents, const std::vector<int>&,
                                  const std::vector<array>&) const {
  const array& x = inputs[0];
  array zero = zeros(Shape{x.size()}, cotangents[0].dtype());
  array index = flatten(positions(*this, x.size()));
  array sum = scatter_add(zero, std::span(&index, 1), flatten(cotangents[0]), Axes{0});
  return {reshape(sum, x.shape())};
}

std::vector<array> AsStrided::jvp(const std::vector<array>&, const std::vector<array>& tangents,
                                  const std::vector<int>&, const std::vector<array>&) const {
  return {as_strided(tangents[0], shape, strides, offset)};
}

VmapResult AsStrided::vmap(const std::vector<array>& inputs, const std::vector<int>& mapped,
                           Stream stream) const {
  array x = moveaxis(inputs[0], mapped[0], 0, stream);
  int64_t lanes = x.shape(0), lane_size = lanes > 0 ? x.size() / lanes : 0;
  Shape batched_shape{lanes};
  batched_shape.append(shape.begin(), shape.end());
  Strides batched_strides{lane_size};
  batched_strides.append(strides.begin(), strides.end());
  return {{as_strided(x, std::move(batched_shape), std::move(batched_strides), offset, stream)},
          {0}};
}

array as_strided(const array& a, Shape shape, Strides strides, int64_t offset, StreamOrDevice s) {
  if (shape.size() != strides.size()) {
    fail<ValueError>("[as_strided] shape {} and strides {} differ in length", shape, strides);
  }
  if (element_count(shape, "as_strided") > 0) {
    __int128 low = offset, high = offset;
    for (size_t i = 0; i < shape.size(); ++i) {
      __int128 reach = __int128(shape[i] - 1) * strides[i];
      (reach < 0 ? low : high) += reach;
    }
    if (low < 0 || high >= a.size()) {
      fail<ValueError>(
          "[as_strided] shape {} with strides {} and offset {} reaches outside the {} elements",
          shape, strides, offset, a.size());
    }
  }
  array dense = contiguous(a, false, s);
  Shape result = shape;
  Ref<Primitive> p(new AsStrided(std::move(shape), std::move(strides), offset));
  return array::make(std::move(result), a.dtype(), std::move(p), std::span(&dense, 1),
                     to_stream(s));
}

std::string View::describe() const { return format("dtype={}", dtype); }

std::vector<Shape> View::output_shapes(const std::vector<array>& inputs) const {
  return {viewed_shape(inputs[0].shape(), inputs[0].dtype(), dtype)};
}

bool View::view(const Operand& input, ShapeView, Strides& strides, int64_t&) const {
  strides = input.strides;
  int64_t from = input.dtype.size(), to = dtype.size();
  if (from == to || strides.empty()) {
    return true;
  }
  if (strides.back() != 1 || reinterpret_cast<uintptr_t>(input.data) % uintptr_t(to) != 0) {
    return false;
  }
  for (size_t i = 0; i + 1 < strides.size(); ++i) {
    if (strides[i] * from % to != 0) {
      return false;
    }
    strides[i] = strides[i] * from / to;
  }
  return true;
}

VmapResult View::vmap(const std::vector<array>& inputs, const std::vector<int>& mapped,
                      Stream stream) const {
  return {{core::view(moveaxis(inputs[0], mapped[0], 0, stream), dtype, stream)}, {0}};
}

array view(const array& a, Dtype dtype, StreamOrDevice s) {
  if (a.dtype() == dtype) {
    return a;
  }
  if (dtype.is_bool()) {
    // Any byte may stand there, but a bool is 0 or 1 wherever it is read.
    return not_equal(view(a, uint8, s), array::from_int(0, uint8), s);
  }
  Shape shape = viewed_shape(a.shape(), a.dtype(), dtype);
  return array::make(std::move(shape), dtype, Ref<Primitive>(new View(dtype)), std::span(&a, 1),
                     to_stream(s));
}

}  // namespace mlx::core
