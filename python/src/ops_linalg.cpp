// Bindings of mlx.core.linalg.
#include "mlx/ops/linalg/linalg.h"
#include "python/src/bindings.h"

namespace mlx::core {

void bind_linalg(nb::module_& parent) {
  nb::module_ m = parent.def_submodule("linalg", "Linear algebra.");
  define(
      m, "svd",
      [](const array& a, bool compute_uv, const StreamArg& s) -> nb::object {
        std::vector<array> usv = linalg::svd(a, compute_uv, s.value);
        return compute_uv ? nb::make_tuple(usv[0], usv[1], usv[2]) : nb::object(nb::cast(usv[0]));
      },
      "a"_a, "compute_uv"_a = true, nb::kw_only(), "stream"_a = nb::none(),
      nb::sig("def svd(a: array, compute_uv: bool = True, *, stream: Stream | ThreadLocalStream | "
              "Device | DeviceType | None = None) -> tuple[array, array, array] | array"),
      R"doc(
      Singular value decomposition ``a = U[:, :k] @ diag(S) @ Vt[:k]``, k the smaller size.

      By LAPACK's divide and conquer, for every matrix in the last two axes.

      Differentiable. Derivatives are those of quantities that do not depend on the
      choice of the singular vectors: where singular values coincide, or where vectors
      belong to none, single vectors have no derivative, and what would be infinite
      counts as 0.

      Args:
          a (array): shape ``(..., m, n)``; float32, float64 or complex64.
          compute_uv (bool): compute the vectors as well.

      Returns:
          tuple[array, array, array]: U of shape ``(..., m, m)``, S ``(..., k)`` in
            descending order and Vt ``(..., n, n)``; S alone if compute_uv is false.

      Raises:
          ValueError: fewer than 2 dimensions, or another dtype.
          RuntimeError: a value is not finite (when the result is evaluated).

      Example:
          >>> mx.linalg.svd(mx.array([[1.0, 0.0], [0.0, 2.0]]))[1]
          array([2, 1], dtype=float32)
      )doc");
}

}  // namespace mlx::core
