// FusedRows: element-wise steps and reductions of the last axis run together, some rows at a time;
// what the fusion pass makes of norms and the like.
#pragma once

#include "mlx/ops/elementwise/fused.h"
#include "mlx/ops/reduce/reduce.h"

namespace mlx::core {

// Slots: the inputs come first, then the result of each step in order. A result is `wide`, of the
// full shape, or one value a row.
struct RowStep {
  enum class Kind : uint8_t { elementwise, reduce, softmax, logsumexp };

  Kind kind = Kind::elementwise;
  bool wide = true;
  bool keepdims = true;  // of a value a row: false only where it is an output and nothing else
  EwOp op{};
  ReduceOp reduction{};
  int ddof = 0;
  Dtype dtype = float32;  // of the result; every step rounds to it
  int16_t source[3] = {-1, -1, -1};

  RowStep() = default;
  explicit RowStep(const TapeStep& s) : op(s.op), dtype(s.dtype) {
    std::copy(s.source, s.source + info(op).arity, source);
  }
  explicit operator TapeStep() const { return {op, dtype, {source[0], source[1], source[2]}}; }

  bool operator==(const RowStep& o) const {
    return kind == o.kind && wide == o.wide && keepdims == o.keepdims && op == o.op &&
           reduction == o.reduction && ddof == o.ddof && dtype == o.dtype &&
           std::equal(source, source + 3, o.source);
  }
};

class FusedRows final : public PrimitiveOf<FusedRows, PrimitiveId::FusedRows> {
 public:
  // Rows outside these bounds are left to the reductions themselves: shorter ones are not reduced
  // row by row, longer ones do not stay in the cache.
  static constexpr int64_t shortest = 32, longest = 1 << 14;

  FusedRows(std::vector<RowStep> s, std::vector<int16_t> o)
      : steps(std::move(s)), outputs(std::move(o)) {}
  std::string_view name() const override { return "FusedRows"; }
  std::string describe() const override;
  std::vector<Shape> output_shapes(const std::vector<array>& inputs) const override;
  // Wide outputs take what no step reads after the one that writes them.
  uint32_t overwritable_by(size_t output) const override;
  bool same(const FusedRows& o) const { return steps == o.steps && outputs == o.outputs; }

  int16_t inputs() const { return int16_t(outputs[0] + 1 - int(steps.size())); }
  const RowStep& step_of(int16_t slot) const { return steps[size_t(slot - inputs())]; }

  const std::vector<RowStep> steps;    // the last is output 0
  const std::vector<int16_t> outputs;  // slots that are results, one per output
};

// Whether a node is a reduction of rows that may be a step: of the last axis, of a floating dtype,
// of rows that are neither too short nor too long. Its element-wise inputs aside.
bool reduces_rows(const Primitive& p, const array& input);
// The step of a node, an element-wise one or one that reduces rows. Its sources are the numbers of
// its operands.
RowStep row_step_of(const Primitive& p, std::span<const array> inputs, const array& output);

}  // namespace mlx::core
