// Shapes and sizes taken from another array when a graph is evaluated, not when it is built: what
// rules use in a trace that is replayed for other shapes.
#pragma once

#include <optional>

#include "mlx/graph/primitive.h"

namespace mlx::core {

enum class Fit : uint8_t { broadcast, reshape, sum };

// The first input in the shape of the second: broadcast, reshaped, or summed over the axes along
// which the second is broadcast. The value of the second is not read.
class FitShape final : public PrimitiveOf<FitShape, PrimitiveId::FitShape> {
 public:
  explicit FitShape(Fit f) : fit(f) {}
  std::string_view name() const override { return "FitShape"; }
  std::vector<array> vjp(const std::vector<array>& inputs, const std::vector<array>& cotangents,
                         const std::vector<int>& argnums,
                         const std::vector<array>& outputs) const override;
  std::vector<array> jvp(const std::vector<array>& inputs, const std::vector<array>& tangents,
                         const std::vector<int>& argnums,
                         const std::vector<array>& outputs) const override;
  VmapResult vmap(const std::vector<array>& inputs, const std::vector<int>& axes,
                  Stream stream) const override;
  IndexRange traced_inputs(TraceFor purpose, size_t count) const override;
  std::vector<Shape> output_shapes(const std::vector<array>& inputs) const override;
  std::string describe() const override;
  Placement placement() const override { return Placement::view; }
  bool view(const Operand& input, ShapeView shape, Strides& strides,
            int64_t& offset) const override;
  bool same(const FitShape& o) const { return fit == o.fit; }

  const Fit fit;
};

// The number n of elements along axes of the input as a 0-d array, or, with a numerator,
// numerator / max(n - less, 0).
class ElementCount final : public PrimitiveOf<ElementCount, PrimitiveId::ElementCount> {
 public:
  ElementCount(Axes a, std::optional<double> n, int l, Dtype t)
      : axes(std::move(a)), numerator(n), less(l), dtype(t) {}
  std::string_view name() const override { return "ElementCount"; }
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
  std::string describe() const override;
  double value(ShapeView shape) const;
  bool same(const ElementCount& o) const {
    return axes == o.axes && numerator == o.numerator && less == o.less && dtype == o.dtype;
  }

  const Axes axes;
  const std::optional<double> numerator;
  const int less;
  const Dtype dtype;
};

// The input, where its axis has the given size, and a ValueError elsewhere.
class PinnedSize final : public PrimitiveOf<PinnedSize, PrimitiveId::PinnedSize> {
 public:
  PinnedSize(int a, int64_t n) : axis(a), size(n) {}
  std::string_view name() const override { return "PinnedSize"; }
  std::vector<array> vjp(const std::vector<array>& inputs, const std::vector<array>& cotangents,
                         const std::vector<int>& argnums,
                         const std::vector<array>& outputs) const override;
  std::vector<array> jvp(const std::vector<array>& inputs, const std::vector<array>& tangents,
                         const std::vector<int>& argnums,
                         const std::vector<array>& outputs) const override;
  VmapResult vmap(const std::vector<array>& inputs, const std::vector<int>& mapped,
                  Stream stream) const override;
  std::vector<Shape> output_shapes(const std::vector<array>& inputs) const override;
  std::string describe() const override;
  int passed_input(size_t) const override { return 0; }
  bool same(const PinnedSize& o) const { return axis == o.axis && size == o.size; }

  const int axis;
  const int64_t size;
};

// The functions below give plain broadcasts, reshapes and constants where shapes cannot change.

MLX_INTERNAL array broadcast_like(const array& a, const array& like, StreamOrDevice s = {});
MLX_INTERNAL array reshape_like(const array& a, const array& like);
// a summed over the axes along which `like` was broadcast to a's shape.
MLX_INTERNAL array sum_like(const array& a, const array& like);
MLX_INTERNAL array full_like(const array& like, const array& value, StreamOrDevice s = {});
MLX_INTERNAL array inverse_count(const array& a, const Axes& axes, double numerator, int less,
                                 Dtype dtype);
MLX_INTERNAL array axis_size(const array& a, int axis, Dtype dtype);
// a, of whose axis other operations of the trace have taken the size.
MLX_INTERNAL array pin_size(const array& a, int axis);
MLX_INTERNAL array pin_shape(const array& a);

}  // namespace mlx::core
