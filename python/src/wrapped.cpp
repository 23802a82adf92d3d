// The class of what grad, vmap and their like return.
#include "python/src/wrapped.h"

namespace mlx::core {

namespace {

struct Wrapped {
  nb::object fun;
  std::shared_ptr<WrappedCall> call;
};

nb::object function_of(const Wrapped& w) {
  if (!w.fun) {
    fail<RuntimeError>("[call] the function has been collected");
  }
  return w.fun;
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self)) {
    Wrapped& w = *nb::inst_ptr<Wrapped>(self);
    Py_VISIT(w.fun.ptr());
    return w.call->traverse(visit, arg);
  }
  return 0;
}

int clear(PyObject* self) {
  if (nb::inst_ready(self)) {
    Wrapped& w = *nb::inst_ptr<Wrapped>(self);
    w.fun.reset();
    w.call->clear();
  }
  return 0;
}

PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(clear)},
                       {0, nullptr}};

}  // namespace

nb::object wrap_function(nb::callable fun, std::shared_ptr<WrappedCall> call) {
  return nb::cast(Wrapped{std::move(fun), std::move(call)});
}

void bind_wrapped(nb::module_& m) {
  nb::class_<Wrapped>(m, "_TransformedFunction", nb::type_slots(slots), nb::is_weak_referenceable())
      .def("__call__",
           [](Wrapped& w, nb::args args, nb::kwargs kwargs) {
             // Both outlive the call even if the object does not.
             nb::object fun = function_of(w);
             std::shared_ptr<WrappedCall> call = w.call;
             return call->call(fun, std::move(args), std::move(kwargs));
           })
      .def("__getattr__",
           [](Wrapped& w, nb::str name) { return nb::object(function_of(w).attr(name)); })
      // As a function in a class does, it becomes a method of the instance.
      .def(
          "__get__",
          [](nb::handle self, nb::handle instance, nb::handle) -> nb::object {
            if (instance.is_none()) {
              return nb::borrow(self);
            }
            return nb::module_::import_("types").attr("MethodType")(self, instance);
          },
          nb::arg("instance").none(), nb::arg("owner").none())
      .def_prop_ro("__doc__",
                   [](Wrapped& w) { return nb::object(function_of(w).attr("__doc__")); });
}

}  // namespace mlx::core
