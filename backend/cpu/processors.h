// How many processors the process may use.
#pragma once

#include "mlx/api.h"

namespace mlx::core::cpu {

// The least of what affinity and the control groups' CPU quota allow; at least 1.
MLX_INTERNAL int available_processors();

// The quota of a cgroup v2 `cpu.max` file, rounded up; 0 if there is none.
MLX_INTERNAL int quota_of(const char* cpu_max);

}  // namespace mlx::core::cpu
