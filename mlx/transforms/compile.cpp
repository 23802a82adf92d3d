// Tracing with stand-ins, and the choice between the recorded and the fused program at a replay.
#include "mlx/transforms/compile.h"

#include <atomic>

#include "mlx/env.h"
#include "mlx/error.h"
#include "mlx/transforms/trace.h"

namespace mlx::core {

namespace {

std::atomic<bool>& enabled() {
  static std::atomic<bool> on{!env().disable_compile};
  return on;
}

}  // namespace

bool compile_enabled() { return enabled().load(std::memory_order_relaxed); }
void enable_compile() { enabled().store(true); }
void disable_compile() { enabled().store(false); }

CompiledGraph::CompiledGraph(Program recorded, Shapes shapes)
    : shapes_(shapes),
      captures_tracers_(recorded.captures_tracers()),
      recorded_(std::move(recorded)),
      ready_(recorded_.simplified()) {
  if (shapes == Shapes::recorded) {
    ready_ = ready_.fused();  // other shapes may fuse otherwise: left to their evaluation
  }
}

CompiledGraph CompiledGraph::trace(const ArrayFunction& fun, const std::vector<array>& inputs,
                                   Shapes shapes) {
  TraceScope scope(TraceScope::Evaluation::refused);
  std::vector<array> stand_ins;
  for (const array& x : inputs) {
    stand_ins.push_back(array::placeholder(x.shape(), x.dtype()));
    stand_ins.back().set_tracer(trace_level());
  }
  std::vector<array> outputs = fun(stand_ins);
  Tape tape(stand_ins, outputs, trace_level(), TapeFor::mapping);
  return CompiledGraph(Program(tape, stand_ins, outputs), shapes);
}

std::vector<array> CompiledGraph::replay(std::span<const array> inputs) const {
  bool traced = captures_tracers_ || std::any_of(inputs.begin(), inputs.end(),
                                                 [](const array& x) { return x.tracer() > 0; });
  return (traced ? recorded_ : ready_).run(inputs, shapes_);
}

}  // namespace mlx::core
