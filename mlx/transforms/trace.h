// What transforms tell the evaluator: whether any trace is active, and where evaluation is refused.
#pragma once

#include <cstdint>

#include "mlx/api.h"

namespace mlx::core {

// True while any thread is inside grad, vjp, jvp or vmap: tracer nodes then keep their inputs.
MLX_INTERNAL bool tracing();

// ValueError inside a vmap or compile trace of the calling thread.
MLX_INTERNAL void check_evaluation_allowed();

// True where that would throw.
MLX_INTERNAL bool evaluation_refused();

// ValueError inside any trace of the calling thread.
MLX_INTERNAL void check_async_evaluation_allowed();

// Number of traces the calling thread is inside of, 255 at most: the level of their tracers.
MLX_INTERNAL uint8_t trace_level();

// True while the calling thread traces what will be replayed for other shapes: then sizes are not
// to be taken from arrays (see ops/shape/like.h).
MLX_INTERNAL bool shapes_may_change();

class MLX_INTERNAL ChangingShapes {
 public:
  explicit ChangingShapes(bool change);
  ~ChangingShapes();
  ChangingShapes(const ChangingShapes&) = delete;

 private:
  bool before_;
};

// Scope of a transform's trace.
class MLX_INTERNAL TraceScope {
 public:
  enum class Evaluation { allowed, refused };
  explicit TraceScope(Evaluation e);
  ~TraceScope();
  TraceScope(const TraceScope&) = delete;

 private:
  Evaluation evaluation_;
};

}  // namespace mlx::core
