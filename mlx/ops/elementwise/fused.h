// Fused: a tape of elementwise rows run together; what the fusion pass makes of chains of nodes.
#pragma once

#include "mlx/ops/elementwise/elementwise.h"

namespace mlx::core {

// Slots: the inputs come first, then the result of each step in order.
struct TapeStep {
  EwOp op;
  Dtype dtype;  // of the result; every step rounds to it
  int16_t source[3] = {-1, -1, -1};

  bool operator==(const TapeStep& o) const {
    return op == o.op && dtype == o.dtype && std::equal(source, source + 3, o.source);
  }
};

class Fused final : public PrimitiveOf<Fused, PrimitiveId::Fused> {
 public:
  Fused(std::vector<TapeStep> s, std::vector<int16_t> o)
      : steps(std::move(s)), outputs(std::move(o)) {}
  std::string_view name() const override { return "Fused"; }
  std::string describe() const override;
  std::vector<Shape> output_shapes(const std::vector<array>& inputs) const override;
  // What no step reads after the one that writes the output.
  uint32_t overwritable_by(size_t output) const override;
  bool same(const Fused& o) const { return steps == o.steps && outputs == o.outputs; }

  const std::vector<TapeStep> steps;
  const std::vector<int16_t> outputs;  // slots that are results, one per output
};

}  // namespace mlx::core
