// Concatenate: arrays joined along an axis.
#pragma once

#include "mlx/graph/primitive.h"

namespace mlx::core {

class Concatenate final : public PrimitiveOf<Concatenate, PrimitiveId::Concatenate> {
 public:
  explicit Concatenate(int axis) : axis(axis) {}
  std::string_view name() const override { return "Concatenate"; }
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
  bool same(const Concatenate& o) const { return axis == o.axis; }

  const int axis;
};

}  // namespace mlx::core
