// Bookkeeping of active traces.
#include "mlx/transforms/trace.h"

#include <algorithm>
#include <atomic>

#include "mlx/error.h"

namespace mlx::core {

namespace {
std::atomic<int> active{0};
thread_local int depth = 0;    // traces of this thread
thread_local int refused = 0;  // of those, the ones that refuse evaluation
thread_local bool changing_shapes = false;
}  // namespace

bool shapes_may_change() { return changing_shapes; }

ChangingShapes::ChangingShapes(bool change) : before_(changing_shapes) {
  changing_shapes = changing_shapes || change;
}

ChangingShapes::~ChangingShapes() { changing_shapes = before_; }

bool tracing() { return active.load(std::memory_order_relaxed) > 0; }

bool evaluation_refused() { return refused > 0; }

void check_evaluation_allowed() {
  if (evaluation_refused()) {
    fail<ValueError>(
        "[eval] arrays cannot be evaluated inside a function that vmap or compile is tracing");
  }
}

void check_async_evaluation_allowed() {
  if (depth > 0) {
    fail<ValueError>(
        "[async_eval] arrays cannot be scheduled inside a function that is transformed");
  }
}

uint8_t trace_level() { return uint8_t(std::min(depth, 255)); }

TraceScope::TraceScope(Evaluation e) : evaluation_(e) {
  active.fetch_add(1);
  ++depth;
  refused += e == Evaluation::refused;
}

TraceScope::~TraceScope() {
  active.fetch_sub(1);
  --depth;
  refused -= evaluation_ == Evaluation::refused;
}

}  // namespace mlx::core
