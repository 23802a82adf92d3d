// One elementwise row over operands of any layout, for evaluators that need it as a part.
#pragma once

#include "backend/cuda/encoder.h"
#include "mlx/ops/elementwise/elementwise.h"

namespace mlx::core::cuda {

// The inputs broadcast to `out`, which may have any strides.
void run_row(EwOp op, std::span<const Operand> in, const Operand& out, Encoder& encoder);

}  // namespace mlx::core::cuda
