// The one pool of threads for all CPU work, BLAS included.
#pragma once

#include <signal.h>

#include <cstdint>
#include <type_traits>

#include "mlx/api.h"

namespace mlx::core::cpu {

// A borrowed callable: called only while the call that received it runs.
class RangeFn {
 public:
  template <typename F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, RangeFn>)
  RangeFn(F&& f)  // NOLINT
      : object_(const_cast<void*>(static_cast<const void*>(&f))),
        call_([](void* o, int64_t begin, int64_t end) {
          (*static_cast<std::remove_reference_t<F>*>(o))(begin, end);
        }) {}
  void operator()(int64_t begin, int64_t end) const { call_(object_, begin, end); }

 private:
  void* object_;
  void (*call_)(void*, int64_t, int64_t);
};

// Threads started in this scope leave signals to the threads of the program.
struct NoSignals {
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
  sigset_t before;
};

// Threads the process may use (affinity, cgroup, MLX_NUM_THREADS).
MLX_INTERNAL int thread_count();

// Runs f(begin, end) over [0, n) in pieces that are multiples of `grain` (but the last). Pieces may
// run on any thread, in any order; an exception of one is rethrown after all have ended. Small work
// (n ≤ grain), nested calls and calls while the pool is taken run on the calling thread.
// A result that depends on where pieces begin must fix its own chunks: n = number of chunks,
// grain 1.
MLX_INTERNAL void parallel_for(int64_t n, int64_t grain, RangeFn f);

// Finishes and drops the workers, which come back at the next use; around fork().
MLX_INTERNAL void stop_pool();

}  // namespace mlx::core::cpu
