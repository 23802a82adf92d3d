// Moving elements between layouts: what every family uses to make an operand dense.
#pragma once

#include <optional>

#include "backend/cpu/encoder.h"
#include "mlx/api.h"
#include "mlx/layout.h"

namespace mlx::core::cpu {

// One copy between two layouts of one shape, prepared: axes are put in the order of the destination
// and merged. Runs many times between different addresses.
class MLX_INTERNAL CopyPlan {
 public:
  CopyPlan(ShapeView shape, std::span<const int64_t> from, std::span<const int64_t> to,
           int64_t itemsize);
  void run(const void* from, void* to) const;           // on the calling thread
  void run_parallel(const void* from, void* to) const;  // on the pool

 private:
  // Units are blocks of the two innermost axes, for every position of the outer ones.
  int64_t units() const { return outer_ * row_blocks_ * col_blocks_; }
  void run_units(const char* from, char* to, int64_t begin, int64_t end) const;
  void prefer_source_order();
  void cut_into_blocks();

  Plan plan_;
  int64_t itemsize_;
  int64_t from_offset_ = 0, to_offset_ = 0;
  bool transposed_ = false;
  int64_t outer_ = 1;
  int64_t block_rows_ = 1, block_cols_ = 1;
  int64_t row_blocks_ = 0, col_blocks_ = 0;
};

// Copies the elements of `from` to `to`. Shapes and item sizes are equal, strides are any.
MLX_INTERNAL void copy_operand(const Operand& from, const Operand& to);

// `x` itself if it is row-major, else a copy that lives as long as `memory`.
MLX_INTERNAL Operand make_dense(const Operand& x, std::optional<Scratch>& memory);

}  // namespace mlx::core::cpu
