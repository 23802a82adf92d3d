// The scans: monoids over all elements up to each one along an axis, and the linear recurrence that
// their derivatives are made of.
#pragma once

#include <optional>

#include "mlx/graph/primitive.h"

namespace mlx::core {

enum class ScanOp : uint8_t {
#define SCAN(Name, ...) Name,
#include "mlx/ops/reduce/scan.def"
#undef SCAN
};

struct ScanInfo {
  std::string_view name;         // "CumSum", as in exported graphs
  std::string_view python_name;  // "cumsum"
  std::string_view doc;
};

inline constexpr ScanInfo scan_info[] = {
#define SCAN(Name, python, monoid, doc) {#Name, #python, doc},
#include "mlx/ops/reduce/scan.def"
#undef SCAN
};
inline constexpr int scan_op_count = int(std::size(scan_info));
constexpr const ScanInfo& info(ScanOp op) { return scan_info[int(op)]; }

// The way along an axis: its end where it starts, and whether an output takes in its own element.
struct ScanWay {
  int axis = 0;
  bool reverse = false;
  bool inclusive = true;

  ScanWay turned() const { return {axis, !reverse, inclusive}; }
  ScanWay exclusive() const { return {axis, reverse, false}; }
  bool operator==(const ScanWay&) const = default;
};

// One row of scan.def along an axis.
class Scan final : public PrimitiveOf<Scan, PrimitiveId::Scan> {
 public:
  Scan(ScanOp o, ScanWay w) : op(o), way(w) {}
  std::string_view name() const override { return info(op).name; }
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
  // Outputs of an exclusive scan run ahead of the inputs.
  uint32_t overwritable() const override { return way.inclusive ? 1 : 0; }
  bool same(const Scan& o) const { return op == o.op && way == o.way; }

  const ScanOp op;
  const ScanWay way;
};

// h_i = a_i·h_(i-1) + b_i along an axis, from h = 0; the exclusive form gives h_(i-1). Inputs are a
// and b, of one shape and dtype. A factor of zero drops its term, whatever that holds.
class Recurrence final : public PrimitiveOf<Recurrence, PrimitiveId::Recurrence> {
 public:
  explicit Recurrence(ScanWay w) : way(w) {}
  std::string_view name() const override { return "Recurrence"; }
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
  bool same(const Recurrence& o) const { return way == o.way; }

  const ScanWay way;
};

// Without an axis the array is flattened. Exclusive results start from the identity of the monoid:
// 0, 1, the least, the greatest value, -inf.
MLX_API array cumsum(const array& a, std::optional<int> axis = {}, bool reverse = false,
                     bool inclusive = true, StreamOrDevice s = {});
MLX_API array cumprod(const array& a, std::optional<int> axis = {}, bool reverse = false,
                      bool inclusive = true, StreamOrDevice s = {});
MLX_API array cummax(const array& a, std::optional<int> axis = {}, bool reverse = false,
                     bool inclusive = true, StreamOrDevice s = {});
MLX_API array cummin(const array& a, std::optional<int> axis = {}, bool reverse = false,
                     bool inclusive = true, StreamOrDevice s = {});
MLX_API array logcumsumexp(const array& a, std::optional<int> axis = {}, bool reverse = false,
                           bool inclusive = true, StreamOrDevice s = {});
// Differences of neighbours along an axis, taken n times; bools differ by exclusive or.
MLX_API array diff(const array& a, int64_t n = 1, int axis = -1, StreamOrDevice s = {});
// The recurrence above, for a and b of one number dtype.
MLX_API array linear_recurrence(const array& a, const array& b, int axis, bool reverse = false,
                                bool inclusive = true, StreamOrDevice s = {});

}  // namespace mlx::core
