// The tape as text and its shape rule.
#include "mlx/ops/elementwise/fused.h"

namespace mlx::core {

std::string Fused::describe() const {
  std::string s;
  for (const TapeStep& step : steps) {
    s += (s.empty() ? "" : " ") + std::string(info(step.op).name);
  }
  return s;
}

std::vector<Shape> Fused::output_shapes(const std::vector<array>& inputs) const {
  Shape shape;
  for (const array& x : inputs) {
    shape = broadcast_shapes(shape, x.shape(), name());
  }
  return std::vector<Shape>(outputs.size(), shape);
}

}  // namespace mlx::core
