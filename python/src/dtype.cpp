// Dtype, its categories, and the functions that ask about them.
#include "mlx/dtype.h"

#include <cstdio>

#include "mlx/numeric_limits.h"
#include "python/src/convert.h"

namespace mlx::core {

namespace {

std::string dtype_repr(Dtype t) { return format("mlx.core.{}", t.name()); }

std::string number_text(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", v);
  return text;
}

void bind_categories(nb::module_& m) {
  using C = DtypeCategory;
  nb::enum_<C>(m, "DtypeCategory", "A category of dtypes, for :func:`issubdtype`.")
      .value("complexfloating", C::complexfloating)
      .value("floating", C::floating)
      .value("inexact", C::inexact)
      .value("signedinteger", C::signedinteger)
      .value("unsignedinteger", C::unsignedinteger)
      .value("integer", C::integer)
      .value("number", C::number)
      .value("generic", C::generic)
      .export_values();
}

void bind_class(nb::module_& m) {
  nb::class_<Dtype>(m, "Dtype", "The type of an array's elements.")
      .def_prop_ro("size", &Dtype::size, "Bytes of one element.")
      .def("__repr__", &dtype_repr)
      .def(
          "__eq__",
          [](Dtype t, nb::handle o) { return nb::isinstance<Dtype>(o) && nb::cast<Dtype>(o) == t; })
      .def("__hash__", &Dtype::index)
      .def("__getstate__", [](Dtype t) { return nb::make_tuple(t.index()); })
      .def("__setstate__", [](Dtype& t, nb::tuple state) {
        int index = nb::cast<int>(nb::object(state[0]));
        if (index < 0 || index >= dtype_count) {
          fail<ValueError>("[Dtype] a pickled dtype has number {}, expected 0 to {}", index,
                           dtype_count - 1);
        }
        new (&t) Dtype(Dtype::Id(index));
      });
  for (int i = 0; i < dtype_count; ++i) {
    Dtype t{Dtype::Id(i)};
    std::string name(t.name());
    m.attr(t.is_bool() ? "bool_" : name.c_str()) = t;
  }
}

void bind_limits(nb::module_& m) {
  nb::class_<FloatInfo>(m, "finfo", "Limits of a floating or complex dtype.")
      .def(
          "__init__", [](FloatInfo* self, Dtype t) { new (self) FloatInfo(finfo(t)); }, nb::arg())
      .def_ro("dtype", &FloatInfo::dtype, "The dtype (of the parts, for complex ones).")
      .def_ro("bits", &FloatInfo::bits, "Bits of one number.")
      .def_ro("min", &FloatInfo::min, "Smallest (most negative) finite value.")
      .def_ro("max", &FloatInfo::max, "Largest finite value.")
      .def_ro("eps", &FloatInfo::eps, "Distance from 1 to the next larger value.")
      .def_ro("smallest_normal", &FloatInfo::smallest_normal, "Smallest positive normal value.")
      .def("__repr__", [](const FloatInfo& f) {
        return format("finfo(min={}, max={}, dtype={})", number_text(f.min), number_text(f.max),
                      f.dtype);
      });
  nb::class_<IntInfo>(m, "iinfo", "Limits of an integer dtype.")
      .def(
          "__init__", [](IntInfo* self, Dtype t) { new (self) IntInfo(iinfo(t)); }, nb::arg())
      .def_ro("dtype", &IntInfo::dtype, "The dtype.")
      .def_ro("min", &IntInfo::min, "Smallest value.")
      .def_ro("max", &IntInfo::max, "Largest value.")
      .def("__repr__", [](const IntInfo& i) {
        return format("iinfo(min={}, max={}, dtype={})", i.min, i.max, i.dtype);
      });
}

Dtype dtype_of_argument(nb::handle h, const char* op) {
  if (nb::isinstance<Dtype>(h)) {
    return nb::cast<Dtype>(h);
  }
  if (array* a = as_array(h)) {
    return a->dtype();
  }
  fail<ValueError>("[{}] expected arrays or dtypes, got an object of type {}", op, class_name(h));
}

bool issubdtype(nb::handle a, nb::handle b) {
  for (nb::handle h : {a, b}) {
    if (!nb::isinstance<Dtype>(h) && !nb::isinstance<DtypeCategory>(h)) {
      fail<ValueError>("[issubdtype] expected dtypes or categories, got an object of type {}",
                       class_name(h));
    }
  }
  bool category = nb::isinstance<DtypeCategory>(a);
  if (nb::isinstance<Dtype>(b)) {
    return !category && nb::cast<Dtype>(a) == nb::cast<Dtype>(b);
  }
  auto c = nb::cast<DtypeCategory>(b);
  return category ? is_subtype(nb::cast<DtypeCategory>(a), c) : is_subtype(nb::cast<Dtype>(a), c);
}

bool isdtype(Dtype t, nb::handle kind) {
  if (nb::isinstance<Dtype>(kind)) {
    return nb::cast<Dtype>(kind) == t;
  }
  if (nb::isinstance<nb::str>(kind)) {
    return is_dtype(t, nb::cast<std::string>(kind));
  }
  if (!nb::isinstance<nb::tuple>(kind)) {
    fail<ValueError>("[isdtype] expected a dtype, a string or a tuple of them, got {}",
                     class_name(kind));
  }
  bool any = false;
  for (nb::handle k : nb::borrow<nb::tuple>(kind)) {
    if (nb::isinstance<nb::tuple>(k)) {
      fail<ValueError>("[isdtype] tuples of kinds cannot be nested");
    }
    any |= isdtype(t, k);
  }
  return any;
}

Dtype result_type(nb::args args) {
  if (args.size() == 0) {
    fail<ValueError>("[result_type] expected at least one array or dtype");
  }
  Dtype t = dtype_of_argument(nb::object(args[0]), "result_type");
  for (size_t i = 1; i < args.size(); ++i) {
    t = promote_types(t, dtype_of_argument(nb::object(args[i]), "result_type"));
  }
  return t;
}

}  // namespace

void bind_dtype(nb::module_& m) {
  bind_categories(m);
  bind_class(m);
  bind_limits(m);
  define(m, "issubdtype", &issubdtype, nb::arg(), nb::arg(),
         nb::sig("def issubdtype(arg1: Dtype | DtypeCategory, arg2: Dtype | DtypeCategory, /) -> "
                 "bool"),
         "Is the first dtype or category below or equal to the second?\n\n"
         "Example:\n    >>> mx.issubdtype(mx.float16, mx.floating)\n    True");
  define(
      m, "isdtype", &isdtype, "dtype"_a, "kind"_a,
      nb::sig("def isdtype(dtype: Dtype, kind: Dtype | str | tuple[Dtype | str, ...]) -> bool"),
      "Is the dtype of a kind: a dtype, ``'bool'``, ``'signed integer'``, ``'unsigned integer'``,\n"
      "``'integral'``, ``'real floating'``, ``'complex floating'``, ``'numeric'``, or any of a\n"
      "tuple of those?\n\nRaises:\n    ValueError: there is no such kind.");
  define(m, "result_type", &result_type, "arrays_and_dtypes"_a,
         nb::sig("def result_type(*arrays_and_dtypes: array | Dtype) -> Dtype"),
         "The dtype in which the arguments meet.\n\nExample:\n"
         "    >>> mx.result_type(mx.int32, mx.float16)\n    mlx.core.float16");
  define(
      m, "can_cast",
      [](nb::handle from, Dtype to) {
        return promote_types(dtype_of_argument(from, "can_cast"), to) == to;
      },
      "from_"_a, "to"_a, nb::sig("def can_cast(from_: array | Dtype, to: Dtype) -> bool"),
      "Does promoting ``from_`` with ``to`` give ``to``?");
}

}  // namespace mlx::core
