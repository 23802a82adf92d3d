// Arange: evenly spaced values.
#pragma once

#include "mlx/graph/primitive.h"

namespace mlx::core {

class Arange final : public PrimitiveOf<Arange, PrimitiveId::Arange> {
 public:
  // The first value and the step are elements of `dtype`.
  Arange(const array& start, const array& step, int64_t count);
  std::string_view name() const override { return "Arange"; }
  std::string describe() const override;
  VmapResult vmap(const std::vector<array>& inputs, const std::vector<int>& mapped,
                  Stream stream) const override;
  std::vector<Shape> output_shapes(const std::vector<array>& inputs) const override;
  bool same(const Arange& o) const {
    return dtype == o.dtype && count == o.count && std::equal(start, start + 8, o.start) &&
           std::equal(step, step + 8, o.step);
  }

  const Dtype dtype;
  const int64_t count;
  alignas(8) unsigned char start[8] = {};
  alignas(8) unsigned char step[8] = {};
};

}  // namespace mlx::core
