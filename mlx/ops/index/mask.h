// MaskRank and MaskedSelect: where the true elements of a mask go, and the elements under them.
#pragma once

#include "mlx/graph/primitive.h"

namespace mlx::core {

// For every element of a mask how many true ones come before it.
// Counts in row-major order, anew for each position of the first `lane_axes` axes, up to
// `limit` - 1. More than `limit` true elements in a lane are an error of the evaluation.
class MaskRank final : public PrimitiveOf<MaskRank, PrimitiveId::MaskRank> {
 public:
  MaskRank(int lane_axes, int64_t limit) : lane_axes(lane_axes), limit(limit) {}
  std::string_view name() const override { return "MaskRank"; }
  bool infers_shapes() const override { return false; }  // of the values: `limit`
  std::string describe() const override;
  std::vector<array> vjp(const std::vector<array>& inputs, const std::vector<array>& cotangents,
                         const std::vector<int>& argnums,
                         const std::vector<array>& outputs) const override;
  std::vector<array> jvp(const std::vector<array>& inputs, const std::vector<array>& tangents,
                         const std::vector<int>& argnums,
                         const std::vector<array>& outputs) const override;
  VmapResult vmap(const std::vector<array>& inputs, const std::vector<int>& mapped,
                  Stream stream) const override;
  std::vector<Shape> output_shapes(const std::vector<array>& inputs) const override;
  bool same(const MaskRank& o) const { return lane_axes == o.lane_axes && limit == o.limit; }

  const int lane_axes;
  const int64_t limit;
};

// Inputs: the array and the mask, which has its first dimensions and `count` true elements.
// Result: the elements of the array, which may be arrays themselves, where the mask is true.
class MaskedSelect final : public PrimitiveOf<MaskedSelect, PrimitiveId::MaskedSelect> {
 public:
  explicit MaskedSelect(int64_t count) : count(count) {}
  std::string_view name() const override { return "MaskedSelect"; }
  bool infers_shapes() const override { return false; }
  std::string describe() const override;
  std::vector<array> vjp(const std::vector<array>& inputs, const std::vector<array>& cotangents,
                         const std::vector<int>& argnums,
                         const std::vector<array>& outputs) const override;
  std::vector<array> jvp(const std::vector<array>& inputs, const std::vector<array>& tangents,
                         const std::vector<int>& argnums,
                         const std::vector<array>& outputs) const override;
  VmapResult vmap(const std::vector<array>& inputs, const std::vector<int>& mapped,
                  Stream stream) const override;
  std::vector<Shape> output_shapes(const std::vector<array>& inputs) const override;
  bool same(const MaskedSelect& o) const { return count == o.count; }

  const int64_t count;
};

}  // namespace mlx::core
