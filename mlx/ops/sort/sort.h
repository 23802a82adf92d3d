// Sorting and searching along an axis. One order for all of them: NaN (of complex numbers: either
// part) comes last and all NaNs are equal, as are the two zeros; complex numbers are ordered by
// real part first. Equal elements keep their order.
#pragma once

#include <optional>
#include <span>

#include "mlx/graph/primitive.h"

namespace mlx::core {

// What a Sort gives for each line of n elements. The arg forms give uint32 positions and have no
// derivative; the others are their input taken at the positions of the arg form.
enum class SortMode : uint8_t {
  sort,
  argsort,
  partition,     // element k in its sorted place, the lesser before it, the others behind it
  argpartition,  // (both in their old order, but for short lines, which are sorted)
  topk,          // the k largest, ascending
  argtopk,
  argmiddle,  // two elements: the middle ones of the sorted line, the first NaN if there is one
};

class Sort final : public PrimitiveOf<Sort, PrimitiveId::Sort> {
 public:
  Sort(SortMode m, int a, int64_t count) : mode(m), axis(a), k(count) {}
  std::string_view name() const override;
  std::vector<array> vjp(const std::vector<array>& inputs, const std::vector<array>& cotangents,
                         const std::vector<int>& argnums,
                         const std::vector<array>& outputs) const override;
  std::vector<array> jvp(const std::vector<array>& inputs, const std::vector<array>& tangents,
                         const std::vector<int>& argnums,
                         const std::vector<array>& outputs) const override;
  VmapResult vmap(const std::vector<array>& inputs, const std::vector<int>& axes,
                  Stream stream) const override;
  bool differentiable() const override { return !gives_positions(); }
  std::vector<Shape> output_shapes(const std::vector<array>& inputs) const override;
  std::string describe() const override;
  bool same(const Sort& o) const { return mode == o.mode && axis == o.axis && k == o.k; }
  bool gives_positions() const;

  const SortMode mode;
  const int axis;
  const int64_t k;  // kth of partitions (negative from the end), k of topk, else 0
};

enum class SearchSide : uint8_t { left, right };

// Where values (batch…, any shape) would be inserted into sorted sequences (batch…, n).
class SearchSorted final : public PrimitiveOf<SearchSorted, PrimitiveId::SearchSorted> {
 public:
  explicit SearchSorted(SearchSide s) : side(s) {}
  std::string_view name() const override { return "SearchSorted"; }
  std::vector<array> vjp(const std::vector<array>& inputs, const std::vector<array>& cotangents,
                         const std::vector<int>& argnums,
                         const std::vector<array>& outputs) const override;
  std::vector<array> jvp(const std::vector<array>& inputs, const std::vector<array>& tangents,
                         const std::vector<int>& argnums,
                         const std::vector<array>& outputs) const override;
  VmapResult vmap(const std::vector<array>& inputs, const std::vector<int>& axes,
                  Stream stream) const override;
  bool differentiable() const override { return false; }
  std::vector<Shape> output_shapes(const std::vector<array>& inputs) const override;
  std::string describe() const override { return side == SearchSide::left ? "left" : "right"; }
  bool same(const SearchSorted& o) const { return side == o.side; }

  const SearchSide side;
};

enum class Inverse : uint8_t { omitted, wanted };

// The distinct elements of each line of the last axis, NaNs all distinct. Outputs: for each of the
// first `size` values (one at least) where it occurs first (uint32) and how often (int32), if there
// are fewer values the position of the first and the count 0; and if it is wanted, for each element
// the rank of its value, size - 1 at most (uint32).
class Unique final : public PrimitiveOf<Unique, PrimitiveId::Unique> {
 public:
  Unique(int64_t s, Inverse i) : size(s), inverse(i) {}
  std::string_view name() const override { return "Unique"; }
  bool infers_shapes() const override { return false; }
  std::vector<array> vjp(const std::vector<array>& inputs, const std::vector<array>& cotangents,
                         const std::vector<int>& argnums,
                         const std::vector<array>& outputs) const override;
  std::vector<array> jvp(const std::vector<array>& inputs, const std::vector<array>& tangents,
                         const std::vector<int>& argnums,
                         const std::vector<array>& outputs) const override;
  VmapResult vmap(const std::vector<array>& inputs, const std::vector<int>& axes,
                  Stream stream) const override;
  bool differentiable() const override { return false; }
  std::vector<Shape> output_shapes(const std::vector<array>& inputs) const override;
  std::string describe() const override;
  bool same(const Unique& o) const { return size == o.size && inverse == o.inverse; }

  const int64_t size;
  const Inverse inverse;
};

// Without an axis: of the flattened array.
MLX_API array sort(const array& a, std::optional<int> axis = -1, StreamOrDevice s = {});
MLX_API array argsort(const array& a, std::optional<int> axis = -1, StreamOrDevice s = {});
MLX_API array partition(const array& a, int64_t kth, std::optional<int> axis = -1,
                        StreamOrDevice s = {});
MLX_API array argpartition(const array& a, int64_t kth, std::optional<int> axis = -1,
                           StreamOrDevice s = {});
MLX_API array topk(const array& a, int64_t k, std::optional<int> axis = -1, StreamOrDevice s = {});
MLX_API array median(const array& a, std::optional<std::span<const int>> axes = {},
                     bool keepdims = false, StreamOrDevice s = {});
MLX_API array searchsorted(const array& sorted, const array& values,
                           SearchSide side = SearchSide::left, StreamOrDevice s = {});

struct UniqueResult {
  array values, indices, counts;
  std::optional<array> inverse;
};
MLX_API UniqueResult unique(const array& a, int64_t size, const std::optional<array>& fill = {},
                            Inverse inverse = Inverse::omitted, StreamOrDevice s = {});

}  // namespace mlx::core
