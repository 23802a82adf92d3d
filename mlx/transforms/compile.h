// compile: a function of arrays traced once and then replayed without calling it.
#pragma once

#include <optional>
#include <vector>

#include "mlx/transforms/program.h"
#include "mlx/transforms/transforms.h"

namespace mlx::core {

// What one trace of a function recorded; valid for inputs of the shapes and dtypes it was traced
// with, or, with inferred shapes, of the same ranks and dtypes. Usable from any thread.
class MLX_INTERNAL CompiledGraph {
 public:
  // Calls fun with values that stand for `inputs`. ValueError if it evaluates one of them.
  static CompiledGraph trace(const ArrayFunction& fun, const std::vector<array>& inputs,
                             Shapes shapes);

  // What fun would return for the inputs, not computed yet.
  std::vector<array> replay(std::span<const array> inputs) const;

 private:
  explicit CompiledGraph(Program recorded, Shapes shapes);

  Shapes shapes_;
  bool captures_tracers_;
  Program recorded_;  // for transforms: op by op
  Program ready_;     // for evaluation
};

}  // namespace mlx::core
