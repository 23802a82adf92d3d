// Primitives of transforms: those that hand inputs on, for which the core has done all there is to
// do, and those that take a shape from an input.
#include "backend/cpu/copy.h"
#include "backend/cpu/evaluators.h"
#include "mlx/dispatch.h"
#include "mlx/layout.h"
#include "mlx/scalar_value.h"

namespace mlx::core {

void eval_cpu(const CustomFunction&, Inputs, Outputs, Encoder&) {}
void eval_cpu(const Depends&, Inputs, Outputs, Encoder&) {}
void eval_cpu(const PinnedSize&, Inputs, Outputs, Encoder&) {}

void eval_cpu(const ElementCount& p, Inputs in, Outputs out, Encoder&) {
  store_scalar(p.dtype, p.value(in[0].shape), out[0].data);
}

void eval_cpu(const FitShape& p, Inputs in, Outputs out, Encoder& e) {
  const Operand& x = in[0];
  Operand to = out[0];
  if (p.fit != Fit::sum) {
    Operand from = x;
    if (p.fit == Fit::reshape) {  // row-major order is kept
      to.shape = x.shape;
      to.strides = row_major(x.shape);
    } else {
      from.shape = to.shape;
      from.strides = broadcast_strides(x.shape, x.strides, to.shape);
    }
    cpu::copy_operand(from, to);
    return;
  }
  Axes axes;
  Shape kept;
  int extra = x.ndim() - to.ndim();
  for (int i = 0; i < x.ndim(); ++i) {
    bool summed = i < extra || to.shape[size_t(i - extra)] != x.shape[size_t(i)];
    kept.push_back(summed ? 1 : x.shape[size_t(i)]);
    if (summed) {
      axes.push_back(i);
    }
  }
  to.shape = kept;
  to.strides = row_major(kept);
  if (axes.empty()) {
    cpu::copy_operand(x, to);
  } else {
    eval_cpu(Reduce(ReduceOp::Sum, std::move(axes), true, 0), in, {&to, 1}, e);
  }
}

}  // namespace mlx::core
