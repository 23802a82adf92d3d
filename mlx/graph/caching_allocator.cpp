// Size classes, the lists of free blocks, limits and statistics.
#include "mlx/graph/caching_allocator.h"

#include <algorithm>

#include "mlx/graph/scheduler.h"

namespace mlx::core {

namespace {

constexpr size_t granule = 64;

}  // namespace

// Rounded up so that at most an eighth is wasted and blocks of similar size are interchangeable.
size_t CachingAllocator::size_class(size_t bytes) {
  if (bytes <= 1024) {
    return (std::max<size_t>(bytes, 1) + granule - 1) / granule * granule;
  }
  size_t step = size_t(1) << (63 - __builtin_clzll(bytes) - 3);
  return (bytes + step - 1) / step * step;
}

int CachingAllocator::class_index(size_t size) {
  if (size <= 1024) {
    return int(size / granule) - 1;
  }
  int log = 63 - __builtin_clzll(size);
  return 15 + (log - 10) * 8 + int(size >> (log - 3)) - 8;
}

size_t CachingAllocator::class_size(int index) {
  if (index < 16) {
    return size_t(index + 1) * granule;
  }
  int above = index - 15;
  return size_t(8 + above % 8) << (10 + above / 8 - 3);
}

Memory CachingAllocator::allocate(size_t bytes, int32_t stream) {
  if (bytes > (size_t(1) << 48)) {
    return {};
  }
  size_t size = size_class(bytes);
  {
    std::lock_guard lock(mutex_);
    if (Memory m = take_cached(size, stream); m.size) {
      add_active(size);
      return m;
    }
    if (active_ + size > limit_) {
      return {};
    }
    trim(limit_ - active_ - size);
    add_active(size);
  }
  Memory m = source_.obtain(size, stream);
  if (!m.size) {
    std::lock_guard lock(mutex_);
    active_ -= size;
  }
  return m;
}

void CachingAllocator::release(Memory memory, std::span<const Event> pending) {
  std::lock_guard lock(mutex_);
  active_ -= memory.size;
  if (source_.returns(memory.size)) {
    cached_ += memory.size;  // other blocks never go back: they are no cache
  }
  blocks_[class_index(memory.size)].push_back({memory, SmallVector<Event, 2>(pending)});
  trim(cache_limit_);
}

size_t CachingAllocator::active() { return locked(active_); }
size_t CachingAllocator::peak() { return locked(peak_); }
void CachingAllocator::reset_peak() {
  std::lock_guard lock(mutex_);
  peak_ = 0;
}
size_t CachingAllocator::cached() {
  std::lock_guard lock(mutex_);
  trim(cache_limit_);
  return cached_;
}
void CachingAllocator::clear_cache() {
  std::lock_guard lock(mutex_);
  trim(0);
  source_.trimmed();
}
size_t CachingAllocator::limit() { return locked(limit_); }
size_t CachingAllocator::set_limit(size_t bytes) {
  std::lock_guard lock(mutex_);
  return std::exchange(limit_, bytes);
}
size_t CachingAllocator::set_cache_limit(size_t bytes) {
  std::lock_guard lock(mutex_);
  size_t previous = std::exchange(cache_limit_, bytes);
  trim(bytes);
  return previous;
}

size_t CachingAllocator::locked(const size_t& value) {
  std::lock_guard lock(mutex_);
  return value;
}

void CachingAllocator::add_active(size_t size) {
  active_ += size;
  peak_ = std::max(peak_, active_);
}

// The most recently freed block that this stream may write: it is the likeliest to be in cache.
Memory CachingAllocator::take_cached(size_t size, int32_t stream) {
  auto& list = blocks_[class_index(size)];
  for (size_t i = list.size(); i-- > 0;) {
    auto usable = [&](const Event& e) { return e.stream == stream || reached(e); };
    if (std::all_of(list[i].pending.begin(), list[i].pending.end(), usable)) {
      Memory m = list[i].memory;
      list.erase(list.begin() + i);
      if (source_.returns(size)) {
        cached_ -= size;
      }
      return m;
    }
  }
  return {};
}

// Gives cached blocks back to their source, largest first, if more than `limit` bytes are cached:
// an eighth more than that, so that a full cache is not searched at every release. Blocks that a
// stream still works on stay.
void CachingAllocator::trim(size_t limit) {
  if (cached_ <= limit) {
    return;
  }
  size_t keep = limit - limit / 8;
  for (int c = class_count; c-- > 0 && cached_ > keep;) {
    if (!source_.returns(class_size(c))) {
      return;
    }
    std::erase_if(blocks_[c], [&](const FreeBlock& b) {
      if (cached_ <= keep || !std::all_of(b.pending.begin(), b.pending.end(), reached)) {
        return false;
      }
      source_.give_back(b.memory);
      cached_ -= class_size(c);
      return true;
    });
  }
}

}  // namespace mlx::core
