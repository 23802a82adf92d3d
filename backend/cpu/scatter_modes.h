// How one update meets one element in each mode of a scatter.
#pragma once

#include "mlx/dispatch.h"
#include "mlx/ops/index/index.h"
#include "mlx/scalar_value.h"
// before scalar.h
#include "mlx/ops/elementwise/scalar_dialect.h"
// after the dialect
#include "mlx/ops/elementwise/scalar.h"

namespace mlx::core::cpu {

// A is the type results are kept in: float for half types.
template <ScatterMode mode, typename A, typename T>
A applied(A to, T value) {
  if constexpr (mode == ScatterMode::assign) {
    return value;
  } else if constexpr (mode == ScatterMode::add) {
    return scalar::Add(to, A(widen(value)));
  } else if constexpr (mode == ScatterMode::multiply) {
    return scalar::Multiply(to, A(widen(value)));
  } else if constexpr (mode == ScatterMode::maximum) {
    return scalar::Maximum(to, A(widen(value)));
  } else {
    return scalar::Minimum(to, A(widen(value)));
  }
}

// Calls f with the mode, which is not assign, as a constant.
template <typename F>
void with_mode(ScatterMode mode, F&& f) {
  switch (mode) {
    case ScatterMode::assign:
      break;
    case ScatterMode::add:
      return f.template operator()<ScatterMode::add>();
    case ScatterMode::multiply:
      return f.template operator()<ScatterMode::multiply>();
    case ScatterMode::maximum:
      return f.template operator()<ScatterMode::maximum>();
    case ScatterMode::minimum:
      return f.template operator()<ScatterMode::minimum>();
  }
}

}  // namespace mlx::core::cpu
