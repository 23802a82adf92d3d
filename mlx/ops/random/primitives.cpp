// Shape rules, transforms and state of the random primitives. Draws have no derivative.
#include "mlx/error.h"
#include "mlx/ops/random/random.h"
#include "mlx/ops/shape/shape.h"

namespace mlx::core {

namespace {

std::vector<array> zero_cotangents(const std::vector<array>& inputs,
                                   const std::vector<int>& argnums) {
  std::vector<array> result;
  for (int k : argnums) {
    result.push_back(zeros_like(inputs[k]));
  }
  return result;
}

// The key with the mapped axis first, one copy for each lane if it is not mapped.
array lane_keys(const array& key, int axis, int64_t lanes, Stream s) {
  if (axis >= 0) {
    return moveaxis(key, axis, 0, s);
  }
  Shape shape = key.shape();
  shape.insert(shape.begin(), lanes);
  return broadcast_to(key, shape, s);
}

int64_t lanes_of(const std::vector<array>& inputs, const std::vector<int>& axes) {
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (axes[k] >= 0) {
      return inputs[k].shape(axes[k]);
    }
  }
  return 1;
}

Shape shape_for(const array& key, const Shape& each) {
  Shape shape(key.shape().begin(), key.shape().end() - 1);
  shape.append(each.begin(), each.end());
  return shape;
}

}  // namespace

std::vector<array> RandomBits::vjp(const std::vector<array>& inputs, const std::vector<array>&,
                                   const std::vector<int>& argnums,
                                   const std::vector<array>&) const {
  return zero_cotangents(inputs, argnums);
}

std::vector<array> RandomBits::jvp(const std::vector<array>&, const std::vector<array>&,
                                   const std::vector<int>&,
                                   const std::vector<array>& outputs) const {
  return {zeros_like(outputs[0])};
}

VmapResult RandomBits::vmap(const std::vector<array>& inputs, const std::vector<int>& axes,
                            Stream stream) const {
  array keys = lane_keys(inputs[0], axes[0], lanes_of(inputs, axes), stream);
  array out = array::make(shape_for(keys, shape), unsigned_of(width),
                          Ref<Primitive>(new RandomBits(shape, width)),
                          std::span<const array>(&keys, 1), stream);
  return {{out}, {0}};
}

std::vector<Shape> RandomBits::output_shapes(const std::vector<array>& inputs) const {
  return {shape_for(inputs[0], shape)};
}

std::string RandomBits::describe() const { return format("shape={}, width={}", shape, width); }

Dtype RandomBits::unsigned_of(int width) {
  return width == 1 ? uint8 : width == 2 ? uint16 : width == 4 ? uint32 : uint64;
}

std::vector<array> RandomIntegers::vjp(const std::vector<array>& inputs, const std::vector<array>&,
                                       const std::vector<int>& argnums,
                                       const std::vector<array>&) const {
  return zero_cotangents(inputs, argnums);
}

std::vector<array> RandomIntegers::jvp(const std::vector<array>&, const std::vector<array>&,
                                       const std::vector<int>&,
                                       const std::vector<array>& outputs) const {
  return {zeros_like(outputs[0])};
}

// Bounds get the rank of the output behind the lanes, so that they line up with it.
VmapResult RandomIntegers::vmap(const std::vector<array>& inputs, const std::vector<int>& axes,
                                Stream stream) const {
  array keys = lane_keys(inputs[0], axes[0], lanes_of(inputs, axes), stream);
  Shape out = shape_for(keys, shape);
  std::vector<array> mapped = {keys};
  for (size_t k = 1; k < 3; ++k) {
    array bound = inputs[k];
    if (axes[k] >= 0) {
      bound = moveaxis(bound, axes[k], 0, stream);
      Shape padded(bound.shape().begin(), bound.shape().begin() + 1);
      padded.resize(out.size() + 1 - size_t(bound.ndim()), 1);
      padded.append(bound.shape().begin() + 1, bound.shape().end());
      bound = reshape(bound, padded, stream);
    }
    mapped.push_back(bound);
  }
  return {
      {array::make(out, dtype, Ref<Primitive>(new RandomIntegers(shape, dtype)), mapped, stream)},
      {0}};
}

std::vector<Shape> RandomIntegers::output_shapes(const std::vector<array>& inputs) const {
  return {shape_for(inputs[0], shape)};
}

std::string RandomIntegers::describe() const { return format("shape={}, dtype={}", shape, dtype); }

std::vector<array> SampleIndex::vjp(const std::vector<array>& inputs, const std::vector<array>&,
                                    const std::vector<int>& argnums,
                                    const std::vector<array>&) const {
  return zero_cotangents(inputs, argnums);
}

std::vector<array> SampleIndex::jvp(const std::vector<array>&, const std::vector<array>&,
                                    const std::vector<int>&,
                                    const std::vector<array>& outputs) const {
  return {zeros_like(outputs[0])};
}

VmapResult SampleIndex::vmap(const std::vector<array>& inputs, const std::vector<int>& axes,
                             Stream stream) const {
  int64_t lanes = lanes_of(inputs, axes);
  std::vector<array> mapped = {lane_keys(inputs[0], axes[0], lanes, stream),
                               lane_keys(inputs[1], axes[1], lanes, stream)};
  return {{array::make(mapped[1].shape(), uint32, Ref<Primitive>(new SampleIndex(batch + 1)),
                       mapped, stream)},
          {0}};
}

std::vector<Shape> SampleIndex::output_shapes(const std::vector<array>& inputs) const {
  ShapeView weights = inputs[0].shape(), numbers = inputs[1].shape();
  if (!std::equal(weights.begin(), weights.begin() + batch, numbers.begin())) {
    fail<ValueError>("[categorical] distributions of shape {} do not fit numbers of shape {}",
                     weights, numbers);
  }
  return {inputs[1].shape()};
}

std::string SampleIndex::describe() const { return format("batch={}", batch); }

}  // namespace mlx::core
