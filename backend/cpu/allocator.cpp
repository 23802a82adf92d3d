// Host memory: the source of the CPU's caching allocator.
#include "backend/cpu/allocator.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

#include "mlx/error.h"
#include "mlx/graph/caching_allocator.h"

namespace mlx::core::cpu {

namespace {

constexpr size_t alignment = 64;
constexpr size_t huge_page = size_t(2) << 20;

size_t physical_memory() { return size_t(sysconf(_SC_PHYS_PAGES)) * size_t(sysconf(_SC_PAGESIZE)); }

struct HostSource final : MemorySource {
  Memory obtain(size_t size, int32_t) override {
    void* p;
    if (size < huge_page) {
      p = std::aligned_alloc(alignment, size);
    } else {
      p = std::aligned_alloc(huge_page, (size + huge_page - 1) / huge_page * huge_page);
#ifdef MADV_HUGEPAGE
      if (p) {
        madvise(p, size, MADV_HUGEPAGE);  // first-touch faults dominate big streaming ops otherwise
      }
#endif
    }
    return p ? Memory{p, p, size} : Memory{};
  }
  void give_back(const Memory& m) override { std::free(m.host); }
  bool returns(size_t) const override { return true; }
  void trimmed() override {
#ifdef __GLIBC__
    malloc_trim(0);  // what nodes of a large graph took goes back as well
#endif
  }
};

// Never destroyed: buffers may outlive static destruction.
CachingAllocator& host_memory() {
  static HostSource source;
  static CachingAllocator& m =
      *new CachingAllocator(source, physical_memory() / 100 * 95, physical_memory() / 4);
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
    CachingAllocator& h = host_memory();
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
