// mx.compile for Python functions: the key of a call, the traces kept by key, and captured state.
#include "mlx/transforms/compile.h"

#include <bit>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "mlx/error.h"
#include "mlx/ops/random/random.h"
#include "mlx/transforms/trace.h"
#include "python/src/convert.h"
#include "python/src/define.h"
#include "python/src/random_state.h"
#include "python/src/templates.h"
#include "python/src/trees.h"
#include "python/src/wrapped.h"

namespace mlx::core {

namespace {

// What a trace depends on, as words that are compared: structure of the trees, dtypes and shapes
// of arrays, values of constants, device and stream.
class Key {
 public:
  void add(uint64_t word) {
    words_.push_back(word);
    hash_ = (hash_ ^ word) * 0x9e3779b97f4a7c15ull;
    hash_ ^= hash_ >> 32;
  }
  void add(const char* text, size_t size) {
    add(size);
    for (size_t i = 0; i < size; i += 8) {
      uint64_t word = 0;
      std::memcpy(&word, text + i, std::min<size_t>(8, size - i));
      add(word);
    }
  }
  size_t hash() const { return size_t(hash_); }
  bool operator==(const Key& o) const { return words_ == o.words_; }

 private:
  SmallVector<uint64_t, 48> words_;
  uint64_t hash_ = 0;
};

struct KeyHash {
  size_t operator()(const Key& k) const { return k.hash(); }
};

enum class Tag : uint64_t {
  array,
  list,
  tuple,
  dict,
  integer,
  long_integer,
  real,
  text,
  none,
  ignored,
  device
};

// A call's key and its arrays in order.
class Call {
 public:
  explicit Call(bool shapeless) : shapeless_(shapeless) {}

  void add_context() {
    Device d = default_device();
    key.add(word(Tag::device, uint64_t(d.type) << 32 | uint64_t(uint32_t(d.index))));
    key.add(uint64_t(default_stream(d).index) << 1 | uint64_t(shapes_may_change()));
  }

  void add_argument(nb::handle h) {
    if (add_array_or_tree(h, &Call::add_argument) || add_constant(h)) {
      return;
    }
    fail<ValueError>(
        "[compile] arguments are arrays, int, float, str, None or trees of them, got {}",
        class_name(h));
  }

  // In captured trees everything but arrays is ignored.
  void add_captured(nb::handle h) {
    if (add_array_or_tree(h, &Call::add_captured)) {
      return;
    }
    if (is_random_state(h)) {
      add_array(random::state());
    } else {
      key.add(word(Tag::ignored, 0));
    }
  }

  Key key;
  std::vector<array> arrays;

 private:
  using Add = void (Call::*)(nb::handle);

  static uint64_t word(Tag tag, uint64_t value) { return uint64_t(tag) | value << 8; }

  void add_array(const array& a) {
    // Whether there are elements at all decides about more than a shape.
    uint64_t empty = a.size() == 0;
    key.add(word(Tag::array, empty << 32 | uint64_t(a.dtype().index()) << 16 | uint64_t(a.ndim())));
    if (!shapeless_) {
      for (int64_t n : a.shape()) {
        key.add(uint64_t(n));
      }
    }
    arrays.push_back(a);
  }

  bool add_array_or_tree(nb::handle h, Add add) {
    PyObject* p = h.ptr();
    if (array* a = as_array(h)) {
      add_array(*a);
      return true;
    }
    if (PyTuple_Check(p)) {
      RecursionGuard guard;
      Py_ssize_t n = PyTuple_Size(p);
      key.add(word(Tag::tuple, uint64_t(n)));
      if (!PyTuple_CheckExact(p)) {
        key.add(reinterpret_cast<uint64_t>(Py_TYPE(p)));
      }
      for (Py_ssize_t i = 0; i < n; ++i) {
        (this->*add)(PyTuple_GetItem(p, i));
      }
      return true;
    }
    if (PyList_Check(p)) {
      RecursionGuard guard;
      key.add(word(Tag::list, uint64_t(PyList_Size(p))));
      for (Py_ssize_t i = 0; i < PyList_Size(p); ++i) {
        (this->*add)(PyList_GetItem(p, i));
      }
      return true;
    }
    if (PyDict_Check(p)) {
      RecursionGuard guard;
      key.add(word(Tag::dict, uint64_t(PyDict_Size(p))));
      PyObject *name, *value;
      for (Py_ssize_t at = 0; PyDict_Next(p, &at, &name, &value);) {
        if (!add_constant(name)) {
          nb::object kept = nb::borrow(value);  // repr may run code that changes the dict
          nb::str text = nb::repr(name);
          add_text(text);
        }
        (this->*add)(value);
      }
      return true;
    }
    return false;
  }

  void add_text(nb::handle h) {
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(h.ptr(), &size);
    if (!text) {
      throw nb::python_error();
    }
    key.add(text, size_t(size));
  }

  bool add_constant(nb::handle h) {
    PyObject* p = h.ptr();
    if (PyUnicode_Check(p)) {
      key.add(word(Tag::text, 0));
      add_text(h);
    } else if (PyLong_Check(p)) {
      int overflow = 0;
      long long value = PyLong_AsLongLongAndOverflow(p, &overflow);
      if (overflow) {
        key.add(word(Tag::long_integer, 0));
        add_text(nb::object(nb::steal(PyNumber_ToBase(p, 16))));
      } else {
        key.add(word(Tag::integer, 0));
        key.add(uint64_t(value));
      }
    } else if (PyFloat_Check(p)) {
      key.add(word(Tag::real, 0));
      key.add(std::bit_cast<uint64_t>(PyFloat_AsDouble(p)));
    } else if (h.is_none()) {
      key.add(word(Tag::none, 0));
    } else {
      return false;
    }
    return true;
  }

  bool shapeless_;
};

// One trace: the graph and where its outputs go.
struct Trace {
  std::optional<CompiledGraph> graph;
  Template result;
  Template written;
};

class CompiledFunction final : public WrappedCall {
 public:
  CompiledFunction(nb::object inputs, nb::object outputs, bool shapeless)
      : inputs_(std::move(inputs)), outputs_(std::move(outputs)), shapeless_(shapeless) {}

  nb::object call(nb::handle fun, nb::args args, nb::kwargs kwargs) override {
    if (!compile_enabled()) {
      return fun(*args, **kwargs);
    }
    nb::object inputs = inputs_, outputs = outputs_;
    Call c(shapeless_);
    c.add_context();
    c.add_argument(args);
    c.add_argument(kwargs);
    if (!inputs.is_none()) {
      c.add_captured(inputs);
    }
    std::shared_ptr<const Trace> trace = find(c.key);
    if (!trace) {
      trace = keep(c.key, record(fun, args, kwargs, inputs, outputs, c.arrays));
    }
    std::vector<array> results = trace->graph->replay(c.arrays);
    write_back(trace->written, outputs, results);
    return fill(trace->result, results);
  }

  int traverse(visitproc visit, void* arg) const override {
    Py_VISIT(inputs_.ptr());
    Py_VISIT(outputs_.ptr());
    for (const auto& [key, trace] : traces_) {
      if (int stop = trace->result.traverse(visit, arg)) {
        return stop;
      }
      if (int stop = trace->written.traverse(visit, arg)) {
        return stop;
      }
    }
    return 0;
  }

  void clear() override {
    inputs_ = nb::none();
    outputs_ = nb::none();
    auto traces = std::move(traces_);
    traces_.clear();
  }

 private:
  std::shared_ptr<const Trace> find(const Key& key) const {
    std::lock_guard lock(mutex_);
    auto it = traces_.find(key);
    return it == traces_.end() ? nullptr : it->second;
  }

  // Of two threads that traced the same at once the first one's is kept.
  std::shared_ptr<const Trace> keep(const Key& key, std::shared_ptr<const Trace> trace) {
    std::lock_guard lock(mutex_);
    return traces_.try_emplace(key, std::move(trace)).first->second;
  }

  std::shared_ptr<const Trace> record(nb::handle fun, nb::args args, nb::kwargs kwargs,
                                      nb::handle inputs, nb::handle outputs,
                                      const std::vector<array>& arrays) const {
    auto trace = std::make_shared<Trace>();
    auto traced = [&](const std::vector<array>& stand_ins) {
      size_t next = 0;
      auto replace = [&](nb::handle leaf) {
        return as_array(leaf) ? wrap(stand_ins[next++]) : nb::borrow(leaf);
      };
      nb::object positional = map_leaves(args, replace);
      nb::object keyword = map_leaves(kwargs, replace);
      Captured captured(inputs, outputs);
      captured.substitute(stand_ins, next);
      nb::object result = fun(*nb::borrow<nb::tuple>(positional), **nb::borrow<nb::dict>(keyword));
      std::vector<array> results;
      trace->result = template_of(result, results);
      trace->written = captured.changes(results);
      return results;
    };
    trace->graph.emplace(
        CompiledGraph::trace(traced, arrays, shapeless_ ? Shapes::inferred : Shapes::recorded));
    return trace;
  }

  nb::object inputs_, outputs_;
  const bool shapeless_;
  mutable std::mutex mutex_;  // not held while Python code may run
  std::unordered_map<Key, std::shared_ptr<const Trace>, KeyHash> traces_;
};

nb::object compile_function(nb::callable fun, nb::object inputs, nb::object outputs,
                            bool shapeless) {
  return wrap_function(std::move(fun), std::make_shared<CompiledFunction>(
                                           std::move(inputs), std::move(outputs), shapeless));
}

constexpr const char* compile_doc =
    "A function that does what ``fun`` does, without running its Python code again.\n\n"
    "The first call traces ``fun``; later calls replay the recorded graph, with element-wise\n"
    "operations joined beforehand. A call is traced again when dtypes, shapes (with ``shapeless``\n"
    "only the numbers of dimensions), the structure of the arguments, the values of constants or\n"
    "the default device or stream differ from all earlier ones. Results are the same bit for bit\n"
    "as those of ``fun``.\n\n"
    "Args:\n    fun: takes arrays, int, float, str, None or trees of them; returns anything: what "
    "is no\n        array is returned as it was when traced. Side effects happen only then.\n"
    "    inputs: a list or dict (or ``mx.random.state``) of arrays that ``fun`` reads beside its\n"
    "        arguments. Other arrays it reads are constants.\n"
    "    outputs: the same for what it changes: written after each call.\n"
    "    shapeless: replay for other shapes of the same rank, too. Operations whose output shape\n"
    "        does not follow from those of the inputs cannot be used.\n\n"
    "Raises:\n    ValueError: arguments of another kind, evaluating arrays inside ``fun``, or, "
    "with\n        ``shapeless``, an operation that needs fixed shapes.\n\n"
    "Example:\n    >>> f = mx.compile(lambda x: mx.exp(x) + 1)\n"
    "    >>> f(mx.array([0.0, 0.0]))\n    array([2, 2], dtype=float32)";

}  // namespace

void bind_compile(nb::module_& m) {
  define(m, "compile", &compile_function, "fun"_a, "inputs"_a = nb::none(),
         "outputs"_a = nb::none(), "shapeless"_a = false, compile_doc);
  define(m, "enable_compile", &enable_compile,
         "Let functions made by :func:`compile` use their recorded graphs (the default).\n\n"
         "Overrides the environment variable ``MLX_DISABLE_COMPILE``.");
  define(m, "disable_compile", &disable_compile,
         "Let functions made by :func:`compile` call the original functions.\n\n"
         "The environment variable ``MLX_DISABLE_COMPILE`` does so from the start.");
}

}  // namespace mlx::core
