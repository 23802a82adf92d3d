// Every MLX_* environment variable, read once at first use; the table in env.cpp documents them.
#pragma once

#include <string>

#include "mlx/api.h"

namespace mlx::core {

struct Environment {
  bool disable_fusion = false;   // MLX_DISABLE_FUSION
  int debug = 0;                 // MLX_DEBUG
  bool check = false;            // MLX_CHECK
  std::string profile;           // MLX_PROFILE
  int num_threads = 0;           // MLX_NUM_THREADS, 0: as many as the process may use
  std::string cpu_isa;           // MLX_CPU_ISA
  bool disable_compile = false;  // MLX_DISABLE_COMPILE
  std::string gpu_memory;        // MLX_CUDA_MEMORY
  bool enable_tf32 = false;   // MLX_ENABLE_TF32: GPU products of float32 may round their operands
  bool eager_fusion = false;  // MLX_EAGER_FUSION: wait for a tape's kernel when it is first met
  std::string kernel_cache_dir;  // of the GPU backend; by default mlx in the user's cache folder
};

MLX_INTERNAL Environment& env();

}  // namespace mlx::core
