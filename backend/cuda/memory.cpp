// Small blocks are cut from slabs, large ones are allocations of their own. Managed memory is
// populated on the device by prefetch: a first touch by kernels would cost twenty times as much. It
// is never more than the card has free: over-subscribed managed memory can hang it.
#include "backend/cuda/memory.h"

#include <algorithm>
#include <memory>

#include "backend/cuda/check.h"
#include "backend/cuda/device.h"
#include "mlx/env.h"

namespace mlx::core::cuda {

namespace {

constexpr size_t small_block = size_t(1) << 20;  // up to here blocks are cut from slabs
constexpr size_t slab_bytes = size_t(32) << 20;
constexpr size_t reserve = size_t(256) << 20;  // left to the libraries and to other programs

class DeviceSource final : public MemorySource {
 public:
  DeviceSource(int device, bool managed) : device_(device), managed_(managed) {}

  Memory obtain(size_t size, int32_t) override {
    if (size > small_block) {
      void* p = slab(size);
      return p ? block(p, size) : Memory{};
    }
    std::lock_guard lock(mutex_);
    if (left_ < size) {
      // What is left of the old slab is less than one block of this size.
      char* p = static_cast<char*>(slab(slab_bytes));
      if (!p) {
        return {};
      }
      next_ = p;
      left_ = slab_bytes;
    }
    Memory m = block(next_, size);
    next_ += size;
    left_ -= size;
    return m;
  }

  void give_back(const Memory& m) override {
    if (in_forked_child()) {
      return;
    }
    use_device(device_);
    cudaFree(m.device);
  }
  bool returns(size_t size) const override { return size > small_block; }

 private:
  void* slab(size_t size) {
    use_device(device_);
    size_t free = 0, total = 0;
    if (cudaMemGetInfo(&free, &total) != cudaSuccess ||
        free < size + std::min(reserve, total / 16)) {
      return nullptr;
    }
    void* p = nullptr;
    cudaError_t error = managed_ ? cudaMallocManaged(&p, size) : cudaMalloc(&p, size);
    if (error == cudaSuccess && managed_) {
      error = populate(p, size);
      if (error != cudaSuccess) {
        cudaFree(p);
      }
    }
    if (error != cudaSuccess) {
      cudaGetLastError();
      return nullptr;
    }
    return p;
  }

  cudaError_t populate(void* p, size_t size) {
#if CUDART_VERSION >= 13000
    cudaMemLocation here{};
    here.type = cudaMemLocationTypeDevice;
    here.id = device_;
    cudaError_t error = cudaMemAdvise(p, size, cudaMemAdviseSetPreferredLocation, here);
    if (error == cudaSuccess) {
      error = cudaMemPrefetchAsync(p, size, here, 0, nullptr);
    }
#else
    cudaError_t error = cudaMemAdvise(p, size, cudaMemAdviseSetPreferredLocation, device_);
    if (error == cudaSuccess) {
      error = cudaMemPrefetchAsync(p, size, device_, nullptr);
    }
#endif
    return error == cudaSuccess ? cudaStreamSynchronize(nullptr) : error;
  }

  Memory block(void* p, size_t size) const { return {managed_ ? p : nullptr, p, size}; }

  const int device_;
  const bool managed_;
  std::mutex mutex_;
  char* next_ = nullptr;
  size_t left_ = 0;
};

// Without concurrent access the CPU may not look at managed memory while kernels run.
bool use_managed_memory(int device) {
  return env().gpu_memory == "managed" && devices()[size_t(device)].concurrent_managed_access;
}

struct DeviceMemory {
  explicit DeviceMemory(int device)
      : source(device, use_managed_memory(device)),
        allocator(source, devices()[size_t(device)].total_memory / 100 * 95,
                  devices()[size_t(device)].total_memory / 4) {}
  DeviceSource source;
  CachingAllocator allocator;
};

std::vector<std::unique_ptr<DeviceMemory>>& memories() {
  // Never destroyed: buffers may outlive static destruction.
  static auto& all = *new std::vector<std::unique_ptr<DeviceMemory>>([] {
    std::vector<std::unique_ptr<DeviceMemory>> v;
    for (size_t i = 0; i < devices().size(); ++i) {
      v.push_back(std::make_unique<DeviceMemory>(int(i)));
    }
    return v;
  }());
  return all;
}

// The limits of the API hold for each device.
struct AllDevices final : MemoryControl {
  template <typename F>
  static size_t sum(F f) {
    size_t total = 0;
    for (auto& m : memories()) {
      total += f(m->allocator);
    }
    return total;
  }
  size_t active() override {
    return sum([](CachingAllocator& a) { return a.active(); });
  }
  size_t peak() override {
    return sum([](CachingAllocator& a) { return a.peak(); });
  }
  void reset_peak() override {
    sum([](CachingAllocator& a) { return a.reset_peak(), size_t(0); });
  }
  size_t cached() override {
    return sum([](CachingAllocator& a) { return a.cached(); });
  }
  void clear_cache() override {
    sum([](CachingAllocator& a) { return a.clear_cache(), size_t(0); });
  }
  size_t limit() override {
    return sum([](CachingAllocator& a) { return a.limit(); });
  }
  size_t set_limit(size_t bytes) override {
    return sum([=](CachingAllocator& a) { return a.set_limit(bytes); });
  }
  size_t set_cache_limit(size_t bytes) override {
    return sum([=](CachingAllocator& a) { return a.set_cache_limit(bytes); });
  }
};

}  // namespace

CachingAllocator& device_memory(int device) { return memories()[size_t(device)]->allocator; }

MemoryControl& all_devices_memory() {
  static AllDevices all;
  return all;
}

}  // namespace mlx::core::cuda
