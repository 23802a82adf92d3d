// Transpose: the axes of an array in another order.
#pragma once

#include "mlx/graph/primitive.h"

namespace mlx::core {

class Transpose final : public PrimitiveOf<Transpose, PrimitiveId::Transpose> {
 public:
  explicit Transpose(Axes a) : axes(std::move(a)) {}
  std::string_view name() const override { return "Transpose"; }
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
  bool same(const Transpose& o) const { return axes == o.axes; }

  const Axes axes;  // axis i of the result is axis axes[i] of the input
};

}  // namespace mlx::core
