// Workers wait for a job, take pieces of it by an atomic counter, and report when all are done.
#include "backend/cpu/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "mlx/env.h"

namespace mlx::core::cpu {

namespace {

int available_threads() {
  if (env().num_threads > 0) {
    return env().num_threads;
  }
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    return std::max(1, CPU_COUNT(&set));
  }
  return std::max(1u, std::thread::hardware_concurrency());
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
        (*f)(i * piece, std::min(n, (i + 1) * piece));
      } catch (...) {
        std::lock_guard lock(error_mutex);
        if (!error) {
          error = std::current_exception();
        }
      }
    }
  }
};

class Pool {
 public:
  void run(Job& job) {
    start();
    {
      std::lock_guard lock(mutex_);
      job_ = &job;
      ++generation_;
      busy_ = int(workers_.size());
    }
    wake_.notify_all();
    job.work();
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return busy_ == 0; });
    job_ = nullptr;
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

 private:
  void start() {
    while (int(workers_.size()) < thread_count() - 1) {
      workers_.emplace_back([this, seen = generation_]() mutable { loop(seen); });
    }
  }

  void loop(uint64_t seen);

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::vector<std::thread> workers_;
  Job* job_ = nullptr;
  uint64_t generation_ = 0;
  int busy_ = 0;
  bool stopping_ = false;
};

thread_local bool inside = false;

void Pool::loop(uint64_t seen) {
  inside = true;
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return stopping_ || generation_ != seen; });
    if (stopping_) {
      return;
    }
    seen = generation_;
    Job* job = job_;
    lock.unlock();
    job->work();
    lock.lock();
    if (--busy_ == 0) {
      done_.notify_one();
    }
  }
}

Pool& pool() {
  static Pool& p = *new Pool();
  return p;
}

}  // namespace

int thread_count() {
  static int n = available_threads();
  return n;
}

void parallel_for(int64_t n, int64_t grain, RangeFn f) {
  if (n <= 0) {
    return;
  }
  grain = std::max<int64_t>(grain, 1);
  int threads = thread_count();
  std::unique_lock<std::mutex> lock(pool().caller, std::defer_lock);
  if (n <= grain || threads == 1 || inside || !lock.try_lock()) {
    f(0, n);
    return;
  }
  // A few pieces a thread, so that an interrupted one does not hold up the rest.
  int64_t units = (n + grain - 1) / grain;
  int64_t per_piece = std::max<int64_t>(1, units / (int64_t(threads) * 4));
  Job job;
  job.f = &f;
  job.n = n;
  job.piece = per_piece * grain;
  job.pieces = (n + job.piece - 1) / job.piece;
  inside = true;
  pool().run(job);
  inside = false;
  if (job.error) {
    std::rethrow_exception(job.error);
  }
}

void stop_pool() {
  std::lock_guard lock(pool().caller);
  pool().stop();
}

}  // namespace mlx::core::cpu
