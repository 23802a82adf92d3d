// Checks, shapes and vmap helpers of the index ops.
#include "mlx/ops/index/common.h"

#include "mlx/error.h"
#include "mlx/graph/node.h"
#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/shape/shape.h"

namespace mlx::core {

void check_index_dtype(std::string_view op, const array& index) {
  if (!index.dtype().is_integer()) {
    fail<ValueError>("[{}] expected indices of an integer dtype, got {} with shape {}", op,
                     index.dtype(), index.shape());
  }
}

array index_cotangent(std::string_view op, const array& index) {
  // Casts and views between stop_gradient and the use as an index change nothing.
  const array* x = &index;
  while (x->node()->primitive && x->node()->inputs.size() == 1) {
    if (x->node()->primitive->id() == PrimitiveId::StopGradient) {
      return zeros_like(index);
    }
    x = &x->node()->inputs[0];
  }
  fail<ValueError>("[{}] has no derivative with respect to indices; use stop_gradient on them", op);
}

int64_t lane_count(const std::vector<array>& inputs, const std::vector<int>& mapped) {
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (mapped[k] >= 0) {
      return inputs[k].shape(mapped[k]);
    }
  }
  return 0;
}

array lanes_first(const array& a, int mapped, int64_t lanes, Stream s) {
  if (mapped >= 0) {
    return moveaxis(a, mapped, 0, s);
  }
  Shape shape{lanes};
  shape.append(a.shape().begin(), a.shape().end());
  return broadcast_to(a, std::move(shape), s);
}

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

Indexing prepare_indices(std::string_view op, const array& a, std::span<const array> indices,
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
    check_not_empty(op, a, x.axes[k], x.shape);
    bool fits = indices[k].shape() == x.shape;
    x.indices.push_back(fits ? indices[k] : broadcast_to(indices[k], x.shape, s));
  }
  return x;
}

void check_not_empty(std::string_view op, const array& a, int axis, ShapeView index) {
  if (a.shape()[axis] == 0 && element_count(index) > 0) {
    fail<ValueError>("[{}] cannot index the empty axis {} of shape {}", op, axis, a.shape());
  }
}

Shape common_shape(std::string_view op, const std::vector<array>& inputs, size_t first) {
  for (size_t k = first + 1; k < inputs.size(); ++k) {
    if (inputs[k].shape() != inputs[first].shape()) {
      fail<ValueError>("[{}] index arrays have shapes {} and {}", op, inputs[first].shape(),
                       inputs[k].shape());
    }
  }
  return first < inputs.size() ? inputs[first].shape() : Shape{};
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

}  // namespace mlx::core
