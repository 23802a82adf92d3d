// Node: one value of the graph: how to compute it until it is encoded, where it lies afterwards.
#pragma once

#include <atomic>
#include <mutex>

#include "mlx/graph/array.h"
#include "mlx/graph/buffer.h"
#include "mlx/graph/primitive.h"

namespace mlx::core {

// built → claimed (an eval took it) → encoded (queued on its stream) → available.
// A failed value is available; its buffer carries the error. An interrupted eval returns
// what it had claimed to built.
enum class NodeState : uint8_t { built, claimed, encoded, available };

// Outputs of one multi-output primitive know each other without owning each other.
struct Group {
  struct Output {
    Node* node;  // null once nobody holds it
    Shape shape;
    Dtype dtype;
  };
  std::atomic<uint32_t> refs{0};
  std::mutex mutex;
  std::vector<Output> outputs;

  void retain() noexcept { refs.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    if (refs.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
};

struct Node {
  std::atomic<uint32_t> refs{1};
  std::atomic<NodeState> state{NodeState::built};
  Dtype dtype;
  uint8_t tracer = 0;  // level of a transform's trace: keeps its inputs after evaluation
  bool row_contiguous = true;
  bool has_scalar = false;  // the value is `scalar`, there is no buffer
  uint16_t output_index = 0;
  uint32_t position = 0;  // place in the tape of the eval that claimed the node
  Stream stream;
  uint64_t sequence = 0;  // position on the stream once claimed
  int64_t size = 0;
  int64_t offset = 0;  // bytes from the buffer's start to the first element
  Shape shape;
  Strides strides;           // valid from encoded on
  Ref<Primitive> primitive;  // null for leaves
  SmallVector<array, 3> inputs;
  Ref<Group> group;  // multi-output primitives only
  Ref<Buffer> buffer;
  alignas(8) unsigned char scalar[8] = {};
  Node* next = nullptr;  // links dying nodes and the free list

  Node(Shape s, Dtype t);
  ~Node();
  static void* operator new(size_t bytes);
  static void operator delete(void* p) noexcept;

  void* host_data() {
    return has_scalar ? static_cast<void*>(scalar) : static_cast<char*>(buffer->host()) + offset;
  }
};

// All outputs of the node's primitive in order; dead siblings come to life again.
MLX_INTERNAL std::vector<array> outputs_of(const array& a);

// An evaluated node forgets how it was computed.
MLX_INTERNAL void detach_node(Node& n);

// Guards claiming and every walk over nodes that are not part of the walker's own trace.
MLX_INTERNAL std::mutex& graph_mutex();

// Nodes alive in the process, for leak checks and tests.
MLX_INTERNAL int64_t live_nodes();

}  // namespace mlx::core
