// The count of threads that work without the GIL.
#include "python/src/gil.h"

#include <atomic>
#include <mutex>
#include <vector>

#include "mlx/graph/plugin.h"
#include "mlx/graph/scheduler.h"

namespace mlx::core {

namespace {

// Both change under the GIL; the count is waited for without it.
bool ending = false;
std::atomic<int>& released() {
  static std::atomic<int>& n = *new std::atomic<int>(0);
  return n;
}

thread_local bool given_away = false;

// What waits for the GIL.
struct Waiting {
  std::mutex mutex;
  std::vector<std::function<void()>> work;
  bool announced = false;
};
Waiting& waiting() {
  static Waiting& w = *new Waiting();
  return w;
}

int run_waiting(void*) {
  std::vector<std::function<void()>> work;
  {
    std::lock_guard lock(waiting().mutex);
    work.swap(waiting().work);
    waiting().announced = false;
  }
  for (auto& w : work) {
    w();
  }
  return 0;
}

}  // namespace

GilRelease::GilRelease() noexcept : state_(nullptr) {
  if (!ending) {
    released().fetch_add(1);
    given_away = true;
    state_ = PyEval_SaveThread();
  }
}

GilRelease::~GilRelease() {
  if (state_) {
    PyEval_RestoreThread(state_);
    given_away = false;
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
  if (Backend* gpu = loaded_gpu_backend()) {
    gpu->stop();
  }
}

void with_gil_soon(std::function<void()> work) {
  if (!Py_IsInitialized()) {
    return;
  }
  if (!given_away && PyGILState_GetThisThreadState()) {
    work();
    return;
  }
  std::lock_guard lock(waiting().mutex);
  waiting().work.push_back(std::move(work));
  if (!waiting().announced) {
    // If there is no room for the note, whatever comes next tries again.
    waiting().announced = Py_AddPendingCall(run_waiting, nullptr) == 0;
  }
}

}  // namespace mlx::core
