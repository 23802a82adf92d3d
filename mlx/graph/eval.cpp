// eval: claim what is missing, fuse it, and encode it node by node on its streams.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>

#include "mlx/backend.h"
#include "mlx/env.h"
#include "mlx/error.h"
#include "mlx/graph/fuse.h"
#include "mlx/graph/node.h"
#include "mlx/graph/scheduler.h"
#include "mlx/transforms/trace.h"

namespace mlx::core {

namespace {

// Encoding met a node that another, interrupted eval gave back: start over.
struct Restart {};

struct Batch {
  int32_t stream;
  uint64_t first, last;
  bool inline_run = false;
};

class Evaluation {
 public:
  explicit Evaluation(Mode mode) : mode_(mode) {}

  void claim(std::span<const array> outputs);
  void run();
  bool empty() const { return tape_.empty(); }

 private:
  void claim_node(array a);
  Batch& batch_of(Stream s);
  void encode(Work& work);
  bool propagate_failure(Work& work);
  void wait_for_other_streams(const Work& work);
  void place_outputs(Work& work);
  void place_output(Work& work, array& out, bool first);
  bool try_view(Work& work, array& out);
  bool try_donate(Work& work, Node& out, size_t bytes);
  void submit(Work& work);
  void finish(Work& work);
  void fail_work(Work& work, std::exception_ptr error);
  void give_back(size_t from);

  Mode mode_;
  std::vector<array> tape_;
  std::vector<Work> work_;
  SmallVector<Batch, 2> batches_;
};

Operand operand_of(Node& n) {
  Operand o;
  o.dtype = n.dtype;
  o.row_contiguous = n.row_contiguous;
  o.size = n.size;
  o.shape = n.shape;
  o.strides = n.strides;
  if (n.has_scalar) {
    o.is_scalar = true;
    std::copy(std::begin(n.scalar), std::end(n.scalar), o.scalar);
  } else {
    o.data = n.host_data();
  }
  return o;
}

// A value kept in its node as memory that views can share.
Ref<Buffer> scalar_buffer(const Node& n) {
  auto* cell = new std::array<unsigned char, sizeof n.scalar>;
  std::copy(std::begin(n.scalar), std::end(n.scalar), cell->begin());
  return Buffer::import(cell->data(), cell->size(), [cell] { delete cell; });
}

NodeState settle(Node& n) {
  NodeState s = n.state.load(std::memory_order_acquire);
  while (s == NodeState::claimed) {
    n.state.wait(s, std::memory_order_acquire);
    s = n.state.load(std::memory_order_acquire);
  }
  return s;
}

void Evaluation::claim_node(array a) {
  auto take = [&](Node& n) {
    Batch& b = batch_of(n.stream);
    b.last = n.sequence = timeline(n.stream.index).claimed.fetch_add(1) + 1;
    n.state.store(NodeState::claimed, std::memory_order_release);
  };
  if (a.node()->group) {
    for (array& out : outputs_of(a)) {
      out.node()->stream = a.node()->stream;
      take(*out.node());
    }
  } else {
    take(*a.node());
  }
  tape_.push_back(std::move(a));
}

Batch& Evaluation::batch_of(Stream s) {
  for (Batch& b : batches_) {
    if (b.stream == s.index) {
      return b;
    }
  }
  batches_.push_back({s.index, timeline(s.index).claimed.load() + 1, 0});
  return batches_.back();
}

// The stream a node really runs on: its own, or a CPU one if its device lacks the op.
Stream supported_stream(Node& n) {
  Backend& backend = backend_of(n.stream.device);
  PrimitiveId id = n.primitive->id();
  if (n.stream.device.type == Device::cpu || id == PrimitiveId::custom ||
      (backend.evaluator(id) && backend.supports(*n.primitive, n.inputs))) {
    return n.stream;
  }
  return default_stream(Device::cpu);
}

// Depth first, inputs before users, without recursion.
void Evaluation::claim(std::span<const array> outputs) {
  std::lock_guard lock(graph_mutex());
  std::vector<std::pair<Node*, size_t>> stack;
  for (const array& out : outputs) {
    stack.push_back({out.node(), 0});
    while (!stack.empty()) {
      auto& [n, next] = stack.back();
      if (n->state.load(std::memory_order_acquire) != NodeState::built) {
        stack.pop_back();
        continue;
      }
      if (!n->primitive) {
        // Claimed nodes and their numbers go back before the refusal; nobody else saw them.
        give_back(0);
        for (Batch& b : batches_) {
          timeline(b.stream).claimed.store(b.first - 1);
        }
        fail<ValueError>(
            "[eval] a value that only stands for an argument inside vmap or compile cannot be "
            "evaluated (shape {}, {})",
            n->shape, n->dtype);
      }
      if (next < n->inputs.size()) {
        Node* input = n->inputs[next++].node();
        if (input->state.load(std::memory_order_acquire) == NodeState::built) {
          stack.push_back({input, 0});
        }
        continue;
      }
      n->stream = supported_stream(*n);
      retain_node(n);
      claim_node(array::adopt(n));
      stack.pop_back();
    }
  }
}

void Evaluation::run() {
  if (batches_.size() > 1) {
    mode_ = Mode::async;  // streams wait for each other: no thread may sit in one of them
  }
  for (Batch& b : batches_) {
    await_turn(b.stream, b.first);
    Stream s = timeline(b.stream).stream;
    b.inline_run = backend_of(s.device).begin(s, mode_);
  }
  size_t i = 0;
  std::exception_ptr stopped;
  try {
    work_ = fuse(tape_);
    tape_.clear();
    auto last_check = std::chrono::steady_clock::now();
    for (; i < work_.size(); ++i) {
      if (mode_ == Mode::sync && (i & 15) == 15) {
        auto now = std::chrono::steady_clock::now();
        if (now - last_check > std::chrono::milliseconds(20)) {
          last_check = now;
          if (interrupted()) {
            throw Interrupted{};
          }
        }
      }
      encode(work_[i]);
      work_[i] = Work{};
    }
  } catch (const Restart&) {
    // The caller looks at its outputs and tries again.
  } catch (...) {
    stopped = std::current_exception();
  }
  give_back(i);
  for (Batch& b : batches_) {
    Stream s = timeline(b.stream).stream;
    backend_of(s.device).commit(s, b.last);
    end_turn(b.stream, b.last);
  }
  if (stopped) {
    std::rethrow_exception(stopped);
  }
}

// Returns work that was not encoded to the graph, as if it had never been claimed.
void Evaluation::give_back(size_t from) {
  auto reset = [](Node& n) {
    n.state.store(NodeState::built, std::memory_order_release);
    n.state.notify_all();
  };
  for (array& a : tape_) {
    for (array& out : outputs_of(a)) {
      reset(*out.node());
    }
  }
  tape_.clear();
  for (size_t i = from; i < work_.size(); ++i) {
    for (array& a : work_[i].outputs) {
      reset(*a.node());
    }
    for (array& a : work_[i].interior) {
      reset(*a.node());
    }
  }
  work_.clear();
}

void Evaluation::encode(Work& work) {
  for (const array& x : work.inputs) {
    if (settle(*x.node()) == NodeState::built) {
      throw Restart{};
    }
  }
  if (propagate_failure(work)) {
    return;
  }
  try {
    wait_for_other_streams(work);
    place_outputs(work);
    submit(work);
  } catch (...) {
    fail_work(work, std::current_exception());
    return;
  }
  finish(work);
}

bool Evaluation::propagate_failure(Work& work) {
  for (const array& x : work.inputs) {
    const Buffer* b = x.node()->buffer.get();
    if (b && b->has_failed()) {
      fail_work(work, b->error());
      return true;
    }
  }
  return false;
}

void Evaluation::wait_for_other_streams(const Work& work) {
  for (const array& x : work.inputs) {
    Node& n = *x.node();
    if (n.state.load(std::memory_order_acquire) == NodeState::encoded &&
        n.stream.index != work.stream.index) {
      Event e{n.stream.index, n.sequence};
      if (!reached(e)) {
        backend_of(work.stream.device).wait(work.stream, e);
      }
    }
  }
}

void Evaluation::place_outputs(Work& work) {
  bool first = true;
  for (array& out : work.outputs) {
    place_output(work, out, first);
    first = false;
  }
}

void Evaluation::place_output(Work& work, array& out, bool first) {
  Node& n = *out.node();
  if (work.primitive->placement() == Placement::view && try_view(work, out)) {
    work.is_view = true;
    return;
  }
  n.strides = row_major(n.shape);
  n.row_contiguous = true;
  n.offset = 0;
  size_t bytes = size_t(n.size * n.dtype.size());
  if (first && try_donate(work, n, bytes)) {
    return;
  }
  n.buffer = Buffer::allocate(backend_of(work.stream.device), bytes, work.stream);
  if (env().check && n.buffer->host() && work.stream.device.type == Device::cpu) {
    std::memset(n.buffer->host(), 0xff, bytes);  // NaN: what an evaluator forgets to write shows
  }
}

bool Evaluation::try_view(Work& work, array& out) {
  Node& in = *work.inputs[0].node();
  Node& n = *out.node();
  if (in.has_scalar && work.stream.device.type != Device::cpu) {
    return false;
  }
  Operand o = operand_of(in);
  Strides strides;
  int64_t offset = 0;
  if (!work.primitive->view(o, n.shape, strides, offset)) {
    return false;
  }
  n.row_contiguous = is_row_contiguous(n.shape, strides);
  n.strides = std::move(strides);
  n.offset = in.offset + offset * in.dtype.size();
  n.buffer = in.has_scalar ? scalar_buffer(in) : in.buffer;
  return true;
}

// An input is overwritten if this work is the only thing that still holds it.
bool Evaluation::try_donate(Work& work, Node& out, size_t bytes) {
  uint32_t candidates = work.primitive->overwritable();
  for (size_t k = 0; candidates && k < work.inputs.size(); ++k) {
    Node& in = *work.inputs[k].node();
    if (!(candidates >> std::min<size_t>(k, 31) & 1) || in.has_scalar || !in.row_contiguous ||
        in.size != out.size || in.dtype.size() != out.dtype.size() || (in.tracer && tracing())) {
      continue;
    }
    auto same = [&](const array& x) { return x.node() == &in; };
    auto uses = std::count_if(work.inputs.begin(), work.inputs.end(), same) + work.hidden_uses(&in);
    if (int64_t(in.refs.load(std::memory_order_acquire)) != uses || in.offset != 0 ||
        !in.buffer->donatable() || in.buffer->capacity() < bytes ||
        in.buffer->capacity() > 2 * bytes + 4096 ||
        in.buffer->backend() != &backend_of(work.stream.device) ||
        !in.buffer->free_of_other_streams(work.stream.index)) {
      continue;
    }
    work.donated = int(k);
    work.donor = in.buffer;
    out.buffer = in.buffer->donate();
    return true;
  }
  return false;
}

void Evaluation::submit(Work& work) {
  if (work.is_view || work.outputs[0].size() == 0) {
    return;
  }
  Batch& batch = batch_of(work.stream);
  Task task;
  task.primitive = work.primitive;
  task.sequence = work.sequence;
  for (size_t k = 0; k < work.inputs.size(); ++k) {
    Node& n = *work.inputs[k].node();
    bool moved = n.buffer && work.donor && n.buffer == work.donor;
    task.inputs.push_back(Operand{});
    Operand& o = task.inputs.back();
    if (moved) {
      // The memory already belongs to the output; the value is still in it.
      Ref<Buffer> old = std::exchange(n.buffer, work.outputs[0].node()->buffer);
      o = operand_of(n);
      n.buffer = std::move(old);
    } else {
      o = operand_of(n);
    }
    if (!batch.inline_run) {
      task.input_buffers.push_back(BufferWatch(n.buffer.get()));
    }
  }
  for (array& out : work.outputs) {
    Node& n = *out.node();
    task.outputs.push_back(operand_of(n));
    task.output_buffers.push_back(BufferWatch(n.buffer.get()));
  }
  task.bind_scalars();
  backend_of(work.stream.device).encode(work.stream, task);
  if (!batch.inline_run) {
    Event e{work.stream.index, work.sequence};
    for (const array& x : work.inputs) {
      if (x.node()->buffer) {
        x.node()->buffer->record_use(e);
      }
    }
    for (array& out : work.outputs) {
      out.node()->buffer->record_use(e);
    }
  }
}

// The outputs are on their way: they forget how they are computed.
void Evaluation::finish(Work& work) {
  bool done = reached({work.stream.index, work.sequence});
  for (array& out : work.outputs) {
    Node& n = *out.node();
    n.sequence = work.sequence;
    if (!(n.tracer && tracing())) {
      detach_node(n);
    }
    // A view of a value that is still being computed is available with it.
    n.state.store(done ? NodeState::available : NodeState::encoded, std::memory_order_release);
    n.state.notify_all();
  }
}

void Evaluation::fail_work(Work& work, std::exception_ptr error) {
  Ref<Buffer> failed = Buffer::failed(std::move(error));
  for (array& out : work.outputs) {
    Node& n = *out.node();
    n.buffer = failed;
    n.strides = row_major(n.shape);
  }
  finish(work);
}

// Waits until a scheduled node is there; false if it has to be evaluated first.
bool wait_until_available(Node& n) {
  NodeState s = settle(n);
  if (s == NodeState::encoded) {
    if (!wait_interruptibly({n.stream.index, n.sequence})) {
      throw Interrupted{};  // the work itself goes on
    }
    n.state.store(NodeState::available, std::memory_order_release);
    return true;
  }
  return s == NodeState::available;
}

void rethrow_failure(Node& n) {
  if (n.buffer && n.buffer->has_failed()) {
    std::rethrow_exception(n.buffer->error());
  }
}

void schedule(std::span<const array> arrays, Mode mode) {
  Evaluation evaluation(mode);
  evaluation.claim(arrays);
  if (!evaluation.empty()) {
    evaluation.run();
  }
}

}  // namespace

void detach_node(Node& n) {
  n.inputs.clear();
  n.primitive.reset();
  if (n.group) {
    std::lock_guard lock(n.group->mutex);
    n.group->outputs[n.output_index].node = nullptr;
  }
  n.group.reset();
}

void Task::bind_scalars() {
  for (Operand& o : inputs) {
    if (o.is_scalar) {
      o.data = o.scalar;
    }
  }
}

bool array::is_available() const {
  NodeState s = node_->state.load(std::memory_order_acquire);
  if (s == NodeState::encoded && reached({node_->stream.index, node_->sequence})) {
    return true;
  }
  return s == NodeState::available;
}

void eval(std::span<const array> arrays) {
  check_evaluation_allowed();
  for (bool missing = true; missing;) {
    missing = false;
    if (std::any_of(arrays.begin(), arrays.end(), [](const array& a) {
          return a.node()->state.load(std::memory_order_acquire) == NodeState::built;
        })) {
      schedule(arrays, Mode::sync);
    }
    for (const array& a : arrays) {
      missing |= !wait_until_available(*a.node());
    }
  }
  for (const array& a : arrays) {
    rethrow_failure(*a.node());
  }
}

void array::eval() const {
  if (node_->state.load(std::memory_order_acquire) == NodeState::available) {
    rethrow_failure(*node_);
    return;
  }
  core::eval(std::span<const array>(this, 1));
}

void async_eval(std::span<const array> arrays) {
  check_async_evaluation_allowed();
  schedule(arrays, Mode::async);
}

}  // namespace mlx::core
