// The compiling thread: started by the first request, waited for when the process ends (NVRTC may
// not be torn down under it), absent in forked children.
#include "backend/cuda/jit/kernel_compiler.h"

#include <pthread.h>
#include <signal.h>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>

#include "backend/cuda/jit/kernel_cache.h"
#include "backend/cuda/jit/nvrtc.h"
#include "mlx/env.h"
#include "mlx/error.h"

namespace mlx::core::cuda {

namespace {

constexpr int64_t cache_limit = int64_t(128) << 20;

const KernelCache& cache() {
  static const auto& c = *new KernelCache(
      env().kernel_cache_dir.empty() ? "" : env().kernel_cache_dir + "/" MLX_VERSION, cache_limit);
  return c;
}

std::string identity_of(const std::string& text, int sm) {
  return compile_identity(sm) + "\n" + text;
}

struct Job {
  std::string text;
  int sm;
  std::shared_ptr<Compilation> result;
};

void run(const Job& job) {
  try {
    job.result->binary = compiled_kernel(job.text, job.sm);
  } catch (const std::exception& e) {
    job.result->error = e.what();
    if (env().debug > 0) {
      std::fprintf(stderr, "[mlx] a kernel was not compiled: %s\n", e.what());
    }
  }
  job.result->done.store(true, std::memory_order_release);
}

class CompilerThread {
 public:
  void post(Job job) {
    if (absent_.load()) {
      return;
    }
    std::lock_guard lock(mutex_);
    if (closed_) {
      return;
    }
    jobs_.push_back(std::move(job));
    if (!started_) {
      start();
    }
    changed_.notify_all();
  }

  // In a forked child: the thread is not there, and may have held the lock.
  void abandon() { absent_.store(true); }

  // Refuses what comes, drops what waits and lets what is under way end.
  void close() {
    if (absent_.load()) {
      return;
    }
    std::unique_lock lock(mutex_);
    closed_ = true;
    jobs_.clear();
    changed_.wait(lock, [&] { return !busy_; });
  }

 private:
  void start();
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return !jobs_.empty(); });
      Job job = std::move(jobs_.front());
      jobs_.pop_front();
      busy_ = true;
      lock.unlock();
      run(job);
      lock.lock();
      busy_ = false;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  std::atomic<bool> absent_{false};
  bool started_ = false;
  bool closed_ = false;
  bool busy_ = false;
};

// Outlives the end of the process, as its thread does.
CompilerThread& compiler_thread() {
  static auto& t = *new CompilerThread();
  return t;
}

void CompilerThread::start() {
  // NVRTC is open by now, so that its own work at exit comes after ours; all of it but what its
  // first compilation sets up. Python programs stop the thread before any of that.
  std::atexit([] { compiler_thread().close(); });
  pthread_atfork(nullptr, nullptr, [] { compiler_thread().abandon(); });
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread([this] { work(); }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  started_ = true;
}

}  // namespace

bool can_compile() {
  static const bool can = [] {
    bool found = !nvrtc_version().empty();
    if (!found && env().debug > 0) {
      std::fprintf(stderr, "[mlx] tapes run step by step, NVRTC is missing: %s\n",
                   nvrtc_problem().c_str());
    }
    return found;
  }();
  return can;
}

std::optional<std::string> cached_kernel(const std::string& text, int sm) {
  return cache().find(identity_of(text, sm));
}

std::string compiled_kernel(const std::string& text, int sm) {
  std::string identity = identity_of(text, sm);
  if (std::optional<std::string> kept = cache().find(identity)) {
    return *kept;
  }
  if (env().debug > 2) {
    std::fprintf(stderr, "%s\n", text.c_str());
  }
  std::string binary = compile_kernel(text, sm);
  cache().store(identity, binary);
  return binary;
}

void stop_compiling() { compiler_thread().close(); }

std::shared_ptr<const Compilation> compile_later(std::string text, int sm) {
  auto result = std::make_shared<Compilation>();
  if (can_compile()) {
    compiler_thread().post({std::move(text), sm, result});
  }
  return result;
}

}  // namespace mlx::core::cuda
