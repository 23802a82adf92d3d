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
  b->foreign_ = true;
  b->release_ = std::move(release);
  return Ref<Buffer>::adopt(b);
}

Ref<Buffer> Buffer::import_device(Backend& backend, void* data, size_t bytes,
                                  std::function<void()> release, Access access) {
  Ref<Buffer> b = import(data, bytes, std::move(release), access);
  b->backend_ = &backend;
  b->memory_.host = nullptr;
  return b;
}

Ref<Buffer> Buffer::failed(std::exception_ptr error) {
  auto* b = new Buffer();
  b->error_ = std::move(error);
  b->failed_.store(true, std::memory_order_release);
  return Ref<Buffer>::adopt(b);
}

SmallVector<Event, 2> Buffer::pending_uses() const {
  SmallVector<Event, 2> pending;
  std::lock_guard lock(buffer_mutex(this));
  for (const Event& e : uses_) {
    if (!reached(e)) {
      pending.push_back(e);
    }
  }
  return pending;
}

void Buffer::drop_copy() noexcept {
  Copy old;
  {
    std::lock_guard lock(buffer_mutex(this));
    old = std::exchange(copy_, {});
  }
  if (old.backend) {
    old.backend->release(old.memory, pending_uses());
  }
}

void Buffer::export_begin() noexcept {
  exports_.fetch_add(1, std::memory_order_relaxed);
  if (memory_.host) {
    drop_copy();  // others may write the memory from now on
  } else {
    copy_may_be_old_.store(true, std::memory_order_relaxed);
  }
}

void Buffer::give_back() noexcept {
  if (copy_.backend) {
    drop_copy();
  }
  if (backend_ && !foreign_ && (memory_.host || memory_.device)) {
    backend_->release(memory_, pending_uses());
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
  if (copy_.backend) {
    drop_copy();
  }
  auto* b = new Buffer();
  b->backend_ = backend_;
  b->memory_ = std::exchange(memory_, {});
  b->size_ = size_;
  b->uses_ = std::move(uses_);
  return Ref<Buffer>::adopt(b);
}

const void* Buffer::read() {
  Backend& cpu = backend_of(Device::cpu);
  if (!backend_ || backend_ == &cpu) {
    return memory_.host;
  }
  if (memory_.host && exported()) {
    backend_->prepare_for_host(memory_);
    return memory_.host;
  }
  if (Copy there = copy(); there.backend) {
    if (there.made.stream >= 0) {
      wait_for(there.made);
    }
    if (bool open = writable_by_others(); copy_may_be_old_.exchange(open) || open) {
      backend_->read(memory_, 0, there.memory.host, size_);
    }
    return there.memory.host;
  }
  copy_may_be_old_.store(writable_by_others());
  Ref<Buffer> fresh = allocate_for_host(size_);
  backend_->read(memory_, 0, fresh->host(), size_);
  std::lock_guard lock(buffer_mutex(this));
  if (!copy_.backend) {  // nobody was faster
    copy_ = {&cpu, std::exchange(fresh->memory_, {}), {}};
  }
  return copy_.memory.host;
}

void* Buffer::share() {
  if (memory_.host) {
    if (backend_) {
      backend_->prepare_for_host(memory_);
    }
    return memory_.host;
  }
  for (const Event& e : pending_uses()) {
    wait_for(e);
  }
  Ref<Buffer> fresh = allocate_for_host(size_);
  backend_->read(memory_, 0, fresh->host(), size_);
  drop_copy();
  std::lock_guard lock(buffer_mutex(this));
  std::swap(memory_, fresh->memory_);  // what lay on the device goes with `fresh`
  std::swap(backend_, fresh->backend_);
  std::swap(foreign_, fresh->foreign_);
  std::swap(access_, fresh->access_);
  std::swap(release_, fresh->release_);
  fresh->uses_ = uses_;
  return memory_.host;
}

Buffer::Copy Buffer::copy() const {
  std::lock_guard lock(buffer_mutex(this));
  return copy_;
}

bool Buffer::set_copy(const Copy& copy) {
  std::lock_guard lock(buffer_mutex(this));
  if (copy_.backend) {
    return false;
  }
  copy_ = copy;
  return true;
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
