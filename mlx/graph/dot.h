// The graph behind arrays as Graphviz text.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mlx/graph/array.h"

namespace mlx::core {

// Nodes that are not computed yet and what they read; `names` labels arrays, others are lettered.
MLX_API std::string to_dot(std::span<const array> outputs,
                           std::span<const std::pair<std::string, array>> names = {});

}  // namespace mlx::core
