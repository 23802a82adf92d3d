// Defaults of Primitive: what a class does not define is refused by name.
#include "mlx/graph/primitive.h"

#include "mlx/error.h"

namespace mlx::core {

std::vector<array> Primitive::vjp(const std::vector<array>&, const std::vector<array>&,
                                  const std::vector<int>&, const std::vector<array>&) const {
  fail<ValueError>("[vjp] {} has no gradient", name());
}

std::vector<array> Primitive::jvp(const std::vector<array>&, const std::vector<array>&,
                                  const std::vector<int>&, const std::vector<array>&) const {
  fail<ValueError>("[jvp] {} has no forward derivative", name());
}

VmapResult Primitive::vmap(const std::vector<array>&, const std::vector<int>&, Stream) const {
  return {};
}

bool Primitive::view(const Operand&, ShapeView, Strides&, int64_t&) const { return false; }

void Primitive::eval_cpu(Inputs, Outputs, Encoder&) const {
  fail<RuntimeError>("[{}] has no evaluator for the CPU", name());
}

void Primitive::eval_gpu(Inputs, Outputs, Encoder&) const {
  fail<RuntimeError>("[{}] has no evaluator for the GPU", name());
}

}  // namespace mlx::core
