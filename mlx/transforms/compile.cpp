// Tracing with stand-ins, and the choice between the recorded and the fused program at a replay.
#include "mlx/transforms/compile.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>

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
  ChangingShapes changing(shapes == Shapes::inferred);
  std::vector<array> stand_ins;
  for (const array& x : inputs) {
    stand_ins.push_back(array::placeholder(x.shape(), x.dtype()));
    stand_ins.back().set_tracer(trace_level());
  }
  std::vector<array> outputs = fun(stand_ins);
  Tape tape(stand_ins, outputs, trace_level(), TraceFor::compile);
  for (const TapeEntry& e : tape.entries()) {
    if (shapes == Shapes::inferred && !e.primitive->infers_shapes()) {
      fail<ValueError>(
          "[compile] {} cannot be used in a shapeless function: the shape of its output does not "
          "follow from those of its inputs",
          e.primitive->name());
    }
  }
  return CompiledGraph(Program(tape, stand_ins, outputs), shapes);
}

std::vector<array> CompiledGraph::replay(std::span<const array> inputs) const {
  bool traced = captures_tracers_ || std::any_of(inputs.begin(), inputs.end(),
                                                 [](const array& x) { return x.tracer() > 0; });
  return (traced ? recorded_ : ready_).run(inputs, shapes_);
}

namespace {

// Traces of one function by what they are valid for.
class Traces {
 public:
  Traces(ArrayFunction fun, Shapes shapes) : fun_(std::move(fun)), shapes_(shapes) {}

  std::vector<array> call(const std::vector<array>& inputs) {
    std::vector<int64_t> key = key_of(inputs);
    std::shared_ptr<const CompiledGraph> graph;
    {
      std::lock_guard lock(mutex_);
      auto it = graphs_.find(key);
      graph = it == graphs_.end() ? nullptr : it->second;
    }
    if (!graph) {
      auto fresh = std::make_shared<CompiledGraph>(CompiledGraph::trace(fun_, inputs, shapes_));
      std::lock_guard lock(mutex_);
      graph = graphs_.try_emplace(std::move(key), std::move(fresh)).first->second;
    }
    return graph->replay(inputs);
  }

  const ArrayFunction& function() const { return fun_; }

 private:
  std::vector<int64_t> key_of(const std::vector<array>& inputs) const {
    Device d = default_device();
    std::vector<int64_t> key{int64_t(d.type), d.index, default_stream(d).index,
                             shapes_may_change()};
    for (const array& x : inputs) {
      key.push_back(x.dtype().index());
      key.push_back(x.ndim());
      key.push_back(x.size() == 0);
      if (shapes_ == Shapes::recorded) {
        key.insert(key.end(), x.shape().begin(), x.shape().end());
      }
    }
    return key;
  }

  ArrayFunction fun_;
  Shapes shapes_;
  std::mutex mutex_;  // not held while fun runs
  std::map<std::vector<int64_t>, std::shared_ptr<const CompiledGraph>> graphs_;
};

}  // namespace

ArrayFunction compile(ArrayFunction fun, bool shapeless) {
  auto traces =
      std::make_shared<Traces>(std::move(fun), shapeless ? Shapes::inferred : Shapes::recorded);
  return [traces](const std::vector<array>& inputs) {
    return compile_enabled() ? traces->call(inputs) : traces->function()(inputs);
  };
}

}  // namespace mlx::core
