// concatenate and stack.
#include "mlx/ops/shape/concatenate.h"

#include "mlx/error.h"
#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/shape/shape.h"

namespace mlx::core {

namespace {

Shape joined_shape(std::span<const array> arrays, int axis) {
  Shape out = arrays[0].shape();
  for (const array& a : arrays.subspan(1)) {
    bool fits = a.ndim() == int(out.size());
    for (int i = 0; fits && i < a.ndim(); ++i) {
      fits = i == axis || a.shape()[i] == out[i];
    }
    if (!fits) {
      fail<ValueError>("[concatenate] shapes {} and {} differ in more than axis {}",
                       arrays[0].shape(), a.shape(), axis);
    }
    if (__builtin_add_overflow(out[axis], a.shape()[axis], &out[axis])) {
      fail<OverflowError>("[concatenate] the result is too long along axis {}", axis);
    }
  }
  return out;
}

}  // namespace

std::string Concatenate::describe() const { return format("axis={}", axis); }

std::vector<Shape> Concatenate::output_shapes(const std::vector<array>& inputs) const {
  return {joined_shape(inputs, axis)};
}

std::vector<array> Concatenate::vjp(const std::vector<array>& inputs,
                                    const std::vector<array>& cotangents,
                                    const std::vector<int>& argnums,
                                    const std::vector<array>&) const {
  const array& g = cotangents[0];
  std::vector<array> result;
  for (int k : argnums) {
    Shape start(size_t(g.ndim()), 0), step(size_t(g.ndim()), 1);
    for (int i = 0; i < k; ++i) {
      start[axis] += inputs[i].shape()[axis];
    }
    result.push_back(strided_slice(g, std::move(start), std::move(step), inputs[k].shape()));
  }
  return result;
}

std::vector<array> Concatenate::jvp(const std::vector<array>& inputs,
                                    const std::vector<array>& tangents,
                                    const std::vector<int>& argnums,
                                    const std::vector<array>&) const {
  std::vector<array> parts;
  for (const array& x : inputs) {
    parts.push_back(zeros_like(x));
  }
  for (size_t i = 0; i < argnums.size(); ++i) {
    parts[argnums[i]] = tangents[i];
  }
  return {concatenate(parts, axis)};
}

VmapResult Concatenate::vmap(const std::vector<array>& inputs, const std::vector<int>& mapped,
                             Stream stream) const {
  int64_t lanes = 0;
  for (size_t k = 0; k < inputs.size(); ++k) {
    lanes = mapped[k] >= 0 ? inputs[k].shape(mapped[k]) : lanes;
  }
  std::vector<array> parts;
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (mapped[k] >= 0) {
      parts.push_back(moveaxis(inputs[k], mapped[k], 0, stream));
    } else {
      Shape shape{lanes};
      shape.append(inputs[k].shape().begin(), inputs[k].shape().end());
      parts.push_back(broadcast_to(inputs[k], std::move(shape), stream));
    }
  }
  return {{concatenate(parts, axis + 1, stream)}, {0}};
}

array concatenate(std::span<const array> arrays, int axis, StreamOrDevice s) {
  if (arrays.empty()) {
    fail<ValueError>("[concatenate] expected at least one array, got none");
  }
  if (arrays.size() == 1) {
    return arrays[0];
  }
  int at = normalize_axis(axis, arrays[0].ndim(), "concatenate");
  Shape shape = joined_shape(arrays, at);
  Dtype t = arrays[0].dtype();
  for (const array& a : arrays) {
    t = promote_types(t, a.dtype());
  }
  std::vector<array> parts;
  parts.reserve(arrays.size());
  for (const array& a : arrays) {
    parts.push_back(astype(a, t, s));
  }
  return array::make(std::move(shape), t, Ref<Primitive>(new Concatenate(at)), parts, to_stream(s));
}

array stack(std::span<const array> arrays, int axis, StreamOrDevice s) {
  if (arrays.empty()) {
    fail<ValueError>("[stack] expected at least one array, got none");
  }
  int at = normalize_axis(axis, arrays[0].ndim() + 1, "stack");
  std::vector<array> parts;
  parts.reserve(arrays.size());
  for (const array& a : arrays) {
    if (a.shape() != arrays[0].shape()) {
      fail<ValueError>("[stack] shapes {} and {} differ", arrays[0].shape(), a.shape());
    }
    parts.push_back(expand_dims(a, at, s));
  }
  return concatenate(parts, at, s);
}

}  // namespace mlx::core
