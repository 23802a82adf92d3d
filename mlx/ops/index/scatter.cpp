// scatter over any set of axes: assignment, sums, products and extremes at given positions.
#include "mlx/error.h"
#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/index/common.h"
#include "mlx/ops/index/gather.h"
#include "mlx/ops/index/index.h"
#include "mlx/ops/shape/like.h"
#include "mlx/ops/shape/shape.h"
#include "mlx/transforms/trace.h"

namespace mlx::core {

namespace {

array like(double value, const array& a) { return array(value, a.dtype()); }

// Chosen, not multiplied: what is not finite must not reach elements it has no part in.
array where_or_zero(const array& condition, const array& a) {
  return where(condition, a, like(0.0, a));
}

}  // namespace

std::string_view mode_name(ScatterMode mode) {
  switch (mode) {
    case ScatterMode::assign:
      return "assign";
    case ScatterMode::add:
      return "add";
    case ScatterMode::multiply:
      return "multiply";
    case ScatterMode::maximum:
      return "maximum";
    case ScatterMode::minimum:
      return "minimum";
  }
  __builtin_unreachable();
}

array combine(ScatterMode mode, const array& a, const array& b, StreamOrDevice s) {
  switch (mode) {
    case ScatterMode::assign:
      return b;
    case ScatterMode::add:
      return add(a, b, s);
    case ScatterMode::multiply:
      return multiply(a, b, s);
    case ScatterMode::maximum:
      return maximum(a, b, s);
    case ScatterMode::minimum:
      return minimum(a, b, s);
  }
  __builtin_unreachable();
}

std::string Scatter::describe() const {
  return format("mode={} axes={} position={}", mode_name(mode), shown(axes), position);
}

std::vector<Shape> Scatter::output_shapes(const std::vector<array>& inputs) const {
  Shape shape =
      gathered_shape(inputs[0].shape(), common_shape("scatter", inputs, 2), axes, position);
  if (shape != inputs[1].shape()) {
    fail<ValueError>("[scatter] updates of shape {} do not fit, expected {}", inputs[1].shape(),
                     shape);
  }
  return {inputs[0].shape()};
}

// The part of `picked`, shaped as the updates, that belongs to positions inside the target.
array Scatter::keep_inside(const array& picked, const array& target,
                           const std::vector<array>& indices) const {
  std::optional<array> inside;
  for (size_t k = 0; k < indices.size(); ++k) {
    array n = axis_size(target, axes[k], int64), i = astype(indices[k], int64);
    array fits = logical_and(greater_equal(i, negative(n)), less(i, n));
    inside = inside ? logical_and(*inside, fits) : fits;
  }
  if (!inside) {
    return picked;
  }
  Axes rest;
  for (int i = position + indices[0].ndim(); i < picked.ndim(); ++i) {
    rest.push_back(i - position);
  }
  return where_or_zero(expand_dims(*inside, rest), picked);
}

// Which updates an assignment leaves standing.
array Scatter::last_written(const array& target, const array& updates,
                            const std::vector<array>& indices) const {
  array number =
      reshape(arange(array::from_int(0, int64), array::from_int(1, int64), updates.size()),
              updates.shape());
  array winner =
      scatter(full_like(target, array::from_int(-1, int64)), indices, number, axes, position);
  return equal(gather(winner, indices, axes, position), number);
}

// For every update the product of the others that meet the same element. Zeros are counted instead
// of divided by; their sum, which is 0, carries the derivatives that go through a product with
// other zeros, so that first and second derivatives are right there too.
array Scatter::product_of_others(const array& target, const array& updates,
                                 const std::vector<array>& indices) const {
  array zero = like(0.0, updates), one = like(1.0, updates);
  auto total = [&](ScatterMode m, const array& start, const array& x) {
    array base = full_like(target, astype(start, x.dtype()));
    return gather(scatter(m, base, indices, x, axes, position), indices, axes, position);
  };
  array is_zero = equal(updates, zero);
  array rest = where(is_zero, one, updates);
  array product = total(ScatterMode::multiply, one, rest);
  array zeros = total(ScatterMode::add, array(0, int32), astype(is_zero, int32));
  array zero_sum = total(ScatterMode::add, zero, where(is_zero, updates, zero));
  array others = divide(product, rest);
  array beside_one = where(is_zero, product, multiply(others, zero_sum));
  array beside_two = where(is_zero, multiply(product, subtract(zero_sum, updates)), zero);
  auto zeros_are = [&](int n) { return equal(zeros, array(n, int32)); };
  return where(zeros_are(0), others,
               where(zeros_are(1), beside_one, where(zeros_are(2), beside_two, zero)));
}

namespace {

// In how many places, the target's own included, the extreme of every element stands.
array extreme_count(const array& base_hits, const array& update_hits,
                    const std::vector<array>& indices, const Axes& axes, int position, Dtype t) {
  array count = astype(base_hits, int32);
  count = scatter_add(count, indices, astype(update_hits, int32), axes, position);
  return astype(count, t.is_complex() ? float32 : t);
}

}  // namespace

array Scatter::update_cotangent(const std::vector<array>& inputs, const array& g,
                                const array& out) const {
  const array &a = inputs[0], &updates = inputs[1];
  std::vector<array> indices = tail(inputs, 2);
  auto picked = [&](const array& x) { return gather(x, indices, axes, position); };
  switch (mode) {
    case ScatterMode::assign:
      return where_or_zero(last_written(a, updates, indices), picked(g));
    case ScatterMode::add:
      return keep_inside(picked(g), a, indices);
    case ScatterMode::multiply: {
      array factor = multiply(picked(a), product_of_others(a, updates, indices));
      return keep_inside(multiply(picked(g), conjugate(factor)), a, indices);
    }
    case ScatterMode::maximum:
    case ScatterMode::minimum: {
      array hits = equal(updates, picked(out));
      array count = extreme_count(equal(a, out), hits, indices, axes, position, g.dtype());
      return keep_inside(where_or_zero(hits, picked(divide(g, count))), a, indices);
    }
  }
  __builtin_unreachable();
}

std::vector<array> Scatter::vjp(const std::vector<array>& inputs,
                                const std::vector<array>& cotangents,
                                const std::vector<int>& argnums,
                                const std::vector<array>& outputs) const {
  const array &a = inputs[0], &updates = inputs[1], &g = cotangents[0], &out = outputs[0];
  std::vector<array> indices = tail(inputs, 2), result;
  auto base_cotangent = [&] {
    switch (mode) {
      case ScatterMode::assign:
        return scatter(g, indices, like(0.0, g), axes, position);
      case ScatterMode::add:
        return g;
      case ScatterMode::multiply:
        return multiply(g,
                        conjugate(scatter(mode, ones_like(a), indices, updates, axes, position)));
      case ScatterMode::maximum:
      case ScatterMode::minimum: {
        array hits = equal(a, out);
        array update_hits = equal(updates, gather(out, indices, axes, position));
        array count = extreme_count(hits, update_hits, indices, axes, position, g.dtype());
        return where_or_zero(hits, divide(g, count));
      }
    }
    __builtin_unreachable();
  };
  for (int k : argnums) {
    if (k > 1) {
      result.push_back(index_cotangent("scatter", inputs[k]));
    } else {
      result.push_back(k == 0 ? base_cotangent() : update_cotangent(inputs, g, out));
    }
  }
  return result;
}

std::vector<array> Scatter::jvp(const std::vector<array>& inputs,
                                const std::vector<array>& tangents, const std::vector<int>& argnums,
                                const std::vector<array>& outputs) const {
  const array &a = inputs[0], &updates = inputs[1], &out = outputs[0];
  std::vector<array> indices = tail(inputs, 2);
  array base = zeros_like(a), change = zeros_like(updates);
  for (size_t i = 0; i < argnums.size(); ++i) {
    if (argnums[i] < 2) {
      (argnums[i] == 0 ? base : change) = tangents[i];
    }
  }
  auto sum = [&](const array& x, const array& u) {
    return scatter_add(x, indices, u, axes, position);
  };
  switch (mode) {
    case ScatterMode::assign:
    case ScatterMode::add:
      return {scatter(mode, base, indices, change, axes, position)};
    case ScatterMode::multiply: {
      array by_base = multiply(base, scatter(mode, ones_like(a), indices, updates, axes, position));
      array by_updates =
          multiply(a, sum(zeros_like(a), multiply(change, product_of_others(a, updates, indices))));
      return {add(by_base, by_updates)};
    }
    case ScatterMode::maximum:
    case ScatterMode::minimum: {
      array hits = equal(a, out);
      array update_hits = equal(updates, gather(out, indices, axes, position));
      array count = extreme_count(hits, update_hits, indices, axes, position, out.dtype());
      array total = sum(where_or_zero(hits, base), where_or_zero(update_hits, change));
      return {where(greater(count, like(0.0, count)), divide(total, count), like(0.0, out))};
    }
  }
  __builtin_unreachable();
}

VmapResult Scatter::vmap(const std::vector<array>& inputs, const std::vector<int>& mapped,
                         Stream stream) const {
  int64_t lanes = lane_count(inputs, mapped);
  array x = lanes_first(inputs[0], mapped[0], lanes, stream);
  array updates = lanes_first(inputs[1], mapped[1], lanes, stream);
  bool same_indices = std::all_of(mapped.begin() + 2, mapped.end(), [](int m) { return m < 0; });
  if (same_indices) {
    return {{scatter(mode, x, tail(inputs, 2), updates, behind_lanes(axes), position + 1, stream)},
            {0}};
  }
  Axes all = behind_lanes(axes);
  all.insert(all.begin(), 0);
  return {{scatter(mode, x, lane_indices(inputs, mapped, 2, lanes, stream),
                   moveaxis(updates, 0, position, stream), all, position, stream)},
          {0}};
}

array scatter(ScatterMode mode, const array& a, std::span<const array> indices,
              const array& updates, Axes axes, int position, StreamOrDevice s) {
  Indexing x = prepare_indices("scatter", a, indices, axes, position, s);
  Shape shape = gathered_shape(a.shape(), x.shape, x.axes, position);
  array values = astype(updates, a.dtype(), s);
  if (values.shape() != shape) {
    values = shapes_may_change()
                 ? broadcast_like(values, gather(a, x.indices, x.axes, position, s), s)
                 : broadcast_to(values, std::move(shape), s);
  }
  if (values.size() == 0) {
    return a;
  }
  std::vector<array> inputs{a, std::move(values)};
  inputs.insert(inputs.end(), x.indices.begin(), x.indices.end());
  return array::make(a.shape(), a.dtype(),
                     Ref<Primitive>(new Scatter(mode, std::move(x.axes), position)), inputs,
                     to_stream(s));
}

array scatter(const array& a, std::span<const array> indices, const array& updates, Axes axes,
              int position, StreamOrDevice s) {
  return scatter(ScatterMode::assign, a, indices, updates, std::move(axes), position, s);
}

array scatter_add(const array& a, std::span<const array> indices, const array& updates, Axes axes,
                  int position, StreamOrDevice s) {
  return scatter(ScatterMode::add, a, indices, updates, std::move(axes), position, s);
}

}  // namespace mlx::core
