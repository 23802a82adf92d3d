// Encoder: what an evaluator of the CPU backend may ask of its stream.
#pragma once

#include <cstddef>

#include "backend/cpu/allocator.h"
#include "backend/cpu/thread_pool.h"
#include "mlx/backend.h"

namespace mlx::core {

// Scratch memory of one evaluator call; MemoryError if there is none.
class Scratch {
 public:
  explicit Scratch(size_t bytes) : memory_(cpu::allocate_or_fail(bytes)) {}
  Scratch(Scratch&& o) noexcept : memory_(std::exchange(o.memory_, {})) {}
  ~Scratch() {
    if (memory_.host) cpu::free_memory(memory_, {});
  }
  template <typename T>
  T* as() const {
    return static_cast<T*>(memory_.host);
  }

 private:
  Memory memory_;
};

class Encoder {
 public:
  explicit Encoder(Stream s) : stream(s) {}
  Scratch scratch(size_t bytes) { return Scratch(bytes); }

  const Stream stream;
};

}  // namespace mlx::core
