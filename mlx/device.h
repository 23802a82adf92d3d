// Device and Stream: where work runs, and in which queue.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "mlx/api.h"

namespace mlx::core {

struct Device {
  enum class Type : uint8_t { cpu, gpu };
  static constexpr Type cpu = Type::cpu;
  static constexpr Type gpu = Type::gpu;

  Type type = cpu;
  int32_t index = 0;

  constexpr Device(Type t = cpu, int32_t i = 0) : type(t), index(i) {}  // NOLINT
  constexpr bool operator==(const Device&) const = default;
};

// A queue of a device; work in one stream runs in order. Usable from any thread.
struct Stream {
  int32_t index = 0;  // unique over all devices
  Device device;

  constexpr bool operator==(const Stream&) const = default;
};

// Stands for a stream of its own in every thread that uses it.
struct ThreadLocalStream {
  int32_t index = 0;
  Device device;

  constexpr bool operator==(const ThreadLocalStream&) const = default;
};

// What every op takes last: nothing, a stream, or a device (its default stream).
using StreamOrDevice = std::variant<std::monostate, Stream, Device, Device::Type>;

// Device and default streams of the calling thread.
MLX_API Device default_device();
MLX_API void set_default_device(Device d);
MLX_API Stream default_stream(Device d);
MLX_API void set_default_stream(Stream s);
MLX_API Stream new_stream(Device d);
MLX_API ThreadLocalStream new_thread_local_stream(Device d);
MLX_API Stream to_stream(const ThreadLocalStream& s);  // the calling thread's
MLX_API Stream to_stream(const StreamOrDevice& s);
MLX_API bool is_available(Device d);
MLX_API int device_count(Device::Type t);

// Destroys the calling thread's streams after finishing their work.
MLX_API void clear_streams();

// Waits for all work of a stream (default: the calling thread's default stream).
MLX_API void synchronize(StreamOrDevice s = {});

}  // namespace mlx::core
