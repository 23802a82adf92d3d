// grad, value_and_grad, vjp, jvp and vmap for Python functions over trees of arrays.
#include "mlx/transforms/transforms.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>

#include <algorithm>

#include "python/src/convert.h"
#include "python/src/trees.h"
#include "python/src/wrapped.h"

namespace mlx::core {

namespace {

// Arguments whose leaves are replaced by traced arrays for the length of a call. Lists and dicts
// are the caller's own: entries that the function has not replaced are put back at the end.
class Substitution {
 public:
  // Collects the leaves; ValueError unless all are arrays. Returns the tree with numbers for
  // leaves.
  nb::object add(nb::handle tree, const char* op) {
    return map_leaves(tree, [&](nb::handle leaf) -> nb::object {
      array* a = as_array(leaf);
      if (!a) {
        fail<ValueError>("[{}] expected a tree of arrays only, got a leaf of type {}", op,
                         class_name(leaf));
      }
      originals_.push_back(*a);
      return nb::int_(originals_.size() - 1);
    });
  }

  const std::vector<array>& originals() const { return originals_; }

  // The tree with the next traced arrays in place of its leaves.
  nb::object substitute(nb::handle tree, const std::vector<array>& traced) {
    PyObject* p = tree.ptr();
    if (PyDict_Check(p)) {
      nb::object keys = nb::steal(PyDict_Keys(p));
      for (nb::handle key : nb::borrow<nb::list>(keys)) {
        nb::object old = nb::borrow(PyDict_GetItemWithError(p, key.ptr()));
        if (old) {
          replace(tree, key, old, substitute(old, traced));
        }
      }
      return nb::borrow(tree);
    }
    if (PyList_Check(p)) {
      for (Py_ssize_t i = 0; i < PyList_Size(p); ++i) {
        nb::object old = nb::borrow(PyList_GetItem(p, i));
        replace(tree, nb::int_(i), old, substitute(old, traced));
      }
      return nb::borrow(tree);
    }
    if (PyTuple_Check(p)) {
      nb::list items;
      for (Py_ssize_t i = 0; i < PyTuple_Size(p); ++i) {
        items.append(substitute(PyTuple_GetItem(p, i), traced));
      }
      nb::tuple result(items);
      bool named = !PyTuple_CheckExact(p) && nb::hasattr(tree, "_fields");
      return named ? nb::object(tree.type()(*result)) : nb::object(result);
    }
    if (tracers_.size() == traced.size()) {
      fail<ValueError>("[grad] an argument changed while it was read");
    }
    tracers_.push_back({wrap(traced[tracers_.size()]), traced[tracers_.size()]});
    return tracers_.back().object;
  }

  // Puts back what the function has left alone; runs on exceptions too.
  ~Substitution() {
    nb::error_scope keep_error;
    std::vector<PyObject*> updated;  // in place, by the function
    for (size_t i = 0; i < tracers_.size(); ++i) {
      array& now = *as_array(tracers_[i].object);
      if (now.same_node(tracers_[i].value)) {
        now = originals_[i];
      } else {
        updated.push_back(tracers_[i].object.ptr());
      }
    }
    std::sort(updated.begin(), updated.end());
    for (auto r = replaced_.rbegin(); r != replaced_.rend(); ++r) {
      nb::object current = nb::steal(PyObject_GetItem(r->container.ptr(), r->key.ptr()));
      if (!current) {
        PyErr_Clear();
      } else if (current.is(r->tracer) &&
                 !std::binary_search(updated.begin(), updated.end(), current.ptr())) {
        set(r->container, r->key, r->original);
      }
    }
  }

 private:
  struct Tracer {
    nb::object object;
    array value;
  };
  struct Replaced {
    nb::object container, key, original, tracer;
  };

  // Past the container's own methods: a subclass may do more on assignment.
  static void set(nb::handle container, nb::handle key, nb::handle value) {
    PyObject* c = container.ptr();
    int failed = PyDict_Check(c)
                     ? PyDict_SetItem(c, key.ptr(), value.ptr())
                     : PyList_SetItem(c, PyLong_AsSsize_t(key.ptr()), value.inc_ref().ptr());
    if (failed) {
      PyErr_Clear();
    }
  }

  void replace(nb::handle container, nb::handle key, nb::handle old, nb::object fresh) {
    if (!fresh.is(old)) {
      set(container, key, fresh);
      replaced_.push_back({nb::borrow(container), nb::borrow(key), nb::borrow(old), fresh});
    }
  }

  std::vector<array> originals_;
  std::vector<Tracer> tracers_;
  std::vector<Replaced> replaced_;
};

nb::object fill_tree(nb::handle numbered, const std::vector<array>& values) {
  return map_leaves(numbered,
                    [&](nb::handle leaf) { return wrap(values[nb::cast<size_t>(leaf)]); });
}

// ---- grad ----

struct GradArguments {
  std::vector<int> argnums;  // sorted
  std::vector<std::string> argnames;
  const char* op;
};

using Names = std::variant<std::string, std::vector<std::string>>;

GradArguments grad_arguments(const AxisArg& argnums, const Names& names, const char* op) {
  GradArguments g{{}, {}, op};
  if (auto* one = std::get_if<std::string>(&names)) {
    g.argnames = {*one};
  } else {
    g.argnames = std::get<std::vector<std::string>>(names);
  }
  g.argnums = argnums.value ? *argnums.value : std::vector<int>(g.argnames.empty() ? 1 : 0, 0);
  std::sort(g.argnums.begin(), g.argnums.end());
  if (g.argnums.empty() && g.argnames.empty()) {
    fail<ValueError>("[{}] expected at least one argument to differentiate by", op);
  }
  if (!g.argnums.empty() && g.argnums.front() < 0) {
    fail<ValueError>("[{}] argument numbers cannot be negative, got {}", op, g.argnums.front());
  }
  if (auto d = std::adjacent_find(g.argnums.begin(), g.argnums.end()); d != g.argnums.end()) {
    fail<ValueError>("[{}] argument number {} is given twice", op, *d);
  }
  std::vector<std::string> sorted = g.argnames;
  std::sort(sorted.begin(), sorted.end());
  if (auto d = std::adjacent_find(sorted.begin(), sorted.end()); d != sorted.end()) {
    fail<ValueError>("[{}] argument name '{}' is given twice", op, *d);
  }
  return g;
}

// The 0-d array that a differentiated function returned.
array scalar_result(nb::handle result, const GradArguments& g, bool with_value) {
  nb::object first = nb::borrow(result);
  if (with_value && PyTuple_Check(result.ptr()) && PyTuple_Size(result.ptr()) > 0) {
    first = nb::borrow(PyTuple_GetItem(result.ptr(), 0));
  }
  array* a = as_array(first);
  if (!a) {
    fail<ValueError>("[{}] the function has to return a scalar array{}, got {}", g.op,
                     with_value ? " or a tuple that begins with one" : "", class_name(result));
  }
  if (a->ndim() != 0) {
    fail<ValueError>("[{}] the function has to return a scalar array, got one of shape {}", g.op,
                     a->shape());
  }
  return *a;
}

struct ValueAndGrad {
  nb::object value;
  nb::object grads;
};

ValueAndGrad differentiate(nb::handle fun, nb::args args, nb::kwargs kwargs, const GradArguments& g,
                           bool with_value) {
  for (int k : g.argnums) {
    if (size_t(k) >= args.size()) {
      fail<ValueError>("[{}] argument number {} is out of range: the call has {} positional ones",
                       g.op, k, args.size());
    }
  }
  for (const std::string& name : g.argnames) {
    if (!kwargs.contains(name.c_str())) {
      fail<ValueError>("[{}] the call has no keyword argument '{}'", g.op, name);
    }
  }
  Substitution substitution;
  std::vector<nb::object> by_position, by_name;
  for (int k : g.argnums) {
    by_position.push_back(substitution.add(nb::object(args[size_t(k)]), g.op));
  }
  for (const std::string& name : g.argnames) {
    by_name.push_back(substitution.add(nb::object(kwargs[name.c_str()]), g.op));
  }
  nb::object value;
  auto call = [&](const std::vector<array>& traced) {
    nb::list positional(args);
    for (int k : g.argnums) {
      positional[size_t(k)] = substitution.substitute(nb::object(args[size_t(k)]), traced);
    }
    nb::dict keyword = nb::borrow<nb::dict>(kwargs.attr("copy")());
    for (const std::string& name : g.argnames) {
      keyword[name.c_str()] = substitution.substitute(nb::object(kwargs[name.c_str()]), traced);
    }
    value = fun(*positional, **keyword);
    return std::vector<array>{scalar_result(value, g, with_value)};
  };
  auto one = [](const std::vector<array>& out) {
    return std::vector<array>{array(1.0, out[0].dtype())};
  };
  std::vector<array> grads = vjp(call, substitution.originals(), CotangentsOf(one)).derivatives;
  nb::list positional;
  for (nb::object& tree : by_position) {
    positional.append(fill_tree(tree, grads));
  }
  nb::object result = nb::len(positional) == 0   ? nb::object(nb::none())
                      : nb::len(positional) == 1 ? nb::object(positional[0])
                                                 : nb::object(nb::tuple(positional));
  if (!g.argnames.empty()) {
    nb::dict named;
    for (size_t i = 0; i < by_name.size(); ++i) {
      named[g.argnames[i].c_str()] = fill_tree(by_name[i], grads);
    }
    result = nb::make_tuple(result, named);
  }
  return {value, result};
}

nb::object value_and_grad(nb::callable fun, const AxisArg& argnums, const Names& names) {
  GradArguments g = grad_arguments(argnums, names, "value_and_grad");
  return wrap_function(fun, [g](nb::handle f, nb::args args, nb::kwargs kwargs) -> nb::object {
    ValueAndGrad r = differentiate(f, args, kwargs, g, true);
    return nb::make_tuple(r.value, r.grads);
  });
}

nb::object grad(nb::callable fun, const AxisArg& argnums, const Names& names) {
  GradArguments g = grad_arguments(argnums, names, "grad");
  return wrap_function(fun, [g](nb::handle f, nb::args args, nb::kwargs kwargs) {
    return differentiate(f, args, kwargs, g, false).grads;
  });
}

// ---- vjp, jvp ----

// fun(*arrays) as a function of the core: it returns an array or a list or tuple of them.
ArrayFunction list_function(nb::handle fun, const char* op) {
  return [fun, op](const std::vector<array>& inputs) {
    nb::list args;
    for (const array& x : inputs) {
      args.append(wrap(x));
    }
    nb::object result = fun(*args);
    if (array* a = as_array(result)) {
      return std::vector<array>{*a};
    }
    std::vector<array> outputs;
    bool valid = PyList_Check(result.ptr()) || PyTuple_Check(result.ptr());
    for (size_t i = 0; valid && i < nb::len(result); ++i) {
      nb::object item = result[i];
      array* a = as_array(item);
      valid = a != nullptr;
      if (a) {
        outputs.push_back(*a);
      }
    }
    if (!valid) {
      fail<ValueError>(
          "[{}] the function has to return an array or a list or tuple of arrays, got {}", op,
          class_name(result));
    }
    return outputs;
  };
}

nb::object vjp_of(nb::callable fun, const std::vector<array>& primals,
                  const std::vector<array>& cotangents) {
  auto r = vjp(list_function(fun, "vjp"), primals, cotangents);
  return nb::make_tuple(r.outputs, r.derivatives);
}

nb::object jvp_of(nb::callable fun, const std::vector<array>& primals,
                  const std::vector<array>& tangents) {
  auto r = jvp(list_function(fun, "jvp"), primals, tangents);
  return nb::make_tuple(r.outputs, r.derivatives);
}

// ---- vmap ----

// in_axes may be given for the arguments together or for the only one.
std::vector<int> argument_axes(nb::handle in_axes, nb::args args) {
  std::vector<int> axes;
  bool sequence = PyTuple_Check(in_axes.ptr()) || PyList_Check(in_axes.ptr());
  bool together = !sequence || nb::len(in_axes) == args.size();
  if (args.size() == 1 && (!together || PyDict_Check(in_axes.ptr()))) {
    flatten_axes(in_axes, nb::object(args[0]), axes);
  } else {
    flatten_axes(in_axes, args, axes);
  }
  return axes;
}

std::vector<int> result_axes(nb::handle out_axes, nb::handle result) {
  std::vector<int> axes;
  bool sequence = PyTuple_Check(out_axes.ptr()) || PyList_Check(out_axes.ptr());
  if (sequence && as_array(result) && nb::len(out_axes) == 1) {
    flatten_axes(nb::object(out_axes[0]), result, axes);
  } else {
    flatten_axes(out_axes, result, axes);
  }
  return axes;
}

nb::object vmap_call(nb::handle fun, nb::args args, nb::kwargs kwargs, nb::handle in_axes,
                     nb::handle out_axes) {
  if (kwargs.size() > 0) {
    fail<TypeError>("[vmap] a mapped function takes no keyword arguments");
  }
  std::vector<array> inputs, outputs;
  auto number_into = [](std::vector<array>& arrays) {
    return [&arrays](nb::handle leaf) -> nb::object {
      array* a = as_array(leaf);
      if (!a) {
        fail<ValueError>("[vmap] expected trees of arrays only, got a leaf of type {}",
                         class_name(leaf));
      }
      arrays.push_back(*a);
      return nb::int_(arrays.size() - 1);
    };
  };
  nb::object numbered_args = map_leaves(args, number_into(inputs));
  std::vector<int> axes = argument_axes(in_axes, args);
  nb::object numbered_result, result;
  auto call = [&](const std::vector<array>& traced) {
    nb::object fresh = fill_tree(numbered_args, traced);
    result = fun(*nb::borrow<nb::tuple>(fresh));
    numbered_result = map_leaves(result, number_into(outputs));
    return outputs;
  };
  auto axes_of = [&](size_t) { return result_axes(out_axes, result); };
  return fill_tree(numbered_result, vmap(call, inputs, axes, axes_of));
}

// Keeps in_axes and out_axes; plain data, so no cycle can go through them.
nb::object vmap_of(nb::callable fun, nb::object in_axes, nb::object out_axes) {
  return wrap_function(fun, [in_axes, out_axes](nb::handle f, nb::args args, nb::kwargs kwargs) {
    return vmap_call(f, args, kwargs, in_axes, out_axes);
  });
}

constexpr const char* grad_doc =
    "A function that computes the gradient of ``fun``.\n\n"
    "Args:\n    fun: takes arrays or trees of them and returns a scalar array.\n"
    "    argnums: number or numbers of the positional arguments to differentiate by; default 0 if\n"
    "        ``argnames`` is not given.\n"
    "    argnames: name or names of keyword arguments to differentiate by.\n\n"
    "Returns:\n    A function with the arguments of ``fun`` that returns the gradient: a tree "
    "like\n"
    "    the argument; a tuple of them for several; with ``argnames`` a tuple of that (or "
    "``None``)\n"
    "    and a dict. A gradient has the dtype of its input.\n\n"
    "Raises:\n    ValueError: bad argument numbers or names, leaves that are not arrays, or a "
    "result\n"
    "        that is no scalar array.\n\n"
    "Example:\n    >>> mx.grad(lambda x: x * x)(mx.array(3.0))\n    array(6, dtype=float32)";

constexpr const char* value_and_grad_doc =
    "A function that computes the value and the gradient of ``fun``.\n\n"
    "As :func:`grad`, but the function returned gives ``(value, gradient)``, and ``fun`` may "
    "return\n"
    "a tuple whose first item is the scalar; further items of any kind are passed through.\n\n"
    "Example:\n    >>> mx.value_and_grad(lambda x: x * x)(mx.array(3.0))\n"
    "    (array(9, dtype=float32), array(6, dtype=float32))";

constexpr const char* vmap_doc =
    "A function that applies ``fun`` to every slice of its arguments at once.\n\n"
    "Args:\n    fun: takes and returns arrays or trees of them, positional arguments only.\n"
    "    in_axes: the axis to map over: an int for all arguments, or a tuple with an int, "
    "``None``\n"
    "        (not mapped) or a tree of them for each.\n"
    "    out_axes: the axis of the outputs along which the results are stacked, in the same "
    "form.\n\n"
    "Raises:\n    ValueError: axes that do not match the arguments or differ in size, or none at "
    "all.\n"
    "    AxisError: an axis out of range.\n\n"
    "Example:\n    >>> mx.vmap(lambda x, y: x + y, in_axes=(0, None))(mx.array([1, 2]), "
    "mx.array(3))\n"
    "    array([4, 5], dtype=int32)";

}  // namespace

void bind_transforms(nb::module_& m) {
  bind_wrapped(m);
  Names no_names = std::vector<std::string>{};
  define(m, "grad", &grad, "fun"_a, "argnums"_a = nb::none(), "argnames"_a = no_names, grad_doc);
  define(m, "value_and_grad", &value_and_grad, "fun"_a, "argnums"_a = nb::none(),
         "argnames"_a = no_names, value_and_grad_doc);
  define(m, "vjp", &vjp_of, "fun"_a, "primals"_a, "cotangents"_a,
         "The outputs of ``fun`` and the products of ``cotangents`` with its Jacobian.\n\n"
         "Args:\n    fun: takes arrays, returns an array or a list or tuple of them.\n"
         "    primals: the arrays to call it with.\n"
         "    cotangents: one for each output, of its shape.\n\n"
         "Returns:\n    A tuple of two lists: outputs, and one cotangent for each primal.\n\n"
         "Example:\n    >>> mx.vjp(mx.sin, [mx.array(0.0)], [mx.array(1.0)])\n"
         "    ([array(0, dtype=float32)], [array(1, dtype=float32)])");
  define(m, "jvp", &jvp_of, "fun"_a, "primals"_a, "tangents"_a,
         "The outputs of ``fun`` and the product of its Jacobian with ``tangents``.\n\n"
         "Args:\n    fun: takes arrays, returns an array or a list or tuple of them.\n"
         "    primals: the arrays to call it with.\n    tangents: one for each, of its shape.\n\n"
         "Returns:\n    A tuple of two lists: outputs, and one tangent for each output.\n\n"
         "Example:\n    >>> mx.jvp(mx.sin, [mx.array(0.0)], [mx.array(1.0)])\n"
         "    ([array(0, dtype=float32)], [array(1, dtype=float32)])");
  define(m, "vmap", &vmap_of, "fun"_a, nb::arg("in_axes") = 0, nb::arg("out_axes") = 0, vmap_doc);
}

}  // namespace mlx::core
