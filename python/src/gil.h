// Giving the GIL away while the core works, in a way that survives the end of the interpreter.
#pragma once

#include <functional>
#include <memory>

#include "python/src/bindings.h"

namespace mlx::core {

// A thread that asks for the GIL of an ending interpreter is killed where it stands, which no C++
// frame survives. So from finish_all_work() on nobody gives the GIL away any more; it waits for
// those who did, and for what is queued.
class GilRelease {
 public:
  GilRelease() noexcept;
  GilRelease(const GilRelease&) = delete;
  ~GilRelease();

 private:
  PyThreadState* state_;
};

// Called at exit, with the GIL.
void finish_all_work();

// Runs `work`, which lets Python objects go, with the GIL: now if the thread has it, else soon on
// another thread. Once the interpreter has ended it does nothing.
void with_gil_soon(std::function<void()> work);

// An owner of Python objects that a graph may keep, and drop on a thread without the GIL.
template <typename T>
std::shared_ptr<T> share_with_graphs(std::unique_ptr<T> owner) {
  return std::shared_ptr<T>(owner.release(), [](T* p) { with_gil_soon([p] { delete p; }); });
}

}  // namespace mlx::core
