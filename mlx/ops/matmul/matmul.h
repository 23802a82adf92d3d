// The matmul family: products of matrices, batched by broadcasting, and what is made of them.
#pragma once

#include <optional>
#include <span>

#include "mlx/graph/primitive.h"

namespace mlx::core {

// a (…, m, k) times b (…, k, n) for operands of one inexact dtype; leading axes broadcast.
class Matmul final : public PrimitiveOf<Matmul, PrimitiveId::Matmul> {
 public:
  std::string_view name() const override { return "Matmul"; }
  std::vector<array> vjp(const std::vector<array>& inputs, const std::vector<array>& cotangents,
                         const std::vector<int>& argnums,
                         const std::vector<array>& outputs) const override;
  std::vector<array> jvp(const std::vector<array>& inputs, const std::vector<array>& tangents,
                         const std::vector<int>& argnums,
                         const std::vector<array>& outputs) const override;
  VmapResult vmap(const std::vector<array>& inputs, const std::vector<int>& axes,
                  Stream stream) const override;
  std::vector<Shape> output_shapes(const std::vector<array>& inputs) const override;
  bool same(const Matmul&) const { return true; }
};

// beta·c + alpha·(a @ b); inputs are c, a, b, and c broadcasts to the product. A factor of zero
// leaves its term out, whatever that holds.
class AddMM final : public PrimitiveOf<AddMM, PrimitiveId::AddMM> {
 public:
  AddMM(float a, float b) : alpha(a), beta(b) {}
  std::string_view name() const override { return "AddMM"; }
  std::vector<array> vjp(const std::vector<array>& inputs, const std::vector<array>& cotangents,
                         const std::vector<int>& argnums,
                         const std::vector<array>& outputs) const override;
  std::vector<array> jvp(const std::vector<array>& inputs, const std::vector<array>& tangents,
                         const std::vector<int>& argnums,
                         const std::vector<array>& outputs) const override;
  VmapResult vmap(const std::vector<array>& inputs, const std::vector<int>& axes,
                  Stream stream) const override;
  std::vector<Shape> output_shapes(const std::vector<array>& inputs) const override;
  std::string describe() const override;
  uint32_t overwritable() const override { return 1; }  // c
  bool same(const AddMM& o) const { return alpha == o.alpha && beta == o.beta; }

  const float alpha;
  const float beta;
};

// out[i] = a[left[i]] @ b[right[i]] for a (p, m, k), b (q, k, n) and integer indices left and right
// of one shape, by the rules of the index family.
class GatherMM final : public PrimitiveOf<GatherMM, PrimitiveId::GatherMM> {
 public:
  std::string_view name() const override { return "GatherMM"; }
  std::vector<array> vjp(const std::vector<array>& inputs, const std::vector<array>& cotangents,
                         const std::vector<int>& argnums,
                         const std::vector<array>& outputs) const override;
  std::vector<array> jvp(const std::vector<array>& inputs, const std::vector<array>& tangents,
                         const std::vector<int>& argnums,
                         const std::vector<array>& outputs) const override;
  VmapResult vmap(const std::vector<array>& inputs, const std::vector<int>& axes,
                  Stream stream) const override;
  std::vector<Shape> output_shapes(const std::vector<array>& inputs) const override;
  bool same(const GatherMM&) const { return true; }
};

// out[i] = a[:, s:e] @ b[s:e] for a (m, k), b (k, n) and (s, e) = segments[i]; ends outside 0 … k
// are moved there.
class SegmentedMM final : public PrimitiveOf<SegmentedMM, PrimitiveId::SegmentedMM> {
 public:
  std::string_view name() const override { return "SegmentedMM"; }
  std::vector<array> vjp(const std::vector<array>& inputs, const std::vector<array>& cotangents,
                         const std::vector<int>& argnums,
                         const std::vector<array>& outputs) const override;
  std::vector<array> jvp(const std::vector<array>& inputs, const std::vector<array>& tangents,
                         const std::vector<int>& argnums,
                         const std::vector<array>& outputs) const override;
  std::vector<Shape> output_shapes(const std::vector<array>& inputs) const override;
  bool same(const SegmentedMM&) const { return true; }
};

// True if the rows of x are the last axis of another array, as those of a transposed weight.
bool is_transposed(const array& x);

// NumPy's rules: a 1-D operand is a row on the left, a column on the right, and its axis goes away.
MLX_API array matmul(const array& a, const array& b, StreamOrDevice s = {});
MLX_API array addmm(const array& c, const array& a, const array& b, float alpha = 1.0f,
                    float beta = 1.0f, StreamOrDevice s = {});
// Products of matrices chosen by indices into the flattened leading axes of a and b; without
// indices every matrix once, in order. The indices broadcast together.
MLX_API array gather_mm(const array& a, const array& b, const std::optional<array>& lhs_indices,
                        const std::optional<array>& rhs_indices, bool sorted_indices = false,
                        StreamOrDevice s = {});
MLX_API array segmented_mm(const array& a, const array& b, const array& segments,
                           StreamOrDevice s = {});
// a @ b in which blocks of the operands and of the product are left out (bool masks) or scaled.
MLX_API array block_masked_mm(const array& a, const array& b, int block_size = 64,
                              const std::optional<array>& mask_out = {},
                              const std::optional<array>& mask_lhs = {},
                              const std::optional<array>& mask_rhs = {}, StreamOrDevice s = {});
// Sum over the last `axes` axes of a and the first of b.
MLX_API array tensordot(const array& a, const array& b, int axes = 2, StreamOrDevice s = {});
MLX_API array tensordot(const array& a, const array& b, std::span<const int> axes_a,
                        std::span<const int> axes_b, StreamOrDevice s = {});
// All products of elements of flattened a and b.
MLX_API array outer(const array& a, const array& b, StreamOrDevice s = {});
// The Kronecker product: every element of a times the whole of b, axis by axis.
MLX_API array kron(const array& a, const array& b, StreamOrDevice s = {});
// Sum over the last axes.
MLX_API array inner(const array& a, const array& b, StreamOrDevice s = {});
// Sum of conj(a)·b over the same axis of both.
MLX_API array vecdot(const array& a, const array& b, int axis = -1, StreamOrDevice s = {});

// The last axis, of size m·2^k with m = 1, 12, 20 or 28, times a Hadamard matrix of that order
// (Sylvester's for m = 1) and times `scale`, by default the one that keeps lengths.
MLX_API array hadamard_transform(const array& a, std::optional<float> scale = {},
                                 StreamOrDevice s = {});

}  // namespace mlx::core
