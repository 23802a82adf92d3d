// ArrayAt: x.at[…].add(v) and its relatives, which apply every update where indices repeat.
#include "mlx/ops/elementwise/elementwise.h"
#include "python/src/bindings.h"
#include "python/src/indexing.h"

namespace mlx::core {

namespace {

struct ArrayAt {
  array a;
  nb::object key = {};  // null: not indexed yet
};

array update(const char* name, ScatterMode mode, const ArrayAt& at, const ArrayArg& value,
             array (*prepare)(const array&) = nullptr) {
  if (!at.key) {
    fail<ValueError>("[at.{}] expected an index first, as in x.at[0].{}(value)", name, name);
  }
  array v = astype(to_array(value, at.a.dtype()), at.a.dtype());
  if (prepare) {
    v = astype(prepare(v), at.a.dtype());
  }
  return write_item(mode, at.a, at.key, v);
}

array negated(const array& v) { return v.dtype().is_bool() ? v : negative(v); }
array inverted(const array& v) { return reciprocal(v); }

}  // namespace

void bind_array_at(nb::module_& m) {
  nb::class_<ArrayAt>(
      m, "ArrayAt",
      "``x.at[index]``: methods that give a copy of ``x`` with its elements at the index updated.\n"
      "\n"
      "Indices are those of ``x[index]``, masks as well. Other than with ``x[index] += v``, every\n"
      "update counts where indices repeat. Values are converted to the dtype of ``x`` and\n"
      "broadcast to the shape of ``x[index]``.\n\n"
      "Example:\n    >>> x = mx.array([0, 0])\n    >>> x.at[mx.array([0, 1, 0])].add(1)\n"
      "    array([2, 1], dtype=int32)")
      .def(
          "__getitem__",
          [](const ArrayAt& at, nb::object key) { return ArrayAt{at.a, std::move(key)}; },
          "indices"_a.none(), nb::sig("def __getitem__(self, indices: object | None) -> ArrayAt"))
      .def(
          "add",
          [](const ArrayAt& at, const ArrayArg& v) {
            return update("add", ScatterMode::add, at, v);
          },
          "value"_a, "Adds ``value``.")
      .def(
          "subtract",
          [](const ArrayAt& at, const ArrayArg& v) {
            return update("subtract", ScatterMode::add, at, v, &negated);
          },
          "value"_a, "Subtracts ``value``.")
      .def(
          "multiply",
          [](const ArrayAt& at, const ArrayArg& v) {
            return update("multiply", ScatterMode::multiply, at, v);
          },
          "value"_a, "Multiplies by ``value``.")
      .def(
          "divide",
          [](const ArrayAt& at, const ArrayArg& v) {
            return update("divide", ScatterMode::multiply, at, v, &inverted);
          },
          "value"_a,
          "Multiplies by the reciprocal of ``value``, which in an integer dtype is 0 but for 1\n"
          "and -1.")
      .def(
          "maximum",
          [](const ArrayAt& at, const ArrayArg& v) {
            return update("maximum", ScatterMode::maximum, at, v);
          },
          "value"_a, "The greater of the element and ``value``; NaN wins.")
      .def(
          "minimum",
          [](const ArrayAt& at, const ArrayArg& v) {
            return update("minimum", ScatterMode::minimum, at, v);
          },
          "value"_a, "The lesser of the element and ``value``; NaN wins.");
  array_class().def_prop_ro(
      "at", [](const array& a) { return ArrayAt{a}; },
      "Indexed updates that give a new array: see :class:`ArrayAt`.");
}

}  // namespace mlx::core
