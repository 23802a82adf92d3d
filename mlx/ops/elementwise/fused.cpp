// The tape as text and its shape rule.
#include "mlx/ops/elementwise/fused.h"

#include <algorithm>

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

uint32_t Fused::overwritable_by(size_t output) const {
  int inputs = outputs[0] + 1 - int(steps.size());  // the last step is output 0
  uint32_t mask = ~0u;
  for (size_t i = size_t(outputs[output] - inputs) + 1; i < steps.size(); ++i) {
    for (int16_t source : steps[i].source) {
      if (source >= 0 && source < inputs) {
        mask &= ~(1u << std::min<int>(source, 31));
      }
    }
  }
  return mask;
}

}  // namespace mlx::core
