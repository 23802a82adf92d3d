// Streams as timelines: which sequence numbers were claimed, encoded and completed, and who waits.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "mlx/device.h"
#include "mlx/graph/buffer.h"

namespace mlx::core {

struct Timeline {
  Stream stream;
  std::atomic<uint64_t> claimed{0};    // last number given out; under graph_mutex()
  std::atomic<uint64_t> completed{0};  // work up to here is done
  bool polled = false;                 // the backend has to be asked: poll()
  uint64_t encoded = 0;                // batches up to here have been encoded; under `mutex`
  std::atomic<int> waiters{0};
  std::mutex mutex;
  std::condition_variable changed;
};

inline constexpr int max_streams = 4096;

MLX_INTERNAL Timeline& timeline(int32_t stream);

// A backend reports that a stream's work up to `sequence` is done.
MLX_INTERNAL void complete(int32_t stream, uint64_t sequence);
MLX_INTERNAL bool reached(Event event);
MLX_INTERNAL void wait_for(Event event);
// The same for a user who may lose patience: false if interrupted() before the event.
MLX_INTERNAL bool wait_interruptibly(Event event);

// Batches of one stream are encoded in the order in which they were claimed.
MLX_INTERNAL void await_turn(int32_t stream, uint64_t first);
MLX_INTERNAL void end_turn(int32_t stream, uint64_t last);

// Asked between nodes of a long evaluation; true stops it (Ctrl-C).
MLX_INTERNAL void set_interrupt_check(bool (*check)());
MLX_INTERNAL bool interrupted();

// While it lives the calling thread encodes or runs work, and must not wait for other work.
class MLX_INTERNAL EncodingScope {
 public:
  EncodingScope();
  ~EncodingScope();
  EncodingScope(const EncodingScope&) = delete;
  static bool active();
};

// A stream that other threads may use once the calling thread has ended.
MLX_INTERNAL Stream borrow_stream(Device d);

// Finishes what is queued on every stream; before a fork and at exit.
MLX_INTERNAL void synchronize_all();

// Raised in an interrupted eval; the binding turns it into KeyboardInterrupt.
struct MLX_API Interrupted {};

}  // namespace mlx::core
