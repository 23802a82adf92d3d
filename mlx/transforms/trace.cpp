// Bookkeeping of active traces.
#include "mlx/transforms/trace.h"

#include <atomic>

#include "mlx/error.h"

namespace mlx::core {

namespace {
std::atomic<int> active{0};
thread_local int refused = 0;
}  // namespace

bool tracing() { return active.load(std::memory_order_relaxed) > 0; }

void check_evaluation_allowed() {
  if (refused > 0) {
    fail<ValueError>(
        "[eval] arrays cannot be evaluated inside a function that vmap or compile is tracing");
  }
}

TraceScope::TraceScope(Evaluation e) : evaluation_(e) {
  active.fetch_add(1);
  refused += e == Evaluation::refused;
}

TraceScope::~TraceScope() {
  active.fetch_sub(1);
  refused -= evaluation_ == Evaluation::refused;
}

}  // namespace mlx::core
