// Bindings of the matmul family.
#include <nanobind/stl/variant.h>

#include "mlx/error.h"
#include "mlx/ops/matmul/matmul.h"
#include "python/src/array_slots.h"

namespace mlx::core {

namespace {

using TensordotAxes = std::variant<int, std::vector<std::vector<int>>>;

array bound_tensordot(const array& a, const array& b, const TensordotAxes& axes,
                      const StreamArg& s) {
  if (const int* n = std::get_if<int>(&axes)) {
    return tensordot(a, b, *n, s.value);
  }
  const auto& lists = std::get<std::vector<std::vector<int>>>(axes);
  if (lists.size() != 2) {
    fail<ValueError>("[tensordot] expected a list of two lists of axes, got {} lists",
                     lists.size());
  }
  return tensordot(a, b, lists[0], lists[1], s.value);
}

void bind_operators() {
  nb::class_<array> c = array_class();
  c.def(
      "__matmul__", [](const array& a, const array& b) { return matmul(a, b); }, nb::is_operator(),
      "other"_a);
  c.def(
      "__imatmul__",
      [](nb::object self, const array& b) {
        array& a = self_array(self);
        a = matmul(a, b);
        return self;
      },
      nb::is_operator(), "other"_a);
}

void bind_products(nb::module_& m) {
  define(
      m, "matmul",
      [](const array& a, const array& b, const StreamArg& s) { return matmul(a, b, s.value); },
      nb::arg(), nb::arg(), nb::kw_only(), "stream"_a = nb::none(),
      R"doc(
      Matrix product.

      A 1-D operand is a row on the left, a column on the right, and the axis it
      was given is dropped. Axes before the last two broadcast.

      Args:
          a (array): shape ``(..., m, k)`` or ``(k,)``.
          b (array): shape ``(..., k, n)`` or ``(k,)``.

      Returns:
          array: shape ``(..., m, n)``, in the dtype that a and b promote to.

      Raises:
          ValueError: a 0-d operand, inner sizes that differ, or a dtype that is
            neither floating nor complex.

      Example:
          >>> mx.matmul(mx.ones((2, 3)), mx.ones((3, 4))).shape
          (2, 4)
      )doc");
  define(
      m, "addmm",
      [](const array& c, const array& a, const array& b, float alpha, float beta,
         const StreamArg& s) { return addmm(c, a, b, alpha, beta, s.value); },
      nb::arg(), nb::arg(), nb::arg(), "alpha"_a = 1.0f, "beta"_a = 1.0f, nb::kw_only(),
      "stream"_a = nb::none(),
      R"doc(
      Matrix product with an addend: ``beta * c + alpha * (a @ b)``.

      Args:
          c (array): broadcasts to the shape of the product.
          a (array): shape ``(..., m, k)`` or ``(k,)``.
          b (array): shape ``(..., k, n)`` or ``(k,)``.
          alpha (float): factor of the product; zero leaves it out.
          beta (float): factor of c; zero leaves it out.

      Returns:
          array: shape ``(..., m, n)``, in the dtype that all three promote to.

      Raises:
          ValueError: as :func:`matmul`, or if c does not broadcast.

      Example:
          >>> mx.addmm(mx.array(1.0), mx.ones((2, 3)), mx.ones((3, 2)), alpha=2.0)
          array([[7, 7],
                 [7, 7]], dtype=float32)
      )doc");
}

void bind_contractions(nb::module_& m) {
  define(m, "tensordot", bound_tensordot, nb::arg(), nb::arg(), "axes"_a = 2, nb::kw_only(),
         "stream"_a = nb::none(),
         R"doc(
        Sum of products over chosen axes of a and b.

        Args:
            a (array): first operand.
            b (array): second operand.
            axes (int or list): a number n contracts the last n axes of a with
              the first n of b; two lists name the axes of a and of b.

        Returns:
            array: the other axes of a, then those of b.

        Raises:
            ValueError: axes that differ in number or size, or integer dtypes.

        Example:
            >>> mx.tensordot(mx.ones((2, 3)), mx.ones((3, 4)), 1).shape
            (2, 4)
        )doc");
  define(
      m, "inner",
      [](const array& a, const array& b, const StreamArg& s) { return inner(a, b, s.value); },
      nb::arg(), nb::arg(), nb::kw_only(), "stream"_a = nb::none(),
      R"doc(
      Sum of products over the last axes; for a 0-d operand, the product.

      Example:
          >>> mx.inner(mx.array([1.0, 2.0]), mx.array([3.0, 4.0]))
          array(11, dtype=float32)
      )doc");
  define(
      m, "outer",
      [](const array& a, const array& b, const StreamArg& s) { return outer(a, b, s.value); },
      nb::arg(), nb::arg(), nb::kw_only(), "stream"_a = nb::none(),
      R"doc(
      Products of all pairs of elements; operands are flattened.

      Returns:
          array: shape ``(a.size, b.size)``.

      Example:
          >>> mx.outer(mx.array([1, 2]), mx.array([3, 4]))
          array([[3, 4],
                 [6, 8]], dtype=int32)
      )doc");
  define(
      m, "vecdot",
      [](const array& a, const array& b, int axis, const StreamArg& s) {
        return vecdot(a, b, axis, s.value);
      },
      nb::arg(), nb::arg(), "axis"_a = -1, nb::kw_only(), "stream"_a = nb::none(),
      R"doc(
      Sum of ``conj(a) * b`` along an axis; other axes broadcast.

      Raises:
          ValueError: a 0-d operand, or sizes along the axis that differ.

      Example:
          >>> mx.vecdot(mx.array([1, 2]), mx.array([3, 4]))
          array(11, dtype=int32)
      )doc");
}

}  // namespace

void bind_matmul(nb::module_& m) {
  bind_operators();
  bind_products(m);
  bind_contractions(m);
}

}  // namespace mlx::core
