// AsStrided and View: other layouts and other element types over the same memory.
#pragma once

#include "mlx/graph/primitive.h"

namespace mlx::core {

// The input is row-major; strides and offset count elements of it.
class AsStrided final : public PrimitiveOf<AsStrided, PrimitiveId::AsStrided> {
 public:
  AsStrided(Shape shape, Strides strides, int64_t offset)
      : shape(std::move(shape)), strides(std::move(strides)), offset(offset) {}
  std::string_view name() const override { return "AsStrided"; }
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
  bool same(const AsStrided& o) const {
    return shape == o.shape && strides == o.strides && offset == o.offset;
  }

  const Shape shape;
  const Strides strides;
  const int64_t offset;
};

// The bits of the input as elements of another dtype; the last axis scales by the ratio of sizes.
class View final : public PrimitiveOf<View, PrimitiveId::View> {
 public:
  explicit View(Dtype dtype) : dtype(dtype) {}
  std::string_view name() const override { return "View"; }
  std::string describe() const override;
  VmapResult vmap(const std::vector<array>& inputs, const std::vector<int>& mapped,
                  Stream stream) const override;
  std::vector<Shape> output_shapes(const std::vector<array>& inputs) const override;
  Placement placement() const override { return Placement::view; }
  bool view(const Operand& input, ShapeView shape, Strides& strides,
            int64_t& offset) const override;
  bool same(const View& o) const { return dtype == o.dtype; }

  const Dtype dtype;
};

}  // namespace mlx::core
