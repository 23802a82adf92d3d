// Tape: the part of a graph that lies between a transform's inputs and its outputs.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "mlx/graph/array.h"
#include "mlx/graph/primitive.h"

namespace mlx::core {

// One application of a primitive that depends on the transform's inputs.
struct TapeEntry {
  Ref<Primitive> primitive;
  Stream stream;
  std::vector<array> inputs;
  std::vector<array> outputs;
  std::vector<int> active;       // which inputs the transform looks at depend on its inputs
  std::vector<int> input_slots;  // their slots
  int first_slot;                // of the outputs
};

// Derivatives stop at primitives that are not differentiable, mapping and compiling go through.
// Values that depend on the transform's inputs have slots: first the inputs, then the outputs of
// the entries in the order of computation. Built iteratively, in time linear in the trace.
class Tape {
 public:
  // `inputs` carry the tracer level `level`; nothing that lacks it can depend on them.
  Tape(std::span<const array> inputs, std::span<const array> outputs, uint8_t level,
       TraceFor purpose);

  const std::vector<TapeEntry>& entries() const { return entries_; }
  std::vector<TapeEntry>& entries() { return entries_; }
  int slot_count() const { return slot_count_; }
  int slot_of(const array& a) const;  // -1: does not depend on the inputs

  // Takes the level back from all traced nodes, leaving that of outer transforms.
  void end_trace();
  // Lets nodes that were evaluated while they were traced forget how they were computed.
  void release_evaluated();

 private:
  IndexRange traced_inputs(const Node& n) const;
  void walk(const array& output);
  void finish(Node& n);

  uint8_t level_;
  TraceFor purpose_;
  std::unordered_map<const Node*, int> slots_;  // of every node visited
  std::vector<array> traced_;                   // nodes visited, inputs before users
  std::vector<TapeEntry> entries_;
  int slot_count_ = 0;
};

}  // namespace mlx::core
