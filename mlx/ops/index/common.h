// What the index ops share: checks of index arrays and their handling under vmap.
#pragma once

#include <string_view>
#include <vector>

#include "mlx/graph/array.h"

namespace mlx::core {

// ValueError unless the dtype is an integer one.
void check_index_dtype(std::string_view op, const array& index);

// For a derivative with respect to indices: zeros if they are cut off from their origin by
// stop_gradient, else ValueError.
array index_cotangent(std::string_view op, const array& index);

// The lanes of a mapped input in front; an input that is not mapped is repeated for every lane.
int64_t lane_count(const std::vector<array>& inputs, const std::vector<int>& mapped);
array lanes_first(const array& a, int mapped, int64_t lanes, Stream s);

}  // namespace mlx::core
