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
};

MLX_INTERNAL Environment& env();

}  // namespace mlx::core
