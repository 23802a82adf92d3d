// Buffer: the memory of one computed value and of all views of it, behind one indirection.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>

#include "mlx/device.h"
#include "mlx/ref.h"
#include "mlx/small_vector.h"

namespace mlx::core {

struct Backend;

// A block as a backend hands it out. On a unified or CPU device both addresses are one.
struct Memory {
  void* host = nullptr;
  void* device = nullptr;
  size_t size = 0;  // capacity in bytes
};

// A point in a stream's work: reached once the stream has completed `sequence`.
struct Event {
  int32_t stream = -1;
  uint64_t sequence = 0;
};

// What others may do with memory that is exported to them.
enum class Access : uint8_t { read_write, read_only };

// Two counts: strong references own the memory (arrays), weak ones only keep this object (queued
// work that reports its failure here). Memory is given back when the last strong one goes, tagged
// with the streams that may still touch it.
class MLX_INTERNAL Buffer {
 public:
  // MemoryError if the backend has no room even after dropping its caches.
  static Ref<Buffer> allocate(Backend& backend, size_t bytes, Stream stream);
  // For the caller to write at once: what a stream still works on is not handed out.
  static Ref<Buffer> allocate_for_host(size_t bytes);
  // Memory owned by somebody else; `release` runs when the last reference goes.
  static Ref<Buffer> import(void* data, size_t bytes, std::function<void()> release,
                            Access access = Access::read_write);
  // The same for memory of a device, which the host cannot reach.
  static Ref<Buffer> import_device(Backend& backend, void* data, size_t bytes,
                                   std::function<void()> release, Access access);
  // A value that could not be computed: has no memory, every read rethrows.
  static Ref<Buffer> failed(std::exception_ptr error);

  void retain() noexcept { strong_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept;
  void retain_weak() noexcept { weak_.fetch_add(1, std::memory_order_relaxed); }
  void release_weak() noexcept;
  bool sole_owner() const { return strong_.load(std::memory_order_acquire) == 1; }

  // The bytes in host memory, for reading, once they have been computed: in place, or in a copy
  // that the buffer keeps.
  const void* read();
  // The memory itself within the host's reach, for those who keep or write it; moved there if it is
  // not.
  void* share();

  const Memory& memory() const { return memory_; }
  void* host() const { return memory_.host; }
  void* device() const { return memory_.device; }
  size_t capacity() const { return memory_.size; }
  size_t size() const { return size_; }  // bytes asked for; the capacity may be larger
  Access access() const { return access_; }
  Backend* backend() const { return backend_; }  // null: imported memory of the host

  bool exported() const { return exports_.load(std::memory_order_relaxed) > 0; }
  // While exported (DLPack, buffer protocol) a buffer is neither moved nor donated.
  void export_begin() noexcept;
  void export_end() { exports_.fetch_sub(1, std::memory_order_relaxed); }
  bool donatable() const {
    return backend_ && !foreign_ && sole_owner() && exports_.load(std::memory_order_relaxed) == 0;
  }
  // Moves the memory into a new buffer for the value that overwrites this one.
  Ref<Buffer> donate();

  // A copy in the memory of another device, there once the work `made` (if any) is done. It goes
  // when the memory does, or when a new value is written over it.
  struct Copy {
    Backend* backend = nullptr;
    Memory memory;
    Event made;
  };
  Copy copy() const;
  // The copy was made while others could write the memory.
  bool copy_may_be_old() const { return copy_may_be_old_.load(std::memory_order_relaxed); }
  bool set_copy(const Copy& copy);  // false: there is one already
  // Others may write the memory while the value lives: no copy stays true.
  bool writable_by_others() const {
    return exported() || (foreign_ && access_ == Access::read_write);
  }

  // Uses that are not over.
  SmallVector<Event, 2> pending_uses() const;
  // Notes that `event`'s stream reads or writes the memory until then.
  void record_use(Event event);
  // True if all noted uses of streams other than `stream` are over.
  bool free_of_other_streams(int32_t stream) const;

  // In the child of a fork: threads that held a lock here are gone.
  static void forget_locks();

  void fail(std::exception_ptr error);
  bool has_failed() const { return failed_.load(std::memory_order_acquire); }
  std::exception_ptr error() const;

 private:
  Buffer() = default;
  ~Buffer() = default;
  void give_back() noexcept;
  void drop_copy() noexcept;

  std::atomic<uint32_t> strong_{1};
  std::atomic<uint32_t> weak_{1};  // all strong references together hold one
  std::atomic<uint32_t> exports_{0};
  std::atomic<bool> failed_{false};
  std::atomic<bool> copy_may_be_old_{false};
  Backend* backend_ = nullptr;
  Memory memory_;
  size_t size_ = 0;
  Access access_ = Access::read_write;
  bool foreign_ = false;        // imported: given back by release_
  SmallVector<Event, 2> uses_;  // under a lock of buffer.cpp, as are error_ and copy_
  Copy copy_;
  std::function<void()> release_;
  std::exception_ptr error_;
};

// Weak reference to a Buffer.
class BufferWatch {
 public:
  BufferWatch() = default;
  explicit BufferWatch(Buffer* b) noexcept : b_(b) {
    if (b_) b_->retain_weak();
  }
  BufferWatch(BufferWatch&& o) noexcept : b_(std::exchange(o.b_, nullptr)) {}
  BufferWatch(const BufferWatch& o) noexcept : BufferWatch(o.b_) {}
  BufferWatch& operator=(BufferWatch o) noexcept {
    std::swap(b_, o.b_);
    return *this;
  }
  ~BufferWatch() {
    if (b_) b_->release_weak();
  }
  Buffer* get() const { return b_; }

 private:
  Buffer* b_ = nullptr;
};

}  // namespace mlx::core
