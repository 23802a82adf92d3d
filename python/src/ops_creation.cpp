// Arrays made from nothing.
#include <cmath>

#include "mlx/error.h"
#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/shape/like.h"
#include "mlx/ops/shape/shape.h"
#include "python/src/convert.h"

namespace mlx::core {

namespace {

// A Python int or float, kept apart: their dtypes differ. A bool is refused once the call is made.
struct Number {
  bool whole = true;
  bool boolean = false;
  int64_t integer = 0;
  double real = 0;

  Dtype dtype() const {
    bool small = integer >= INT32_MIN && integer <= INT32_MAX;
    return !whole ? float32 : small ? int32 : int64;
  }
};

}  // namespace

}  // namespace mlx::core

namespace nanobind::detail {

template <>
struct type_caster<mlx::core::Number> {
  NB_TYPE_CASTER(mlx::core::Number, const_name("int | float"))
  bool from_python(handle src, uint32_t, cleanup_list*) noexcept {
    bool overflow = false;
    if (PyFloat_Check(src.ptr())) {
      value.whole = false;
      value.real = PyFloat_AsDouble(src.ptr());
      return true;
    }
    if (PyBool_Check(src.ptr())) {
      value.boolean = true;
      return true;
    }
    if (!mlx::core::load_index(src, value.integer, overflow) || overflow) {
      return false;
    }
    value.real = double(value.integer);
    return true;
  }
};

}  // namespace nanobind::detail

namespace mlx::core {

namespace {

// A real scalar: a number or an array with one element.
double real_value(nb::handle h, std::string_view name) {
  double v = PyFloat_AsDouble(h.ptr());
  if (v == -1.0 && PyErr_Occurred()) {
    PyErr_Clear();
    nb::str given(nb::repr(h));
    fail<TypeError>("[linspace] {} must be a real number, got {}", name, given.c_str());
  }
  return v;
}

array range(const Number& start, const Number& stop, const Number& step, std::optional<Dtype> dtype,
            const StreamArg& s) {
  if (start.boolean || stop.boolean || step.boolean) {
    fail<ValueError>("[arange] expected ints or floats, got a bool");
  }
  Dtype t =
      dtype ? *dtype : promote_types(promote_types(start.dtype(), stop.dtype()), step.dtype());
  if (!start.whole || !stop.whole || !step.whole || step.integer == 0 || t.is_bool()) {
    return arange(start.real, stop.real, step.real, t, s);
  }
  // Whole numbers are counted exactly.
  __int128 distance = __int128(stop.integer) - start.integer, width = step.integer;
  __int128 count = (distance + (width > 0 ? width - 1 : width + 1)) / width;
  if ((distance > 0) != (width > 0) || distance == 0) {
    count = 0;
  }
  if (count > INT32_MAX) {
    fail<ValueError>("[arange] a range of {} elements is too long", double(count));
  }
  return arange(array::from_int(start.integer, t), array::from_int(step.integer, t), int64_t(count),
                s);
}

void bind_arange(nb::module_& m) {
  static constexpr Number one{true, false, 1, 1.0};
  define(
      m, "arange",
      [](const Number& start, std::optional<Number> stop, std::optional<Number> step,
         std::optional<Dtype> dtype, const StreamArg& s) {
        Number zero;
        return stop ? range(start, *stop, step.value_or(one), dtype, s)
                    : range(zero, start, step.value_or(one), dtype, s);
      },
      "start"_a, "stop"_a.none(), "step"_a.none() = nb::none(), "dtype"_a = nb::none(),
      nb::kw_only(), "stream"_a = nb::none(),
      "Evenly spaced values from ``start`` (default 0) up to but without ``stop``.\n\n"
      "Args:\n    start: first value.\n    stop: bound that is not reached.\n"
      "    step: distance of neighbours, default 1; may be negative.\n"
      "    dtype: default int32 (int64 if a number needs it), float32 if any number is a float.\n"
      "\nReturns:\n    A 1-D array with ``ceil((stop - start) / step)`` elements.\n\n"
      "Raises:\n    ValueError: the step is 0, a bound is not finite, or the dtype is bool.\n\n"
      "Example:\n    >>> mx.arange(2, 8, 3)\n    array([2, 5], dtype=int32)");
  define(
      m, "arange",
      [](const Number& stop, std::optional<Number> step, std::optional<Dtype> dtype,
         const StreamArg& s) { return range(Number{}, stop, step.value_or(one), dtype, s); },
      "stop"_a, "step"_a.none() = nb::none(), "dtype"_a = nb::none(), nb::kw_only(),
      "stream"_a = nb::none());
  define(
      m, "linspace",
      [](const ArrayArg& start, const ArrayArg& stop, int64_t num, bool endpoint,
         std::optional<Dtype> dtype, const StreamArg& s) {
        return linspace(real_value(start.value, "start"), real_value(stop.value, "stop"), num,
                        endpoint, dtype.value_or(float32), s);
      },
      "start"_a, "stop"_a, "num"_a = 50, "endpoint"_a = true, "dtype"_a.none() = float32,
      "stream"_a = nb::none(),
      "``num`` evenly spaced values from ``start`` to ``stop``.\n\n"
      "Args:\n    endpoint: whether ``stop`` is the last value.\n    dtype: default float32.\n\n"
      "Raises:\n    ValueError: ``num`` is negative.\n\n"
      "Example:\n    >>> mx.linspace(0, 1, 3)\n    array([0, 0.5, 1], dtype=float32)");
}

bool is_python_number(nb::handle h) {
  PyObject* p = h.ptr();
  return PyBool_Check(p) || PyLong_Check(p) || PyFloat_Check(p) || PyComplex_Check(p);
}

array fill(const Shape& shape, double value, std::optional<Dtype> dtype, const StreamArg& s) {
  return full(shape, array(value, dtype.value_or(float32)), dtype.value_or(float32), s);
}

array fill_like(const array& a, double value, std::optional<Dtype> dtype, const StreamArg& s) {
  return full_like(a, array(value, dtype.value_or(a.dtype())), s);
}

void bind_constants(nb::module_& m) {
  define(
      m, "zeros",
      [](const ShapeArg& shape, std::optional<Dtype> dtype, const StreamArg& s) {
        return fill(shape, 0.0, dtype, s);
      },
      "shape"_a, "dtype"_a.none() = float32, nb::kw_only(), "stream"_a = nb::none(),
      "An array of zeros. Takes no memory until something is written to it.\n\n"
      "Args:\n    shape: an int or a sequence of ints.\n    dtype: default float32.\n\n"
      "Raises:\n    ValueError: a dimension is negative.\n\n"
      "Example:\n    >>> mx.zeros((2, 2), mx.int32)\n    array([[0, 0],\n           [0, 0]], "
      "dtype=int32)");
  define(
      m, "ones",
      [](const ShapeArg& shape, std::optional<Dtype> dtype, const StreamArg& s) {
        return fill(shape, 1.0, dtype, s);
      },
      "shape"_a, "dtype"_a.none() = float32, nb::kw_only(), "stream"_a = nb::none(),
      "An array of ones; see :func:`zeros`.\n\n"
      "Example:\n    >>> mx.ones(3)\n    array([1, 1, 1], dtype=float32)");
  define(
      m, "zeros_like",
      [](const array& a, std::optional<Dtype> dtype, const StreamArg& s) {
        return fill_like(a, 0.0, dtype, s);
      },
      nb::arg(), "dtype"_a = nb::none(), nb::kw_only(), "stream"_a = nb::none(),
      nb::sig(signature("zeros_like(a: array, /, dtype: Dtype | None = None").c_str()),
      "Zeros with the shape of ``a`` and its dtype unless another is given.\n\n"
      "Example:\n    >>> mx.zeros_like(mx.array([1, 2]))\n    array([0, 0], dtype=int32)");
  define(
      m, "ones_like",
      [](const array& a, std::optional<Dtype> dtype, const StreamArg& s) {
        return fill_like(a, 1.0, dtype, s);
      },
      nb::arg(), "dtype"_a = nb::none(), nb::kw_only(), "stream"_a = nb::none(),
      nb::sig(signature("ones_like(a: array, /, dtype: Dtype | None = None").c_str()),
      "Ones with the shape of ``a`` and its dtype unless another is given.\n\n"
      "Example:\n    >>> mx.ones_like(mx.array([3, 4]))\n    array([1, 1], dtype=int32)");
  m.attr("empty") = m.attr("zeros");
  m.attr("empty_like") = m.attr("zeros_like");
  define(
      m, "full",
      [](const ShapeArg& shape, const ArrayArg& vals, std::optional<Dtype> dtype,
         const StreamArg& s) {
        array value = is_python_number(vals.value) ? to_array(vals, dtype) : to_array(vals);
        return full(shape, value, value.dtype(), s);
      },
      "shape"_a, "vals"_a, "dtype"_a = nb::none(), nb::kw_only(), "stream"_a = nb::none(),
      "An array with ``vals`` broadcast to ``shape``.\n\n"
      "Args:\n    vals: a number or an array. An array keeps its dtype.\n"
      "    dtype: of a number, unless the number does not fit its kind: a float stays float32 if\n"
      "        an integer dtype is asked for.\n\n"
      "Raises:\n    ValueError: a dimension is negative or ``vals`` does not broadcast.\n\n"
      "Example:\n    >>> mx.full((2,), 7)\n    array([7, 7], dtype=int32)");
  define(
      m, "full_like",
      [](const array& a, const ArrayArg& vals, std::optional<Dtype> dtype, const StreamArg& s) {
        Dtype t = dtype.value_or(a.dtype());
        array value = to_array(vals, t);
        if (value.ndim() == 0) {
          return full_like(a, astype(value, t, s), s);
        }
        return full(broadcast_shapes(a.shape(), value.shape(), "full_like"), value, t, s);
      },
      nb::arg(), "vals"_a, "dtype"_a = nb::none(), nb::kw_only(), "stream"_a = nb::none(),
      nb::sig(signature("full_like(a: array, /, vals: bool | int | float | complex | array | "
                        "ArrayLike, dtype: Dtype | None = None")
                  .c_str()),
      "``vals`` broadcast to the shape of ``a``, in its dtype unless another is given.\n\n"
      "Example:\n    >>> mx.full_like(mx.array([1, 2]), 9)\n    array([9, 9], dtype=int32)");
}

void bind_triangles(nb::module_& m) {
  define(
      m, "eye",
      [](int64_t n, std::optional<int64_t> cols, int64_t k, std::optional<Dtype> dtype,
         const StreamArg& s) { return eye(n, cols.value_or(n), k, dtype.value_or(float32), s); },
      "n"_a, "m"_a = nb::none(), "k"_a = 0, "dtype"_a.none() = float32, nb::kw_only(),
      "stream"_a = nb::none(),
      "An ``n`` by ``m`` matrix (default square) with ones on diagonal ``k``.\n\n"
      "Raises:\n    ValueError: a size is negative.\n\n"
      "Example:\n    >>> mx.eye(2)\n    array([[1, 0],\n           [0, 1]], dtype=float32)");
  define(
      m, "identity",
      [](int64_t n, std::optional<Dtype> dtype, const StreamArg& s) {
        return eye(n, n, 0, dtype.value_or(float32), s);
      },
      "n"_a, "dtype"_a.none() = float32, nb::kw_only(), "stream"_a = nb::none(),
      "The ``n`` by ``n`` identity matrix; see :func:`eye`.\n\n"
      "Example:\n    >>> mx.identity(1)\n    array([[1]], dtype=float32)");
  define(
      m, "tri",
      [](int64_t n, std::optional<int64_t> cols, int64_t k, std::optional<Dtype> dtype,
         const StreamArg& s) { return tri(n, cols.value_or(n), k, dtype.value_or(float32), s); },
      "n"_a, "m"_a = nb::none(), "k"_a = 0, "dtype"_a = nb::none(), nb::kw_only(),
      "stream"_a = nb::none(),
      "An ``n`` by ``m`` matrix with ones at and below diagonal ``k``, zeros above.\n\n"
      "Example:\n    >>> mx.tri(2)\n    array([[1, 0],\n           [1, 1]], dtype=float32)");
  define(
      m, "tril", [](const array& x, int64_t k, const StreamArg& s) { return tril(x, k, s); }, "x"_a,
      "k"_a = 0, nb::kw_only(), "stream"_a = nb::none(),
      "The matrices in the last two axes with zeros above diagonal ``k``.\n\n"
      "Raises:\n    ValueError: fewer than 2 dimensions.\n\n"
      "Example:\n    >>> mx.tril(mx.ones((2, 2)))\n    array([[1, 0],\n           [1, 1]], "
      "dtype=float32)");
  define(
      m, "triu", [](const array& x, int64_t k, const StreamArg& s) { return triu(x, k, s); }, "x"_a,
      "k"_a = 0, nb::kw_only(), "stream"_a = nb::none(),
      "The matrices in the last two axes with zeros below diagonal ``k``.\n\n"
      "Raises:\n    ValueError: fewer than 2 dimensions.\n\n"
      "Example:\n    >>> mx.triu(mx.ones((2, 2)))\n    array([[1, 1],\n           [0, 1]], "
      "dtype=float32)");
}

struct Window {
  const char* name;
  array (*function)(int64_t, StreamOrDevice);
  const char* summary;
  const char* example;
};
constexpr Window windows[] = {
    {"bartlett", bartlett, "The Bartlett window, a triangle", "array([0, 1, 0], dtype=float32)"},
    {"hanning", hanning, "The Hann window ``0.5 - 0.5 cos(2πn / (M - 1))``",
     "array([0, 1, 7.64274e-15], dtype=float32)"},
    {"hamming", hamming, "The Hamming window ``0.54 - 0.46 cos(2πn / (M - 1))``",
     "array([0.08, 1, 0.08], dtype=float32)"},
    {"blackman", blackman,
     "The Blackman window ``0.42 - 0.5 cos(2πn / (M - 1)) + 0.08 cos(4πn / (M - 1))``",
     "array([0, 1, 0], dtype=float32)"},
};

void bind_windows(nb::module_& m) {
  for (const Window& w : windows) {
    auto f = w.function;
    std::string doc = format(
        "{}, as float32.\n\n"
        "Args:\n    M: number of samples; none are returned below 1.\n\n"
        "Example:\n    >>> mx.{}(3)\n    {}",
        w.summary, w.name, w.example);
    define(
        m, w.name, [f](int64_t size, const StreamArg& s) { return f(size, s); }, "M"_a,
        nb::kw_only(), "stream"_a = nb::none(),
        nb::sig(signature(format("{}(M: int", w.name)).c_str()), doc.c_str());
  }
}

void bind_diagonals(nb::module_& m) {
  define(
      m, "diag", [](const array& a, int64_t k, const StreamArg& s) { return diag(a, k, s); },
      nb::arg(), "k"_a = 0, nb::kw_only(), "stream"_a = nb::none(),
      nb::sig(signature("diag(a: array, /, k: int = 0").c_str()),
      "A matrix with the 1-D ``a`` on diagonal ``k``, or diagonal ``k`` of the 2-D ``a``.\n\n"
      "Raises:\n    ValueError: other than 1 or 2 dimensions.\n\n"
      "Example:\n    >>> mx.diag(mx.array([1, 2]))\n    array([[1, 0],\n           [0, 2]], "
      "dtype=int32)");
  define(
      m, "diagonal",
      [](const array& a, int64_t offset, int axis1, int axis2, const StreamArg& s) {
        return diagonal(a, offset, axis1, axis2, s);
      },
      "a"_a, "offset"_a = 0, "axis1"_a = 0, "axis2"_a = 1, "stream"_a = nb::none(),
      "The diagonals of the matrices formed by two axes, as the last axis of the result.\n\n"
      "Raises:\n    ValueError: fewer than 2 dimensions or equal axes.\n"
      "    AxisError: an axis is out of range.\n\n"
      "Example:\n    >>> mx.diagonal(mx.array([[1, 2], [3, 4]]))\n    array([1, 4], dtype=int32)");
  define(
      m, "trace",
      [](const array& a, int64_t offset, int axis1, int axis2, std::optional<Dtype> dtype,
         const StreamArg& s) { return trace(a, offset, axis1, axis2, dtype, s); },
      nb::arg(), "offset"_a = 0, "axis1"_a = 0, "axis2"_a = 1, "dtype"_a = nb::none(),
      nb::kw_only(), "stream"_a = nb::none(),
      nb::sig(signature("trace(a: array, /, offset: int = 0, axis1: int = 0, axis2: int = 1, "
                        "dtype: Dtype | None = None")
                  .c_str()),
      "The sum of a diagonal, which is converted to ``dtype`` first if one is given.\n\n"
      "The result has the dtype that :func:`sum` gives.\n\n"
      "Example:\n    >>> mx.trace(mx.array([[1, 2], [3, 4]]))\n    array(5, dtype=int32)");
  define(
      m, "meshgrid",
      [](const nb::args& args, bool sparse, const std::string& indexing, const StreamArg& s) {
        if (indexing != "xy" && indexing != "ij") {
          fail<ValueError>("[meshgrid] expected indexing 'xy' or 'ij', got '{}'", indexing);
        }
        return nb::tuple(
            nb::cast(meshgrid(arrays_of(args, "meshgrid"), sparse ? Grid::sparse : Grid::dense,
                              indexing == "xy" ? GridOrder::xy : GridOrder::ij, s)));
      },
      "arrays"_a, nb::kw_only(), "sparse"_a = false, "indexing"_a = "xy", "stream"_a = nb::none(),
      nb::sig("def meshgrid(*arrays: array, sparse: bool = False, indexing: str = 'xy', "
              "stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> "
              "tuple[array, ...]"),
      "Coordinate arrays of the grid that 1-D arrays span.\n\n"
      "Args:\n    sparse: keep size 1 along the other axes instead of repeating.\n"
      "    indexing: 'xy' swaps the first two axes, 'ij' keeps them in order.\n\n"
      "Raises:\n    ValueError: another ``indexing``.\n\n"
      "Example:\n    >>> mx.meshgrid(mx.arange(2), mx.arange(1), indexing='ij')[0]\n"
      "    array([[0],\n           [1]], dtype=int32)");
}

}  // namespace

void bind_creation(nb::module_& m) {
  bind_arange(m);
  bind_constants(m);
  bind_triangles(m);
  bind_windows(m);
  bind_diagonals(m);
  array_class()
      .def(
          "diag", [](const array& a, int64_t k, const StreamArg& s) { return diag(a, k, s); },
          "k"_a = 0, nb::kw_only(), "stream"_a = nb::none(), "See :func:`mlx.core.diag`.")
      .def(
          "diagonal",
          [](const array& a, int64_t offset, int axis1, int axis2, const StreamArg& s) {
            return diagonal(a, offset, axis1, axis2, s);
          },
          "offset"_a = 0, "axis1"_a = 0, "axis2"_a = 1, "stream"_a = nb::none(),
          "See :func:`mlx.core.diagonal`.");
}

}  // namespace mlx::core
