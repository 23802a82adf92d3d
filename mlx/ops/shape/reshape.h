// Reshape: new shapes for the same elements in the same row-major order.
#pragma once

#include "mlx/graph/primitive.h"

namespace mlx::core {

// Each kind is a rule from shape to shape, so that a trace can be replayed on other sizes.
enum class ReshapeKind : uint8_t { reshape, flatten, unflatten, squeeze, expand_dims };

class Reshape final : public PrimitiveOf<Reshape, PrimitiveId::Reshape> {
 public:
  // `axes`: first and last of flatten, the one of unflatten, those of squeeze and (in the result)
  // expand_dims, sorted. `target`: of reshape and unflatten, one -1 allowed.
  Reshape(ReshapeKind k, Axes a, Shape t) : kind(k), axes(std::move(a)), target(std::move(t)) {}
  std::string_view name() const override;
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
  bool same(const Reshape& o) const {
    return kind == o.kind && axes == o.axes && target == o.target;
  }
  Shape apply(ShapeView shape) const;

  const ReshapeKind kind;
  const Axes axes;
  const Shape target;
};

}  // namespace mlx::core
