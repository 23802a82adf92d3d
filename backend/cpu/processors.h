// How many processors the process may use.
#pragma once

#include "mlx/api.h"

namespace mlx::core::cpu {

// The least of what affinity and the control groups' CPU quota allow; at least 1.
MLX_INTERNAL int available_processors();

// Moves the calling thread to the processor that lies `steps` after `from` among those it may use,
// and leaves it free to move on. Some kernels start threads beside their creator and take long to
// find an idle processor.
MLX_INTERNAL void spread_thread(int from, int steps);

// The processor the calling thread runs on; 0 where that is not known.
MLX_INTERNAL int current_processor();

// The quota of a cgroup v2 `cpu.max` file, rounded up; 0 if there is none.
MLX_INTERNAL int quota_of(const char* cpu_max);

}  // namespace mlx::core::cpu
