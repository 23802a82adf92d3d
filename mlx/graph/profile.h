// What MLX_DEBUG and MLX_PROFILE show of each evaluated primitive.
#pragma once

#include <cstdint>

#include "mlx/backend.h"

namespace mlx::core {

// Costs one predictable branch when nothing is asked for.
MLX_INTERNAL bool profiling();
MLX_INTERNAL int64_t profile_clock();  // ns
// A task that ran on a device ("cpu", "gpu") from `start` on, for `us` microseconds.
MLX_INTERNAL void profile_task(const Task& task, const char* device, int64_t start, double us);

// Spans one evaluator call on the calling thread.
class ProfiledRange {
 public:
  ProfiledRange(const Task& task, const char* device)
      : task_(task), device_(device), start_(profiling() ? profile_clock() : 0) {}
  ~ProfiledRange() {
    if (start_) profile_task(task_, device_, start_, double(profile_clock() - start_) / 1e3);
  }
  ProfiledRange(const ProfiledRange&) = delete;

 private:
  const Task& task_;
  const char* device_;
  int64_t start_;
};

}  // namespace mlx::core
