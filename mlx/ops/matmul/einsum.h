// Sums of products by Einstein's convention.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mlx/graph/array.h"

namespace mlx::core {

// The order in which operands are contracted: each step takes the operands at these positions out
// of the list and appends their product.
using ContractionPath = std::vector<std::vector<int>>;

// NumPy's subscripts: a letter an axis, "..." for axes that broadcast, a letter that repeats in one
// operand for its diagonal, "->" and the axes of the result, which are by default the letters that
// occur once in alphabetical order, behind those of "...". Axes of size 1 broadcast. Products that
// are summed need floating or complex operands.
MLX_API array einsum(std::string_view subscripts, std::span<const array> operands,
                     StreamOrDevice s = {});
// The path that einsum takes, and what it costs, as text.
MLX_API std::pair<ContractionPath, std::string> einsum_path(std::string_view subscripts,
                                                            std::span<const array> operands);

}  // namespace mlx::core
