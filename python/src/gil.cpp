// The count of threads that work without the GIL.
#include "python/src/gil.h"

#include <atomic>

#include "mlx/graph/scheduler.h"

namespace mlx::core {

namespace {

// Both change under the GIL; the count is waited for without it.
bool ending = false;
std::atomic<int>& released() {
  static std::atomic<int>& n = *new std::atomic<int>(0);
  return n;
}

}  // namespace

GilRelease::GilRelease() noexcept : state_(nullptr) {
  if (!ending) {
    released().fetch_add(1);
    state_ = PyEval_SaveThread();
  }
}

GilRelease::~GilRelease() {
  if (state_) {
    PyEval_RestoreThread(state_);
    released().fetch_sub(1);
    released().notify_all();
  }
}

void finish_all_work() {
  ending = true;
  nb::gil_scoped_release release;
  for (int n = released().load(); n > 0; n = released().load()) {
    released().wait(n);
  }
  synchronize_all();
}

}  // namespace mlx::core
