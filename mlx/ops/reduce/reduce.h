// The reductions: monoids over any set of axes, and what is made of them.
#pragma once

#include <optional>
#include <span>

#include "mlx/graph/array.h"

namespace mlx::core {

using AxisSet = std::optional<std::span<const int>>;  // none: all axes

MLX_API array sum(const array& a, AxisSet axes = {}, bool keepdims = false, StreamOrDevice s = {});
MLX_API array prod(const array& a, AxisSet axes = {}, bool keepdims = false, StreamOrDevice s = {});
MLX_API array max(const array& a, AxisSet axes = {}, bool keepdims = false, StreamOrDevice s = {});
MLX_API array min(const array& a, AxisSet axes = {}, bool keepdims = false, StreamOrDevice s = {});
MLX_API array all(const array& a, AxisSet axes = {}, bool keepdims = false, StreamOrDevice s = {});
MLX_API array any(const array& a, AxisSet axes = {}, bool keepdims = false, StreamOrDevice s = {});
MLX_API array mean(const array& a, AxisSet axes = {}, bool keepdims = false, StreamOrDevice s = {});
MLX_API array var(const array& a, AxisSet axes = {}, bool keepdims = false, int ddof = 0,
                  StreamOrDevice s = {});
MLX_API array std(const array& a, AxisSet axes = {}, bool keepdims = false, int ddof = 0,
                  StreamOrDevice s = {});
MLX_API array logsumexp(const array& a, AxisSet axes = {}, bool keepdims = false,
                        StreamOrDevice s = {});
MLX_API array softmax(const array& a, AxisSet axes = {}, bool precise = false,
                      StreamOrDevice s = {});
MLX_API array argmax(const array& a, std::optional<int> axis = {}, bool keepdims = false,
                     StreamOrDevice s = {});
MLX_API array argmin(const array& a, std::optional<int> axis = {}, bool keepdims = false,
                     StreamOrDevice s = {});

// Sums a broadcast value back to `shape`: what the transpose of broadcasting does.
MLX_API array sum_to_shape(const array& a, ShapeView shape, StreamOrDevice s = {});

}  // namespace mlx::core
