// Boolean masks: writing where they are true, reading there, and where that is.
#include "mlx/ops/index/mask.h"

#include <limits>

#include "mlx/error.h"
#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/index/index.h"
#include "mlx/ops/reduce/reduce.h"
#include "mlx/ops/shape/shape.h"
#include "mlx/transforms/trace.h"

namespace mlx::core {

std::string MaskRank::describe() const { return format("lanes={} limit={}", lane_axes, limit); }

std::vector<Shape> MaskRank::output_shapes(const std::vector<array>& inputs) const {
  return {inputs[0].shape()};
}

std::vector<array> MaskRank::vjp(const std::vector<array>& inputs, const std::vector<array>&,
                                 const std::vector<int>&, const std::vector<array>&) const {
  return {zeros_like(inputs[0])};
}

std::vector<array> MaskRank::jvp(const std::vector<array>&, const std::vector<array>&,
                                 const std::vector<int>&, const std::vector<array>& outputs) const {
  return {zeros_like(outputs[0])};
}

VmapResult MaskRank::vmap(const std::vector<array>& inputs, const std::vector<int>& mapped,
                          Stream stream) const {
  array x = moveaxis(inputs[0], mapped[0], 0, stream);
  return {{array::make(x.shape(), int64, Ref<Primitive>(new MaskRank(lane_axes + 1, limit)),
                       std::span(&x, 1), stream)},
          {0}};
}

namespace {

void check_mask(std::string_view op, const array& a, const array& mask) {
  bool fits = mask.ndim() <= a.ndim();
  for (int i = 0; fits && i < mask.ndim(); ++i) {
    fits = mask.shape()[i] == a.shape()[i];
  }
  if (!fits || !mask.dtype().is_bool()) {
    fail<ValueError>("[{}] a mask of {} with shape {} does not fit an array of shape {}", op,
                     mask.dtype(), mask.shape(), a.shape());
  }
}

array select_counted(const array& a, const array& mask, int64_t count, StreamOrDevice s) {
  Shape shape{count};
  shape.append(a.shape().begin() + mask.ndim(), a.shape().end());
  const array inputs[] = {a, mask};
  return array::make(std::move(shape), a.dtype(), Ref<Primitive>(new MaskedSelect(count)), inputs,
                     to_stream(s));
}

// Evaluates the mask. Inside a trace that refuses this a mask that is there already will do.
int64_t count_true(std::string_view op, const array& mask, StreamOrDevice s) {
  if (!evaluation_refused()) {
    const int64_t int32_max = std::numeric_limits<int32_t>::max();
    array wide = mask.size() > int32_max ? astype(mask, int64, s) : mask;
    return astype(sum(wide, std::nullopt, false, s), int64, s).item<int64_t>();
  }
  if (!mask.is_available()) {
    fail<ValueError>(
        "[{}] the size of the result depends on values, which a function that vmap or compile is "
        "tracing does not have; use where(mask, x, y), or assign with x[mask] = v",
        op);
  }
  Plan p = plan(mask.shape(), std::span(&mask.strides(), 1));
  Odometer o(p, 0);
  int64_t count = 0;
  for (int64_t i = 0; i < p.size; ++i, o.next()) {
    count += mask.data<bool>()[o.offset(0)];
  }
  return count;
}

// What an update does where a mask is true: elsewhere it must not matter, not even if it is
// infinite, neither to the value nor to derivatives.
array combine_masked(ScatterMode mode, const array& chosen, const array& a, const array& v,
                     StreamOrDevice s) {
  if (mode == ScatterMode::assign) {
    return where(chosen, v, a, s);
  }
  array neutral(mode == ScatterMode::multiply ? 1.0 : 0.0, v.dtype());
  return where(chosen, combine(mode, a, where(chosen, v, neutral, s), s), a, s);
}

}  // namespace

array masked_scatter(ScatterMode mode, const array& a, const array& mask, const array& values,
                     StreamOrDevice s) {
  check_mask("masked_scatter", a, mask);
  array v = astype(values, a.dtype(), s);
  int rest = a.ndim() - mask.ndim();
  Shape spread = mask.shape();
  spread.resize(size_t(a.ndim()), 1);
  array chosen = reshape(mask, std::move(spread), s);
  if (v.ndim() <= rest) {
    return combine_masked(mode, chosen, a, broadcast_to(v, a.shape(), s), s);
  }
  bool rows = v.ndim() == rest + 1;
  Shape row_shape{v.shape(0)};
  for (int i = 0; rows && i < rest; ++i) {
    int64_t n = a.shape(mask.ndim() + i);
    rows = v.shape(i + 1) == n || v.shape(i + 1) == 1;
    row_shape.push_back(n);
  }
  if (!rows) {
    fail<ValueError>(
        "[masked_scatter] values of shape {} do not fit under a mask of shape {} of an "
        "array of shape {}",
        v.shape(), mask.shape(), a.shape());
  }
  if (mask.size() == 0) {
    return a;
  }
  v = broadcast_to(v, std::move(row_shape), s);
  array rank = array::make(mask.shape(), int64, Ref<Primitive>(new MaskRank(0, v.shape(0))),
                           std::span(&mask, 1), to_stream(s));
  if (v.shape(0) == 0) {  // nothing to take: fails if anything is asked for
    return where(chosen, astype(reshape(rank, chosen.shape(), s), a.dtype(), s), a, s);
  }
  return combine_masked(mode, chosen, a, take(v, rank, 0, s), s);
}

array masked_scatter(const array& a, const array& mask, const array& values, StreamOrDevice s) {
  return masked_scatter(ScatterMode::assign, a, mask, values, s);
}

std::string MaskedSelect::describe() const { return format("count={}", count); }

std::vector<Shape> MaskedSelect::output_shapes(const std::vector<array>& inputs) const {
  check_mask("masked_select", inputs[0], inputs[1]);
  Shape shape{count};
  shape.append(inputs[0].shape().begin() + inputs[1].ndim(), inputs[0].shape().end());
  return {shape};
}

std::vector<array> MaskedSelect::vjp(const std::vector<array>& inputs,
                                     const std::vector<array>& cotangents,
                                     const std::vector<int>& argnums,
                                     const std::vector<array>&) const {
  std::vector<array> result;
  for (int k : argnums) {
    array zero = zeros(inputs[0].shape(), cotangents[0].dtype());
    result.push_back(k == 1 ? zeros_like(inputs[1])
                            : masked_scatter(zero, inputs[1], cotangents[0]));
  }
  return result;
}

std::vector<array> MaskedSelect::jvp(const std::vector<array>& inputs,
                                     const std::vector<array>& tangents,
                                     const std::vector<int>& argnums,
                                     const std::vector<array>& outputs) const {
  for (size_t i = 0; i < argnums.size(); ++i) {
    if (argnums[i] == 0) {
      return {select_counted(tangents[i], inputs[1], count, {})};
    }
  }
  return {zeros_like(outputs[0])};
}

// Lanes go behind the axes of the mask.
VmapResult MaskedSelect::vmap(const std::vector<array>& inputs, const std::vector<int>& mapped,
                              Stream stream) const {
  if (mapped[1] >= 0) {
    fail<ValueError>("[masked_select] lanes with masks of their own have results of many sizes");
  }
  array x = moveaxis(inputs[0], mapped[0], inputs[1].ndim(), stream);
  return {{select_counted(x, inputs[1], count, stream)}, {1}};
}

array masked_select(const array& a, const array& mask, StreamOrDevice s) {
  check_mask("masked_select", a, mask);
  return select_counted(a, mask, count_true("masked_select", mask, s), s);
}

std::vector<array> nonzero(const array& a, StreamOrDevice s) {
  if (a.ndim() == 0) {
    fail<ValueError>("[nonzero] expected an array with at least 1 dimension, got a 0-d one");
  }
  for (int64_t n : a.shape()) {
    if (n - 1 > int64_t(std::numeric_limits<int32_t>::max())) {
      fail<OverflowError>("[nonzero] indices of shape {} do not fit int32", a.shape());
    }
  }
  array truth = astype(a, bool_, s), mask = reshape(truth, Shape{a.size()}, s);
  int64_t count = count_true("nonzero", truth, s);
  Dtype t = a.size() <= int64_t(std::numeric_limits<int32_t>::max()) ? int32 : int64;
  array numbers = arange(array::from_int(0, t), array::from_int(1, t), a.size(), s);
  array place = select_counted(numbers, mask, count, s);
  std::vector<array> out(size_t(a.ndim()), place);
  for (int i = a.ndim() - 1; i >= 0; --i) {
    array n = array::from_int(std::max<int64_t>(1, a.shape(i)), t);
    out[size_t(i)] = astype(i > 0 ? remainder(place, n, s) : place, int32, s);
    place = i > 0 ? floor_divide(place, n, s) : place;
  }
  return out;
}

array argwhere(const array& a, StreamOrDevice s) {
  if (a.ndim() == 0) {
    int64_t count = count_true("argwhere", astype(a, bool_, s), s);
    return zeros(Shape{count, 0}, int32, s);
  }
  return stack(nonzero(a, s), 1, s);
}

}  // namespace mlx::core
