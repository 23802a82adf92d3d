// Encoder: what an evaluator of the CUDA backend may ask of its stream: launch a kernel, call a
// library, scratch memory. Launches are collected and go to the device as chains of one CUDA graph.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "mlx/backend.h"

namespace mlx::core {

namespace cuda {

struct Grid {
  dim3 blocks;
  dim3 threads;
  unsigned shared_bytes = 0;  // dynamic shared memory of a block
};

// Enough blocks of `threads` for n elements, `per_thread` each; kernels stride over what is beyond.
inline Grid grid_for(int64_t n, int per_thread = 1, int threads = 256) {
  int64_t blocks = (n + int64_t(threads) * per_thread - 1) / (int64_t(threads) * per_thread);
  return {dim3(unsigned(std::clamp<int64_t>(blocks, 1, 0x7fffffff))), dim3(unsigned(threads))};
}

// A kernel that waits to be launched; its arguments lie in the encoder's arena.
struct Launch {
  CUfunction function;
  Grid grid;
  const char* name;
  uint32_t first_argument;
  uint32_t argument_count;
};

}  // namespace cuda

// Memory of the stream for the length of one evaluator call; reused by later work of the stream.
class Scratch {
 public:
  Scratch(size_t bytes, Stream stream);
  Scratch(Scratch&& o) noexcept
      : memory_(std::exchange(o.memory_, {})), stream_(o.stream_), sequence_(o.sequence_) {}
  ~Scratch();
  template <typename T>
  T* as() const {
    return static_cast<T*>(memory_.device);
  }

 private:
  friend class Encoder;
  Memory memory_;
  Stream stream_;
  uint64_t sequence_ = 0;
};

class Encoder {
 public:
  explicit Encoder(Stream s);
  ~Encoder();
  Encoder(const Encoder&) = delete;

  // Queues kernel(arguments…), converted to the kernel's parameter types and copied.
  template <typename... P, typename... A>
  void launch(const char* name, void (*kernel)(P...), const cuda::Grid& grid,
              const A&... arguments) {
    static_assert(sizeof...(P) == sizeof...(A));
    begin_launch(name, function(reinterpret_cast<const void*>(kernel), grid.shared_bytes), grid);
    (add(P(arguments)), ...);
    end_launch();
  }
  // The same for a function of a module compiled at run time, whose arguments are what is given.
  template <typename... A>
  void launch(const char* name, CUfunction kernel, const cuda::Grid& grid, const A&... arguments) {
    begin_launch(name, kernel, grid);
    (add(arguments), ...);
    end_launch();
  }
  // Starts an argument list that is built piece by piece; end_launch() closes it.
  void begin_launch(const char* name, CUfunction function, const cuda::Grid& grid);
  template <typename A>
  void add(const A& value) {
    static_assert(std::is_trivially_copyable_v<A>);
    add_argument(&value, sizeof value, alignof(A));
  }
  void add_bytes(const void* value, size_t bytes, size_t alignment) {
    add_argument(value, bytes, alignment);
  }
  void end_launch();
  CUfunction function(const void* kernel, unsigned shared_bytes = 0);

  // The stream for calls of libraries and copies: everything queued so far comes before them.
  cudaStream_t queue() {
    flush();
    return stream_;
  }

  Scratch scratch(size_t bytes);
  // Memory until the end of the task.
  void* keep(size_t bytes);
  // The operand's address on the device; a scalar that is kept in the node is written there first.
  const void* address(const Operand& operand);

  // Sends what is queued to the device.
  void flush();
  bool empty() const { return launches_.empty(); }

  // Around the evaluator call of a task.
  void begin_task(uint64_t task_sequence) { sequence = task_sequence; }
  void end_task() { held_.clear(); }

  const Stream stream;
  uint64_t sequence = 0;  // of the task being encoded

 private:
  void add_argument(const void* value, size_t bytes, size_t alignment);
  void launch_chain(size_t first, size_t count);
  void launch_one(const cuda::Launch& l);
  void** arguments_of(const cuda::Launch& l);

  // A graph of `size` kernels one after another, whose kernels and arguments are set anew each
  // time.
  struct Chain {
    size_t size;
    CUgraph graph;
    CUgraphExec executable;
    std::vector<CUgraphNode> nodes;
  };
  Chain make_chain(size_t first, size_t count);

  cudaStream_t stream_ = nullptr;
  std::vector<cuda::Launch> launches_;
  std::vector<std::max_align_t> arena_;  // the arguments' bytes
  size_t arena_used_ = 0;
  std::vector<size_t> offsets_;  // of the arguments in the arena
  std::vector<void*> pointers_;  // the arguments of one launch, as the driver wants them
  std::vector<Chain> chains_;
  std::vector<Scratch> held_;  // until the end of the task
};

}  // namespace mlx::core
