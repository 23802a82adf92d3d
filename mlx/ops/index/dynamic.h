// DynamicSlice and DynamicSliceUpdate: windows whose place is a value itself.
#pragma once

#include "mlx/graph/primitive.h"

namespace mlx::core {

// Inputs: the array and the starts, one for each of `axes`. A negative start counts from the end;
// then every start is moved so that the window of `size` fits. Other axes start at 0.
class DynamicSlice final : public PrimitiveOf<DynamicSlice, PrimitiveId::DynamicSlice> {
 public:
  DynamicSlice(Axes axes, Shape size) : axes(std::move(axes)), size(std::move(size)) {}
  std::string_view name() const override { return "DynamicSlice"; }
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
  bool same(const DynamicSlice& o) const { return axes == o.axes && size == o.size; }

  const Axes axes;
  const Shape size;
};

// Inputs: the array, the update, which has the shape of the window, and the starts.
class DynamicSliceUpdate final
    : public PrimitiveOf<DynamicSliceUpdate, PrimitiveId::DynamicSliceUpdate> {
 public:
  explicit DynamicSliceUpdate(Axes axes) : axes(std::move(axes)) {}
  std::string_view name() const override { return "DynamicSliceUpdate"; }
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
  bool same(const DynamicSliceUpdate& o) const { return axes == o.axes; }

  const Axes axes;
};

}  // namespace mlx::core
