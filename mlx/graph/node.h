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

// The state together with the number of the evaluation that claimed the node: who waits for a
// claimed node sees that it was given back and claimed again by somebody else.
class AtomicState {
 public:
  NodeState load(std::memory_order order) const { return NodeState(word_.load(order) & 3); }
  void store(NodeState s, std::memory_order order) { word_.store(uint32_t(s), order); }
  void claim(uint32_t evaluation) {
    word_.store(uint32_t(NodeState::claimed) | evaluation << 2, std::memory_order_release);
  }
  void notify_all() { word_.notify_all(); }

  // Waits while the node is claimed.
  NodeState settle() const {
    uint32_t w = word_.load(std::memory_order_acquire);
    while (NodeState(w & 3) == NodeState::claimed) {
      word_.wait(w, std::memory_order_acquire);
      w = word_.load(std::memory_order_acquire);
    }
    return NodeState(w & 3);
  }
  // Waits while the node is claimed by `evaluation` or an earlier one; later ones may be waiting
  // for this one. `claimed` if a later one has it.
  NodeState settle(uint32_t evaluation) const {
    uint32_t w = word_.load(std::memory_order_acquire);
    while (NodeState(w & 3) == NodeState::claimed && int32_t((w & ~3u) - (evaluation << 2)) <= 0) {
      word_.wait(w, std::memory_order_acquire);
      w = word_.load(std::memory_order_acquire);
    }
    return NodeState(w & 3);
  }

 private:
  std::atomic<uint32_t> word_{uint32_t(NodeState::built)};
};

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
  AtomicState state;
  Dtype dtype;
  uint8_t tracer = 0;  // level of a transform's trace: keeps its inputs after evaluation
  bool row_contiguous = true;
  bool has_scalar = false;  // the value is `scalar`, there is no buffer
  uint16_t output_index = 0;
  std::atomic<uint32_t> position{0};  // place in the tape of the eval that claimed the node
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
