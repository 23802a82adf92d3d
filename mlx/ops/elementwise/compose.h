// Functions made of elementwise rows: comparisons with tolerance, clip, nan_to_num.
#pragma once

#include <optional>

#include "mlx/graph/array.h"

namespace mlx::core {

// |a - b| <= atol + rtol |b|; equal infinities are close, NaN only with `equal_nan`.
MLX_API array isclose(const array& a, const array& b, double rtol = 1e-5, double atol = 1e-8,
                      bool equal_nan = false, StreamOrDevice s = {});
// A 0-d bool: are all elements close?
MLX_API array allclose(const array& a, const array& b, double rtol = 1e-5, double atol = 1e-8,
                       bool equal_nan = false, StreamOrDevice s = {});
// A 0-d bool: same shape and, after promotion, same values?
MLX_API array array_equal(const array& a, const array& b, bool equal_nan = false,
                          StreamOrDevice s = {});
// Values outside of [low, high] become the bound; one of them may be missing.
MLX_API array clip(const array& a, const std::optional<array>& low,
                   const std::optional<array>& high, StreamOrDevice s = {});
// NaN and infinities become numbers (infinities by default the largest of the dtype).
MLX_API array nan_to_num(const array& a, double nan = 0, std::optional<double> posinf = {},
                         std::optional<double> neginf = {}, StreamOrDevice s = {});
MLX_API array logical_xor(const array& a, const array& b, StreamOrDevice s = {});

}  // namespace mlx::core
