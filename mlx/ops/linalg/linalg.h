// The linalg family: factorisations of matrices, batched over all axes but the last two.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "mlx/graph/primitive.h"
#include "mlx/ops/reduce/reduce.h"

namespace mlx::core {

// Singular values of (…, m, n) in descending order; with vectors also the full unitary matrices U
// (…, m, m) and Vᴴ (…, n, n). Neither m nor n is 0.
class SVD final : public PrimitiveOf<SVD, PrimitiveId::SVD> {
 public:
  explicit SVD(bool v) : vectors(v) {}
  std::string_view name() const override { return "SVD"; }
  std::vector<array> vjp(const std::vector<array>& inputs, const std::vector<array>& cotangents,
                         const std::vector<int>& argnums,
                         const std::vector<array>& outputs) const override;
  std::vector<array> jvp(const std::vector<array>& inputs, const std::vector<array>& tangents,
                         const std::vector<int>& argnums,
                         const std::vector<array>& outputs) const override;
  VmapResult vmap(const std::vector<array>& inputs, const std::vector<int>& axes,
                  Stream stream) const override;
  std::vector<Shape> output_shapes(const std::vector<array>& inputs) const override;
  std::string describe() const override { return vectors ? "" : "values only"; }
  bool same(const SVD& o) const { return vectors == o.vectors; }

  const bool vectors;
};

namespace linalg {

// U, S and Vᴴ with a = U[:, :k] @ diag(S) @ Vᴴ[:k]; S alone without `vectors`. float32, float64 or
// complex64. Derivatives are those of what does not depend on the choice of the vectors: where
// singular values coincide there is none of single vectors, and parts of it that would be infinite
// count as 0.
MLX_API std::vector<array> svd(const array& a, bool vectors = true, StreamOrDevice s = {});

// The root of the sum of squares over at most two axes, or over all without any.
MLX_API array norm(const array& a, AxisSet axes = {}, bool keepdims = false, StreamOrDevice s = {});
// Norms of vectors over one axis (0 counts what is not 0, ±inf, other numbers are powers), of
// matrices over two: ±1, ±2, ±inf, "fro" or "f", "nuc". Without axes all of at most two.
MLX_API array norm(const array& a, double ord, AxisSet axes = {}, bool keepdims = false,
                   StreamOrDevice s = {});
MLX_API array norm(const array& a, std::string_view ord, AxisSet axes = {}, bool keepdims = false,
                   StreamOrDevice s = {});

// The cross product of vectors of 2 or 3 elements along an axis, always 3 in the result.
MLX_API array cross(const array& a, const array& b, int axis = -1, StreamOrDevice s = {});

// The positive semidefinite square root of a symmetric positive semidefinite matrix, from its
// singular value decomposition; differentiable to any order.
MLX_API array symmetric_root(const array& a, StreamOrDevice s = {});

}  // namespace linalg

}  // namespace mlx::core
