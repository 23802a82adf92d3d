// Marking the nodes between a transform's inputs and outputs.
#include "mlx/transforms/tape.h"

#include <algorithm>

#include "mlx/graph/node.h"

namespace mlx::core {

Tape::Tape(std::span<const array> inputs, std::span<const array> outputs, uint8_t level,
           TraceFor purpose)
    : level_(level), purpose_(purpose) {
  for (const array& x : inputs) {
    slots_[x.node()] = slot_count_++;
    traced_.push_back(x);
  }
  for (const array& out : outputs) {
    walk(out);
  }
}

int Tape::slot_of(const array& a) const {
  auto it = slots_.find(a.node());
  return it == slots_.end() ? -1 : it->second;
}

IndexRange Tape::traced_inputs(const Node& n) const {
  return n.primitive ? n.primitive->traced_inputs(purpose_, n.inputs.size()) : IndexRange{0, 0};
}

void Tape::walk(const array& output) {
  auto open = [&](const array& a) { return a.tracer() >= level_ && !slots_.count(a.node()); };
  if (!open(output)) {
    return;
  }
  struct Visit {
    Node* node;
    IndexRange inputs;  // not looked at yet
  };
  std::vector<Visit> stack{{output.node(), traced_inputs(*output.node())}};
  while (!stack.empty()) {
    auto& [n, left] = stack.back();
    if (left.begin < left.end) {
      const array& x = n->inputs[left.begin++];
      if (open(x)) {
        stack.push_back({x.node(), traced_inputs(*x.node())});
      }
      continue;
    }
    Node& done = *n;
    stack.pop_back();
    if (!slots_.count(&done)) {
      finish(done);
    }
  }
}

// All inputs of the node have been visited.
void Tape::finish(Node& n) {
  retain_node(&n);
  array self = array::adopt(&n);
  TapeEntry e;
  IndexRange traced = traced_inputs(n);
  for (size_t k = traced.begin; k < traced.end; ++k) {
    if (int s = slot_of(n.inputs[k]); s >= 0) {
      e.active.push_back(int(k));
      e.input_slots.push_back(s);
    }
  }
  bool derives = purpose_ == TraceFor::vjp || purpose_ == TraceFor::jvp;
  bool depends = !e.active.empty() && (!derives || n.primitive->differentiable());
  e.outputs = outputs_of(self);
  e.first_slot = depends ? slot_count_ : -1;
  for (const array& out : e.outputs) {
    slots_[out.node()] = depends ? slot_count_++ : -1;
    traced_.push_back(out);
  }
  if (depends) {
    e.primitive = n.primitive;
    e.stream = n.stream;
    e.inputs.assign(n.inputs.begin(), n.inputs.end());
    entries_.push_back(std::move(e));
  }
}

void Tape::end_trace() {
  for (const array& a : traced_) {
    Node& n = *a.node();
    uint8_t level = 0;
    for (const array& x : n.inputs) {
      level = std::max(level, x.tracer());
    }
    n.tracer = level;
  }
}

void Tape::release_evaluated() {
  for (const array& a : traced_) {
    Node& n = *a.node();
    NodeState state = n.state.load(std::memory_order_acquire);
    bool evaluated = state == NodeState::encoded || state == NodeState::available;
    if (evaluated && n.tracer == 0 && n.primitive) {
      detach_node(n);
    }
  }
}

}  // namespace mlx::core
