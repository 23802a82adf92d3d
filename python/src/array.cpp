// The class mx.array: construction, attributes, conversion to Python values, iteration.
#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/shape/shape.h"
#include "mlx/scalar_value.h"
#include "python/src/array_slots.h"
#include "python/src/convert.h"
#include "python/src/errors.h"
#include "python/src/indexing.h"
#include "python/src/interop.h"

namespace mlx::core {

namespace {

PyTypeObject* array_type = nullptr;

Py_hash_t hash(PyObject* self) {
  // Objects are aligned: the low bits say nothing.
  auto bits = reinterpret_cast<uintptr_t>(self);
  auto h = Py_hash_t((bits >> 4) | (bits << (8 * sizeof bits - 4)));
  return h == -1 ? -2 : h;
}

PyObject* text(PyObject* self) {
  return guarded<PyObject*>(nullptr, [&] {
    std::string s = array_text(self_array(self));
    return PyUnicode_FromStringAndSize(s.data(), Py_ssize_t(s.size()));
  });
}

int truth(PyObject* self) {
  return guarded(-1, [&] { return PyObject_IsTrue(python_scalar(self_array(self)).ptr()); });
}

PyObject* to_int(PyObject* self) {
  return guarded<PyObject*>(nullptr,
                            [&] { return PyNumber_Long(python_scalar(self_array(self)).ptr()); });
}

PyObject* to_float(PyObject* self) {
  return guarded<PyObject*>(nullptr,
                            [&] { return PyNumber_Float(python_scalar(self_array(self)).ptr()); });
}

PyObject* to_index(PyObject* self) {
  return guarded<PyObject*>(nullptr, [&] {
    array a = self_array(self);
    if (a.ndim() != 0 || !a.dtype().is_integer()) {
      fail<TypeError>(
          "[index] only integer arrays with 0 dimensions can be an index, got shape {}, {}",
          a.shape(), a.dtype());
    }
    return python_scalar(a).release().ptr();
  });
}

Py_ssize_t length(PyObject* self) {
  return guarded<Py_ssize_t>(-1, [&] {
    const array& a = self_array(self);
    if (a.ndim() == 0) {
      fail<TypeError>("[len] an array with 0 dimensions has no length");
    }
    return Py_ssize_t(a.shape(0));
  });
}

template <typename F>
constexpr PyType_Slot slot(int id, F* f) {
  return {id, reinterpret_cast<void*>(f)};
}

const PyType_Slot* slots() {
  static std::vector<PyType_Slot>& s =
      *new std::vector<PyType_Slot>{slot(Py_tp_hash, hash),
                                    slot(Py_tp_repr, text),
                                    slot(Py_tp_str, text),
                                    slot(Py_nb_bool, truth),
                                    slot(Py_nb_int, to_int),
                                    slot(Py_nb_float, to_float),
                                    slot(Py_nb_index, to_index),
                                    slot(Py_mp_length, length),
                                    slot(Py_sq_length, length),
                                    slot(Py_mp_subscript, array_subscript),
                                    slot(Py_mp_ass_subscript, array_assign_subscript),
                                    slot(Py_bf_getbuffer, get_buffer),
                                    slot(Py_bf_releasebuffer, release_buffer)};
  append_operator_slots(s);
  s.push_back({0, nullptr});
  return s.data();
}

// One element as a Python object.
template <typename T>
PyObject* element(const void* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  if constexpr (std::is_same_v<T, bool>) {
    return PyBool_FromLong(v);
  } else if constexpr (std::is_same_v<T, complex64_t>) {
    return PyComplex_FromDoubles(v.re, v.im);
  } else if constexpr (is_half_type<T>) {
    return PyFloat_FromDouble(to_float(v));
  } else if constexpr (std::is_floating_point_v<T>) {
    return PyFloat_FromDouble(v);
  } else if constexpr (std::is_signed_v<T>) {
    return PyLong_FromLongLong(v);
  } else {
    return PyLong_FromUnsignedLongLong(v);
  }
}

using ElementReader = PyObject* (*)(const void*);

ElementReader element_reader(Dtype t) {
  return dispatch(AllTypes{}, t, "item", []<typename T>() -> ElementReader { return &element<T>; });
}

struct Elements {
  const array& a;
  const char* data;
  const Strides& strides;
  ElementReader read;

  nb::object list(int axis, int64_t offset) const {
    int64_t n = a.shape(axis), step = strides[axis] * a.itemsize();
    nb::object result = nb::steal(PyList_New(n));
    if (!result) {
      throw nb::python_error();
    }
    for (int64_t i = 0; i < n; ++i, offset += step) {
      PyObject* item =
          axis + 1 == a.ndim() ? read(data + offset) : list(axis + 1, offset).release().ptr();
      if (!item) {
        throw nb::python_error();
      }
      PyList_SetItem(result.ptr(), i, item);
    }
    return result;
  }
};

// Walks the first axis of the value the array had when the iteration began.
struct ArrayIterator {
  array a;
  int64_t next = 0;
};

array first_axis_item(const array& a, int64_t i) {
  Shape start(size_t(a.ndim()), 0), step(size_t(a.ndim()), 1), count = a.shape();
  start[0] = i;
  count[0] = 1;
  const int axis = 0;
  return squeeze(strided_slice(a, start, step, count), std::span(&axis, 1));
}

nb::object format_array(nb::handle self, nb::str spec) {
  array a = self_array(self);
  if (a.ndim() == 0) {
    nb::object value = python_scalar(a);
    nb::object text = nb::steal(PyObject_Format(value.ptr(), spec.ptr()));
    if (!text) {
      throw nb::python_error();
    }
    return text;
  }
  if (nb::len(spec) > 0) {
    fail<TypeError>("[format] an array of shape {} takes no format, got '{}'", a.shape(),
                    std::string_view(spec.c_str()));
  }
  return nb::cast(array_text(a));
}

nb::object array_namespace(nb::handle, std::optional<std::string> api_version) {
  if (api_version) {
    fail<ValueError>("[__array_namespace__] api_version must be None, got {}", *api_version);
  }
  return nb::module_::import_("mlx.core");
}

void bind_attributes(nb::class_<array>& c) {
  c.def_prop_ro(
       "shape", [](const array& a) { return a.shape(); }, "Size of each dimension.")
      .def_prop_ro("ndim", &array::ndim, "Number of dimensions.")
      .def_prop_ro("size", &array::size, "Number of elements.")
      .def_prop_ro("dtype", &array::dtype, "Type of the elements.")
      .def_prop_ro("itemsize", &array::itemsize, "Bytes of one element.")
      .def_prop_ro("nbytes", &array::nbytes, "Bytes of all elements.")
      .def_prop_ro(
          "T", [](const array& a) { return transpose(a); }, "The array with its axes reversed.")
      .def_prop_ro(
          "mT", [](const array& a) { return matrix_transpose(a); },
          "The array with its last two axes swapped; needs two at least.")
      .def_prop_ro(
          "real", [](const array& a) { return real(a); }, "Real part of each element.")
      .def_prop_ro(
          "imag", [](const array& a) { return imag(a); },
          "Imaginary part of each element; zeros for real arrays.");
}

void bind_iterator(nb::module_& m, nb::class_<array>& c) {
  nb::class_<ArrayIterator>(m, "ArrayIterator", "Iterates over the first axis of an array.")
      .def("__iter__", [](nb::handle self) { return nb::borrow(self); })
      .def("__next__", [](ArrayIterator& i) {
        if (i.next >= i.a.shape(0)) {
          throw nb::stop_iteration();
        }
        return first_axis_item(i.a, i.next++);
      });
  c.def("__iter__", [](const array& a) {
    if (a.ndim() == 0) {
      fail<TypeError>("[iter] an array with 0 dimensions cannot be iterated over");
    }
    return ArrayIterator{a};
  });
}

void bind_values(nb::class_<array>& c) {
  c.def("item", &python_scalar,
        "The value of a one-element array as a bool, int, float or complex.\n\n"
        "Raises:\n    ValueError: the array does not have exactly one element.")
      .def("tolist", &python_list,
           "The elements as nested lists; a scalar for an array with 0 dimensions.")
      .def("__complex__",
           [](const array& a) {
             return nb::handle(reinterpret_cast<PyObject*>(&PyComplex_Type))(python_scalar(a));
           })
      .def("__copy__", [](const array& a) { return a; })
      .def(
          "__deepcopy__", [](const array& a, nb::handle) { return a; }, "memo"_a)
      .def("__format__", &format_array)
      .def("__array_namespace__", &array_namespace, "api_version"_a = nb::none(),
           "The module that implements the array API for this array.")
      .def("__div__",
           [](const array& a, const ArrayArg& b) { return divide(a, to_array(b, a.dtype())); })
      .def("__rdiv__",
           [](const array& a, const ArrayArg& b) { return divide(to_array(b, a.dtype()), a); });
}

// What `ArrayLike` names in signatures: an object with __mlx_array__.
struct ArrayLike {
  nb::object object;
};

}  // namespace

array* as_array(nb::handle h) noexcept {
  PyTypeObject* t = Py_TYPE(h.ptr());
  if (t == array_type || PyType_IsSubtype(t, array_type)) {
    // An object that array.__new__ made has no value before __init__.
    return nb::inst_ready(h) ? nb::inst_ptr<array>(h) : nullptr;
  }
  return nullptr;
}

array& self_array(nb::handle self) {
  if (array* a = as_array(self)) {
    return *a;
  }
  fail<TypeError>("[array] the object was not initialized");
}

PyObject* new_array(array a) {
  nb::object o = nb::inst_alloc(nb::handle(reinterpret_cast<PyObject*>(array_type)));
  new (nb::inst_ptr<array>(o)) array(std::move(a));
  nb::inst_mark_ready(o);
  return o.release().ptr();
}

nb::object wrap(array a) { return nb::steal(new_array(std::move(a))); }

nb::class_<array> array_class() {
  return nb::borrow<nb::class_<array>>(reinterpret_cast<PyObject*>(array_type));
}

nb::object python_scalar(const array& self) {
  array a = self;
  if (a.size() != 1) {
    fail<ValueError>("[item] expected an array with one element, got shape {}", a.shape());
  }
  eval_released(a);
  nb::object value = nb::steal(element_reader(a.dtype())(a.data()));
  if (!value) {
    throw nb::python_error();
  }
  return value;
}

nb::object python_list(const array& self) {
  array a = self;
  if (a.ndim() == 0) {
    return python_scalar(a);
  }
  eval_released(a);
  return Elements{a, static_cast<const char*>(a.data()), a.strides(), element_reader(a.dtype())}
      .list(0, 0);
}

void bind_array(nb::module_& m) {
  nb::class_<array> c(
      m, "array", nb::type_slots(slots()), nb::is_weak_referenceable(), nb::pooled(1024),
      "An N-dimensional array; its value is computed when it is first needed.\n\n"
      "``array(val, dtype=None)`` copies a scalar, nested lists or tuples, an array,\n"
      "or the memory of an object with the buffer protocol or DLPack (float64 memory\n"
      "becomes float32 unless ``dtype`` says otherwise).\n\n"
      "Example:\n    >>> mx.array([[1, 2], [3, 4]]).sum(axis=0)\n"
      "    array([4, 6], dtype=int32)");
  array_type = reinterpret_cast<PyTypeObject*>(c.ptr());
  c.def(
      "__init__",
      [](array* self, const ArrayArg& val, std::optional<Dtype> dtype) {
        new (self) array(make_array(val.value, dtype));
      },
      "val"_a, "dtype"_a = nb::none(),
      nb::sig("def __init__(self, val: bool | int | float | complex | list | tuple | array | "
              "ArrayLike, dtype: Dtype | None = None) -> None"));
  bind_attributes(c);
  bind_iterator(m, c);
  bind_values(c);
  nb::class_<ArrayLike>(m, "ArrayLike",
                        "Any object with a method ``__mlx_array__`` that returns an array.")
      .def("__init__", [](ArrayLike* self, nb::object o) { new (self) ArrayLike{std::move(o)}; })
      .def("__mlx_array__", [](const ArrayLike& a) { return make_array(a.object, {}); });
}

}  // namespace mlx::core
