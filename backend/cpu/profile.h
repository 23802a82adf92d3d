// What MLX_DEBUG and MLX_PROFILE show of each evaluated primitive.
#pragma once

#include <cstdint>

#include "mlx/backend.h"

namespace mlx::core::cpu {

// Spans one evaluator call; costs one predictable branch when nothing is asked for.
class ProfiledRange {
 public:
  explicit ProfiledRange(const Task& task) : task_(task), start_(enabled() ? now() : 0) {}
  ~ProfiledRange() {
    if (start_) report();
  }
  ProfiledRange(const ProfiledRange&) = delete;

 private:
  static bool enabled();
  static int64_t now();  // ns
  void report() const;

  const Task& task_;
  int64_t start_;
};

}  // namespace mlx::core::cpu
