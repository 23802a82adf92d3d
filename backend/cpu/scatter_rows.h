// Scatter of long rows, destination by destination.
#pragma once

#include "backend/cpu/positions.h"

namespace mlx::core::cpu {

// False if it does not pay: for short rows, few updates of many rows, or most of them in one place.
bool scatter_rows(const Scatter& p, Inputs in, const Operand& updates, const Operand& out,
                  const Frame& frame);

}  // namespace mlx::core::cpu
