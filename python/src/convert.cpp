// Python scalars, nested lists and array-like objects become arrays here.
#include "python/src/convert.h"

#include <algorithm>
#include <limits>

#include "mlx/backend.h"
#include "mlx/error.h"
#include "mlx/graph/node.h"
#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/shape/shape.h"
#include "mlx/scalar_value.h"
#include "python/src/gil.h"

namespace mlx::core {

namespace {

// Deeper nesting than any array needs; also ends lists that contain themselves.
constexpr int max_depth = 64;

int64_t to_int64(PyObject* value) {
  int overflow = 0;
  long long v = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (overflow) {
    fail<RuntimeError>("[array] the integer {} does not fit int64",
                       nb::str(nb::handle(value)).c_str());
  }
  if (v == -1 && PyErr_Occurred()) {
    throw nb::python_error();
  }
  return v;
}

template <typename T>
bool fits(int64_t v) {
  return v >= int64_t(std::numeric_limits<T>::min()) && v <= int64_t(std::numeric_limits<T>::max());
}

bool fits_dtype(int64_t v, Dtype t) {
  int bits = int(t.size()) * 8;
  if (bits == 64) {
    return true;
  }
  return t.is_signed() ? v >= -(int64_t(1) << (bits - 1)) && v < (int64_t(1) << (bits - 1))
                       : v >= 0 && v < (int64_t(1) << bits);
}

Dtype natural_int(int64_t v) { return fits<int32_t>(v) ? int32 : int64; }

array int_scalar(PyObject* value, std::optional<Dtype> like) {
  if (like == uint64) {
    // The upper half of the type is beyond int64.
    unsigned long long u = PyLong_AsUnsignedLongLong(value);
    if (!PyErr_Occurred()) {
      return array::from_uint(u, uint64);
    }
    PyErr_Clear();
  }
  int64_t v = to_int64(value);
  if (!like || like->is_bool()) {
    return array::from_int(v, natural_int(v));
  }
  if (like->is_integer() && !fits_dtype(v, *like)) {
    fail<ValueError>("[array] the integer {} does not fit the {} of the other operand", v, *like);
  }
  return array::from_int(v, *like);
}

array complex_scalar(PyObject* value) {
  return array(
      complex64_t{float(PyComplex_RealAsDouble(value)), float(PyComplex_ImagAsDouble(value))});
}

// A Python bool, int, float or complex; nothing for other objects.
std::optional<array> scalar(PyObject* p, std::optional<Dtype> like) {
  if (PyFloat_Check(p)) {
    Dtype t = like && like->is_floating() ? *like : float32;
    return array(PyFloat_AsDouble(p), t);
  }
  if (PyBool_Check(p)) {
    return array(p == Py_True, like.value_or(bool_));
  }
  if (PyLong_Check(p)) {
    return int_scalar(p, like);
  }
  if (PyComplex_Check(p)) {
    return complex_scalar(p);
  }
  return std::nullopt;
}

// What __mlx_array__ gives, if the object has it.
std::optional<array> by_protocol(nb::handle h) {
  nb::object method = nb::getattr(h, "__mlx_array__", nb::none());
  if (method.is_none() || nb::isinstance<nb::type_object>(h)) {
    return std::nullopt;
  }
  nb::object result = method();
  array* a = as_array(result);
  if (!a) {
    fail<ValueError>("[array] __mlx_array__ of {} returned {} where an array was expected",
                     class_name(h), class_name(result));
  }
  return *a;
}

bool is_list(PyObject* p) { return PyList_Check(p) || PyTuple_Check(p); }
Py_ssize_t list_size(PyObject* p) { return PyList_Check(p) ? PyList_Size(p) : PyTuple_Size(p); }
PyObject* list_item(PyObject* p, Py_ssize_t i) {
  return PyList_Check(p) ? PyList_GetItem(p, i) : PyTuple_GetItem(p, i);
}

// First pass over nested lists: shape, kind of the leaves, and whether arrays are among them.
struct Scan {
  enum Kind { none, boolean, integer, real, complex };
  Shape shape;
  Kind kind = none;
  bool wide_int = false;
  bool has_arrays = false;

  void descend(PyObject* p) {
    while (is_list(p)) {
      if (int(shape.size()) == max_depth) {
        fail<ValueError>("[array] lists are nested more than {} deep", max_depth);
      }
      Py_ssize_t n = list_size(p);
      shape.push_back(n);
      if (n == 0) {
        return;
      }
      p = list_item(p, 0);
    }
  }

  void visit(PyObject* p, size_t depth) {
    if (is_list(p)) {
      if (depth == shape.size()) {
        fail<ValueError>(
            "[array] a list is nested deeper than the first elements say (extra dimension after "
            "shape {})",
            shape);
      }
      Py_ssize_t n = list_size(p);
      if (n != shape[depth]) {
        fail<ValueError>(
            "[array] nested lists of non-uniform length: got {} elements at depth {}, expected {}",
            int64_t(n), depth, shape[depth]);
      }
      for (Py_ssize_t i = 0; i < n; ++i) {
        visit(list_item(p, i), depth + 1);
      }
      return;
    }
    if (depth != shape.size()) {
      fail<ValueError>(
          "[array] nested lists of non-uniform length: got {} where a list of {} was expected",
          class_name(p), shape[depth]);
    }
    leaf(p);
  }

  void leaf(PyObject* p) {
    Kind k = none;
    if (PyFloat_Check(p)) {
      k = real;
    } else if (PyBool_Check(p)) {
      k = boolean;
    } else if (PyLong_Check(p)) {
      k = integer;
      wide_int = wide_int || !fits<int32_t>(to_int64(p));
    } else if (PyComplex_Check(p)) {
      k = complex;
    } else {
      fail<ValueError>("[array] an element of type {} cannot become part of an array",
                       class_name(p));
    }
    kind = std::max(kind, k);
  }

  Dtype dtype() const {
    switch (kind) {
      case boolean:
        return bool_;
      case integer:
        return wide_int ? int64 : int32;
      case complex:
        return complex64;
      case none:
      case real:
        break;
    }
    return float32;
  }
};

bool contains_array(PyObject* p, int depth) {
  if (!is_list(p)) {
    return as_array(p) != nullptr;
  }
  if (depth == max_depth) {
    return false;
  }
  Py_ssize_t n = list_size(p);
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* item = list_item(p, i);
    // Plain numbers are by far the most frequent.
    if (!PyFloat_CheckExact(item) && !PyLong_CheckExact(item) && contains_array(item, depth + 1)) {
      return true;
    }
  }
  return false;
}

// Memory of a new host array that the caller fills.
array host_array(Shape shape, Dtype dtype, char** data) {
  size_t bytes = byte_count(element_count(shape, "array"), dtype.size());
  Ref<Buffer> b = Buffer::allocate_for_host(bytes);
  *data = static_cast<char*>(b->host());
  Strides strides = row_major(shape);
  return array::from_buffer(std::move(b), std::move(shape), std::move(strides), 0, dtype);
}

template <typename T>
T leaf_value(PyObject* p) {
  if (PyFloat_Check(p)) {
    return convert_scalar<T>(PyFloat_AsDouble(p));
  }
  if (PyBool_Check(p)) {
    return convert_scalar<T>(p == Py_True);
  }
  if (PyLong_Check(p)) {
    return convert_scalar<T>(to_int64(p));
  }
  return convert_scalar<T>(
      complex64_t{float(PyComplex_RealAsDouble(p)), float(PyComplex_ImagAsDouble(p))});
}

template <typename T>
void fill(PyObject* p, size_t depth, size_t ndim, T*& out) {
  if (depth == ndim) {
    *out++ = leaf_value<T>(p);
    return;
  }
  Py_ssize_t n = list_size(p);
  for (Py_ssize_t i = 0; i < n; ++i) {
    fill<T>(list_item(p, i), depth + 1, ndim, out);
  }
}

array from_list(PyObject* p, std::optional<Dtype> dtype, int depth);

// With arrays among the elements every element becomes an array and all are stacked.
array stack_elements(PyObject* p, std::optional<Dtype> dtype, int depth) {
  if (depth == max_depth) {
    fail<ValueError>("[array] lists are nested more than {} deep", max_depth);
  }
  std::vector<array> parts;
  // Conversion may run code that changes the list.
  for (Py_ssize_t i = 0; i < list_size(p); ++i) {
    nb::object item = nb::borrow(list_item(p, i));
    parts.push_back(is_list(item.ptr()) ? from_list(item.ptr(), {}, depth + 1) : to_array(item));
    if (!(parts.back().shape() == parts.front().shape())) {
      fail<ValueError>(
          "[array] elements of non-uniform length: got shape {}, expected {} as the first element "
          "has",
          parts.back().shape(), parts.front().shape());
    }
  }
  array a = stack(parts, 0);
  return dtype ? astype(a, *dtype) : a;
}

array from_list(PyObject* p, std::optional<Dtype> dtype, int depth) {
  if (contains_array(p, depth)) {
    return stack_elements(p, dtype, depth);
  }
  Scan scan;
  scan.descend(p);
  scan.visit(p, 0);
  char* data = nullptr;
  size_t ndim = scan.shape.size();
  array a = host_array(scan.shape, dtype.value_or(scan.dtype()), &data);
  if (a.size() > 0) {
    dispatch(AllTypes{}, a.dtype(), "array", [&]<typename T>() {
      T* out = reinterpret_cast<T*>(data);
      fill<T>(p, 0, ndim, out);
    });
  }
  return a;
}

// Calls f(from, to_index) for every element in row-major order of the foreign layout.
template <typename F>
void for_each(const ForeignMemory& m, F&& f) {
  int ndim = int(m.shape.size());
  int64_t inner = ndim ? m.shape[ndim - 1] : 1;
  int64_t step = ndim ? m.strides[ndim - 1] : 0;
  Shape index(size_t(ndim), 0);
  const char* row = m.data;
  int64_t k = 0;
  while (true) {
    const char* p = row;
    for (int64_t i = 0; i < inner; ++i, p += step) {
      f(p, k++);
    }
    int d = ndim - 2;
    for (; d >= 0; --d) {
      row += m.strides[d];
      if (++index[d] < m.shape[d]) {
        break;
      }
      row -= m.strides[d] * m.shape[d];
      index[d] = 0;
    }
    if (d < 0) {
      return;
    }
  }
}

template <typename From, typename To>
void copy_converted(const ForeignMemory& m, char* out) {
  for_each(m, [&](const char* p, int64_t k) {
    From v;
    std::memcpy(&v, p, sizeof v);
    if constexpr (sizeof(From) == 16) {
      To z{static_cast<float>(v.re), static_cast<float>(v.im)};
      std::memcpy(out + k * int64_t(sizeof z), &z, sizeof z);
    } else {
      To z = static_cast<To>(v);
      std::memcpy(out + k * int64_t(sizeof z), &z, sizeof z);
    }
  });
}

struct WideComplex {
  double re, im;
};

bool is_dense(const ForeignMemory& m, int64_t itemsize) {
  int64_t expected = itemsize;
  for (int d = int(m.shape.size()) - 1; d >= 0; --d) {
    if (m.shape[d] != 1 && m.strides[d] != expected) {
      return false;
    }
    expected *= m.shape[d];
  }
  return true;
}

}  // namespace

// copy() may share memory, since values never change; this is for memory that others write.
array in_new_memory(const array& a, StreamOrDevice s) { return where(array(true), a, a, s); }

namespace {

// Memory of a GPU is shared, even if its owner could write to it: who shares it takes care not to.
array from_device(ForeignMemory& m, Dtype target, Copy copy) {
  int64_t size = m.dtype.size();
  auto crooked = [&](int64_t s) { return s % size != 0; };
  if (m.wide_complex || reinterpret_cast<uintptr_t>(m.data) % uintptr_t(size) ||
      std::any_of(m.strides.begin(), m.strides.end(), crooked)) {
    fail<ValueError>("[array] {} memory of shape {} on a GPU cannot be imported: it is {}",
                     m.wide_complex ? "complex128" : "", m.shape,
                     m.wide_complex ? "of no dtype there is here" : "not aligned to its elements");
  }
  if (copy == Copy::never && target != m.dtype) {
    fail<ValueError>("[asarray] sharing {} memory of shape {} as {} needs a copy", m.dtype, m.shape,
                     target);
  }
  Device device(Device::gpu, m.device);
  Strides strides;
  for (int64_t s : m.strides) {
    strides.push_back(s / size);
  }
  Ref<Buffer> b = Buffer::import_device(backend_of(device), const_cast<char*>(m.data), m.span,
                                        std::exchange(m.release, {}),
                                        m.read_only ? Access::read_only : Access::read_write);
  array a = array::from_buffer(std::move(b), m.shape, std::move(strides), 0, m.dtype);
  if (target != m.dtype) {
    a = astype(a, target, device);
  } else if (copy == Copy::always) {
    a = in_new_memory(a, device);
  }
  eval_released(a);
  return a;
}

// Shares the memory instead of copying it, which is safe when its owner may not write to it.
std::optional<array> shared(ForeignMemory& m) {
  Strides strides;
  int64_t size = m.dtype.size();
  for (int64_t s : m.strides) {
    if (s % size != 0) {
      return std::nullopt;
    }
    strides.push_back(s / size);
  }
  if (!m.read_only || m.wide_complex || reinterpret_cast<uintptr_t>(m.data) % uintptr_t(size)) {
    return std::nullopt;
  }
  Ref<Buffer> b = Buffer::import(const_cast<char*>(m.data), m.span, std::exchange(m.release, {}),
                                 Access::read_only);
  return array::from_buffer(std::move(b), m.shape, std::move(strides), 0, m.dtype);
}

}  // namespace

std::string class_name(nb::handle h) {
  nb::str name(h.type().attr("__name__"));
  return name.c_str();
}

ForeignMemory::ForeignMemory(ForeignMemory&& o) noexcept
    : data(o.data),
      span(o.span),
      shape(std::move(o.shape)),
      strides(std::move(o.strides)),
      dtype(o.dtype),
      wide_complex(o.wide_complex),
      read_only(o.read_only),
      device(o.device),
      release(std::exchange(o.release, {})) {}

array from_foreign(ForeignMemory m, std::optional<Dtype> dtype, Copy copy) {
  for (int64_t s : m.strides) {
    if (s < 0) {
      fail<ValueError>("[array] memory with negative strides cannot be imported (shape {})",
                       m.shape);
    }
  }
  Dtype target = dtype.value_or(m.dtype == float64 ? float32 : m.dtype);
  if (m.device >= 0) {
    return from_device(m, target, copy);
  }
  if (copy != Copy::always && target == m.dtype && element_count(m.shape) > 0) {
    if (auto a = shared(m)) {
      return *a;
    }
  }
  if (copy == Copy::never) {
    fail<ValueError>("[asarray] sharing {} memory of shape {} as {} needs a copy", m.dtype, m.shape,
                     target);
  }
  char* out = nullptr;
  bool narrow = m.dtype == float64 && target == float32;
  array a = host_array(m.shape, m.wide_complex ? complex64 : narrow ? float32 : m.dtype, &out);
  if (a.size() > 0) {
    if (m.wide_complex) {
      copy_converted<WideComplex, complex64_t>(m, out);
    } else if (narrow) {
      copy_converted<double, float>(m, out);
    } else if (is_dense(m, m.dtype.size())) {
      std::memcpy(out, m.data, size_t(a.nbytes()));
    } else {
      dispatch_size(m.dtype.size(), [&]<typename T>() { copy_converted<T, T>(m, out); });
    }
    if (m.dtype.is_bool()) {  // foreign bytes may be other than 0 and 1
      std::transform(out, out + a.nbytes(), out, [](char c) { return char(c != 0); });
    }
  }
  return astype(a, target, Device::cpu);
}

array make_array(nb::handle value, std::optional<Dtype> dtype) {
  PyObject* p = value.ptr();
  if (array* a = as_array(value)) {
    return dtype ? astype(*a, *dtype) : *a;
  }
  if (is_list(p)) {
    return from_list(p, dtype, 0);
  }
  if (dtype && (PyBool_Check(p) || PyLong_Check(p) || PyFloat_Check(p) || PyComplex_Check(p))) {
    array a(0.0, *dtype);
    dispatch(AllTypes{}, *dtype, "array", [&]<typename T>() {
      T v = leaf_value<T>(p);
      std::memcpy(a.node()->scalar, &v, sizeof v);
    });
    return a;
  }
  if (auto a = scalar(p, {})) {
    return *a;
  }
  if (auto a = by_protocol(value)) {
    return dtype ? astype(*a, *dtype) : *a;
  }
  if (auto memory = foreign_memory(value)) {
    return from_foreign(std::move(*memory), dtype, Copy::always);
  }
  fail<ValueError>("[array] an object of type {} cannot become an array", class_name(value));
}

array to_array(nb::handle h, std::optional<Dtype> like) {
  if (array* a = as_array(h)) {
    return *a;
  }
  if (auto a = scalar(h.ptr(), like)) {
    return *a;
  }
  if (auto a = by_protocol(h)) {
    return *a;
  }
  if (!is_list(h.ptr())) {
    if (auto memory = foreign_memory(h)) {
      array a = from_foreign(std::move(*memory), {}, Copy::always);
      return like ? astype(a, *like) : a;
    }
  }
  fail<ValueError>("[array] expected an array or a number, got an object of type {}",
                   class_name(h));
}

std::pair<array, array> to_arrays(nb::handle a, nb::handle b) {
  array* x = as_array(a);
  array* y = as_array(b);
  if (x) {
    return {*x, y ? *y : to_array(b, x->dtype())};
  }
  if (y) {
    return {to_array(a, y->dtype()), *y};
  }
  return {to_array(a), to_array(b)};
}

bool is_array_like(nb::handle h) noexcept {
  PyObject* p = h.ptr();
  if (as_array(h) || PyFloat_Check(p) || PyLong_Check(p) || PyComplex_Check(p) ||
      PyObject_CheckBuffer(p)) {
    return true;
  }
  return PyObject_HasAttrString(p, "__mlx_array__") || PyObject_HasAttrString(p, "__dlpack__");
}

bool load_index(nb::handle h, int64_t& out, bool& overflow) noexcept {
  PyObject* p = h.ptr();
  if (PyBool_Check(p) || PyFloat_Check(p) || !PyIndex_Check(p)) {
    return false;
  }
  PyObject* n = PyNumber_Index(p);
  if (!n) {
    PyErr_Clear();
    return false;
  }
  int over = 0;
  out = PyLong_AsLongLongAndOverflow(n, &over);
  overflow = over != 0;
  Py_DECREF(n);
  return true;
}

namespace {

// Calls f(item) for every item of a list, tuple, array or other sequence; false if it is none or f
// says so.
template <typename F>
bool each_item(PyObject* p, F&& f) noexcept {
  PyObject* list = nullptr;
  if (is_list(p)) {
    list = p;
    Py_INCREF(list);
  } else if ((PySequence_Check(p) || as_array(p)) && !PyUnicode_Check(p) && !PyBytes_Check(p) &&
             !PyDict_Check(p)) {
    list = PySequence_List(p);
  }
  bool ok = list != nullptr;
  for (Py_ssize_t i = 0; ok && i < list_size(list); ++i) {
    ok = f(list_item(list, i));
  }
  Py_XDECREF(list);
  PyErr_Clear();
  return ok;
}

}  // namespace

bool load_axes(nb::handle h, std::optional<std::vector<int>>& out) noexcept {
  std::vector<int> axes;
  auto add = [&](PyObject* p) {
    int64_t v = 0;
    bool overflow = false;
    if (!load_index(p, v, overflow)) {
      return false;
    }
    // Beyond int an axis is out of range in any case: the op says so.
    constexpr int64_t limit = std::numeric_limits<int>::max();
    axes.push_back(overflow ? int(limit) : int(std::clamp(v, -limit, limit)));
    return true;
  };
  if (!add(h.ptr()) && !each_item(h.ptr(), add)) {
    return false;
  }
  out = std::move(axes);
  return true;
}

std::vector<array> arrays_of(const nb::args& args, std::string_view op) {
  std::vector<array> arrays;
  for (nb::handle h : args) {
    const array* a = as_array(h);
    if (!a) {
      fail<TypeError>("[{}] expected arrays, got {} as argument {}", op, class_name(h),
                      int64_t(arrays.size()));
    }
    arrays.push_back(*a);
  }
  return arrays;
}

ShapeLoad load_shape(nb::handle h, Shape& out, bool accept_int) noexcept {
  bool overflow = false;
  auto add = [&](PyObject* p) {
    int64_t v = 0;
    bool over = false;
    if (!load_index(p, v, over)) {
      return false;
    }
    overflow |= over;
    out.push_back(v);
    return true;
  };
  out.clear();
  if (!(accept_int && add(h.ptr())) && !each_item(h.ptr(), add)) {
    return ShapeLoad::bad;
  }
  return overflow ? ShapeLoad::overflow : ShapeLoad::ok;
}

void eval_released(std::span<const array> arrays) {
  for (const array& a : arrays) {
    if (!a.is_available()) {
      // A copy of the handles: another thread may rebind the Python objects meanwhile.
      std::vector<array> held(arrays.begin(), arrays.end());
      GilRelease release;
      eval(std::span<const array>(held));
      return;
    }
  }
  eval(arrays);
}

void eval_released(const array& a) { eval_released(std::span<const array>(&a, 1)); }

}  // namespace mlx::core
