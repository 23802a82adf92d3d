// Slice and SliceUpdate: reading and replacing regularly spaced parts of an array.
#pragma once

#include "mlx/graph/primitive.h"

namespace mlx::core {

// The region: element i of axis k lies at start[k] + i * step[k], all of them inside the array.
class Slice final : public PrimitiveOf<Slice, PrimitiveId::Slice> {
 public:
  Slice(Shape start, Shape step, Shape count)
      : start(std::move(start)), step(std::move(step)), count(std::move(count)) {}
  std::string_view name() const override { return "Slice"; }
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
  Placement placement() const override { return Placement::view; }
  bool view(const Operand& input, ShapeView shape, Strides& strides,
            int64_t& offset) const override;
  bool same(const Slice& o) const { return start == o.start && step == o.step && count == o.count; }

  const Shape start, step, count;
};

// Inputs: the array and the update, which has the shape of the region.
class SliceUpdate final : public PrimitiveOf<SliceUpdate, PrimitiveId::SliceUpdate> {
 public:
  SliceUpdate(Shape start, Shape step) : start(std::move(start)), step(std::move(step)) {}
  std::string_view name() const override { return "SliceUpdate"; }
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
  uint32_t overwritable() const override { return 1; }
  bool same(const SliceUpdate& o) const { return start == o.start && step == o.step; }

  const Shape start, step;
};

}  // namespace mlx::core
