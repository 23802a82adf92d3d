// A job is offered at a gate that workers pass one by one and leave when its pieces are taken; the
// caller works too and waits only for workers that passed, so a slow waker never holds up small
// work. Idle workers spin for a moment, giving way to any other thread, and then sleep.
#include "backend/cpu/thread_pool.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "backend/cpu/processors.h"
#include "mlx/env.h"

namespace mlx::core::cpu {

namespace {

using Clock = std::chrono::steady_clock;

// Work that comes in a row (one op after the other) finds the workers awake; longer gaps do not.
// About what waking an idle processor of a virtual machine costs, where it costs most.
constexpr auto spin_time = std::chrono::milliseconds(1);
// A worker whose yield took this long gave its core to somebody who needs it.
constexpr auto crowded_yield = std::chrono::microseconds(50);
constexpr int pauses_per_yield = 32;

void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

// Waits until done() or the time is over; true if done.
template <typename Done>
bool spin_until(Done done, Clock::duration limit) {
  Clock::time_point start = Clock::now(), last = start;
  for (;;) {
    for (int i = 0; i < pauses_per_yield; ++i) {
      if (done()) {
        return true;
      }
      pause_briefly();
    }
    std::this_thread::yield();
    Clock::time_point now = Clock::now();
    if (now - start > limit || now - last > crowded_yield) {
      return done();
    }
    last = now;
  }
}

struct Job {
  const RangeFn* f;
  int64_t n, piece, pieces;
  std::atomic<int64_t> next{0};
  std::mutex error_mutex;
  std::exception_ptr error;

  void work() {
    for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < pieces;) {
      try {
        (*f)(i* piece, std::min(n, (i + 1) * piece));
      } catch (...) {
        std::lock_guard lock(error_mutex);
        if (!error) {
          error = std::current_exception();
        }
        next.store(pieces, std::memory_order_relaxed);  // the rest is of no use
      }
    }
  }
};

thread_local bool inside = false;  // a worker, or a caller at work

struct Inside {
  Inside() { inside = true; }
  ~Inside() { inside = false; }
};

class Pool {
 public:
  void run(Job& job) {
    start();
    int wanted = int(std::min<int64_t>(job.pieces - 1, int64_t(workers_.size())));
    job_ = &job;
    uint64_t closed = gate_.load(std::memory_order_relaxed);
    gate_.store(closed + one_generation + open);  // seq_cst: before sleepers_ is read
    wake(wanted);
    job.work();
    gate_.fetch_and(~open);
    leave_.fetch_add(1);  // nobody enters any more
    auto empty = [&] { return (gate_.load() & inside_mask) == 0; };
    if (!spin_until(empty, spin_time)) {
      std::unique_lock lock(mutex_);
      done_.wait(lock, empty);
    }
    leave_.fetch_sub(1);
  }

  void stop() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& t : workers_) {
      t.join();
    }
    workers_.clear();
    stopping_ = false;
  }

  std::mutex caller;  // one job at a time
  std::mutex& mutex() { return mutex_; }

 private:
  // The gate: number of workers inside, an open bit, the generation of the job.
  static constexpr uint64_t inside_mask = 0xffff;
  static constexpr uint64_t open = 0x10000;
  static constexpr uint64_t one_generation = 0x20000;
  static uint64_t generation(uint64_t gate) { return gate / one_generation; }

  void start() {
    int missing = thread_count() - 1 - int(workers_.size());
    if (missing <= 0) {
      return;
    }
    NoSignals scope;
    try {
      uint64_t seen = generation(gate_.load());
      int here = current_processor();
      for (; missing > 0; --missing) {
        workers_.emplace_back([=, this, number = int(workers_.size())] {
          if (may_spin_) {
            spread_thread(here, number + 1);
          }
          loop(seen);
        });
      }
    } catch (const std::system_error&) {
      // The system gives no more threads: those there are will do.
    }
  }

  void wake(int wanted) {
    if (sleepers_.load() == 0) {
      return;
    }
    std::lock_guard lock(mutex_);
    if (wanted >= sleepers_.load()) {
      wake_.notify_all();
    } else {
      for (int i = 0; i < wanted; ++i) {
        wake_.notify_one();
      }
    }
  }

  bool enter(uint64_t& seen) {
    uint64_t gate = gate_.load();
    while ((gate & open) && generation(gate) != seen) {
      if (gate_.compare_exchange_weak(gate, gate + 1)) {
        seen = generation(gate);
        return true;
      }
    }
    return false;
  }

  void leave() {
    uint64_t gate = gate_.fetch_sub(1) - 1;
    if ((gate & inside_mask) == 0 && leave_.load() > 0) {
      std::lock_guard lock(mutex_);
      done_.notify_all();
    }
  }

  void loop(uint64_t seen) {
    inside = true;
#if defined(__linux__)
    pthread_setname_np(pthread_self(), "mlx-cpu");
#endif
    for (;;) {
      if (enter(seen)) {
        job_.load()->work();
        leave();
        continue;
      }
      auto offered = [&] {
        uint64_t gate = gate_.load();
        return stopping_.load() || ((gate & open) && generation(gate) != seen);
      };
      if (!spin_until(offered, may_spin_ ? spin_time : Clock::duration::zero())) {
        std::unique_lock lock(mutex_);
        sleepers_.fetch_add(1);
        wake_.wait(lock, offered);
        sleepers_.fetch_sub(1);
      }
      if (stopping_.load()) {
        return;
      }
    }
  }

  const bool may_spin_ = thread_count() <= available_processors();
  std::atomic<uint64_t> gate_{0};
  std::atomic<Job*> job_{nullptr};
  std::atomic<int> sleepers_{0};
  std::atomic<int> leave_{0};  // the caller may be asleep
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::vector<std::thread> workers_;
};

std::atomic<Pool*> current{nullptr};

// Around fork() no job runs and no lock is held; the child starts with a pool of its own, for the
// workers of the old one exist in the parent only.
bool forker_is_inside = false;

void before_fork() {
  if (!inside) {
    current.load()->caller.lock();
  }
  current.load()->mutex().lock();
  forker_is_inside = std::exchange(inside, true);
}
void after_fork_parent() {
  inside = forker_is_inside;
  current.load()->mutex().unlock();
  if (!inside) {
    current.load()->caller.unlock();
  }
}
void after_fork_child() {
  inside = false;
  current.store(new Pool());
}

// Never destroyed: the process may end while workers sleep.
Pool& pool() {
  static const bool created = [] {
    current.store(new Pool());
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
    return true;
  }();
  (void)created;
  return *current.load();
}

}  // namespace

int thread_count() {
  static const int n = env().num_threads > 0 ? env().num_threads : available_processors();
  return n;
}

void parallel_for(int64_t n, int64_t grain, RangeFn f) {
  if (n <= 0) {
    return;
  }
  grain = std::max<int64_t>(grain, 1);
  if (n <= grain || inside || thread_count() == 1) {
    f(0, n);
    return;
  }
  Pool& p = pool();
  std::unique_lock<std::mutex> lock(p.caller, std::try_to_lock);
  if (!lock) {
    f(0, n);
    return;
  }
  // A few pieces a thread, so that an interrupted one does not hold up the rest.
  int64_t units = (n - 1) / grain + 1;
  int64_t per_piece = std::max<int64_t>(1, units / (int64_t(thread_count()) * 4));
  Job job;
  job.f = &f;
  job.n = n;
  job.piece = per_piece * grain;
  job.pieces = (n - 1) / job.piece + 1;
  {
    Inside scope;
    p.run(job);
  }
  if (job.error) {
    std::rethrow_exception(job.error);
  }
}

void stop_pool() {
  Pool& p = pool();
  std::lock_guard lock(p.caller);
  p.stop();
}

}  // namespace mlx::core::cpu
