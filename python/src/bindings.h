// What all binding files share: argument types (stream, axes, shape, array-or-scalar) with their
// casters, and the list of families. Bindings convert, call and return.
//
//   define(m, "sum", [](const array& a, const AxisArg& axis, bool keepdims, StreamArg s) {
//           return sum(a, axis, keepdims, s);
//         }, nb::arg(), "axis"_a = nb::none(), "keepdims"_a = false, nb::kw_only(),
//         "stream"_a = nb::none(), "…");
//
// An unnamed nb::arg() is positional-only. Methods are added by array_class().def(…).
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "mlx/device.h"
#include "mlx/graph/array.h"
#include "python/src/define.h"

namespace nb = nanobind;
using namespace nb::literals;  // NOLINT: the point of a binding header

namespace mlx::core {

// stream=…: None, Stream, ThreadLocalStream, Device or DeviceType. Converts to the core's type.
struct StreamArg {
  StreamOrDevice value;
  operator const StreamOrDevice&() const { return value; }  // NOLINT
};
inline const StreamOrDevice& to_core(const StreamArg& s) { return s.value; }

// axis=…: None (all), an int, or a sequence of ints.
struct AxisArg {
  std::optional<std::vector<int>> value;
  operator std::optional<std::span<const int>>() const {  // NOLINT
    return value ? std::optional(std::span<const int>(*value)) : std::nullopt;
  }
};

// shape=…: an int or a sequence of ints; dimensions beyond 64 bits raise OverflowError. A plain
// `Shape` argument takes sequences only.
struct ShapeArg {
  Shape value;
  operator const Shape&() const { return value; }  // NOLINT
};

// An array or what becomes one: a Python scalar, a NumPy array, any other buffer or DLPack object,
// an object with __mlx_array__. Takes every object but None; to_array() converts it or raises
// ValueError. Borrowed for the length of the call.
struct ArrayArg {
  nb::handle value;
};

// A Python scalar takes the dtype of the array it meets (`like`) by the rules of weak scalars;
// other objects are converted to `like`. Without `like` scalars and buffers keep their own kind.
array to_array(nb::handle h, std::optional<Dtype> like = {});
inline array to_array(const ArrayArg& a, std::optional<Dtype> like = {}) {
  return to_array(a.value, like);
}
// Both operands of a binary function: a scalar or foreign operand follows the array one.
std::pair<array, array> to_arrays(nb::handle a, nb::handle b);
inline std::pair<array, array> to_arrays(const ArrayArg& a, const ArrayArg& b) {
  return to_arrays(a.value, b.value);
}

// The text of a binding whose last argument is the stream: signature("diag(a: array, /, k: int =
// 0").
inline std::string signature(std::string_view head, std::string_view result = "array") {
  return format(
      "def {}, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> {}",
      head, result);
}

// The arrays among f(*arrays); anything else raises TypeError.
std::vector<array> arrays_of(const nb::args& args, std::string_view op);

// The handle inside an mx.array object, null for any other object and before its __init__. In-place
// operators assign to it.
array* as_array(nb::handle h) noexcept;
// A new mx.array object.
nb::object wrap(array a);
// The class mx.array, to add methods to.
nb::class_<array> array_class();

// False for what to_array() refuses whatever it holds: lists, strings, foreign objects.
bool is_array_like(nb::handle h) noexcept;
bool load_stream(nb::handle h, StreamOrDevice& out) noexcept;
bool load_axes(nb::handle h, std::optional<std::vector<int>>& out) noexcept;
enum class ShapeLoad { bad, ok, overflow };
ShapeLoad load_shape(nb::handle h, Shape& out, bool accept_int) noexcept;

// The families, called once each by module.cpp.
void bind_dtype(nb::module_& m);
void bind_device(nb::module_& m);
void bind_memory(nb::module_& m);
void bind_array(nb::module_& m);
void bind_array_at(nb::module_& m);
void bind_array_api(nb::module_& m);
void bind_interop(nb::module_& m);
void bind_print(nb::module_& m);
void bind_eval(nb::module_& m);
void bind_elementwise(nb::module_& m);
void bind_reduce(nb::module_& m);
void bind_shape(nb::module_& m);
void bind_creation(nb::module_& m);
void bind_matmul(nb::module_& m);
void bind_einsum(nb::module_& m);
void bind_linalg(nb::module_& m);
void bind_random(nb::module_& m);
void bind_index(nb::module_& m);
void bind_sort(nb::module_& m);
void bind_transforms(nb::module_& m);
void bind_compile(nb::module_& m);
void bind_custom(nb::module_& m);
void bind_io(nb::module_& m);

}  // namespace mlx::core

namespace nanobind::detail {

// nanobind adds "| None" to the names of arguments that take it.
template <>
struct type_caster<mlx::core::StreamArg> {
  NB_TYPE_CASTER(mlx::core::StreamArg,
                 const_name("mlx.core.Stream | mlx.core.ThreadLocalStream | mlx.core.Device | "
                            "mlx.core.DeviceType"))
  bool from_python(handle src, uint32_t, cleanup_list*) noexcept {
    return src.is_none() || mlx::core::load_stream(src, value.value);
  }
};
template <>
struct has_arg_defaults<mlx::core::StreamArg> : std::true_type {};

template <>
struct type_caster<mlx::core::AxisArg> {
  NB_TYPE_CASTER(mlx::core::AxisArg, const_name("int | collections.abc.Sequence[int]"))
  bool from_python(handle src, uint32_t, cleanup_list*) noexcept {
    return src.is_none() || mlx::core::load_axes(src, value.value);
  }
};
template <>
struct has_arg_defaults<mlx::core::AxisArg> : std::true_type {};

// Shape and ShapeArg: a dimension that does not fit raises only when the call is really made.
template <>
struct type_caster<mlx::core::Shape> {
  using Value = mlx::core::Shape;
  static constexpr auto Name = const_name("collections.abc.Sequence[int]");
  template <typename T>
  using Cast = movable_cast_t<T>;
  template <typename T>
  static constexpr bool can_cast() {
    return true;
  }
  bool from_python(handle src, uint32_t, cleanup_list*) noexcept {
    load = mlx::core::load_shape(src, value, false);
    return load != mlx::core::ShapeLoad::bad;
  }
  static handle from_cpp(const Value& shape, rv_policy, cleanup_list*) noexcept {
    PyObject* t = PyTuple_New(Py_ssize_t(shape.size()));
    for (size_t i = 0; t && i < shape.size(); ++i) {
      PyObject* n = PyLong_FromLongLong(shape[i]);
      if (!n) {
        Py_CLEAR(t);
        break;
      }
      PyTuple_SetItem(t, Py_ssize_t(i), n);
    }
    return t;
  }
  explicit operator Value*() { return &checked(); }
  explicit operator Value&() { return checked(); }
  explicit operator Value&&() { return std::move(checked()); }
  Value& checked() {
    if (load == mlx::core::ShapeLoad::overflow) {
      mlx::core::fail<mlx::core::OverflowError>("[shape] a dimension does not fit 64 bits");
    }
    return value;
  }
  Value value;
  mlx::core::ShapeLoad load = mlx::core::ShapeLoad::ok;
};

// nanobind's own caster of optionals would take the value, and so raise, where nothing may.
template <>
struct type_caster<std::optional<mlx::core::Shape>> {
  using Value = std::optional<mlx::core::Shape>;
  static constexpr auto Name = const_name("collections.abc.Sequence[int] | None");
  template <typename T>
  using Cast = movable_cast_t<T>;
  template <typename T>
  static constexpr bool can_cast() {
    return true;
  }
  bool from_python(handle src, uint32_t flags, cleanup_list* cleanup) noexcept {
    given = !src.is_none();
    return !given || shape.from_python(src, flags, cleanup);
  }
  explicit operator Value*() { return &checked(); }
  explicit operator Value&() { return checked(); }
  explicit operator Value&&() { return std::move(checked()); }
  Value& checked() {
    if (given) {
      value = std::move(shape.checked());
    }
    return value;
  }
  type_caster<mlx::core::Shape> shape;
  Value value;
  bool given = false;
};

template <>
struct type_caster<mlx::core::ShapeArg> {
  using Value = mlx::core::ShapeArg;
  static constexpr auto Name = const_name("int | collections.abc.Sequence[int]");
  template <typename T>
  using Cast = movable_cast_t<T>;
  template <typename T>
  static constexpr bool can_cast() {
    return true;
  }
  bool from_python(handle src, uint32_t, cleanup_list*) noexcept {
    load = mlx::core::load_shape(src, value.value, true);
    return load != mlx::core::ShapeLoad::bad;
  }
  explicit operator Value*() { return &checked(); }
  explicit operator Value&() { return checked(); }
  explicit operator Value&&() { return std::move(checked()); }
  Value& checked() {
    if (load == mlx::core::ShapeLoad::overflow) {
      mlx::core::fail<mlx::core::OverflowError>("[shape] a dimension does not fit 64 bits");
    }
    return value;
  }
  Value value;
  mlx::core::ShapeLoad load = mlx::core::ShapeLoad::ok;
};

template <>
struct type_caster<mlx::core::ArrayArg> {
  NB_TYPE_CASTER(mlx::core::ArrayArg,
                 const_name("bool | int | float | complex | mlx.core.array | mlx.core.ArrayLike"))
  bool from_python(handle src, uint32_t, cleanup_list*) noexcept {
    value.value = src;
    return !src.is_none();
  }
};

}  // namespace nanobind::detail
