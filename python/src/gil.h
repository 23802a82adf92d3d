// Giving the GIL away while the core works, in a way that survives the end of the interpreter.
#pragma once

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

}  // namespace mlx::core
