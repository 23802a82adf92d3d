// The registry of backends and streams, timelines, and the calling thread's defaults.
#include "mlx/graph/scheduler.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "mlx/backend.h"
#include "mlx/error.h"
#include "mlx/graph/node.h"
#include "mlx/graph/plugin.h"

namespace mlx::core {

namespace {

struct Registry {
  std::mutex mutex;
  std::unique_ptr<Timeline> timelines[max_streams];
  std::atomic<int> count{0};
  std::vector<Stream> idle;  // default streams of ended threads, to be used again
  Device default_device;
  bool default_device_set = false;
};

void before_fork();
void after_fork_parent();
void after_fork_child();

// Never destroyed: work may still be pending when the process exits.
Registry& registry() {
  static Registry& r = [&]() -> Registry& {
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
    return *new Registry();
  }();
  return r;
}

// The calling thread's default streams and device; borrowed streams go back when it ends.
thread_local bool thread_ended = false;
struct ThreadDefaults {
  std::vector<Stream> owned;
  std::vector<Stream> chosen;  // set_default_stream
  std::vector<Stream> borrowed;

  ~ThreadDefaults() {
    thread_ended = true;
    Registry& r = registry();
    std::lock_guard lock(r.mutex);
    r.idle.insert(r.idle.end(), borrowed.begin(), borrowed.end());
  }
};
thread_local ThreadDefaults thread_defaults;
thread_local int encoding_depth = 0;
thread_local bool thread_device_set = false;
thread_local Device thread_device;

Stream open_stream(Device d) {
  Backend& backend = backend_of(d);
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  int n = r.count.load();
  if (n == max_streams) {
    fail<RuntimeError>("[new_stream] the process already has {} streams", n);
  }
  Stream s{n, d};
  r.timelines[n] = std::make_unique<Timeline>();
  r.timelines[n]->stream = s;
  backend.open(s);
  r.count.store(n + 1);  // whoever walks over all streams finds it open
  return s;
}

const char* device_name(Device::Type t) { return t == Device::cpu ? "cpu" : "gpu"; }

bool (*interrupt_check)() = nullptr;

// A fork finds the graph and the registry unlocked, and the child no waiters of dead threads.
void before_fork() {
  graph_mutex().lock();
  registry().mutex.lock();
}
void after_fork_parent() {
  registry().mutex.unlock();
  graph_mutex().unlock();
}
void after_fork_child() {
  Registry& r = registry();
  for (int i = 0; i < r.count.load(); ++i) {
    new (&r.timelines[i]->mutex) std::mutex();
    new (&r.timelines[i]->changed) std::condition_variable();
    r.timelines[i]->waiters.store(0);
  }
  Buffer::forget_locks();
  after_fork_parent();
}

}  // namespace

Backend& register_cpu_backend();  // defined by backend/cpu, the one backend that is linked in

Backend* find_backend(Device::Type type) {
  static Backend& cpu = register_cpu_backend();
  return type == Device::cpu ? &cpu : gpu_plugin().backend;
}

Backend& backend_of(Device d) {
  Backend* b = find_backend(d.type);
  if (!b || d.index < 0 || d.index >= b->device_count()) {
    std::string why =
        !b ? gpu_plugin().why : format("the number of such devices is {}", b->device_count());
    fail<ValueError>("[device] Device({}, {}) is not available in this process: {}",
                     device_name(d.type), d.index, why);
  }
  return *b;
}

bool is_available(Device d) {
  Backend* b = find_backend(d.type);
  return b && d.index >= 0 && d.index < b->device_count();
}

int device_count(Device::Type t) {
  Backend* b = find_backend(t);
  return b ? b->device_count() : 0;
}

Device default_device() {
  if (thread_device_set) {
    return thread_device;
  }
  return is_available(Device::gpu) ? Device(Device::gpu) : Device(Device::cpu);
}

void set_default_device(Device d) {
  backend_of(d);
  thread_device = d;
  thread_device_set = true;
}

Stream borrow_stream(Device d) {
  backend_of(d);
  Stream found{-1, d};
  {
    Registry& r = registry();
    std::lock_guard lock(r.mutex);
    auto it =
        std::find_if(r.idle.begin(), r.idle.end(), [&](const Stream& s) { return s.device == d; });
    if (it != r.idle.end()) {
      found = *it;
      if (!thread_ended) {  // a thread on its way out only has a look
        r.idle.erase(it);
      }
    }
  }
  if (found.index < 0) {
    found = open_stream(d);
  }
  if (!thread_ended) {
    thread_defaults.borrowed.push_back(found);
  }
  return found;
}

Stream default_stream(Device d) {
  if (thread_ended) {
    return borrow_stream(d);
  }
  for (const Stream& s : thread_defaults.chosen) {
    if (s.device == d) {
      return s;
    }
  }
  for (const Stream& s : thread_defaults.owned) {
    if (s.device == d) {
      return s;
    }
  }
  Stream found = borrow_stream(d);
  thread_defaults.owned.push_back(found);
  return found;
}

void set_default_stream(Stream s) {
  auto& chosen = thread_defaults.chosen;
  std::erase_if(chosen, [&](const Stream& c) { return c.device == s.device; });
  chosen.push_back(s);
}

Stream new_stream(Device d) { return open_stream(d); }

Stream to_stream(const StreamOrDevice& s) {
  if (auto* stream = std::get_if<Stream>(&s)) {
    return *stream;
  }
  if (auto* d = std::get_if<Device>(&s)) {
    return default_stream(*d);
  }
  if (auto* t = std::get_if<Device::Type>(&s)) {
    return default_stream(Device(*t));
  }
  return default_stream(default_device());
}

void clear_streams() {
  for (const Stream& s : thread_defaults.borrowed) {
    backend_of(s.device).synchronize(s);
  }
  thread_defaults.chosen.clear();
}

void synchronize(StreamOrDevice s) {
  Stream stream = to_stream(s);
  backend_of(stream.device).synchronize(stream);
}

void synchronize_all() {
  Registry& r = registry();
  for (int i = 0; i < r.count.load(); ++i) {
    Stream s = r.timelines[i]->stream;
    backend_of(s.device).synchronize(s);
  }
}

Timeline& timeline(int32_t stream) { return *registry().timelines[stream]; }

void complete(int32_t stream, uint64_t sequence) {
  Timeline& t = timeline(stream);
  t.completed.store(sequence);  // sequentially consistent with the reads of `waiters`
  if (t.waiters.load() > 0) {
    std::lock_guard lock(t.mutex);
    t.changed.notify_all();
  }
}

namespace {

bool ask(Event event, bool awaited) {
  Timeline& t = timeline(event.stream);
  auto done = [&] { return t.completed.load(std::memory_order_acquire) >= event.sequence; };
  if (!done() && t.polled) {
    backend_of(t.stream.device).poll(t.stream, event.sequence, awaited);
  }
  return done();
}

// Asks again and again, less often the longer it takes; false if `patience` ended first.
template <typename F>
bool ask_until_reached(Event event, F&& patience) {
  auto pause = std::chrono::microseconds(0);
  for (int asked = 0; !ask(event, true); ++asked) {
    if (asked > 2000) {
      if (!patience()) {
        return false;
      }
      pause = std::min(pause + std::chrono::microseconds(1), std::chrono::microseconds(100));
      std::this_thread::sleep_for(pause);
    }
  }
  return true;
}

}  // namespace

bool reached(Event event) { return ask(event, false); }

void wait_for(Event event) {
  Timeline& t = timeline(event.stream);
  if (t.polled) {
    ask_until_reached(event, [] { return true; });
    return;
  }
  for (int spin = 0; spin < 200; ++spin) {
    if (reached(event)) {
      return;
    }
    std::this_thread::yield();
  }
  t.waiters.fetch_add(1);
  {
    std::unique_lock lock(t.mutex);
    t.changed.wait(lock, [&] { return t.completed.load() >= event.sequence; });
  }
  t.waiters.fetch_sub(1);
}

bool wait_interruptibly(Event event) {
  Timeline& t = timeline(event.stream);
  if (t.polled) {
    auto asked = std::chrono::steady_clock::now();
    return ask_until_reached(event, [&] {
      auto now = std::chrono::steady_clock::now();
      if (now - asked < std::chrono::milliseconds(50)) {
        return true;
      }
      asked = now;
      return !interrupted();
    });
  }
  for (int spin = 0; spin < 200; ++spin) {
    if (reached(event)) {
      return true;
    }
    std::this_thread::yield();
  }
  while (true) {
    t.waiters.fetch_add(1);
    bool done;
    {
      std::unique_lock lock(t.mutex);
      done = t.changed.wait_for(lock, std::chrono::milliseconds(50),
                                [&] { return t.completed.load() >= event.sequence; });
    }
    t.waiters.fetch_sub(1);
    if (done) {
      return true;
    }
    if (interrupted()) {
      return false;
    }
  }
}

void await_turn(int32_t stream, uint64_t first) {
  Timeline& t = timeline(stream);
  std::unique_lock lock(t.mutex);
  t.waiters.fetch_add(1);
  t.changed.wait(lock, [&] { return t.encoded + 1 == first; });
  t.waiters.fetch_sub(1);
}

void end_turn(int32_t stream, uint64_t last) {
  Timeline& t = timeline(stream);
  std::lock_guard lock(t.mutex);
  t.encoded = last;
  if (t.waiters.load() > 0) {
    t.changed.notify_all();
  }
}

EncodingScope::EncodingScope() { ++encoding_depth; }
EncodingScope::~EncodingScope() { --encoding_depth; }
bool EncodingScope::active() { return encoding_depth > 0; }

void set_interrupt_check(bool (*check)()) { interrupt_check = check; }

bool interrupted() { return interrupt_check && interrupt_check(); }

}  // namespace mlx::core
