// Nodes: their pool, their iterative destruction, and how arrays are made.
#include "mlx/graph/array.h"

#include <cstdlib>
#include <cstring>

#include "mlx/backend.h"
#include "mlx/dispatch.h"
#include "mlx/graph/node.h"
#include "mlx/graph/scheduler.h"
#include "mlx/scalar_value.h"

namespace mlx::core {

namespace {

// Per-thread free list of node-sized blocks: building an op allocates nothing in steady state.
struct NodePool {
  static constexpr int capacity = 1024;
  Node* free_list = nullptr;
  int count = 0;
  Node* dying = nullptr;
  bool draining = false;
  bool ended = false;
};
thread_local constinit NodePool pool;

struct NodePoolGuard {
  void touch() {}
  ~NodePoolGuard() {
    pool.ended = true;
    while (void* p = pool.free_list) {
      pool.free_list = static_cast<Node*>(p)->next;
      std::free(p);
    }
    pool.count = 0;
  }
};
thread_local NodePoolGuard pool_guard;

std::atomic<int64_t> node_count{0};

}  // namespace

Node::Node(Shape s, Dtype t) : dtype(t), shape(std::move(s)) {
  node_count.fetch_add(1, std::memory_order_relaxed);
}

Node::~Node() {
  node_count.fetch_sub(1, std::memory_order_relaxed);
  if (group) {
    std::lock_guard lock(group->mutex);
    auto& slot = group->outputs[output_index].node;
    if (slot == this) {
      slot = nullptr;
    }
  }
}

void* Node::operator new(size_t bytes) {
  if (Node* n = pool.free_list) {
    pool.free_list = n->next;
    --pool.count;
    return n;
  }
  pool_guard.touch();
  if (void* p = std::malloc(bytes)) {
    return p;
  }
  throw std::bad_alloc();
}

void Node::operator delete(void* p) noexcept {
  if (pool.count < NodePool::capacity && !pool.ended) {
    if (pool.count == 0) {
      pool_guard.touch();  // a thread may only ever release nodes: it too frees its list at the end
    }
    Node* n = static_cast<Node*>(p);
    n->next = pool.free_list;
    pool.free_list = n;
    ++pool.count;
  } else {
    std::free(p);
  }
}

int64_t live_nodes() { return node_count.load(std::memory_order_relaxed); }

std::mutex& graph_mutex() {
  static std::mutex& m = *new std::mutex();
  return m;
}

void retain_node(Node* n) noexcept {
  if (n) {
    n->refs.fetch_add(1, std::memory_order_relaxed);
  }
}

void release_node(Node* n) noexcept {
  if (n->refs.fetch_sub(1, std::memory_order_acq_rel) != 1) {
    return;
  }
  n->next = pool.dying;
  pool.dying = n;
  if (pool.draining) {
    return;  // an outer call on this thread works the list off
  }
  pool.draining = true;
  while (Node* dead = pool.dying) {
    pool.dying = dead->next;
    delete dead;
  }
  pool.draining = false;
}

array::array(scalar_tag, double value, Dtype dtype) : node_(new Node(Shape{}, dtype)) {
  node_->size = 1;
  node_->has_scalar = true;
  store_scalar(dtype, value, node_->scalar);
  node_->state.store(NodeState::available, std::memory_order_relaxed);
}

array::array(complex64_t value) : array(scalar_tag{}, 0.0, complex64) {
  std::memcpy(node_->scalar, &value, sizeof value);
}

array array::from_int(int64_t value, Dtype dtype) {
  array a(scalar_tag{}, 0.0, dtype);
  store_scalar(dtype, value, a.node_->scalar);
  return a;
}

array array::from_uint(uint64_t value, Dtype dtype) {
  array a(scalar_tag{}, 0.0, dtype);
  store_scalar(dtype, value, a.node_->scalar);
  return a;
}

array::array(std::initializer_list<float> values)
    : array(values.begin(), Shape{int64_t(values.size())}, float32) {}

array::array(std::initializer_list<int> values)
    : array(values.begin(), Shape{int64_t(values.size())}, int32) {}

array::array(const void* data, Shape shape, Dtype dtype) {
  int64_t n = element_count(shape, "array");
  size_t bytes = byte_count(n, dtype.size());
  Ref<Buffer> b = Buffer::allocate_for_host(bytes);
  if (bytes) {
    std::memcpy(b->host(), data, bytes);
  }
  Strides strides = row_major(shape);
  *this = from_buffer(std::move(b), std::move(shape), std::move(strides), 0, dtype);
}

array array::make(Shape shape, Dtype dtype, Ref<Primitive> primitive, std::span<const array> inputs,
                  Stream stream) {
  int64_t size = element_count(shape, primitive->name());
  Node* n = new Node(std::move(shape), dtype);
  array a = adopt(n);
  n->size = size;
  n->stream = stream;
  n->primitive = std::move(primitive);
  n->inputs.reserve(inputs.size());
  for (const array& x : inputs) {
    n->tracer = std::max(n->tracer, x.node_->tracer);
    n->inputs.push_back(x);
  }
  return a;
}

std::vector<array> array::make_many(std::vector<Shape> shapes, std::vector<Dtype> dtypes,
                                    Ref<Primitive> primitive, std::span<const array> inputs,
                                    Stream stream) {
  Ref<Group> group(new Group());
  std::vector<array> out;
  for (size_t i = 0; i < shapes.size(); ++i) {
    out.push_back(make(shapes[i], dtypes[i], primitive, inputs, stream));
    Node* n = out.back().node_;
    n->output_index = uint16_t(i);
    n->group = group;
    group->outputs.push_back({n, std::move(shapes[i]), dtypes[i]});
  }
  return out;
}

std::vector<array> outputs_of(const array& a) {
  Node* n = a.node();
  if (!n->group) {
    return {a};
  }
  std::vector<array> out;
  std::lock_guard lock(n->group->mutex);
  for (size_t i = 0; i < n->group->outputs.size(); ++i) {
    auto& slot = n->group->outputs[i];
    // A node whose count has reached zero is on its way out: it gets a successor.
    Node* alive = slot.node;
    uint32_t refs = alive ? alive->refs.load() : 0;
    while (refs && !alive->refs.compare_exchange_weak(refs, refs + 1)) {
    }
    if (refs) {
      out.push_back(array::adopt(alive));
      continue;
    }
    array fresh = array::make(slot.shape, slot.dtype, n->primitive, n->inputs, n->stream);
    fresh.node()->output_index = uint16_t(i);
    fresh.node()->group = n->group;
    slot.node = fresh.node();
    out.push_back(std::move(fresh));
  }
  return out;
}

array array::from_buffer(Ref<Buffer> buffer, Shape shape, Strides strides, int64_t offset_bytes,
                         Dtype dtype) {
  int64_t size = element_count(shape, "array");
  Node* n = new Node(std::move(shape), dtype);
  array a = adopt(n);
  n->size = size;
  n->row_contiguous = is_row_contiguous(n->shape, strides);
  n->strides = std::move(strides);
  n->offset = offset_bytes;
  n->buffer = std::move(buffer);
  n->state.store(NodeState::available, std::memory_order_release);
  return a;
}

array array::placeholder(Shape shape, Dtype dtype) {
  int64_t size = element_count(shape, "array");
  array a = adopt(new Node(std::move(shape), dtype));
  a.node_->size = size;
  a.node_->tracer = 1;
  return a;
}

const Shape& array::shape() const { return node_->shape; }
int64_t array::size() const { return node_->size; }
Dtype array::dtype() const { return node_->dtype; }
uint8_t array::tracer() const { return node_->tracer; }
void array::set_tracer(uint8_t level) { node_->tracer = level; }

const Strides& array::strides() const {
  eval();
  return node_->strides;
}

bool array::row_contiguous() const {
  eval();
  return node_->row_contiguous;
}

const void* array::data() const {
  eval();
  if (node_->has_scalar) {
    return node_->scalar;
  }
  return static_cast<const char*>(node_->buffer->read()) + node_->offset;
}

void* array::shared_data() const {
  eval();
  if (node_->has_scalar) {
    return node_->scalar;
  }
  return static_cast<char*>(node_->buffer->share()) + node_->offset;
}

void array::read_item(Dtype as, void* to) const {
  if (size() != 1) {
    fail<ValueError>("[item] expected an array with one element, got shape {}", shape());
  }
  const void* from = data();
  dispatch(AllTypes{}, dtype(), "item", [&]<typename From>() {
    From value;
    std::memcpy(&value, from, sizeof value);
    dispatch(AllTypes{}, as, "item", [&]<typename To>() {
      To result = convert_scalar<To>(value);
      std::memcpy(to, &result, sizeof result);
    });
  });
}

}  // namespace mlx::core
