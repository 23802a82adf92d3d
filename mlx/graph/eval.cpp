// eval: claim what is missing, fuse it, and encode it node by node on its streams.
#include <algorithm>
#include <chrono>
#include <cstdio>
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

// Encoding met a node that another, interrupted eval gave back, and that nobody or a later eval has
// claimed since: start over.
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
  void walk(std::span<const array> outputs);
  void claim_node(array a);
  Batch& batch_of(Stream s);
  void encode(Work& work);
  bool propagate_failure(Work& work);
  void wait_for_other_streams(const Work& work);
  void place_outputs(Work& work);
  void place_output(Work& work, size_t index);
  void pass_inputs(Work& work);
  bool try_view(Work& work, array& out);
  bool try_donate(Work& work, size_t index, size_t bytes);
  void submit(Work& work);
  void finish(Work& work);
  void fail_work(Work& work, std::exception_ptr error);
  void give_back(size_t from);

  Mode mode_;
  uint32_t number_ = 0;  // evaluations in the order of their claims
  std::vector<array> tape_;
  std::vector<Work> work_;
  SmallVector<Batch, 2> batches_;
};

// The node as an evaluator sees it, but for its address.
Operand layout_of(const Node& n) {
  Operand o;
  o.dtype = n.dtype;
  o.row_contiguous = n.row_contiguous;
  o.size = n.size;
  o.shape = n.shape;
  o.strides = n.strides;
  if (n.has_scalar) {
    o.is_scalar = true;
    std::copy(std::begin(n.scalar), std::end(n.scalar), o.scalar);
  }
  return o;
}

Operand operand_of(const Node& n, Backend& backend, Event at) {
  Operand o = layout_of(n);
  if (!n.has_scalar) {
    o.data = static_cast<char*>(backend.address(*n.buffer, at)) + n.offset;
  }
  return o;
}

// A value kept in its node as memory that views can share.
Ref<Buffer> scalar_buffer(const Node& n) {
  Ref<Buffer> b = Buffer::allocate_for_host(sizeof n.scalar);
  std::memcpy(b->host(), n.scalar, sizeof n.scalar);
  return b;
}

void Evaluation::claim_node(array a) {
  auto take = [&](Node& n) {
    Batch& b = batch_of(n.stream);
    b.last = n.sequence = timeline(n.stream.index).claimed.fetch_add(1) + 1;
    n.state.claim(number_);
  };
  if (a.node()->group) {
    for (array& out : outputs_of(a)) {
      // A sibling that came back to life may have been evaluated with others before it died.
      if (out.node()->state.load(std::memory_order_acquire) == NodeState::built) {
        out.node()->stream = a.node()->stream;
        take(*out.node());
      }
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

void Evaluation::claim(std::span<const array> outputs) {
  static uint32_t evaluations = 0;
  std::lock_guard lock(graph_mutex());
  number_ = ++evaluations;
  try {
    walk(outputs);
  } catch (...) {
    // Claimed nodes and their numbers go back before the refusal; nobody else saw them.
    give_back(0);
    for (Batch& b : batches_) {
      timeline(b.stream).claimed.store(b.first - 1);
    }
    throw;
  }
}

// Depth first, inputs before users, without recursion.
void Evaluation::walk(std::span<const array> outputs) {
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
      if (Stream s = supported_stream(*n); !(s == n->stream)) {
        if (env().debug) {
          std::fprintf(stderr, "mlx gpu lacks %s: the CPU runs it\n",
                       std::string(n->primitive->name()).c_str());
        }
        n->stream = s;
      }
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
  EncodingScope scope;
  try {
    work_ = fuse(tape_);
    tape_.clear();
    auto last_check = std::chrono::steady_clock::now();
    for (; i < work_.size(); ++i) {
      if ((i & 15) == 15) {
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
    if (n.state.load(std::memory_order_relaxed) == NodeState::claimed) {
      n.state.store(NodeState::built, std::memory_order_release);
      n.state.notify_all();
    }
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
    NodeState s = x.node()->state.settle(number_);
    if (s == NodeState::built || s == NodeState::claimed) {
      throw Restart{};
    }
  }
  try {
    wait_for_other_streams(work);
    if (propagate_failure(work)) {
      return;
    }
    place_outputs(work);
    submit(work);
  } catch (const MemoryError& e) {
    // Which value there was no room for; inside an evaluator the backend says it.
    const array& out = work.outputs[0];
    fail_work(work, std::make_exception_ptr(
                        MemoryError(format("{} (for {} to {}{})", e.what(), work.primitive->name(),
                                           out.dtype(), out.shape()))));
    return;
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
  if (work.primitive->passed_input(0) >= 0) {
    pass_inputs(work);
    return;
  }
  // The first of a tape is written last and can take any memory: it leaves the others their choice.
  for (size_t i = work.outputs.size(); i-- > 0;) {
    place_output(work, i);
  }
}

void Evaluation::place_output(Work& work, size_t index) {
  array& out = work.outputs[index];
  Node& n = *out.node();
  if (work.primitive->placement() == Placement::view && try_view(work, out)) {
    work.is_view = true;
    return;
  }
  n.strides = row_major(n.shape);
  n.row_contiguous = true;
  n.offset = 0;
  size_t bytes = byte_count(n.size, n.dtype.size());
  if (try_donate(work, index, bytes)) {
    return;
  }
  n.buffer = Buffer::allocate(backend_of(work.stream.device), bytes, work.stream);
}

// Every output is an input as it is. Unlike a view, it is there when the stream says so: it may
// come from several streams.
void Evaluation::pass_inputs(Work& work) {
  for (size_t k = 0; k < work.outputs.size(); ++k) {
    Node& n = *work.outputs[k].node();
    Node& in = *work.inputs[size_t(work.primitive->passed_input(k))].node();
    n.strides = in.strides;
    n.row_contiguous = in.row_contiguous;
    n.offset = in.has_scalar ? 0 : in.offset;
    n.buffer = in.has_scalar ? scalar_buffer(in) : in.buffer;
  }
}

bool Evaluation::try_view(Work& work, array& out) {
  Node& in = *work.inputs[0].node();
  Node& n = *out.node();
  Operand o = layout_of(in);
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
bool Evaluation::try_donate(Work& work, size_t index, size_t bytes) {
  Node& out = *work.outputs[index].node();
  uint32_t candidates = work.primitive->overwritable_by(index);
  auto candidate = [&](size_t k) { return (candidates >> std::min<size_t>(k, 31) & 1) != 0; };
  for (size_t k = 0; candidates && k < work.inputs.size(); ++k) {
    Node& in = *work.inputs[k].node();
    if (!candidate(k) || in.has_scalar || !in.row_contiguous || in.size != out.size ||
        in.dtype.size() != out.dtype.size() || (in.tracer && tracing())) {
      continue;
    }
    int64_t uses = work.hidden_uses(&in);
    bool overwritable = true;  // at every place where the value is read
    for (size_t j = 0; j < work.inputs.size(); ++j) {
      if (work.inputs[j].node() == &in) {
        ++uses;
        overwritable = overwritable && candidate(j);
      }
    }
    if (!overwritable || int64_t(in.refs.load(std::memory_order_acquire)) != uses ||
        in.offset != 0 || !in.buffer->donatable() || in.buffer->capacity() < bytes ||
        in.buffer->capacity() > 2 * bytes + 4096 ||
        in.buffer->backend() != &backend_of(work.stream.device) ||
        !in.buffer->free_of_other_streams(work.stream.index)) {
      continue;
    }
    out.buffer = in.buffer->donate();
    work.moves.push_back({in.buffer, out.buffer});
    return true;
  }
  return false;
}

void Evaluation::submit(Work& work) {
  auto is_empty = [](const array& out) { return out.size() == 0; };
  if (work.is_view || std::all_of(work.outputs.begin(), work.outputs.end(), is_empty)) {
    return;
  }
  Batch& batch = batch_of(work.stream);
  Backend& backend = backend_of(work.stream.device);
  Event at{work.stream.index, work.sequence};
  // Before the work is queued: if there is no memory for the note, it is not queued either. And
  // before addresses are taken: memory that moves meanwhile stays until the work is done.
  for (const array& x : work.inputs) {
    Buffer* b = x.node()->buffer.get();
    if (b && (!batch.inline_run || (b->backend() && b->backend() != &backend))) {
      b->record_use(at);
    }
  }
  if (!batch.inline_run) {
    for (array& out : work.outputs) {
      out.node()->buffer->record_use(at);
    }
  }
  Task task;
  task.primitive = work.primitive;
  task.sequence = work.sequence;
  for (size_t k = 0; k < work.inputs.size(); ++k) {
    Node& n = *work.inputs[k].node();
    auto move = std::find_if(work.moves.begin(), work.moves.end(),
                             [&](const Work::Move& m) { return m.from == n.buffer; });
    task.inputs.push_back(Operand{});
    Operand& o = task.inputs.back();
    if (move != work.moves.end()) {
      // The memory already belongs to the output; the value is still in it.
      Ref<Buffer> old = std::exchange(n.buffer, move->to);
      o = operand_of(n, backend, at);
      n.buffer = std::move(old);
    } else {
      o = operand_of(n, backend, at);
    }
    if (!batch.inline_run) {
      task.input_buffers.push_back(BufferWatch(n.buffer.get()));
    }
  }
  for (array& out : work.outputs) {
    Node& n = *out.node();
    task.outputs.push_back(operand_of(n, backend, at));
    task.output_buffers.push_back(BufferWatch(n.buffer.get()));
  }
  task.bind_scalars();
  backend.encode(work.stream, task);
  work.is_queued = true;
}

// The outputs are on their way: they forget how they are computed.
void Evaluation::finish(Work& work) {
  // A view is there when its source is. What needs no work at all (empty, failed) is there at once:
  // nothing in the queue would ever report its number.
  Event when{work.stream.index, work.sequence};
  Stream stream = work.stream;
  bool done = !work.is_queued;
  if (work.is_view) {
    Node& source = *work.inputs[0].node();
    done = source.state.load(std::memory_order_acquire) == NodeState::available;
    if (!done) {
      stream = source.stream;
      when = {stream.index, source.sequence};
    }
  }
  done = done || reached(when);
  for (array& out : work.outputs) {
    Node& n = *out.node();
    n.sequence = when.sequence;
    if (!(n.stream == stream)) {
      n.stream = stream;
    }
    if (!(n.tracer && tracing())) {
      detach_node(n);
    }
    n.state.store(done ? NodeState::available : NodeState::encoded, std::memory_order_release);
    n.state.notify_all();
  }
}

void Evaluation::fail_work(Work& work, std::exception_ptr error) {
  Ref<Buffer> failed = Buffer::failed(std::move(error));
  work.is_view = work.is_queued = false;
  for (array& out : work.outputs) {
    Node& n = *out.node();
    n.buffer = failed;
    n.strides = row_major(n.shape);
  }
  finish(work);
}

// Waits until a scheduled node is there; false if it has to be evaluated first.
bool wait_until_available(Node& n) {
  NodeState s = n.state.settle();
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

bool any_is(std::span<const array> arrays, NodeState state) {
  return std::any_of(arrays.begin(), arrays.end(), [&](const array& a) {
    return a.node()->state.load(std::memory_order_acquire) == state;
  });
}

// A nested evaluation would wait for its turn on a stream until the outer one ends.
void check_not_encoding(std::span<const array> arrays) {
  auto available = [](const array& a) { return a.is_available(); };
  if (EncodingScope::active() && !std::all_of(arrays.begin(), arrays.end(), available)) {
    fail<RuntimeError>(
        "[eval] arrays cannot be evaluated by code that itself runs as part of an evaluation "
        "(a primitive's evaluator, a signal handler)");
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

bool array::is_available() const {
  NodeState s = node_->state.load(std::memory_order_acquire);
  if (s == NodeState::encoded && reached({node_->stream.index, node_->sequence})) {
    return true;
  }
  return s == NodeState::available;
}

void eval(std::span<const array> arrays) {
  check_evaluation_allowed();
  check_not_encoding(arrays);
  for (bool missing = true; missing;) {
    missing = false;
    if (any_is(arrays, NodeState::built)) {
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
  check_not_encoding(arrays);
  while (any_is(arrays, NodeState::built)) {  // again if what another eval gave back stopped it
    schedule(arrays, Mode::async);
  }
}

}  // namespace mlx::core
