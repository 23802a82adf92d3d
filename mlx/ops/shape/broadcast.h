// Broadcast: an array repeated along axes, as a view with stride 0.
#pragma once

#include "mlx/graph/primitive.h"

namespace mlx::core {

class Broadcast final : public PrimitiveOf<Broadcast, PrimitiveId::Broadcast> {
 public:
  explicit Broadcast(Shape t) : target(std::move(t)) {}
  std::string_view name() const override { return "Broadcast"; }
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
  bool same(const Broadcast& o) const { return target == o.target; }

  const Shape target;
};

}  // namespace mlx::core
