// The tape as text, its shape rule, and what may stand on it.
#include "mlx/ops/reduce/fused_rows.h"

#include <algorithm>
#include <numeric>

#include "mlx/ops/reduce/softmax.h"

namespace mlx::core {

std::string FusedRows::describe() const {
  std::string s;
  for (const RowStep& step : steps) {
    s += s.empty() ? "" : " ";
    s += step.kind == RowStep::Kind::elementwise ? info(step.op).name
         : step.kind == RowStep::Kind::reduce    ? info(step.reduction).name
         : step.kind == RowStep::Kind::softmax   ? "Softmax"
                                                 : "LogSumExp";
  }
  return s;
}

std::vector<Shape> FusedRows::output_shapes(const std::vector<array>& inputs) const {
  Shape wide;
  for (const array& x : inputs) {
    wide = broadcast_shapes(wide, x.shape(), name());
  }
  Shape narrow = wide, dropped = wide;
  narrow.back() = 1;
  dropped.pop_back();
  std::vector<Shape> shapes;
  for (int16_t slot : outputs) {
    const RowStep& step = step_of(slot);
    shapes.push_back(step.wide ? wide : step.keepdims ? narrow : dropped);
  }
  return shapes;
}

uint32_t FusedRows::overwritable_by(size_t output) const {
  if (!step_of(outputs[output]).wide) {
    return 0;  // an input of as many elements may be one that every row reads
  }
  uint32_t mask = ~0u;
  for (size_t i = size_t(outputs[output] - inputs()) + 1; i < steps.size(); ++i) {
    for (int16_t source : steps[i].source) {
      if (source >= 0 && source < inputs()) {
        mask &= ~(1u << std::min<int>(source, 31));
      }
    }
  }
  return mask;
}

bool reduces_rows(const Primitive& p, const array& input) {
  int last = input.ndim() - 1;
  Dtype t = input.dtype();
  if (last < 0 || input.shape().back() < FusedRows::shortest ||
      input.shape().back() > FusedRows::longest ||
      !(t == float32 || t == float16 || t == bfloat16 || t == float64)) {
    return false;
  }
  if (p.id() == PrimitiveId::Reduce) {
    const Reduce& r = static_cast<const Reduce&>(p);
    return r.axes.size() == 1 && r.axes[0] == last && r.op != ReduceOp::Any &&
           r.op != ReduceOp::All;
  }
  return p.id() == PrimitiveId::Softmax || p.id() == PrimitiveId::LogSumExp;
}

RowStep row_step_of(const Primitive& p, std::span<const array> inputs, const array& output) {
  RowStep step;
  step.dtype = output.dtype();
  std::iota(step.source, step.source + inputs.size(), int16_t(0));
  if (p.id() == PrimitiveId::Elementwise) {
    step.op = static_cast<const Elementwise&>(p).op;
  } else if (p.id() == PrimitiveId::Softmax) {
    step.kind = RowStep::Kind::softmax;
  } else {
    step.wide = false;
    step.keepdims = output.ndim() == inputs[0].ndim();
    step.kind = RowStep::Kind::logsumexp;
    if (p.id() == PrimitiveId::Reduce) {
      step.kind = RowStep::Kind::reduce;
      step.reduction = static_cast<const Reduce&>(p).op;
      step.ddof = static_cast<const Reduce&>(p).ddof;
    }
  }
  return step;
}

}  // namespace mlx::core
