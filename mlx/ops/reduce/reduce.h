// The reductions: monoids over any set of axes, and what is made of them.
#pragma once

#include <optional>
#include <span>

#include "mlx/graph/primitive.h"

namespace mlx::core {

enum class ReduceOp : uint8_t {
#define REDUCE(Name, ...) Name,
#include "mlx/ops/reduce/reduce.def"
#undef REDUCE
};

enum class ReduceResult : uint8_t { widened, same, boolean, floating };

struct ReduceInfo {
  std::string_view name;         // "Sum", as in exported graphs
  std::string_view python_name;  // "sum"
  ReduceResult result;
  std::string_view doc;
};

inline constexpr ReduceInfo reduce_info[] = {
#define REDUCE(Name, python, monoid, result, doc) {#Name, #python, ReduceResult::result, doc},
#include "mlx/ops/reduce/reduce.def"
#undef REDUCE
};
inline constexpr int reduce_op_count = int(std::size(reduce_info));
constexpr const ReduceInfo& info(ReduceOp op) { return reduce_info[int(op)]; }

// One row of reduce.def over a set of axes.
class Reduce final : public PrimitiveOf<Reduce, PrimitiveId::Reduce> {
 public:
  Reduce(ReduceOp o, Axes a, bool keep, int d)
      : op(o), axes(std::move(a)), keepdims(keep), ddof(d) {}
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
  bool same(const Reduce& o) const {
    return op == o.op && axes == o.axes && keepdims == o.keepdims && ddof == o.ddof;
  }

  const ReduceOp op;
  const Axes axes;  // sorted, in [0, ndim)
  const bool keepdims;
  const int ddof;  // of Var and Std
};

using AxisSet = std::optional<std::span<const int>>;  // none: all axes

MLX_API array sum(const array& a, AxisSet axes = {}, bool keepdims = false, StreamOrDevice s = {});
MLX_API array prod(const array& a, AxisSet axes = {}, bool keepdims = false, StreamOrDevice s = {});
MLX_API array max(const array& a, AxisSet axes = {}, bool keepdims = false, StreamOrDevice s = {});
MLX_API array min(const array& a, AxisSet axes = {}, bool keepdims = false, StreamOrDevice s = {});
MLX_API array all(const array& a, AxisSet axes = {}, bool keepdims = false, StreamOrDevice s = {});
MLX_API array any(const array& a, AxisSet axes = {}, bool keepdims = false, StreamOrDevice s = {});
MLX_API array mean(const array& a, AxisSet axes = {}, bool keepdims = false, StreamOrDevice s = {});
MLX_API array var(const array& a, AxisSet axes = {}, bool keepdims = false, int ddof = 0,
                  StreamOrDevice s = {});
MLX_API array std(const array& a, AxisSet axes = {}, bool keepdims = false, int ddof = 0,
                  StreamOrDevice s = {});
MLX_API array logsumexp(const array& a, AxisSet axes = {}, bool keepdims = false,
                        StreamOrDevice s = {});
MLX_API array softmax(const array& a, AxisSet axes = {}, bool precise = false,
                      StreamOrDevice s = {});
MLX_API array argmax(const array& a, std::optional<int> axis = {}, bool keepdims = false,
                     StreamOrDevice s = {});
MLX_API array argmin(const array& a, std::optional<int> axis = {}, bool keepdims = false,
                     StreamOrDevice s = {});
// Number of nonzero elements, int32.
MLX_API array count_nonzero(const array& a, AxisSet axes = {}, bool keepdims = false,
                            StreamOrDevice s = {});

// Sums a broadcast value back to `shape`: what the transpose of broadcasting does.
MLX_API array sum_to_shape(const array& a, ShapeView shape, StreamOrDevice s = {});

}  // namespace mlx::core
