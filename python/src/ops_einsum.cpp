// einsum, einsum_path, kron and hadamard_transform.
#include <nanobind/stl/vector.h>

#include "mlx/ops/matmul/einsum.h"
#include "mlx/ops/matmul/matmul.h"
#include "python/src/bindings.h"

namespace mlx::core {

namespace {

nb::tuple path_result(const ContractionPath& path, const std::string& text) {
  nb::list steps;
  for (const std::vector<int>& step : path) {
    steps.append(nb::tuple(nb::cast(step)));
  }
  return nb::make_tuple(steps, text);
}

void bind_sums(nb::module_& m) {
  define(
      m, "einsum",
      [](const std::string& subscripts, const nb::args& operands, const StreamArg& s) {
        return einsum(subscripts, arrays_of(operands, "einsum"), s.value);
      },
      "subscripts"_a, "operands"_a, nb::kw_only(), "stream"_a = nb::none(),
      nb::sig("def einsum(subscripts: str, *operands: array, stream: Stream | ThreadLocalStream | "
              "Device | DeviceType | None = None) -> array"),
      R"doc(
      Sum of products by Einstein's convention, with NumPy's subscripts.

      Every letter names an axis; an axis that the result does not name is summed. A
      letter that repeats in one operand takes the diagonal. ``...`` stands for axes
      that broadcast. Without ``->`` the result has the letters that occur once, in
      alphabetical order, behind the axes of ``...``. Axes of size 1 broadcast. More
      than two operands are contracted in pairs, in the order of :func:`einsum_path`.

      Args:
          subscripts (str): such as ``"ij,jk->ik"``.
          *operands (array): one for each term between commas.

      Returns:
          array: in the dtype that the operands promote to.

      Raises:
          ValueError: subscripts that do not fit the operands, sizes that differ, or a
            sum of products whose dtype is neither floating nor complex.

      Example:
          >>> mx.einsum("ij,j->i", mx.array([[1.0, 2.0], [3.0, 4.0]]), mx.array([1.0, 1.0]))
          array([3, 7], dtype=float32)
      )doc");
  define(
      m, "einsum_path",
      [](const std::string& subscripts, const nb::args& operands) {
        auto [path, text] = einsum_path(subscripts, arrays_of(operands, "einsum_path"));
        return path_result(path, text);
      },
      "subscripts"_a, "operands"_a,
      nb::sig("def einsum_path(subscripts: str, *operands: array) -> tuple[list[tuple[int, ...]], "
              "str]"),
      R"doc(
      The order in which :func:`einsum` contracts its operands.

      The greedy choice of opt_einsum (Smith and Gray, 2018): the pair that frees most
      memory first.

      Returns:
          tuple: a list of positions, where each step takes its operands out of the
            list and appends their product; and a text about the cost.

      Raises:
          ValueError: subscripts that do not fit the operands.

      Example:
          >>> mx.einsum_path("ij,jk,kl->il", mx.ones((2, 3)), mx.ones((3, 4)), mx.ones((4, 5)))[0]
          [(1, 2), (0, 1)]
      )doc");
}

void bind_structured(nb::module_& m) {
  define(
      m, "kron",
      [](const array& a, const array& b, const StreamArg& s) { return kron(a, b, s.value); }, "a"_a,
      "b"_a, nb::kw_only(), "stream"_a = nb::none(),
      nb::sig(signature("kron(a: array, b: array").c_str()),
      R"doc(
      Kronecker product: every element of ``a`` times the whole of ``b``.

      Returns:
          array: sizes are the products of the operands' sizes, axis by axis from the
            last.

      Raises:
          ValueError: an operand is empty.

      Example:
          >>> mx.kron(mx.array([1, 2]), mx.array([1, 1]))
          array([1, 1, 2, 2], dtype=int32)
      )doc");
  define(
      m, "hadamard_transform",
      [](const array& a, std::optional<float> scale, const StreamArg& s) {
        return hadamard_transform(a, scale, s.value);
      },
      nb::arg(), "scale"_a = nb::none(), nb::kw_only(), "stream"_a = nb::none(),
      nb::sig(signature("hadamard_transform(a: array, /, scale: float | None = None").c_str()),
      R"doc(
      Walsh-Hadamard transform along the last axis.

      Orders 2**k are Sylvester's matrices in natural order, order 12 is Paley's, 20 and
      28 are Williamson's, and m * 2**k are Kronecker products of these.

      Args:
          a (array): the last axis has size ``m * 2**k`` with m = 1, 12, 20 or 28.
          scale (float): a factor; default ``1 / sqrt(n)``, which keeps lengths.

      Returns:
          array: the shape of a; float32 for integers and bools. float16 and bfloat16
            are computed in float32 and rounded once.

      Raises:
          ValueError: another size of the last axis, or no elements.

      Example:
          >>> mx.hadamard_transform(mx.array([1.0, 2.0, 3.0, 4.0]))
          array([5, -1, -2, 0], dtype=float32)
      )doc");
}

}  // namespace

void bind_einsum(nb::module_& m) {
  bind_sums(m);
  bind_structured(m);
}

}  // namespace mlx::core
