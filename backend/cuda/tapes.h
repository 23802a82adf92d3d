// Fused tapes as kernels of their own: which have been met, compiled, loaded.
#pragma once

#include "backend/cuda/encoder.h"
#include "mlx/ops/elementwise/fused.h"

namespace mlx::core::cuda {

// Queues the tape as one kernel a piece. False if there is none yet: a tape that is new is run step
// by step, and compiled aside when it is met again, so that nobody waits for the compiler.
bool run_tape(const Fused& p, Inputs in, Outputs out, Encoder& encoder);

}  // namespace mlx::core::cuda
