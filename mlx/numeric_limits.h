// finfo and iinfo: what a dtype can represent.
#pragma once

#include <string>

#include "mlx/api.h"
#include "mlx/dtype.h"

namespace mlx::core {

// Limits of a floating dtype; complex64 reports those of its float32 parts.
struct FloatInfo {
  Dtype dtype;
  int bits;
  double min;
  double max;
  double eps;
  double smallest_normal;
};
MLX_API FloatInfo finfo(Dtype t);  // ValueError unless inexact

// Limits of an integer dtype.
struct IntInfo {
  Dtype dtype;
  int64_t min;
  uint64_t max;
};
MLX_API IntInfo iinfo(Dtype t);  // ValueError unless an integer

// Does a dtype belong to a kind of the array API ("real floating", "numeric" …)? ValueError if
// there is no such kind.
MLX_API bool is_dtype(Dtype t, std::string_view kind);

}  // namespace mlx::core
