// Gather and Scatter: reading and writing slices at positions given by arrays.
#pragma once

#include "mlx/graph/primitive.h"
#include "mlx/ops/index/index.h"

namespace mlx::core {

// Inputs: the array and one index array per indexed axis, all of one shape (the index shape).
// Result: the axes that are not indexed, with the index shape inserted before the `position`-th.
class Gather final : public PrimitiveOf<Gather, PrimitiveId::Gather> {
 public:
  Gather(Axes axes, int position) : axes(std::move(axes)), position(position) {}
  std::string_view name() const override { return "Gather"; }
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
  bool same(const Gather& o) const { return axes == o.axes && position == o.position; }

  const Axes axes;
  const int position;
};

// Inputs: the array, the updates (shaped as Gather's result) and the index arrays.
class Scatter final : public PrimitiveOf<Scatter, PrimitiveId::Scatter> {
 public:
  Scatter(ScatterMode mode, Axes axes, int position)
      : mode(mode), axes(std::move(axes)), position(position) {}
  std::string_view name() const override { return "Scatter"; }
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
  bool same(const Scatter& o) const {
    return mode == o.mode && axes == o.axes && position == o.position;
  }

  const ScatterMode mode;
  const Axes axes;
  const int position;

 private:
  array keep_inside(const array& picked, const array& target,
                    const std::vector<array>& indices) const;
  array last_written(const array& target, const array& updates,
                     const std::vector<array>& indices) const;
  array product_of_others(const array& target, const array& updates,
                          const std::vector<array>& indices) const;
  array update_cotangent(const std::vector<array>& inputs, const array& g, const array& out) const;
};

// Inputs: the array and the indices, of equal shapes but along the axis.
class GatherAxis final : public PrimitiveOf<GatherAxis, PrimitiveId::GatherAxis> {
 public:
  explicit GatherAxis(int axis) : axis(axis) {}
  std::string_view name() const override { return "GatherAxis"; }
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
  bool same(const GatherAxis& o) const { return axis == o.axis; }

  const int axis;
};

// Inputs: the array, the updates and the indices, which have the shape of the updates.
class ScatterAxis final : public PrimitiveOf<ScatterAxis, PrimitiveId::ScatterAxis> {
 public:
  ScatterAxis(ScatterMode mode, int axis) : mode(mode), axis(axis) {}
  std::string_view name() const override { return "ScatterAxis"; }
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
  bool same(const ScatterAxis& o) const { return mode == o.mode && axis == o.axis; }

  const ScatterMode mode;
  const int axis;
};

}  // namespace mlx::core
