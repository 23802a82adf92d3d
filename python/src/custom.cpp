// mx.custom_function, mx.checkpoint and mx.depends.
#include "mlx/transforms/custom.h"

#include <nanobind/stl/variant.h>

#include "mlx/error.h"
#include "python/src/convert.h"
#include "python/src/define.h"
#include "python/src/gil.h"
#include "python/src/templates.h"
#include "python/src/trees.h"
#include "python/src/wrapped.h"

namespace mlx::core {

namespace {

// A call of a Python function written down, so that rules can make it or its like again. Graphs
// keep it, and may let it go on any thread.
struct RecordedCall {
  nb::object fun, vjp, jvp, vmap;
  Template args, kwargs, result;
  size_t positional = 0;  // arrays among args; those of kwargs follow

  nb::object call(const std::vector<array>& arrays) const {
    nb::object a = fill(args, arrays), k = fill(kwargs, arrays);
    return fun(*nb::borrow<nb::tuple>(a), **nb::borrow<nb::dict>(k));
  }
  // The positional arguments as rules take them: the only one, or a tuple.
  nb::object arguments(const std::vector<array>& arrays) const {
    return fill(args.items.size() == 1 ? args.items[0] : args, arrays);
  }
};
using Recorded = std::shared_ptr<RecordedCall>;

Recorded record(nb::handle fun, nb::args args, nb::kwargs kwargs, std::vector<array>& inputs) {
  Recorded r = share_with_graphs(std::make_unique<RecordedCall>());
  r->fun = nb::borrow(fun);
  r->args = template_of(args, inputs);
  r->positional = inputs.size();
  r->kwargs = template_of(kwargs, inputs);
  return r;
}

// The recorded function over arrays; `result` says where the outputs go.
ArrayFunction array_function(Recorded r) {
  return [r](const std::vector<array>& arrays) {
    std::vector<array> outputs;
    r->result = template_of(r->call(arrays), outputs);
    return outputs;
  };
}

// ---- custom_function ----

// Places of arrays, with objects in them: None for what has no tangent or is not mapped.
nb::object fill_objects(const Template& t, const std::vector<nb::object>& objects) {
  Template filled = t;
  auto put = [&](auto& self, Template& item) -> void {
    if (item.kind == Template::Kind::array) {
      item.kind = Template::Kind::constant;
      item.object = objects[size_t(item.slot)];
    }
    for (Template& i : item.items) {
      self(self, i);
    }
  };
  put(put, filled);
  return fill(filled.items.size() == 1 ? filled.items[0] : filled, {});
}

std::vector<array> first(const std::vector<array>& a, size_t n) {
  return {a.begin(), a.begin() + long(n)};
}

// Keyword arguments have no place in a rule's result: their gradients are those of the function.
std::vector<array> custom_vjp(const Recorded& r, const std::vector<array>& primals,
                              const std::vector<array>& cotangents,
                              const std::vector<array>& outputs) {
  nb::object kwargs = fill(r->kwargs, primals);
  nb::object result = r->vjp(r->arguments(primals), fill(r->result, cotangents),
                             fill(r->result, outputs), **nb::borrow<nb::dict>(kwargs));
  std::vector<array> gradients = arrays_of(result);
  if (gradients.size() != r->positional) {
    fail<ValueError>(
        "[custom_function] the vjp rule returned {} arrays, expected one for each of {} arrays "
        "among the positional arguments",
        gradients.size(), r->positional);
  }
  if (primals.size() > r->positional) {
    std::vector<array> rest(primals.begin() + long(r->positional), primals.end());
    auto of_rest = [&](const std::vector<array>& keyword) {
      std::vector<array> all = first(primals, r->positional);
      all.insert(all.end(), keyword.begin(), keyword.end());
      return array_function(r)(all);
    };
    for (array& g : vjp(of_rest, rest, cotangents).derivatives) {
      gradients.push_back(std::move(g));
    }
  }
  return gradients;
}

void refuse_keywords(const Recorded& r, const char* rule) {
  if (!r->kwargs.items.empty()) {
    fail<ValueError>("[custom_function] a function with a {} rule takes no keyword arguments",
                     rule);
  }
}

std::vector<array> custom_jvp(const Recorded& r, const std::vector<array>& primals,
                              const std::vector<std::optional<array>>& tangents) {
  refuse_keywords(r, "jvp");
  std::vector<nb::object> objects;
  for (const auto& t : tangents) {
    objects.push_back(t ? wrap(*t) : nb::none());
  }
  nb::object result = r->jvp(r->arguments(primals), fill_objects(r->args, objects));
  return arrays_of(result);
}

VmapResult custom_vmap(const Recorded& r, const std::vector<array>& inputs,
                       const std::vector<int>& axes) {
  refuse_keywords(r, "vmap");
  std::vector<nb::object> objects;
  for (int axis : axes) {
    objects.push_back(axis < 0 ? nb::none() : nb::object(nb::int_(axis)));
  }
  nb::object result = r->vmap(r->arguments(inputs), fill_objects(r->args, objects));
  if (!PyTuple_Check(result.ptr()) || PyTuple_Size(result.ptr()) != 2) {
    fail<ValueError>(
        "[custom_function] the vmap rule has to return a tuple of outputs and their axes, got {}",
        class_name(result));
  }
  VmapResult out{arrays_of(nb::object(result[0])), {}};
  flatten_axes(nb::object(result[1]), nb::object(result[0]), out.axes);
  if (out.axes.size() != out.outputs.size()) {
    fail<ValueError>("[custom_function] the vmap rule returned {} arrays and {} axes",
                     out.outputs.size(), out.axes.size());
  }
  for (size_t k = 0; k < out.outputs.size(); ++k) {
    out.axes[k] = out.axes[k] == not_mapped
                      ? -1
                      : normalize_axis(out.axes[k], out.outputs[k].ndim(), "custom_function");
  }
  return out;
}

struct PyCustomFunction {
  nb::object fun, vjp, jvp, vmap;
};

nb::object call_custom(PyCustomFunction& f, nb::args args, nb::kwargs kwargs) {
  if (!f.vjp && !f.jvp && !f.vmap) {
    return f.fun(*args, **kwargs);
  }
  std::vector<array> inputs;
  Recorded r = record(f.fun, args, kwargs, inputs);
  r->vjp = f.vjp;
  r->jvp = f.jvp;
  r->vmap = f.vmap;
  CustomRules rules;
  if (f.vjp) {
    rules.vjp = [r](const std::vector<array>& x, const std::vector<array>& g,
                    const std::vector<array>& y) { return custom_vjp(r, x, g, y); };
  }
  if (f.jvp) {
    rules.jvp = [r](const std::vector<array>& x, const std::vector<std::optional<array>>& t) {
      return custom_jvp(r, x, t);
    };
  }
  if (f.vmap) {
    rules.vmap = [r](const std::vector<array>& x, const std::vector<int>& axes) {
      return custom_vmap(r, x, axes);
    };
  }
  // The first call is made with the caller's own objects.
  auto fun = [&](const std::vector<array>&) {
    std::vector<array> outputs;
    r->result = template_of(f.fun(*args, **kwargs), outputs);
    return outputs;
  };
  std::vector<array> outputs = custom_function(fun, std::move(rules), inputs);
  return fill(r->result, outputs);
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self)) {
    PyCustomFunction& f = *nb::inst_ptr<PyCustomFunction>(self);
    Py_VISIT(f.fun.ptr());
    Py_VISIT(f.vjp.ptr());
    Py_VISIT(f.jvp.ptr());
    Py_VISIT(f.vmap.ptr());
  }
  return 0;
}

int clear(PyObject* self) {
  if (nb::inst_ready(self)) {
    PyCustomFunction& f = *nb::inst_ptr<PyCustomFunction>(self);
    f.fun = nb::none();
    f.vjp.reset();
    f.jvp.reset();
    f.vmap.reset();
  }
  return 0;
}

PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(clear)},
                       {0, nullptr}};

// A decorator of a rule: keeps it and returns the custom function itself.
template <nb::object PyCustomFunction::* rule>
nb::object set_rule(nb::handle self, nb::callable f) {
  nb::cast<PyCustomFunction&>(self).*rule = std::move(f);
  return nb::borrow(self);
}

void bind_custom_function(nb::module_& m) {
  nb::class_<PyCustomFunction>(
      m, "custom_function", nb::type_slots(slots), nb::is_weak_referenceable(),
      "A function with derivatives or a mapping rule of its own, used as a decorator.\n\n"
      "Transforms use the rules given by :meth:`vjp`, :meth:`jvp` and :meth:`vmap`, and the\n"
      "function's own operations where there is none. With a rule, arrays that the function\n"
      "captures are constants.\n\n"
      "Example:\n    >>> @mx.custom_function\n    ... def f(x):\n    ...     return mx.sin(x)\n"
      "    >>> @f.vjp\n    ... def f_vjp(primal, cotangent, output):\n"
      "    ...     return cotangent * 2\n"
      "    >>> mx.grad(f)(mx.array(0.0))\n    array(2, dtype=float32)")
      .def(
          "__init__",
          [](PyCustomFunction* self, nb::callable f) {
            new (self) PyCustomFunction{std::move(f), {}, {}, {}};
          },
          "f"_a)
      .def("__call__", &call_custom, nb::sig("def __call__(self, *args, **kwargs) -> object"),
           "What the function returns.")
      .def("vjp", &set_rule<&PyCustomFunction::vjp>, "f"_a,
           "Set the rule for reverse derivatives.\n\n"
           "Args:\n    f: called as ``f(primals, cotangents, outputs, **kwargs)``: the positional\n"
           "        arguments (a tuple, or the only one), and cotangents and outputs like the\n"
           "        function's result. Returns the cotangents of the arrays in the positional\n"
           "        arguments.\n\nReturns:\n    The custom function.")
      .def("jvp", &set_rule<&PyCustomFunction::jvp>, "f"_a,
           "Set the rule for forward derivatives.\n\n"
           "Args:\n    f: called as ``f(primals, tangents)``, both like the positional arguments,\n"
           "        ``None`` for an array without tangent. Returns tangents like the result.\n\n"
           "Returns:\n    The custom function.")
      .def("vmap", &set_rule<&PyCustomFunction::vmap>, "f"_a,
           "Set the rule for mapping.\n\n"
           "Args:\n    f: called as ``f(inputs, axes)``, both like the positional arguments, "
           "``None``\n        for an array that is not mapped. Returns outputs and their axes.\n\n"
           "Returns:\n    The custom function.")
      .def("__getattr__",
           [](PyCustomFunction& f, nb::str name) { return nb::object(f.fun.attr(name)); });
}

// ---- checkpoint, depends ----

nb::object call_checkpoint(nb::handle fun, nb::args args, nb::kwargs kwargs) {
  std::vector<array> inputs;
  Recorded r = record(fun, args, kwargs, inputs);
  std::vector<array> outputs = checkpoint(array_function(r), inputs);
  return fill(r->result, outputs);
}

nb::object checkpoint_of(nb::callable fun) { return wrap_function(fun, &call_checkpoint); }

nb::object depends_on(nb::handle inputs, nb::handle dependencies) {
  auto list = [](nb::handle h, const char* what) {
    if (array* a = as_array(h)) {
      return std::vector<array>{*a};
    }
    std::vector<array> arrays;
    bool valid = PyList_Check(h.ptr()) || PyTuple_Check(h.ptr());
    if (valid) {
      for (nb::handle item : nb::borrow(h)) {
        array* a = as_array(item);
        valid = valid && a;
        if (a) {
          arrays.push_back(*a);
        }
      }
    }
    if (!valid) {
      fail<TypeError>("[depends] expected an array or a list or tuple of arrays as {}, got {}",
                      what, class_name(h));
    }
    return arrays;
  };
  std::vector<array> result = depends(list(inputs, "inputs"), list(dependencies, "dependencies"));
  return as_array(inputs) ? wrap(result[0]) : nb::cast(result);
}

}  // namespace

void bind_custom(nb::module_& m) {
  bind_custom_function(m);
  define(
      m, "checkpoint", &checkpoint_of, "fun"_a,
      "A function that does what ``fun`` does and keeps no intermediate results for gradients.\n\n"
      "They are computed again in the backward pass (Chen et al., 2016,\n"
      "https://arxiv.org/abs/1604.06174). Gradients reach the arrays in the arguments, not those\n"
      "that ``fun`` captures.\n\n"
      "Args:\n    fun: takes and returns arrays or trees of them.\n\n"
      "Example:\n    >>> f = mx.checkpoint(lambda x: mx.sin(mx.sin(x)))\n"
      "    >>> mx.grad(f)(mx.array(0.0))\n    array(1, dtype=float32)");
  define(m, "depends", &depends_on, nb::arg(), nb::arg(),
         nb::sig("def depends(inputs: array | Sequence[array], dependencies: array | "
                 "Sequence[array], /) -> array | list[array]"),
         "The inputs, to be computed after the dependencies.\n\n"
         "Args:\n    inputs: an array or a list of arrays.\n    dependencies: the same.\n\n"
         "Returns:\n    Arrays equal to the inputs, in a list unless ``inputs`` is an array.\n\n"
         "Example:\n    >>> mx.depends(mx.array(1), mx.array(2))\n    array(1, dtype=int32)");
}

}  // namespace mlx::core
