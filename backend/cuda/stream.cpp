// Encoding, batches and their events, waiting for other streams of devices.
#include "backend/cuda/stream.h"

#include "backend/cuda/check.h"
#include "backend/cuda/device.h"
#include "backend/cuda/driver.h"
#include "backend/cuda/evaluators.h"
#include "backend/cuda/memory.h"
#include "backend/cuda/nvtx.h"
#include "backend/cuda/transfer.h"
#include "backend/cuda/verify.h"
#include "mlx/env.h"
#include "mlx/graph/profile.h"
#include "mlx/graph/scheduler.h"

namespace mlx::core::cuda {

namespace {

constexpr size_t max_batches = 64;  // sent and not finished; then encoding waits

}  // namespace

void CudaStream::encode(Task& task) {
  if (profiling() || env().check) {
    // Each task is waited for under the lock. What it waits for may be work of the host that itself
    // waits for earlier work here: that is reported before.
    synchronize();
  }
  NvtxRange range(task);
  std::lock_guard lock(mutex_);
  use_device(stream_.device.index);
  encoded_ = task.sequence;
  std::exception_ptr error = lost_;
  if (!error) {
    try {
      encoder_.begin_task(task.sequence);
      if (env().check) {
        run_checked(task);
      } else if (profiling()) {
        run_timed(task);
      } else {
        run(task);
      }
      encoder_.end_task();
    } catch (...) {
      encoder_.end_task();
      error = describe_failure(task);
      if (encoder_.empty()) {
        fail_unsent(error);  // a refused launch took along what was queued with it
      }
    }
  }
  for (const Memory& m : uploads_) {
    Event until{stream_.index, task.sequence};
    device_memory(stream_.device.index).release(m, std::span(&until, 1));
  }
  uploads_.clear();
  for (const BufferWatch& w : task.output_buffers) {
    if (error) {
      w.get()->fail(error);
    } else {
      unsent_.push_back(w);
    }
  }
  if (encoder_.empty()) {
    unsent_.clear();  // sent while it was encoded
  }
}

void CudaStream::run(Task& task) {
  if (task.primitive->id() == PrimitiveId::custom) {
    task.primitive->eval_gpu(task.inputs, task.outputs, encoder_);
  } else {
    evaluator_of(task.primitive->id())(*task.primitive, task.inputs, task.outputs, encoder_);
  }
}

// The same, and compared with what the CPU makes of it.
void CudaStream::run_checked(Task& task) {
  Verification verification(task, stream_.device.index, encoder_.queue());
  run(task);
  verification.compare(encoder_.queue());
}

// One task at a time, timed by the device.
void CudaStream::run_timed(Task& task) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "cudaEventCreate");
  check(cudaEventCreate(&end), "cudaEventCreate");
  int64_t start = profile_clock();
  check(cudaEventRecord(begin, encoder_.queue()), "cudaEventRecord");
  run(task);
  check(cudaEventRecord(end, encoder_.queue()), "cudaEventRecord");
  check(cudaEventSynchronize(end), "cudaEventSynchronize");
  float ms = 0;
  check(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  profile_task(task, "gpu", start, 1e3 * double(ms));
}

// A launch that was refused takes along what was queued with it.
void CudaStream::fail_unsent(const std::exception_ptr& error) {
  for (const BufferWatch& w : unsent_) {
    w.get()->fail(error);
  }
  unsent_.clear();
}

cudaStream_t CudaStream::sent_queue() {
  try {
    cudaStream_t queue = encoder_.queue();
    unsent_.clear();
    return queue;
  } catch (...) {
    fail_unsent(std::current_exception());
    throw;
  }
}

cudaEvent_t CudaStream::take_event() {
  if (!idle_events_.empty()) {
    cudaEvent_t e = idle_events_.back();
    idle_events_.pop_back();
    return e;
  }
  cudaEvent_t e;
  check(cudaEventCreateWithFlags(&e, cudaEventDisableTiming), "cudaEventCreate");
  return e;
}

void CudaStream::close_batch() {
  if (closed_.load(std::memory_order_relaxed) >= encoded_) {
    return;
  }
  use_device(stream_.device.index);
  try {
    encoder_.flush();
    unsent_.clear();
    cudaEvent_t e = take_event();
    check(cudaEventRecord(e, encoder_.queue()), "cudaEventRecord");
    batches_.push_back({encoded_, e});
  } catch (...) {
    fail_unsent(std::current_exception());
    batches_.push_back({encoded_, nullptr});
  }
  closed_.store(encoded_, std::memory_order_release);
}

void CudaStream::commit(uint64_t last) {
  Event oldest{-1, 0};
  {
    std::lock_guard lock(mutex_);
    encoded_ = std::max(encoded_, last);
    close_batch();
    if (batches_.size() > max_batches) {
      oldest = {stream_.index, batches_[batches_.size() - max_batches].last};
    }
  }
  if (oldest.stream >= 0) {
    wait_for(oldest);
  }
}

cudaEvent_t CudaStream::event_after(uint64_t sequence) {
  std::lock_guard lock(mutex_);
  if (closed_.load(std::memory_order_relaxed) < sequence) {
    close_batch();
  }
  if (closed_.load(std::memory_order_relaxed) < sequence) {
    // A copy that the next task is to use. Should the event be recorded again before it is waited
    // for, then only later work is waited for.
    use_device(stream_.device.index);
    cudaEvent_t e = take_event();
    idle_events_.push_back(e);
    check(cudaEventRecord(e, encoder_.queue()), "cudaEventRecord");
    return e;
  }
  for (const Batch& b : batches_) {
    if (b.last >= sequence) {
      return b.event;
    }
  }
  return nullptr;
}

void CudaStream::wait_for_device(Event event, CudaStream& other) {
  cudaEvent_t e = other.event_after(event.sequence);
  if (!e) {
    return;
  }
  std::lock_guard lock(mutex_);
  use_device(stream_.device.index);
  check(cudaStreamWaitEvent(sent_queue(), e, 0), "cudaStreamWaitEvent");
}

void CudaStream::poll(uint64_t sequence, bool awaited) {
  bool sent = closed_.load(std::memory_order_acquire) >= sequence;
  if (!sent && !awaited) {
    return;
  }
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) {
    return;  // somebody encodes or looks; ask again
  }
  if (!sent && encoded_ >= sequence) {
    close_batch();
  }
  while (!batches_.empty()) {
    Batch& b = batches_.front();
    if (b.event) {
      use_device(stream_.device.index);
      cudaError_t error = cudaEventQuery(b.event);
      if (error == cudaErrorNotReady) {
        return;
      }
      if (error != cudaSuccess) {
        lose(error);
        return;
      }
      idle_events_.push_back(b.event);
    }
    uint64_t last = b.last;
    batches_.pop_front();
    complete(stream_.index, last);
  }
}

// Nothing on this device can be trusted any more: what is under way fails, and so does what comes.
void CudaStream::lose(cudaError_t error) {
  try {
    fail_cuda(error, "gpu");
  } catch (...) {
    lost_ = std::current_exception();
  }
  uint64_t last = batches_.back().last;
  batches_.clear();
  complete(stream_.index, last);
}

void CudaStream::close() {
  std::lock_guard lock(mutex_);
  close_batch();
}

bool CudaStream::lost() {
  std::lock_guard lock(mutex_);
  return lost_ != nullptr;
}

void CudaStream::synchronize() {
  uint64_t last;
  {
    std::lock_guard lock(mutex_);
    close_batch();
    last = closed_.load();
  }
  if (last) {
    wait_for({stream_.index, last});
  }
}

Memory CudaStream::upload(const Buffer& buffer) {
  std::lock_guard lock(mutex_);
  return upload_locked(buffer);
}

void* CudaStream::upload_once(const Buffer& buffer) {
  std::lock_guard lock(mutex_);
  uploads_.push_back(upload_locked(buffer));
  return uploads_.back().device;
}

Memory CudaStream::upload_locked(const Buffer& buffer) {
  use_device(stream_.device.index);
  CachingAllocator& allocator = device_memory(stream_.device.index);
  Memory m = allocator.allocate(buffer.size(), stream_.index);
  if (!m.size) {
    allocator.clear_cache();
    m = allocator.allocate(buffer.size(), stream_.index);
  }
  if (!m.size) {
    fail<MemoryError>("[upload] wanted {} bytes on the GPU: {} are in use of a limit of {}",
                      buffer.size(), allocator.active(), allocator.limit());
  }
  cuda::upload(buffer.host(), m.device, buffer.size(), stream_.device.index, sent_queue());
  return m;
}

}  // namespace mlx::core::cuda
