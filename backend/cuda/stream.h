// CudaStream: one stream of a device as the core sees it: encoded work, batches that end in an
// event, waits for other streams.
#pragma once

#include <deque>
#include <mutex>

#include "backend/cuda/encoder.h"

namespace mlx::core::cuda {

class CudaStream {
 public:
  explicit CudaStream(Stream s) : stream_(s), encoder_(s) {}

  void encode(Task& task);
  void commit(uint64_t last);
  // Later work waits for `event` of another CUDA stream.
  void wait_for_device(Event event, CudaStream& other);
  void poll(uint64_t sequence, bool awaited);
  void synchronize();
  bool lost();
  // Memory of the device with what the buffer holds elsewhere; copied by this stream.
  Memory upload(const Buffer& buffer);
  // The same for the task that is encoded next, and gone after it.
  void* upload_once(const Buffer& buffer);
  // What has been encoded is sent, and will be reported.
  void close();

 private:
  // Work up to `last` is done when the event is.
  struct Batch {
    uint64_t last;
    cudaEvent_t event;
  };
  void run(Task& task);
  void run_checked(Task& task);
  void run_timed(Task& task);
  cudaEvent_t take_event();
  // Ends the batch at what has been encoded so far; under mutex_.
  void close_batch();
  Memory upload_locked(const Buffer& buffer);
  // The stream once everything queued is sent; what a refused launch takes along fails.
  cudaStream_t sent_queue();
  void fail_unsent(const std::exception_ptr& error);
  // Null: what is asked for is done.
  cudaEvent_t event_after(uint64_t sequence);
  void lose(cudaError_t error);

  const Stream stream_;
  std::mutex mutex_;  // encoding and the batches
  Encoder encoder_;
  uint64_t encoded_ = 0;             // last sequence number encoded
  std::atomic<uint64_t> closed_{0};  // batches end at least here
  std::deque<Batch> batches_;
  std::vector<cudaEvent_t> idle_events_;
  std::vector<BufferWatch> unsent_;  // outputs of work that has not been sent
  std::vector<Memory> uploads_;      // of upload_once()
  std::exception_ptr lost_;          // the device is gone
};

}  // namespace mlx::core::cuda
