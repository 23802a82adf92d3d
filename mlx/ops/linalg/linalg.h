// The linalg family: factorisations of matrices, batched over all axes but the last two.
#pragma once

#include <vector>

#include "mlx/graph/primitive.h"

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

// The positive semidefinite square root of a symmetric positive semidefinite matrix, from its
// singular value decomposition; differentiable to any order.
MLX_API array symmetric_root(const array& a, StreamOrDevice s = {});

}  // namespace linalg

}  // namespace mlx::core
