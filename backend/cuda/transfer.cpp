// Pinned staging blocks, two in turn, so that copying on the host and the transfer overlap.
#include "backend/cuda/transfer.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "backend/cuda/check.h"
#include "backend/cuda/device.h"

namespace mlx::core::cuda {

namespace {

constexpr size_t block_bytes = size_t(4) << 20;

struct Block {
  char* memory = nullptr;
  cudaEvent_t free = nullptr;  // the transfer that last used it is over
};

class Staging {
 public:
  explicit Staging(int device) {
    use_device(device);
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
    for (Block& b : blocks_) {
      check(cudaHostAlloc(reinterpret_cast<void**>(&b.memory), block_bytes, cudaHostAllocPortable),
            "cudaHostAlloc");
      check(cudaEventCreateWithFlags(&b.free, cudaEventDisableTiming), "cudaEventCreate");
    }
  }

  void download(const char* from, char* to, size_t bytes) {
    std::lock_guard lock(mutex_);
    // While one block travels, the one before it is copied out.
    size_t sent = 0, received = 0;
    for (int turn = 0; received < bytes; ++turn) {
      if (sent < bytes) {
        size_t n = std::min(block_bytes, bytes - sent);
        Block& b = blocks_[turn % 2];
        check(cudaEventSynchronize(b.free), "cudaEventSynchronize");
        check(cudaMemcpyAsync(b.memory, from + sent, n, cudaMemcpyDeviceToHost, stream_),
              "cudaMemcpyAsync");
        check(cudaEventRecord(b.free, stream_), "cudaEventRecord");
        sent += n;
        if (turn == 0 && sent < bytes) {
          continue;
        }
      }
      Block& b = blocks_[received / block_bytes % 2];
      check(cudaEventSynchronize(b.free), "cudaEventSynchronize");
      size_t n = std::min(block_bytes, bytes - received);
      std::memcpy(to + received, b.memory, n);
      received += n;
    }
  }

  void upload(const char* from, char* to, size_t bytes, cudaStream_t stream) {
    std::lock_guard lock(mutex_);
    for (size_t sent = 0; sent < bytes;) {
      size_t n = std::min(block_bytes, bytes - sent);
      Block& b = blocks_[next_++ % 2];
      check(cudaEventSynchronize(b.free), "cudaEventSynchronize");
      std::memcpy(b.memory, from + sent, n);
      check(cudaMemcpyAsync(to + sent, b.memory, n, cudaMemcpyHostToDevice, stream),
            "cudaMemcpyAsync");
      check(cudaEventRecord(b.free, stream), "cudaEventRecord");
      sent += n;
    }
  }

 private:
  std::mutex mutex_;
  cudaStream_t stream_ = nullptr;
  Block blocks_[2];
  unsigned next_ = 0;
};

// Up and down have blocks of their own: uploads may wait for work that waits for a download.
Staging& staging(int device, bool up) {
  static std::mutex mutex;
  static auto& all = *new std::vector<std::unique_ptr<Staging>>(2 * devices().size());
  std::lock_guard lock(mutex);
  std::unique_ptr<Staging>& s = all[2 * size_t(device) + size_t(up)];
  if (!s) {
    s = std::make_unique<Staging>(device);
  }
  return *s;
}

constexpr size_t immediate = 32 * 1024;  // the driver takes so much along with the command

}  // namespace

void download(const void* from, void* to, size_t bytes, int device) {
  use_device(device);
  staging(device, false).download(static_cast<const char*>(from), static_cast<char*>(to), bytes);
}

void upload(const void* from, void* to, size_t bytes, int device, cudaStream_t stream) {
  use_device(device);
  if (bytes <= immediate) {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
    return;
  }
  staging(device, true)
      .upload(static_cast<const char*>(from), static_cast<char*>(to), bytes, stream);
}

}  // namespace mlx::core::cuda
