// Function transformations: derivatives in both directions and mapping over an axis. They compose.
#pragma once

#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "mlx/graph/array.h"

namespace mlx::core {

using ArrayFunction = std::function<std::vector<array>(const std::vector<array>&)>;

struct WithDerivatives {
  std::vector<array> outputs;
  std::vector<array> derivatives;
};

// What fun does to `primals`, and the cotangents of the primals for those of the outputs.
MLX_API WithDerivatives vjp(const ArrayFunction& fun, const std::vector<array>& primals,
                            const std::vector<array>& cotangents);

// Cotangents are made when the outputs are known; missing trailing ones are zero.
using CotangentsOf = std::function<std::vector<array>(const std::vector<array>& outputs)>;
MLX_API WithDerivatives vjp(const ArrayFunction& fun, const std::vector<array>& primals,
                            const CotangentsOf& cotangents);

// What fun does to `primals`, and the tangents of the outputs for those of the primals.
MLX_API WithDerivatives jvp(const ArrayFunction& fun, const std::vector<array>& primals,
                            const std::vector<array>& tangents);

inline constexpr int not_mapped = std::numeric_limits<int>::min();

// fun applied to every slice along axis in_axes[k] (or not_mapped) of inputs[k]. out_axes is asked
// for the axis of each of n outputs along which the results are stacked.
using OutAxes = std::function<std::vector<int>(size_t n)>;
MLX_API std::vector<array> vmap(const ArrayFunction& fun, const std::vector<array>& inputs,
                                const std::vector<int>& in_axes, const OutAxes& out_axes);

// fun, traced once for each list of shapes and dtypes (shapeless: ranks and dtypes) and device;
// later calls replay what was recorded.
MLX_API ArrayFunction compile(ArrayFunction fun, bool shapeless = false);
// Off, compiled functions are called as they are. MLX_DISABLE_COMPILE turns it off at start.
MLX_API bool compile_enabled();
MLX_API void enable_compile();
MLX_API void disable_compile();

}  // namespace mlx::core
