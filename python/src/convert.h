// From Python objects to arrays: scalars, nested lists, buffers, DLPack.
#pragma once

#include <functional>

#include "python/src/bindings.h"

namespace mlx::core {

// mx.array(value, dtype): a new array whatever the object is.
array make_array(nb::handle value, std::optional<Dtype> dtype);

// Memory of another library, as the buffer protocol or DLPack describes it.
struct ForeignMemory {
  const char* data = nullptr;
  size_t span = 0;  // bytes from `data` to the end of the last element
  Shape shape;
  Strides strides;  // in bytes
  Dtype dtype = uint8;
  bool wide_complex = false;  // complex of two doubles, for which there is no Dtype
  bool read_only = false;
  int device = -1;  // number of the GPU where it lies; -1: the host
  std::function<void()> release;

  ForeignMemory() = default;
  ForeignMemory(ForeignMemory&& o) noexcept;
  ForeignMemory(const ForeignMemory&) = delete;
  ~ForeignMemory() {
    if (release) release();
  }
};

// Nothing if the object is neither a buffer nor has __dlpack__.
std::optional<ForeignMemory> foreign_memory(nb::handle h);
std::optional<ForeignMemory> dlpack_memory(nb::handle h);  // by __dlpack__ or a capsule

enum class Copy { if_needed, always, never };
// The value in memory that nobody else has.
array in_new_memory(const array& a, StreamOrDevice s);
// float64 becomes float32 unless `dtype` asks otherwise.
array from_foreign(ForeignMemory memory, std::optional<Dtype> dtype, Copy copy);

// The name of the object's class, for messages.
std::string class_name(nb::handle h);

// Waits for the value without holding the GIL.
void eval_released(const array& a);
void eval_released(std::span<const array> arrays);

// An integer as __index__ gives it; false (no error set) for bools, floats and other objects.
bool load_index(nb::handle h, int64_t& out, bool& overflow) noexcept;

}  // namespace mlx::core
