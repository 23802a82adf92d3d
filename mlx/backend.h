// Backend: what a device implements. The core schedules; a backend allocates, queues and runs.
#pragma once

#include <map>
#include <span>
#include <string>
#include <variant>

#include "mlx/api.h"
#include "mlx/graph/buffer.h"
#include "mlx/graph/primitive.h"

namespace mlx::core {

using DeviceInfo = std::map<std::string, std::variant<std::string, int64_t>>;

// One application of a primitive, ready for a stream.
struct Task {
  Ref<const Primitive> primitive;
  Evaluator evaluator = nullptr;
  SmallVector<Operand, 3> inputs;
  SmallVector<Operand, 1> outputs;
  // Where failure is found and reported; parallel to inputs and outputs, empty watches for scalars.
  SmallVector<BufferWatch, 3> input_buffers;
  SmallVector<BufferWatch, 1> output_buffers;
  uint64_t sequence = 0;

  MLX_INTERNAL void
  bind_scalars();  // points inputs that carry their value at their own copy, after a move
};

// Statistics and limits of a device's memory, in bytes.
struct MemoryControl {
  virtual size_t active() = 0;
  virtual size_t peak() = 0;
  virtual void reset_peak() = 0;
  virtual size_t cached() = 0;
  virtual void clear_cache() = 0;
  virtual size_t limit() = 0;
  virtual size_t set_limit(size_t bytes) = 0;        // returns the previous one
  virtual size_t set_cache_limit(size_t bytes) = 0;  // returns the previous one

 protected:
  ~MemoryControl() = default;
};

// The exception being handled, with the name and the operands of the op that raised it.
MLX_INTERNAL std::exception_ptr describe_failure(const Task& task);

enum class Mode : uint8_t { sync, async };

struct Backend {
  virtual int device_count() = 0;
  virtual DeviceInfo info(int device) = 0;

  // Null: not native here, the CPU runs it.
  virtual Evaluator evaluator(PrimitiveId id) = 0;
  virtual bool supports(const Primitive& primitive, std::span<const array> inputs) = 0;

  // An empty Memory if there is no room. Memory given back may be handed out again at once on a
  // stream of `pending`, elsewhere after those events.
  virtual Memory allocate(size_t bytes, Stream stream) = 0;
  virtual void release(Memory memory, std::span<const Event> pending) = 0;
  virtual MemoryControl& memory() = 0;
  // The number of the device the memory belongs to.
  virtual int device_of(const Memory&) { return 0; }
  // Waits for what other libraries have queued on the device's default stream.
  virtual void await_foreign_work([[maybe_unused]] int device) {}
  // Copies bytes of memory that nothing is writing to the host.
  virtual void read(const Memory& memory, size_t offset, void* to, size_t bytes) = 0;
  // The host is going to use this memory, which is in its reach, where it lies.
  virtual void prepare_for_host(const Memory& memory) = 0;
  // Where the work numbered `at`, which is encoded next on its stream, finds the buffer's memory;
  // copied there if it lies elsewhere.
  virtual void* address(Buffer& buffer, Event at) = 0;

  virtual void open(Stream stream) = 0;
  virtual void close(Stream stream) = 0;
  // A batch of encode() calls of one thread on one stream, up to sequence number `last`. Sync: the
  // caller will wait at once, and begin() may say (true) that work runs within encode().
  virtual bool begin(Stream stream, Mode mode) = 0;
  virtual void encode(Stream stream, Task& task) = 0;
  virtual void commit(Stream stream, uint64_t last) = 0;
  // All later work of `stream` waits for the event.
  virtual void wait(Stream stream, Event event) = 0;
  virtual void synchronize(Stream stream) = 0;
  // Reports what has been done since the last look, up to `sequence`, of streams that do not report
  // by themselves (Timeline::polled). Awaited: work that waits for company is sent now.
  virtual void poll(Stream, [[maybe_unused]] uint64_t sequence, [[maybe_unused]] bool awaited) {}
  // The process is about to end, its libraries are still there: what runs beside the streams stops.
  virtual void stop() {}

 protected:
  ~Backend() = default;
};

// ValueError if the device has no backend in this process.
MLX_INTERNAL Backend& backend_of(Device device);
MLX_INTERNAL Backend* find_backend(Device::Type type);

}  // namespace mlx::core
