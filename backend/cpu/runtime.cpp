// The CPU backend: streams as queues with a worker of their own, work of a synchronous eval run on
// the caller's thread, the evaluator table, and behaviour around fork and exit.
#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "backend/cpu/device_info.h"
#include "backend/cpu/evaluators.h"
#include "backend/cpu/thread_pool.h"
#include "mlx/env.h"
#include "mlx/error.h"
#include "mlx/graph/profile.h"
#include "mlx/graph/scheduler.h"

namespace mlx::core {

namespace cpu {

std::mutex& allocator_mutex();

namespace {

// Encoded work that has not finished may not grow beyond this many tasks or output bytes.
constexpr size_t max_queued_tasks = 4096;
constexpr int64_t max_queued_bytes = int64_t(1) << 30;

struct Evaluators {
  Evaluator table[primitive_count] = {};

  Evaluators() {
#define PRIMITIVE(Name, ...)                                                                   \
  table[int(PrimitiveId::Name)] = [](const Primitive& p, Inputs in, Outputs out, Encoder& e) { \
    eval_cpu(static_cast<const Name&>(p), in, out, e);                                         \
  };
#include "mlx/ops/primitives.def"
#undef PRIMITIVE
  }
};

void call_custom(const Primitive& p, Inputs in, Outputs out, Encoder& e) { p.eval_cpu(in, out, e); }

// What an evaluator forgets to write shows. (An output that overwrites an input holds its value.)
void fill_with_nan(const Task& task) {
  for (const Operand& o : task.outputs) {
    auto overwritten = [&](const Operand& in) { return in.data == o.data; };
    if (std::none_of(task.inputs.begin(), task.inputs.end(), overwritten)) {
      std::memset(o.data, 0xff, size_t(o.nbytes()));
    }
  }
}

void run_task(Task& task, Encoder& encoder) {
  std::exception_ptr error;
  for (const BufferWatch& w : task.input_buffers) {
    if (w.get() && w.get()->has_failed()) {
      error = w.get()->error();
      break;
    }
  }
  if (!error) {
    try {
      if (env().check) {
        fill_with_nan(task);
      }
      ProfiledRange range(task, "cpu");
      task.evaluator(*task.primitive, task.inputs, task.outputs, encoder);
    } catch (...) {
      error = describe_failure(task);
    }
  }
  if (error) {
    for (const BufferWatch& w : task.output_buffers) {
      w.get()->fail(error);
    }
  }
}

struct QueueItem {
  std::unique_ptr<Task> task;  // null: do `action`, or wait for `event` if it names a stream
  std::function<void()> action;
  Event event;
  uint64_t complete = 0;  // report this sequence number afterwards
  int64_t bytes = 0;
};

class CpuStream {
 public:
  explicit CpuStream(Stream s) : stream_(s), encoder_(s) {}

  // True: the calling thread runs the batch itself.
  bool begin(Mode mode) {
    std::lock_guard lock(mutex_);
    inline_ = mode == Mode::sync && !running_ && queue_.empty();
    if (inline_) {
      ++begun_;
      start_running();
    }
    return inline_;
  }

  void encode(Task& task) {
    if (inline_) {
      run_task(task, encoder_);
      complete(stream_.index, task.sequence);
      return;
    }
    QueueItem item;
    item.complete = task.sequence;
    for (const Operand& o : task.outputs) {
      item.bytes += o.nbytes();
    }
    item.task = std::make_unique<Task>(std::move(task));
    item.task->bind_scalars();
    push(std::move(item));
  }

  void wait(Event event) {
    if (inline_) {
      wait_for(event);
    } else {
      QueueItem item;
      item.event = event;
      push(std::move(item));
    }
  }

  // Memory of the host for what lies on another device; the copy is part of the stream's work.
  void* fetch(Buffer& buffer, Event at) {
    bool kept = !buffer.writable_by_others() && !buffer.copy_may_be_old();
    Buffer::Copy copy = buffer.copy();
    if (kept && copy.backend) {
      if (copy.made.stream >= 0 && copy.made.stream != stream_.index && !reached(copy.made)) {
        wait(copy.made);
      }
      return copy.memory.host;
    }
    Memory fresh = allocate_or_fail(buffer.size());
    auto bring = [from = buffer.backend(), memory = buffer.memory(), to = fresh.host,
                  bytes = buffer.size(), source = BufferWatch(&buffer)] {
      try {
        from->read(memory, 0, to, bytes);
      } catch (...) {
        source.get()->fail(std::current_exception());
      }
    };
    if (!kept || !buffer.set_copy({&backend_of(stream_.device), fresh, at})) {
      free_memory(fresh, std::span(&at, 1));  // good until the task is done
    }
    if (inline_) {
      bring();
      if (buffer.has_failed()) {
        std::rethrow_exception(buffer.error());
      }
    } else {
      QueueItem item;
      item.action = bring;
      push(std::move(item));
    }
    return fresh.host;
  }

  void commit(uint64_t last) {
    if (!inline_) {
      QueueItem item;
      item.complete = last;
      push(std::move(item));
      return;
    }
    complete(stream_.index, last);
    std::lock_guard lock(mutex_);
    inline_ = false;
    ++ended_;
    stop_running();
  }

  void synchronize() {
    std::unique_lock lock(mutex_);
    if (owner_ == std::this_thread::get_id()) {
      return;  // asked by work that runs right here: it cannot wait for its own end
    }
    // What others queue from now on is not waited for.
    changed_.wait(lock, [&, until = begun_] { return ended_ >= until; });
  }

  // Around a fork nothing is queued or under way, and nothing can be.
  void lock_when_idle() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] {
      return owner_ == std::this_thread::get_id() || (!running_ && queue_.empty());
    });
    lock.release();
  }
  // In a forked child only the forking thread lives: the worker is made anew, and so is the
  // condition variable, which may count waiters that no longer exist.
  void forget_worker() {
    started_ = false;
    new (&changed_) std::condition_variable();
  }
  std::mutex& mutex() { return mutex_; }

 private:
  void start_running() {
    running_ = true;
    owner_ = std::this_thread::get_id();
  }
  void stop_running() {
    running_ = false;
    owner_ = {};
    changed_.notify_all();
  }

  bool start_worker() {
    try {
      NoSignals scope;
      std::thread([this] { loop(); }).detach();
      return true;
    } catch (const std::system_error&) {
      return false;
    }
  }

  void push(QueueItem item) {
    std::unique_lock lock(mutex_);
    if (!started_ && !(started_ = start_worker())) {
      // The system gives no more threads: the caller does the work, in the same order.
      start_running();
      lock.unlock();
      execute(item);
      lock.lock();
      stop_running();
      return;
    }
    changed_.wait(lock, [&] {
      return queue_.empty() ||
             (queue_.size() < max_queued_tasks && queued_bytes_ < max_queued_bytes);
    });
    queued_bytes_ += item.bytes;
    ++begun_;
    queue_.push_back(std::move(item));
    changed_.notify_all();
  }

  void execute(QueueItem& item) {
    if (item.task) {
      run_task(*item.task, encoder_);
      item.task.reset();
    } else if (item.action) {
      item.action();
    } else if (item.event.stream >= 0) {
      wait_for(item.event);
    }
    if (item.complete) {
      complete(stream_.index, item.complete);
    }
  }

  void loop() {
    EncodingScope scope;
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return !queue_.empty() && !running_; });
      start_running();
      while (!queue_.empty()) {
        QueueItem item = std::move(queue_.front());
        queue_.pop_front();
        lock.unlock();
        execute(item);
        lock.lock();
        queued_bytes_ -= item.bytes;
        ++ended_;
        changed_.notify_all();
      }
      stop_running();
    }
  }

  Stream stream_;
  Encoder encoder_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<QueueItem> queue_;
  int64_t queued_bytes_ = 0;
  bool running_ = false;   // somebody executes work of this stream
  bool inline_ = false;    // the batch being encoded runs on the encoding thread
  std::thread::id owner_;  // who does
  uint64_t begun_ = 0;     // items queued and inline batches begun
  uint64_t ended_ = 0;     // those that are over
  bool started_ = false;   // the worker thread exists
};

CpuStream* streams[max_streams];  // filled by open(), read without a lock

class CpuBackend final : public Backend {
 public:
  CpuBackend() { pthread_atfork(before_fork, after_fork_parent, after_fork_child); }

  int device_count() override { return 1; }
  DeviceInfo info(int) override { return device_info(); }
  Evaluator evaluator(PrimitiveId id) override {
    static const Evaluators evaluators;
    return id == PrimitiveId::custom ? call_custom : evaluators.table[int(id)];
  }
  bool supports(const Primitive&, std::span<const array>) override { return true; }
  Memory allocate(size_t bytes, Stream s) override { return allocate_memory(bytes, s.index); }
  void release(Memory m, std::span<const Event> pending) override { free_memory(m, pending); }
  MemoryControl& memory() override { return memory_control(); }
  void read(const Memory& memory, size_t offset, void* to, size_t bytes) override {
    std::memcpy(to, static_cast<const char*>(memory.host) + offset, bytes);
  }
  void prepare_for_host(const Memory&) override {}
  void* address(Buffer& buffer, Event at) override {
    if (buffer.host()) {
      if (buffer.backend() && buffer.backend() != this) {
        buffer.backend()->prepare_for_host(buffer.memory());
      }
      return buffer.host();
    }
    return streams[at.stream]->fetch(buffer, at);
  }
  void open(Stream s) override { streams[s.index] = new CpuStream(s); }
  void close(Stream s) override { synchronize(s); }
  bool begin(Stream s, Mode mode) override { return streams[s.index]->begin(mode); }
  void encode(Stream s, Task& task) override {
    task.evaluator = evaluator(task.primitive->id());
    streams[s.index]->encode(task);
  }
  void commit(Stream s, uint64_t last) override { streams[s.index]->commit(last); }
  void wait(Stream s, Event event) override { streams[s.index]->wait(event); }
  void synchronize(Stream s) override { streams[s.index]->synchronize(); }

 private:
  template <typename F>
  static void each_stream(F f) {
    for (CpuStream* s : streams) {
      if (s) {
        f(*s);
      }
    }
  }
  // Nothing is in flight and no lock of ours is held by another thread while the process forks.
  static void before_fork() {
    each_stream([](CpuStream& s) { s.lock_when_idle(); });
    allocator_mutex().lock();
  }
  static void after_fork_parent() {
    allocator_mutex().unlock();
    each_stream([](CpuStream& s) { s.mutex().unlock(); });
  }
  static void after_fork_child() {
    after_fork_parent();
    each_stream([](CpuStream& s) { s.forget_worker(); });
  }
};

}  // namespace
}  // namespace cpu

Backend& register_cpu_backend() {
  static cpu::CpuBackend& backend = *new cpu::CpuBackend();
  return backend;
}

}  // namespace mlx::core
