// CachingAllocator: blocks of device memory in size classes (an eighth of a power of two apart),
// kept when freed and handed out again; a freed block remembers the streams that may still touch
// it.
#pragma once

#include <mutex>
#include <span>
#include <vector>

#include "mlx/backend.h"

namespace mlx::core {

// Where the blocks come from.
struct MemorySource {
  // An empty Memory if there is no room. Called without a lock.
  virtual Memory obtain(size_t size, int32_t stream) = 0;
  virtual void give_back(const Memory& memory) = 0;
  // False for blocks that stay with the allocator until the process ends.
  virtual bool returns(size_t size) const = 0;
  // After everything that could be given back was.
  virtual void trimmed() {}

 protected:
  ~MemorySource() = default;
};

class MLX_INTERNAL CachingAllocator final : public MemoryControl {
 public:
  CachingAllocator(MemorySource& source, size_t limit, size_t cache_limit)
      : source_(source), limit_(limit), cache_limit_(cache_limit) {}

  // Empty if the limit or the source has no room.
  Memory allocate(size_t bytes, int32_t stream);
  // The block may be handed out again at once on a pending stream, elsewhere after the events.
  void release(Memory memory, std::span<const Event> pending);

  size_t active() override;
  size_t peak() override;
  void reset_peak() override;
  size_t cached() override;
  void clear_cache() override;
  size_t limit() override;
  size_t set_limit(size_t bytes) override;
  size_t set_cache_limit(size_t bytes) override;
  std::mutex& mutex() { return mutex_; }

 private:
  struct FreeBlock {
    Memory memory;
    SmallVector<Event, 2> pending;
  };
  static constexpr int class_count = 16 + 39 * 8;

  size_t locked(const size_t& value);
  void add_active(size_t size);
  Memory take_cached(size_t size, int32_t stream);
  void trim(size_t limit);
  static size_t size_class(size_t bytes);
  static int class_index(size_t size);
  static size_t class_size(int index);

  MemorySource& source_;
  std::mutex mutex_;
  std::vector<FreeBlock> blocks_[class_count];
  size_t active_ = 0;
  size_t peak_ = 0;
  size_t cached_ = 0;
  size_t limit_;
  size_t cache_limit_;
};

}  // namespace mlx::core
