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

void bind_chosen_products(nb::module_& m) {
  define(
      m, "gather_mm",
      [](const array& a, const array& b, const std::optional<array>& lhs_indices,
         const std::optional<array>& rhs_indices, bool sorted_indices, const StreamArg& s) {
        return gather_mm(a, b, lhs_indices, rhs_indices, sorted_indices, s.value);
      },
      nb::arg(), nb::arg(), "lhs_indices"_a = nb::none(), "rhs_indices"_a = nb::none(),
      nb::kw_only(), "sorted_indices"_a = false, "stream"_a = nb::none(),
      R"doc(
      Products of matrices that are chosen by indices.

      The indices count the matrices of a and b, their leading axes flattened.
      The matrices are read where they are: nothing of b is copied.

      Args:
          a (array): shape ``(..., m, k)``.
          b (array): shape ``(..., k, n)``.
          lhs_indices (array, optional): integers that choose matrices of a;
            without them, all in order.
          rhs_indices (array, optional): the same for b. Both broadcast
            together; without either, the result is that of :func:`matmul`.
          sorted_indices (bool): the indices ascend. The result is the same.

      Returns:
          array: the shape of the indices, then ``(m, n)``.

      Raises:
          ValueError: fewer than two axes, inner sizes that differ, indices that
            are no integers or do not broadcast, or a dtype that is not real
            floating.

      Example:
          >>> experts = mx.ones((4, 3, 2))
          >>> mx.gather_mm(mx.ones((1, 3)), experts, rhs_indices=mx.array([3, 0])).shape
          (2, 1, 2)
      )doc");
  define(
      m, "segmented_mm",
      [](const array& a, const array& b, const array& segments, const StreamArg& s) {
        return segmented_mm(a, b, segments, s.value);
      },
      nb::arg(), nb::arg(), "segments"_a, nb::kw_only(), "stream"_a = nb::none(),
      R"doc(
      Products over stretches of the inner axis: ``a[:, s:e] @ b[s:e]`` for each
      segment ``(s, e)``; an empty one gives zeros.

      Args:
          a (array): shape ``(m, k)``.
          b (array): shape ``(k, n)``.
          segments (array): integers of shape ``(..., 2)``; what is outside
            ``0 ... k`` is moved to the nearer end.

      Returns:
          array: shape ``(..., m, n)``.

      Raises:
          ValueError: other shapes, segments that are no integers, or a dtype
            that is neither floating nor complex.

      Example:
          >>> mx.segmented_mm(mx.ones((1, 4)), mx.ones((4, 1)), mx.array([[0, 1], [1, 4]]))
          array([[[1]],
                 [[3]]], dtype=float32)
      )doc");
}

void bind_masked_products(nb::module_& m) {
  define(
      m, "block_masked_mm",
      [](const array& a, const array& b, int block_size, const std::optional<array>& mask_out,
         const std::optional<array>& mask_lhs, const std::optional<array>& mask_rhs,
         const StreamArg& s) {
        return block_masked_mm(a, b, block_size, mask_out, mask_lhs, mask_rhs, s.value);
      },
      nb::arg(), nb::arg(), "block_size"_a = 64, "mask_out"_a = nb::none(),
      "mask_lhs"_a = nb::none(), "mask_rhs"_a = nb::none(), nb::kw_only(), "stream"_a = nb::none(),
      R"doc(
      Matrix product with masks for square blocks of the operands and the result.

      A bool mask keeps blocks or makes them zero; a floating one multiplies
      them. If one operand has a bool mask and the other a floating one, both
      multiply. Without masks this is :func:`matmul`.

      Args:
          a (array): shape ``(..., m, k)``.
          b (array): shape ``(..., k, n)``.
          block_size (int): 32 or 64; the last blocks of an axis may be smaller.
          mask_out (array, optional): shape ``(..., ceil(m / block_size),
            ceil(n / block_size))``.
          mask_lhs (array, optional): the same for m and k.
          mask_rhs (array, optional): the same for k and n.

      Returns:
          array: shape ``(..., m, n)``.

      Raises:
          ValueError: another block size with masks, or shapes and dtypes that do
            not fit.

      Example:
          >>> keep = mx.array([[True, False]])
          >>> mx.block_masked_mm(mx.ones((1, 96)), mx.ones((96, 1)), 64, mask_lhs=keep).item()
          64.0
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
  bind_chosen_products(m);
  bind_masked_products(m);
  bind_contractions(m);
}

}  // namespace mlx::core
