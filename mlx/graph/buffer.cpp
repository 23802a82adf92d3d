// Buffer: reference counts, donation, uses by streams, stored failures.
#include "mlx/graph/buffer.h"

#include "mlx/backend.h"
#include "mlx/error.h"
#include "mlx/graph/scheduler.h"

namespace mlx::core {

namespace {

// Short critical sections on a buffer's uses and error; collisions are rare.
std::mutex mutexes[64];

std::mutex& buffer_mutex(const Buffer* b) {
  return mutexes[(reinterpret_cast<uintptr_t>(b) >> 6) % 64];
}

// Memory for it is free of all queued work, not only of that of one stream.
constexpr Stream no_stream{-1, Device::cpu};

}  // namespace

Ref<Buffer> Buffer::allocate(Backend& backend, size_t bytes, Stream stream) {
  Memory m = backend.allocate(bytes, stream);
  if (!m.host && !m.device) {
    if (stream != no_stream) {
      backend.synchronize(stream);
    } else if (!EncodingScope::active()) {
      synchronize_all();
    }
    backend.memory().clear_cache();  // blocks that were waiting for the work just finished included
    m = backend.allocate(bytes, stream);
  }
  if (!m.host && !m.device) {
    MemoryControl& c = backend.memory();
    core::fail<MemoryError>(
        "[allocate] wanted {} bytes: {} are in use and {} cached of a limit of {}", bytes,
        c.active(), c.cached(), c.limit());
  }
  auto* b = new Buffer();
  b->backend_ = &backend;
  b->memory_ = m;
  b->size_ = bytes;
  return Ref<Buffer>::adopt(b);
}

Ref<Buffer> Buffer::allocate_for_host(size_t bytes) {
  return allocate(backend_of(Device::cpu), bytes, no_stream);
}

Ref<Buffer> Buffer::import(void* data, size_t bytes, std::function<void()> release, Access access) {
  auto* b = new Buffer();
  b->access_ = access;
  b->memory_ = {data, data, bytes};
  b->size_ = bytes;
  b->release_ = std::move(release);
  return Ref<Buffer>::adopt(b);
}

Ref<Buffer> Buffer::failed(std::exception_ptr error) {
  auto* b = new Buffer();
  b->error_ = std::move(error);
  b->failed_.store(true, std::memory_order_release);
  return Ref<Buffer>::adopt(b);
}

void Buffer::give_back() noexcept {
  if (backend_ && (memory_.host || memory_.device)) {
    SmallVector<Event, 2> pending;
    for (const Event& e : uses_) {
      if (!reached(e)) {
        pending.push_back(e);
      }
    }
    backend_->release(memory_, pending);
  }
  memory_ = {};
  if (release_) {
    // Somebody else's memory: queued work has to be through with it first.
    for (const Event& e : uses_) {
      wait_for(e);
    }
    release_();
    release_ = nullptr;
  }
}

void Buffer::release() noexcept {
  if (strong_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    give_back();
    release_weak();
  }
}

void Buffer::release_weak() noexcept {
  if (weak_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    delete this;
  }
}

Ref<Buffer> Buffer::donate() {
  auto* b = new Buffer();
  b->backend_ = backend_;
  b->memory_ = std::exchange(memory_, {});
  b->size_ = size_;
  b->uses_ = std::move(uses_);
  return Ref<Buffer>::adopt(b);
}

void Buffer::record_use(Event event) {
  std::lock_guard lock(buffer_mutex(this));
  for (Event& e : uses_) {
    if (e.stream == event.stream) {
      e.sequence = std::max(e.sequence, event.sequence);
      return;
    }
  }
  uses_.push_back(event);
}

bool Buffer::free_of_other_streams(int32_t stream) const {
  std::lock_guard lock(buffer_mutex(this));
  for (const Event& e : uses_) {
    if (e.stream != stream && !reached(e)) {
      return false;
    }
  }
  return true;
}

void Buffer::forget_locks() {
  for (std::mutex& m : mutexes) {
    new (&m) std::mutex();
  }
}

void Buffer::fail(std::exception_ptr error) {
  std::lock_guard lock(buffer_mutex(this));
  if (!failed_.load(std::memory_order_relaxed)) {
    error_ = std::move(error);
    failed_.store(true, std::memory_order_release);
  }
}

std::exception_ptr Buffer::error() const {
  std::lock_guard lock(buffer_mutex(this));
  return error_;
}

}  // namespace mlx::core
