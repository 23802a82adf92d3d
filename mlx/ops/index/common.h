// What the index ops share: checks of index arrays and their handling under vmap.
#pragma once

#include <string_view>
#include <vector>

#include "mlx/graph/array.h"

namespace mlx::core {

// ValueError unless the dtype is an integer one.
void check_index_dtype(std::string_view op, const array& index);

// ValueError if there are indices of this shape for an axis without elements.
void check_not_empty(std::string_view op, const array& a, int axis, ShapeView index);

// For a derivative with respect to indices: zeros if they are cut off from their origin by
// stop_gradient, else ValueError.
array index_cotangent(std::string_view op, const array& index);

// The lanes of a mapped input in front; an input that is not mapped is repeated for every lane.
int64_t lane_count(const std::vector<array>& inputs, const std::vector<int>& mapped);
array lanes_first(const array& a, int mapped, int64_t lanes, Stream s);

// The axes moved up by one, for lanes in front of them.
Axes behind_lanes(const Axes& axes);
// The indices of all lanes, and as one index more, before them, the number of the lane itself.
std::vector<array> lane_indices(const std::vector<array>& inputs, const std::vector<int>& mapped,
                                size_t first, int64_t lanes, Stream s);

// Axes of `shape` that are not indexed, with the index shape inserted before the `position`-th.
Shape gathered_shape(ShapeView shape, ShapeView index, const Axes& axes, int position);

// The shape that all index arrays, the inputs from `first` on, have; ValueError if they differ.
Shape common_shape(std::string_view op, const std::vector<array>& inputs, size_t first);

// Index arrays of one shape and axes that exist.
struct Indexing {
  std::vector<array> indices;
  Shape shape;
  Axes axes;
};
Indexing prepare_indices(std::string_view op, const array& a, std::span<const array> indices,
                         const Axes& axes, int position, StreamOrDevice s);

std::vector<array> tail(const std::vector<array>& inputs, size_t first);
Shape shown(const Axes& axes);  // for format()

}  // namespace mlx::core
