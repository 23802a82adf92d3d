// Primitives that keep the value: Copy, Contiguous, StopGradient.
#pragma once

#include "mlx/graph/primitive.h"

namespace mlx::core {

class Copy final : public PrimitiveOf<Copy, PrimitiveId::Copy> {
 public:
  std::string_view name() const override { return "Copy"; }
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
  bool same(const Copy&) const { return true; }
};

// Row-major, or column-major if that is allowed and there already.
class Contiguous final : public PrimitiveOf<Contiguous, PrimitiveId::Contiguous> {
 public:
  explicit Contiguous(bool allow_col_major) : allow_col_major(allow_col_major) {}
  std::string_view name() const override { return "Contiguous"; }
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
  bool same(const Contiguous& o) const { return allow_col_major == o.allow_col_major; }

  const bool allow_col_major;
};

// No derivative flows through it.
class StopGradient final : public PrimitiveOf<StopGradient, PrimitiveId::StopGradient> {
 public:
  std::string_view name() const override { return "StopGradient"; }
  bool differentiable() const override { return false; }
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
  bool same(const StopGradient&) const { return true; }
};

}  // namespace mlx::core
