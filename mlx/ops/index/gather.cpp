// gather and scatter over any set of axes, and take.
#include "mlx/ops/index/gather.h"

#include "mlx/error.h"
#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/index/common.h"
#include "mlx/ops/index/index.h"
#include "mlx/ops/shape/shape.h"

namespace mlx::core {

namespace {

Shape gathered_shape(ShapeView shape, ShapeView index, const Axes& axes, int position) {
  Shape out;
  for (int i = 0; i < int(shape.size()); ++i) {
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) {
      out.push_back(shape[i]);
    }
  }
  Shape result(out.begin(), out.begin() + position);
  result.append(index.begin(), index.end());
  result.append(out.begin() + position, out.end());
  return result;
}

Shape shown(const Axes& axes) { return Shape(axes.begin(), axes.end()); }

// Index arrays of one shape and axes that exist.
struct Indexing {
  std::vector<array> indices;
  Shape shape;
  Axes axes;
};

Indexing prepare(std::string_view op, const array& a, std::span<const array> indices,
                 const Axes& axes, int position, StreamOrDevice s) {
  if (indices.size() != axes.size()) {
    fail<ValueError>("[{}] got {} index arrays for {} axes", op, int64_t(indices.size()),
                     int64_t(axes.size()));
  }
  Indexing x;
  normalize_axes(axes, a.ndim(), op);
  for (int i : axes) {
    x.axes.push_back(normalize_axis(i, a.ndim(), op));
  }
  if (position < 0 || position > a.ndim() - int(axes.size())) {
    fail<ValueError>("[{}] position {} is outside the {} axes that are not indexed", op, position,
                     a.ndim() - int(axes.size()));
  }
  for (const array& i : indices) {
    check_index_dtype(op, i);
    x.shape = broadcast_shapes(x.shape, i.shape(), op);
  }
  for (size_t k = 0; k < indices.size(); ++k) {
    if (a.shape()[x.axes[k]] == 0 && element_count(x.shape) > 0) {
      fail<ValueError>("[{}] cannot index the empty axis {} of shape {}", op, x.axes[k], a.shape());
    }
    x.indices.push_back(broadcast_to(indices[k], x.shape, s));
  }
  return x;
}

array scatter_with(ScatterMode mode, const array& a, std::span<const array> indices,
                   const array& updates, const Axes& axes, int position, StreamOrDevice s) {
  Indexing x = prepare("scatter", a, indices, axes, position, s);
  Shape shape = gathered_shape(a.shape(), x.shape, x.axes, position);
  if (element_count(shape) == 0) {
    return a;
  }
  std::vector<array> inputs{a, broadcast_to(astype(updates, a.dtype(), s), std::move(shape), s)};
  inputs.insert(inputs.end(), x.indices.begin(), x.indices.end());
  return array::make(a.shape(), a.dtype(),
                     Ref<Primitive>(new Scatter(mode, std::move(x.axes), position)), inputs,
                     to_stream(s));
}

Axes behind_lanes(const Axes& axes) {
  Axes out;
  for (int a : axes) {
    out.push_back(a + 1);
  }
  return out;
}

std::vector<array> tail(const std::vector<array>& inputs, size_t first) {
  return {inputs.begin() + long(first), inputs.end()};
}

// The indices of all lanes, and as one index more the number of the lane itself.
std::vector<array> lane_indices(const std::vector<array>& inputs, const std::vector<int>& mapped,
                                size_t first, int64_t lanes, Stream s) {
  std::vector<array> out;
  int ndim = inputs[first].ndim() - (mapped[first] >= 0);
  Shape column(size_t(ndim + 1), 1);
  column[0] = lanes;
  out.push_back(reshape(arange(array::from_int(0, int64), array::from_int(1, int64), lanes, s),
                        std::move(column), s));
  for (size_t k = first; k < inputs.size(); ++k) {
    out.push_back(lanes_first(inputs[k], mapped[k], lanes, s));
  }
  return out;
}

}  // namespace

std::string Gather::describe() const {
  return format("axes={} position={}", shown(axes), position);
}

std::vector<Shape> Gather::output_shapes(const std::vector<array>& inputs) const {
  Shape index = inputs.size() > 1 ? inputs[1].shape() : Shape{};
  return {gathered_shape(inputs[0].shape(), index, axes, position)};
}

std::vector<array> Gather::vjp(const std::vector<array>& inputs,
                               const std::vector<array>& cotangents,
                               const std::vector<int>& argnums, const std::vector<array>&) const {
  std::vector<array> result;
  for (int k : argnums) {
    if (k > 0) {
      result.push_back(index_cotangent("gather", inputs[k]));
      continue;
    }
    array zero = zeros(inputs[0].shape(), cotangents[0].dtype());
    result.push_back(scatter_add(zero, tail(inputs, 1), cotangents[0], axes, position));
  }
  return result;
}

std::vector<array> Gather::jvp(const std::vector<array>& inputs, const std::vector<array>& tangents,
                               const std::vector<int>& argnums,
                               const std::vector<array>& outputs) const {
  for (size_t i = 0; i < argnums.size(); ++i) {
    if (argnums[i] == 0) {
      return {gather(tangents[i], tail(inputs, 1), axes, position)};
    }
  }
  return {zeros_like(outputs[0])};
}

VmapResult Gather::vmap(const std::vector<array>& inputs, const std::vector<int>& mapped,
                        Stream stream) const {
  int64_t lanes = lane_count(inputs, mapped);
  bool same_indices = std::all_of(mapped.begin() + 1, mapped.end(), [](int m) { return m < 0; });
  if (same_indices) {
    array x = moveaxis(inputs[0], mapped[0], 0, stream);
    return {{gather(x, tail(inputs, 1), behind_lanes(axes), position + 1, stream)}, {0}};
  }
  std::vector<array> indices = lane_indices(inputs, mapped, 1, lanes, stream);
  if (mapped[0] < 0) {
    return {{gather(inputs[0], tail(indices, 1), axes, position, stream)}, {position}};
  }
  Axes all = behind_lanes(axes);
  all.insert(all.begin(), 0);
  array x = moveaxis(inputs[0], mapped[0], 0, stream);
  return {{gather(x, indices, all, position, stream)}, {position}};
}

std::string Scatter::describe() const {
  return format("mode={} axes={} position={}", mode == ScatterMode::add ? "add" : "assign",
                shown(axes), position);
}

std::vector<Shape> Scatter::output_shapes(const std::vector<array>& inputs) const {
  return {inputs[0].shape()};
}

std::vector<array> Scatter::vjp(const std::vector<array>& inputs,
                                const std::vector<array>& cotangents,
                                const std::vector<int>& argnums, const std::vector<array>&) const {
  const array& g = cotangents[0];
  std::vector<array> indices = tail(inputs, 2), result;
  for (int k : argnums) {
    if (k > 1) {
      result.push_back(index_cotangent("scatter", inputs[k]));
    } else if (k == 0) {
      result.push_back(mode == ScatterMode::add
                           ? g
                           : scatter(g, indices, array(0.0, g.dtype()), axes, position));
    } else if (mode == ScatterMode::add) {
      result.push_back(gather_or_zero(g, indices));
    } else {
      // Only the update that was written last has an effect.
      array number =
          reshape(arange(array::from_int(0, int64), array::from_int(1, int64), inputs[1].size()),
                  inputs[1].shape());
      array winner = scatter(full(inputs[0].shape(), array::from_int(-1, int64), int64), indices,
                             number, axes, position);
      array won = equal(gather(winner, indices, axes, position), number);
      result.push_back(where(won, gather(g, indices, axes, position), array(0.0, g.dtype())));
    }
  }
  return result;
}

// What scatter ignored gets no cotangent.
array Scatter::gather_or_zero(const array& g, const std::vector<array>& indices) const {
  array picked = gather(g, indices, axes, position);
  std::optional<array> inside;
  for (size_t k = 0; k < indices.size(); ++k) {
    array n = array::from_int(g.shape(axes[k]), int64), i = astype(indices[k], int64);
    array fits = logical_and(greater_equal(i, negative(n)), less(i, n));
    inside = inside ? logical_and(*inside, fits) : fits;
  }
  Axes rest;
  for (int i = position + indices[0].ndim(); i < picked.ndim(); ++i) {
    rest.push_back(i - position);
  }
  return where(expand_dims(*inside, rest), picked, array(0.0, g.dtype()));
}

std::vector<array> Scatter::jvp(const std::vector<array>& inputs,
                                const std::vector<array>& tangents, const std::vector<int>& argnums,
                                const std::vector<array>&) const {
  array parts[2] = {zeros_like(inputs[0]), zeros_like(inputs[1])};
  for (size_t i = 0; i < argnums.size(); ++i) {
    if (argnums[i] < 2) {
      parts[argnums[i]] = tangents[i];
    }
  }
  return {scatter_with(mode, parts[0], tail(inputs, 2), parts[1], axes, position, {})};
}

VmapResult Scatter::vmap(const std::vector<array>& inputs, const std::vector<int>& mapped,
                         Stream stream) const {
  int64_t lanes = lane_count(inputs, mapped);
  array x = lanes_first(inputs[0], mapped[0], lanes, stream);
  array updates = lanes_first(inputs[1], mapped[1], lanes, stream);
  bool same_indices = std::all_of(mapped.begin() + 2, mapped.end(), [](int m) { return m < 0; });
  if (same_indices) {
    return {
        {scatter_with(mode, x, tail(inputs, 2), updates, behind_lanes(axes), position + 1, stream)},
        {0}};
  }
  Axes all = behind_lanes(axes);
  all.insert(all.begin(), 0);
  return {{scatter_with(mode, x, lane_indices(inputs, mapped, 2, lanes, stream),
                        moveaxis(updates, 0, position, stream), all, position, stream)},
          {0}};
}

array gather(const array& a, std::span<const array> indices, Axes axes, int position,
             StreamOrDevice s) {
  Indexing x = prepare("gather", a, indices, axes, position, s);
  Shape shape = gathered_shape(a.shape(), x.shape, x.axes, position);
  std::vector<array> inputs{a};
  inputs.insert(inputs.end(), x.indices.begin(), x.indices.end());
  return array::make(std::move(shape), a.dtype(),
                     Ref<Primitive>(new Gather(std::move(x.axes), position)), inputs, to_stream(s));
}

array scatter(const array& a, std::span<const array> indices, const array& updates, Axes axes,
              int position, StreamOrDevice s) {
  return scatter_with(ScatterMode::assign, a, indices, updates, axes, position, s);
}

array scatter_add(const array& a, std::span<const array> indices, const array& updates, Axes axes,
                  int position, StreamOrDevice s) {
  return scatter_with(ScatterMode::add, a, indices, updates, axes, position, s);
}

array take(const array& a, const array& indices, int axis, StreamOrDevice s) {
  check_index_dtype("take", indices);
  int at = normalize_axis(axis, a.ndim(), "take");
  if (a.shape()[at] == 0 && indices.size() > 0) {
    fail<ValueError>("[take] cannot take from the empty axis {} of shape {}", axis, a.shape());
  }
  return gather(a, std::span(&indices, 1), Axes{at}, at, s);
}

array take(const array& a, const array& indices, StreamOrDevice s) {
  return take(reshape(a, Shape{a.size()}, s), indices, 0, s);
}

array take(const array& a, int64_t index, int axis, StreamOrDevice s) {
  int at = normalize_axis(axis, a.ndim(), "take");
  int64_t n = a.shape()[at];
  if (index < -n || index >= n) {
    fail<IndexError>("[take] index {} is outside axis {} of shape {}", index, axis, a.shape());
  }
  Shape start(size_t(a.ndim()), 0), step(size_t(a.ndim()), 1), count = a.shape();
  start[at] = index < 0 ? index + n : index;
  count[at] = 1;
  return squeeze(strided_slice(a, std::move(start), std::move(step), std::move(count), s),
                 std::span<const int>(&at, 1), s);
}

}  // namespace mlx::core
