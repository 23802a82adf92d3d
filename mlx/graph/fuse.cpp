// Groups neighbouring elementwise nodes into tapes. A node joins the group of its readers if all of
// them are in that one group and have its shape; what is also held elsewhere becomes an extra
// output. Every step rounds to its node's dtype, so a group computes bit for bit what its nodes
// would. A group may also hold reductions of the last axis of its shape, and element-wise nodes
// over their results, one value a row: it is then run some rows at a time.
#include "mlx/graph/fuse.h"

#include <algorithm>

#include "mlx/backend.h"
#include "mlx/env.h"
#include "mlx/graph/node.h"
#include "mlx/ops/elementwise/fused.h"
#include "mlx/ops/reduce/fused_rows.h"
#include "mlx/transforms/trace.h"

namespace mlx::core {

namespace {

constexpr size_t max_steps = 48;
constexpr int max_inputs = Plan::max_operands - 4;
constexpr size_t max_extra_outputs = 3;
constexpr int64_t least_rows = 64;                // fewer of them give too few pieces of work,
constexpr int64_t small_size = int64_t(1) << 16;  // unless there is little work
constexpr int search_depth = 4;

struct Member {
  int32_t group = -1;      // joined or opened
  int32_t edges = 0;       // reads by nodes of the tape
  int32_t edges_seen = 0;  // of those, by members of `candidate`
  int32_t candidate = -1;
  bool mixed = false;  // readers in different groups or outside any
};

struct GroupInfo {
  std::vector<int32_t> members;            // tape positions, descending; the root is the first
  SmallVector<Node*, max_inputs> outside;  // distinct operands that are not members
  size_t steps = 0;
  size_t extra_outputs = 0;
  Shape wide;  // of rows; empty: a plain tape, all members have the root's shape
};

// A compiled function brings tapes of its own, which join those around them.
const Fused* own_tape(const Node& n) {
  return n.primitive->id() == PrimitiveId::Fused ? static_cast<const Fused*>(n.primitive.get())
                                                 : nullptr;
}

Shape narrow(Shape shape) {
  shape.back() = 1;
  return shape;
}

bool fusable(const Node& n) {
  return (n.primitive->id() == PrimitiveId::Elementwise || own_tape(n)) && !n.group && n.size > 0;
}

size_t steps_of(const Node& n) {
  const Fused* tape = own_tape(n);
  return tape ? tape->steps.size() : 1;
}

// Memory that will be in row-major order, or is, whatever the evaluation does.
bool is_contiguous(const array& x, bool on_tape) {
  const Node& n = *x.node();
  if (on_tape) {
    return n.primitive->placement() == Placement::fresh && n.primitive->passed_input(0) < 0;
  }
  NodeState state = n.state.load(std::memory_order_acquire);
  return (state == NodeState::encoded || state == NodeState::available) && n.row_contiguous &&
         !n.has_scalar;
}

Work plain_work(const array& a) {
  Node& n = *a.node();
  Work w;
  w.primitive = Ref<const Primitive>(n.primitive.get());
  w.inputs = n.inputs;
  w.stream = n.stream;
  w.sequence = n.sequence;
  if (!n.group) {
    w.outputs.push_back(a);
    return w;
  }
  for (array& out : outputs_of(a)) {
    NodeState state = out.node()->state.load(std::memory_order_acquire);
    if (state == NodeState::encoded || state == NodeState::available) {
      // Others may be reading it: its value is computed once more into a stand-in.
      out = array::make(out.shape(), out.dtype(), n.primitive, n.inputs, n.stream);
    }
    w.sequence = std::max(w.sequence, out.node()->sequence);
    w.outputs.push_back(std::move(out));
  }
  return w;
}

class Fuser {
 public:
  explicit Fuser(std::span<const array> tape) : tape_(tape), members_(tape.size()) {}

  std::vector<Work> run() {
    number_nodes();
    for (int32_t i = int32_t(tape_.size()) - 1; i >= 0; --i) {
      visit(i);
    }
    return build();
  }

 private:
  Node& node(int32_t i) { return *tape_[i].node(); }

  // Tape position of an input, -1 if it is not computed here.
  int32_t position(const array& x) {
    Node* n = x.node();
    if (n->state.load(std::memory_order_relaxed) != NodeState::claimed) {
      return -1;
    }
    size_t p = n->position.load(std::memory_order_relaxed);  // another eval's node: any number
    return p < tape_.size() && tape_[p].node() == n ? int32_t(p) : -1;
  }

  void number_nodes() {
    for (size_t i = 0; i < tape_.size(); ++i) {
      tape_[i].node()->position.store(uint32_t(i), std::memory_order_relaxed);
    }
    for (const array& a : tape_) {
      for (const array& x : a.node()->inputs) {
        if (int32_t p = position(x); p >= 0) {
          ++members_[p].edges;
        }
      }
    }
  }

  // Readers of node i have all been visited: it joins their group or opens its own.
  void visit(int32_t i) {
    Node& n = node(i);
    Member& m = members_[i];
    bool reduces = reduces_rows_here(n);
    if (!fusable(n) && !reduces) {
      mark_readers_outside(n);
      return;
    }
    bool joins =
        !m.mixed && m.candidate >= 0 && m.edges_seen == m.edges && can_join(i, m.candidate);
    if (joins) {
      m.group = m.candidate;
    } else {
      m.group = int32_t(groups_.size());
      groups_.emplace_back();
      if (reduces) {
        groups_.back().wide = n.inputs[0].shape();
      }
    }
    add_member(groups_[m.group], i);
    for (const array& x : n.inputs) {
      if (int32_t p = position(x); p >= 0) {
        Member& in = members_[p];
        in.mixed |= in.candidate >= 0 && in.candidate != m.group;
        in.candidate = m.group;
        ++in.edges_seen;
      }
    }
  }

  void mark_readers_outside(Node& n) {
    for (const array& x : n.inputs) {
      if (int32_t p = position(x); p >= 0) {
        members_[p].mixed = true;
      }
    }
  }

  bool held_elsewhere(int32_t i) {
    Node& n = node(i);
    // The evaluation's tape holds one reference, each reader of it one per edge.
    return int64_t(n.refs.load(std::memory_order_acquire)) > members_[i].edges + 1 ||
           (n.tracer && tracing());
  }

  bool can_join(int32_t i, int32_t group) {
    GroupInfo& g = groups_[group];
    Node& n = node(i);
    Node& r = node(g.members.front());
    if (g.steps + steps_of(n) > max_steps || !(n.stream == r.stream)) {
      return false;
    }
    Shape wide = g.wide;
    if (wide.empty() && !(n.shape == r.shape && fusable(n))) {
      // The reduction that makes rows of it may run on another device than the group.
      wide = rows_with(n, r.shape);
      if (wide.empty() || !runs_rows(r.stream)) {
        return false;
      }
    }
    if (!wide.empty() && !fits_rows(n, wide)) {
      return false;
    }
    bool extra = held_elsewhere(i);
    if (extra && g.extra_outputs >= max_extra_outputs) {
      return false;
    }
    if (operands_with(g, n) > max_inputs) {
      return false;
    }
    g.extra_outputs += extra;
    g.wide = std::move(wide);
    return true;
  }

  static bool runs_rows(Stream s) { return backend_of(s.device).evaluator(PrimitiveId::FusedRows); }

  // A reduction of rows that the device can run as part of a tape.
  bool reduces_rows_here(Node& n) {
    if (n.inputs.size() != 1 || n.group || n.size == 0 || fusable(n)) {
      return false;
    }
    const array& x = n.inputs[0];
    if (!reduces_rows(*n.primitive, x) || x.ndim() < 2 ||
        (x.size() > small_size && x.size() / x.shape().back() < least_rows)) {
      return false;
    }
    return is_contiguous(x, position(x) >= 0) && runs_rows(n.stream);
  }

  bool fits_rows(Node& n, const Shape& wide) {
    if (fusable(n)) {
      return n.shape == wide || n.shape == narrow(wide);
    }
    bool keeps = n.primitive->id() == PrimitiveId::Softmax;
    return n.inputs[0].shape() == wide && n.shape == (keeps ? wide : narrow(wide));
  }

  // The shape of the rows if `n` turns a plain group of `shape` into one of rows; else empty.
  Shape rows_with(Node& n, const Shape& shape) {
    if (!fusable(n)) {
      Shape wide = n.inputs[0].shape();
      return shape == wide || shape == narrow(wide) ? wide : Shape{};
    }
    bool is_narrow = shape.size() >= 2 && shape.back() > 1 && n.shape == narrow(shape);
    return is_narrow && follows_reduction(n, shape, search_depth) ? shape : Shape{};
  }

  bool follows_reduction(Node& n, const Shape& wide, int depth) {
    for (const array& x : n.inputs) {
      int32_t p = position(x);
      if (p < 0 || !(x.shape() == n.shape)) {
        continue;
      }
      Node& in = node(p);
      if (reduces_rows_here(in)
              ? in.inputs[0].shape() == wide
              : fusable(in) && depth > 0 && follows_reduction(in, wide, depth - 1)) {
        return true;
      }
    }
    return false;
  }

  static bool contains(const GroupInfo& g, const Node* n) {
    return std::find(g.outside.begin(), g.outside.end(), n) != g.outside.end();
  }

  // Readers come before what they read, so a member's inputs are never members yet.
  void add_member(GroupInfo& g, int32_t i) {
    Node& n = node(i);
    g.members.push_back(i);
    g.steps += steps_of(n);
    if (auto it = std::find(g.outside.begin(), g.outside.end(), &n); it != g.outside.end()) {
      g.outside.erase(it);
    }
    for (const array& x : n.inputs) {
      if (!contains(g, x.node())) {
        g.outside.push_back(x.node());
      }
    }
  }

  // An upper bound of the outside operands if `n` joined.
  static int operands_with(const GroupInfo& g, const Node& n) {
    int count = int(g.outside.size()) - contains(g, &n);
    for (const array& x : n.inputs) {
      count += !contains(g, x.node());
    }
    return count;
  }

  std::vector<Work> build() {
    std::vector<Work> out;
    out.reserve(tape_.size());
    for (int32_t i = 0; i < int32_t(tape_.size()); ++i) {
      int32_t id = members_[i].group;
      GroupInfo* g = id >= 0 ? &groups_[id] : nullptr;
      if (!g || g->members.size() == 1) {
        out.push_back(plain_work(tape_[i]));
      } else if (g->members.front() == i) {
        out.push_back(fused_work(*g));
      }
    }
    return out;
  }

  Work fused_work(GroupInfo& g);

  std::span<const array> tape_;
  std::vector<Member> members_;
  std::vector<GroupInfo> groups_;
};

Work Fuser::fused_work(GroupInfo& g) {
  std::reverse(g.members.begin(), g.members.end());  // dependency order
  Work w;
  Node& root = node(g.members.back());
  w.stream = root.stream;
  w.sequence = root.sequence;
  auto member_index = [&](const array& x) {
    int32_t p = position(x);
    auto it = std::lower_bound(g.members.begin(), g.members.end(), p);
    return p >= 0 && it != g.members.end() && *it == p ? int(it - g.members.begin()) : -1;
  };
  for (int32_t m : g.members) {
    for (const array& x : node(m).inputs) {
      auto same = [&](const array& y) { return y.same_node(x); };
      if (member_index(x) < 0 && std::none_of(w.inputs.begin(), w.inputs.end(), same)) {
        w.inputs.push_back(x);
      }
    }
  }
  std::vector<RowStep> steps;
  std::vector<int16_t> results;  // slots of the members' values
  auto slot_of = [&](const array& x) {
    if (int inside = member_index(x); inside >= 0) {
      return results[size_t(inside)];
    }
    auto same = [&](const array& y) { return y.same_node(x); };
    return int16_t(std::find_if(w.inputs.begin(), w.inputs.end(), same) - w.inputs.begin());
  };
  for (int32_t m : g.members) {
    Node& n = node(m);
    SmallVector<int16_t, 8> slots;  // of the operands, then of the steps of a tape
    for (const array& x : n.inputs) {
      slots.push_back(slot_of(x));
    }
    auto add = [&](const RowStep& step) {
      steps.push_back(step);
      steps.back().wide = n.shape == g.wide;
      for (int16_t& source : steps.back().source) {
        source = source < 0 ? int16_t(-1) : slots[size_t(source)];
      }
      slots.push_back(int16_t(w.inputs.size() + steps.size() - 1));
    };
    if (const Fused* tape = own_tape(n)) {
      for (const TapeStep& step : tape->steps) {
        add(RowStep(step));
      }
      results.push_back(slots[size_t(tape->outputs[0])]);
    } else {
      add(row_step_of(*n.primitive, n.inputs, tape_[m]));
      results.push_back(slots.back());
    }
  }
  std::vector<int16_t> slots;
  for (size_t k = g.members.size(); k-- > 0;) {  // the root is output 0
    int32_t m = g.members[k];
    if (k + 1 == g.members.size() || held_elsewhere(m)) {
      slots.push_back(results[k]);
      w.outputs.push_back(tape_[m]);
    } else {
      w.interior.push_back(tape_[m]);
    }
  }
  if (g.wide.empty()) {
    std::vector<TapeStep> plain;
    plain.reserve(steps.size());
    for (const RowStep& step : steps) {
      plain.push_back(TapeStep(step));
    }
    w.primitive = Ref<const Primitive>(new Fused(std::move(plain), std::move(slots)));
  } else {
    w.primitive = Ref<const Primitive>(new FusedRows(std::move(steps), std::move(slots)));
  }
  return w;
}

}  // namespace

int64_t Work::hidden_uses(const Node* input) const {
  int64_t uses = 0;
  auto count = [&](const array& a) {
    for (const array& x : a.node()->inputs) {
      uses += x.node() == input;
    }
  };
  std::for_each(outputs.begin(), outputs.end(), count);
  std::for_each(interior.begin(), interior.end(), count);
  return uses;
}

std::vector<Work> fuse(std::span<const array> tape) {
  if (tape.size() < 2 || env().disable_fusion) {
    std::vector<Work> out;
    out.reserve(tape.size());
    for (const array& a : tape) {
      out.push_back(plain_work(a));
    }
    return out;
  }
  return Fuser(tape).run();
}

}  // namespace mlx::core
