// THE stride logic: contiguity, broadcasting, collapsing of axes, and the plan kernels iterate by.
#pragma once

#include <span>
#include <string_view>

#include "mlx/api.h"
#include "mlx/small_vector.h"

namespace mlx::core {

using ShapeView = std::span<const int64_t>;

// Product of the dimensions; OverflowError beyond int64.
MLX_API int64_t element_count(ShapeView shape, std::string_view op = "shape");

// Bytes of so many elements; more than any memory has if that overflows.
MLX_API size_t byte_count(int64_t elements, int64_t itemsize);

MLX_API Strides row_major(ShapeView shape);

// Dense and in row-major order; axes of size 1 may have any stride.
MLX_API bool is_row_contiguous(ShapeView shape, std::span<const int64_t> strides);

// The common shape of operands by NumPy's rules; ValueError if there is none.
MLX_API Shape broadcast_shapes(ShapeView a, ShapeView b, std::string_view op = "broadcast_shapes");

// Strides that read an operand of `shape` as one of `target` (0 along broadcast axes).
MLX_API Strides broadcast_strides(ShapeView shape, std::span<const int64_t> strides,
                                  ShapeView target);

// Strides under which `shape` elements can be read as `target` without a copy; false if impossible.
MLX_API bool reshape_strides(ShapeView shape, std::span<const int64_t> strides, ShapeView target,
                             Strides& result);

// `axis` in [0, ndim), AxisError outside [-ndim, ndim).
MLX_API int normalize_axis(int64_t axis, int64_t ndim, std::string_view op);

// Sorted, non-negative, distinct; ValueError on duplicates.
MLX_API Axes normalize_axes(std::span<const int> axes, int64_t ndim, std::string_view op);

// How several operands of one broadcast shape are walked together: axes of size 1 are dropped and
// neighbours merged wherever every operand allows it. The innermost axis is last.
struct Plan {
  static constexpr int max_operands = 16;
  Shape shape;
  SmallVector<Strides, 4> strides;  // per operand
  int64_t size = 0;
  bool dense = false;  // one axis (or none), every operand with stride 1: a plain loop

  // True if operand k is a single element for the whole walk.
  bool scalar(int k) const;
};
MLX_INTERNAL Plan plan(ShapeView shape, std::span<const Strides> operand_strides);

// Counts through all axes of a shape but the last `inner`, keeping one element offset per operand.
class MLX_INTERNAL Odometer {
 public:
  Odometer(const Plan& p, int inner_axes);
  int64_t offset(int k) const { return offsets_[k]; }
  int64_t steps() const { return steps_; }  // number of positions
  void seek(int64_t step);
  void next();

 private:
  const Plan& plan_;
  int outer_;
  int64_t steps_ = 1;
  SmallVector<int64_t, 8> index_;
  SmallVector<int64_t, 8> offsets_;
};

}  // namespace mlx::core
