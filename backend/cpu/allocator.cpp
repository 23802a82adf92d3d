// The caching allocator of host memory. Blocks come in size classes (an eighth of a power of two
// apart); a freed block remembers the streams that may still touch it.
#include "backend/cpu/allocator.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "mlx/error.h"
#include "mlx/graph/scheduler.h"

namespace mlx::core::cpu {

namespace {

constexpr size_t alignment = 64;
constexpr size_t huge_page = size_t(2) << 20;

size_t physical_memory() { return size_t(sysconf(_SC_PHYS_PAGES)) * size_t(sysconf(_SC_PAGESIZE)); }

// Rounded up so that at most an eighth is wasted and blocks of similar size are interchangeable.
size_t size_class(size_t bytes) {
  if (bytes <= 1024) {
    return (std::max<size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  }
  size_t step = size_t(1) << (63 - __builtin_clzll(bytes) - 3);
  return (bytes + step - 1) / step * step;
}

// Number of a size class, and back.
constexpr int class_count = 16 + 39 * 8;
int class_index(size_t size) {
  if (size <= 1024) {
    return int(size / alignment) - 1;
  }
  int log = 63 - __builtin_clzll(size);
  return 15 + (log - 10) * 8 + int(size >> (log - 3)) - 8;
}
size_t class_size(int index) {
  if (index < 16) {
    return size_t(index + 1) * alignment;
  }
  int above = index - 15;
  return size_t(8 + above % 8) << (10 + above / 8 - 3);
}

struct FreeBlock {
  void* address;
  SmallVector<Event, 2> pending;
};

class HostMemory final : public MemoryControl {
 public:
  Memory allocate(size_t bytes, int32_t stream) {
    if (bytes > (size_t(1) << 48)) {
      return {};
    }
    size_t size = size_class(bytes);
    {
      std::lock_guard lock(mutex_);
      if (void* p = take_cached(size, stream)) {
        add_active(size);
        return {p, p, size};
      }
      if (active_ + size > limit_) {
        return {};
      }
      trim(limit_ - active_ - size);
      add_active(size);
    }
    void* p = fresh(size);
    if (!p) {
      std::lock_guard lock(mutex_);
      active_ -= size;
      return {};
    }
    return {p, p, size};
  }

  void release(Memory m, std::span<const Event> pending) {
    std::lock_guard lock(mutex_);
    active_ -= m.size;
    cached_ += m.size;
    blocks_[class_index(m.size)].push_back({m.host, SmallVector<Event, 2>(pending)});
    trim(cache_limit_);
  }

  size_t active() override { return locked(active_); }
  size_t peak() override { return locked(peak_); }
  void reset_peak() override {
    std::lock_guard lock(mutex_);
    peak_ = 0;
  }
  size_t cached() override {
    std::lock_guard lock(mutex_);
    trim(cache_limit_);
    return cached_;
  }
  void clear_cache() override {
    std::lock_guard lock(mutex_);
    trim(0);
#ifdef __GLIBC__
    malloc_trim(0);  // what nodes of a large graph took goes back as well
#endif
  }
  size_t limit() override { return locked(limit_); }
  size_t set_limit(size_t bytes) override {
    std::lock_guard lock(mutex_);
    return std::exchange(limit_, bytes);
  }
  size_t set_cache_limit(size_t bytes) override {
    std::lock_guard lock(mutex_);
    size_t previous = std::exchange(cache_limit_, bytes);
    trim(bytes);
    return previous;
  }
  std::mutex& mutex() { return mutex_; }

 private:
  size_t locked(const size_t& value) {
    std::lock_guard lock(mutex_);
    return value;
  }

  void add_active(size_t size) {
    active_ += size;
    peak_ = std::max(peak_, active_);
  }

  // The most recently freed block that this stream may write: it is the likeliest to be in cache.
  void* take_cached(size_t size, int32_t stream) {
    auto& list = blocks_[class_index(size)];
    for (size_t i = list.size(); i-- > 0;) {
      auto usable = [&](const Event& e) { return e.stream == stream || reached(e); };
      if (std::all_of(list[i].pending.begin(), list[i].pending.end(), usable)) {
        void* p = list[i].address;
        list.erase(list.begin() + i);
        cached_ -= size;
        return p;
      }
    }
    return nullptr;
  }

  // Gives cached blocks back to the system, largest first, if more than `limit` bytes are cached:
  // an eighth more than that, so that a full cache is not searched at every release. Blocks that a
  // stream still works on stay.
  void trim(size_t limit) {
    if (cached_ <= limit) {
      return;
    }
    size_t keep = limit - limit / 8;
    for (int c = class_count; c-- > 0 && cached_ > keep;) {
      std::erase_if(blocks_[c], [&](const FreeBlock& b) {
        if (cached_ <= keep || !std::all_of(b.pending.begin(), b.pending.end(), reached)) {
          return false;
        }
        std::free(b.address);
        cached_ -= class_size(c);
        return true;
      });
    }
  }

  static void* fresh(size_t size) {
    if (size < huge_page) {
      return std::aligned_alloc(alignment, size);
    }
    void* p = std::aligned_alloc(huge_page, (size + huge_page - 1) / huge_page * huge_page);
#ifdef MADV_HUGEPAGE
    if (p) {
      madvise(p, size, MADV_HUGEPAGE);  // first-touch faults dominate big streaming ops otherwise
    }
#endif
    return p;
  }

  std::mutex mutex_;
  std::vector<FreeBlock> blocks_[class_count];
  size_t active_ = 0;
  size_t peak_ = 0;
  size_t cached_ = 0;
  size_t limit_ = physical_memory() / 100 * 95;
  size_t cache_limit_ = physical_memory() / 4;
};

// Never destroyed: buffers may outlive static destruction.
HostMemory& host_memory() {
  static HostMemory& m = *new HostMemory();
  return m;
}

}  // namespace

Memory allocate_memory(size_t bytes, int32_t stream) {
  return host_memory().allocate(bytes, stream);
}

Memory allocate_or_fail(size_t bytes) {
  Memory m = allocate_memory(bytes, -1);
  if (!m.host) {
    host_memory().clear_cache();
    m = allocate_memory(bytes, -1);
  }
  if (!m.host) {
    HostMemory& h = host_memory();
    fail<MemoryError>("[scratch] wanted {} bytes: {} are in use and {} cached of a limit of {}",
                      bytes, h.active(), h.cached(), h.limit());
  }
  return m;
}

void free_memory(Memory memory, std::span<const Event> pending) {
  host_memory().release(memory, pending);
}

MemoryControl& memory_control() { return host_memory(); }

std::mutex& allocator_mutex() { return host_memory().mutex(); }

}  // namespace mlx::core::cpu
