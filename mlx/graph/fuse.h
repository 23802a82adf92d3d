// The pass between claiming and encoding: neighbouring elementwise nodes become one Fused node.
#pragma once

#include <vector>

#include "mlx/graph/array.h"
#include "mlx/graph/primitive.h"

namespace mlx::core {

// One application of a primitive that will be encoded: a node of the graph, or several fused.
struct Work {
  Ref<const Primitive> primitive;
  SmallVector<array, 3> inputs;
  SmallVector<array, 1> outputs;
  std::vector<array> interior;  // nodes computed on the way that nobody else reads
  Stream stream;
  uint64_t sequence = 0;

  // Set while the work is placed.
  bool is_view = false;
  bool is_queued = false;  // its stream will report its number, or has
  struct Move {
    Ref<Buffer> from, to;
  };
  SmallVector<Move, 1> moves;  // memory of inputs that outputs took over

  // References to `input` held by the graph inside this work, beyond those of `inputs`.
  int64_t hidden_uses(const Node* input) const;
};

// `tape` is in dependency order; so is the result.
std::vector<Work> fuse(std::span<const array> tape);

}  // namespace mlx::core
