// Writing a graph down, and making it again.
#include "mlx/transforms/program.h"

#include <unordered_map>

#include "mlx/error.h"
#include "mlx/graph/fuse.h"
#include "mlx/graph/node.h"

namespace mlx::core {

// Nodes by number: those of inputs and constants are borrowed, the others owned.
class Program::Values {
 public:
  explicit Values(const Program& p) : borrowed_(size_t(p.first_step_value())) {
    nodes_.reserve(size_t(p.value_count_));
  }
  Values(const Values&) = delete;
  ~Values() {
    for (size_t i = borrowed_; i < nodes_.size(); ++i) {
      release_node(nodes_[i]);
    }
  }
  void push(Node* n) { nodes_.push_back(n); }
  Node* operator[](int32_t i) const { return nodes_[size_t(i)]; }
  array handle(int32_t i) const {
    retain_node(nodes_[size_t(i)]);
    return array::adopt(nodes_[size_t(i)]);
  }

 private:
  SmallVector<Node*, 64> nodes_;
  size_t borrowed_;
};

Program::Program(const Tape& tape, std::span<const array> inputs, std::span<const array> outputs) {
  // The tape numbers the same values, but not the constants between inputs and outputs of steps.
  std::unordered_map<const Node*, int32_t> constants;
  auto constant = [&](const array& a) {
    auto [it, fresh] = constants.try_emplace(a.node(), int32_t(inputs.size() + constants_.size()));
    if (fresh) {
      constants_.push_back(a);
    }
    return it->second;
  };
  for (const array& x : inputs) {
    inputs_.push_back({x.shape(), x.dtype()});
  }
  for (const TapeEntry& e : tape.entries()) {
    for (const array& x : e.inputs) {
      if (tape.slot_of(x) < 0) {
        constant(x);
      }
    }
  }
  for (const array& out : outputs) {
    if (tape.slot_of(out) < 0) {
      constant(out);
    }
  }
  auto number = [&](const array& a) {
    int slot = tape.slot_of(a);
    if (slot < 0) {
      return constants.at(a.node());
    }
    return int32_t(slot) < int32_t(inputs.size()) ? int32_t(slot)
                                                  : int32_t(slot) + int32_t(constants_.size());
  };
  for (const TapeEntry& e : tape.entries()) {
    Step s{e.primitive, e.stream, {}, e.first_slot + int32_t(constants_.size()), {}};
    for (const array& x : e.inputs) {
      s.inputs.push_back(number(x));
    }
    for (const array& out : e.outputs) {
      s.outputs.push_back({out.shape(), out.dtype(), out.size()});
    }
    steps_.push_back(std::move(s));
  }
  for (const array& out : outputs) {
    outputs_.push_back(number(out));
  }
  value_count_ = int32_t(tape.slot_count()) + int32_t(constants_.size());
}

bool Program::captures_tracers() const {
  return std::any_of(constants_.begin(), constants_.end(),
                     [](const array& a) { return a.tracer() > 0; });
}

namespace {

Node* make_node(const Step& s, const Step::Output& out, Shape shape, int64_t size) {
  Node* n = new Node(std::move(shape), out.dtype);
  n->size = size;
  n->stream = s.stream;
  n->primitive = s.primitive;
  return n;
}

std::vector<Shape> inferred_shapes(const Step& s, const std::vector<array>& inputs) {
  std::vector<Shape> shapes = s.primitive->output_shapes(inputs);
  for (size_t k = 0; k < shapes.size(); ++k) {
    if (shapes[k].size() != s.outputs[k].shape.size()) {
      fail<ValueError>(
          "[compile] {} gave {} dimensions when the function was traced and gives {} for the "
          "shapes of this call",
          s.primitive->name(), s.outputs[k].shape.size(), shapes[k].size());
    }
  }
  return shapes;
}

}  // namespace

void Program::make_nodes(Values& values, std::span<const array> inputs, Shapes rule) const {
  for (const array& x : inputs) {
    values.push(x.node());
  }
  for (const array& c : constants_) {
    values.push(c.node());
  }
  std::vector<array> operands;
  for (const Step& s : steps_) {
    std::vector<Shape> shapes;
    if (rule == Shapes::inferred || s.outputs.size() > 1) {
      operands.clear();
      for (int32_t i : s.inputs) {
        operands.push_back(values.handle(i));
      }
    }
    if (rule == Shapes::inferred) {
      shapes = inferred_shapes(s, operands);
    }
    if (s.outputs.size() > 1) {
      std::vector<Dtype> dtypes;
      for (const Step::Output& out : s.outputs) {
        dtypes.push_back(out.dtype);
        if (rule == Shapes::recorded) {
          shapes.push_back(out.shape);
        }
      }
      for (array& a : array::make_many(std::move(shapes), std::move(dtypes), s.primitive, operands,
                                       s.stream)) {
        retain_node(a.node());
        values.push(a.node());
      }
      continue;
    }
    const Step::Output& out = s.outputs[0];
    Node* n = rule == Shapes::recorded
                  ? make_node(s, out, out.shape, out.size)
                  : make_node(s, out, shapes[0], element_count(shapes[0], s.primitive->name()));
    values.push(n);
    for (int32_t i : s.inputs) {
      Node* in = values[i];
      n->tracer = std::max(n->tracer, in->tracer);
      retain_node(in);
      n->inputs.push_back(array::adopt(in));
    }
  }
}

std::vector<array> Program::run(std::span<const array> inputs, Shapes shapes) const {
  Values values(*this);
  make_nodes(values, inputs, shapes);
  std::vector<array> results;
  results.reserve(outputs_.size());
  for (int32_t i : outputs_) {
    results.push_back(values.handle(i));
  }
  return results;
}

// Nodes of its own are made and claimed, as if they were to be evaluated, and handed to the pass
// that fuses an evaluation.
Program Program::fused() const {
  std::vector<array> stand_ins;
  for (const Input& in : inputs_) {
    stand_ins.push_back(array::placeholder(in.shape, in.dtype));
    stand_ins.back().set_tracer(0);
  }
  std::unordered_map<const Node*, int32_t> numbers;
  std::vector<array> tape, siblings, results;
  {
    Values values(*this);
    make_nodes(values, stand_ins, Shapes::recorded);
    for (int32_t i = 0; i < first_step_value(); ++i) {
      numbers[values[i]] = i;
    }
    for (const Step& s : steps_) {
      tape.push_back(values.handle(s.first_output));
      tape.back().node()->state.claim(1);
      for (size_t k = 1; k < s.outputs.size(); ++k) {
        siblings.push_back(values.handle(s.first_output + int32_t(k)));
      }
    }
    for (int32_t i : outputs_) {
      results.push_back(values.handle(i));
    }
  }
  Program p;
  p.inputs_ = inputs_;
  p.constants_ = constants_;
  p.value_count_ = first_step_value();
  for (Work& w : fuse(tape)) {
    Step s{Ref<Primitive>(const_cast<Primitive*>(w.primitive.get())),
           w.stream,
           {},
           p.value_count_,
           {}};
    for (const array& x : w.inputs) {
      s.inputs.push_back(numbers.at(x.node()));
    }
    for (const array& out : w.outputs) {
      numbers[out.node()] = p.value_count_++;
      s.outputs.push_back({out.shape(), out.dtype(), out.size()});
    }
    p.steps_.push_back(std::move(s));
  }
  for (const array& out : results) {
    p.outputs_.push_back(numbers.at(out.node()));
  }
  return p;
}

}  // namespace mlx::core
