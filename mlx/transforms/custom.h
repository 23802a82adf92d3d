// Functions with derivatives and mapping rules of their own, recomputation, and order without data.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "mlx/graph/primitive.h"
#include "mlx/transforms/transforms.h"

namespace mlx::core {

// What transforms use in place of the function's own operations; rules may be absent.
struct CustomRules {
  // Cotangents of all primals.
  std::function<std::vector<array>(const std::vector<array>& primals,
                                   const std::vector<array>& cotangents,
                                   const std::vector<array>& outputs)>
      vjp;
  // Computing one of the cotangents computes all that are asked for.
  bool together = false;
  // Tangents of all outputs; a primal without one is constant.
  std::function<std::vector<array>(const std::vector<array>& primals,
                                   const std::vector<std::optional<array>>& tangents)>
      jvp;
  // Outputs for inputs mapped over axes (-1: not mapped).
  std::function<VmapResult(const std::vector<array>& inputs, const std::vector<int>& axes)> vmap;
};

// Outputs of a function, with its rules. Inputs are the function's and then its outputs, computed
// as usual: a transform that has a rule sees the former, one that has none the latter.
class CustomFunction final : public PrimitiveOf<CustomFunction, PrimitiveId::CustomFunction> {
 public:
  CustomFunction(CustomRules rules, size_t arguments)
      : rules_(std::move(rules)), arguments_(arguments) {}
  std::string_view name() const override { return "CustomFunction"; }
  std::vector<array> vjp(const std::vector<array>& inputs, const std::vector<array>& cotangents,
                         const std::vector<int>& argnums,
                         const std::vector<array>& outputs) const override;
  std::vector<array> jvp(const std::vector<array>& inputs, const std::vector<array>& tangents,
                         const std::vector<int>& argnums,
                         const std::vector<array>& outputs) const override;
  VmapResult vmap(const std::vector<array>& inputs, const std::vector<int>& axes,
                  Stream stream) const override;
  IndexRange traced_inputs(TraceFor purpose, size_t count) const override;
  std::vector<Shape> output_shapes(const std::vector<array>& inputs) const override;
  int passed_input(size_t k) const override { return int(arguments_ + k); }
  bool same(const CustomFunction& o) const { return this == &o; }

 private:
  const CustomRules rules_;
  const size_t arguments_;
};

// The first inputs, once the others have been computed.
class Depends final : public PrimitiveOf<Depends, PrimitiveId::Depends> {
 public:
  explicit Depends(size_t values) : values_(values) {}
  std::string_view name() const override { return "Depends"; }
  std::vector<array> vjp(const std::vector<array>& inputs, const std::vector<array>& cotangents,
                         const std::vector<int>& argnums,
                         const std::vector<array>& outputs) const override;
  std::vector<array> jvp(const std::vector<array>& inputs, const std::vector<array>& tangents,
                         const std::vector<int>& argnums,
                         const std::vector<array>& outputs) const override;
  VmapResult vmap(const std::vector<array>& inputs, const std::vector<int>& axes,
                  Stream stream) const override;
  IndexRange traced_inputs(TraceFor purpose, size_t count) const override;
  std::vector<Shape> output_shapes(const std::vector<array>& inputs) const override;
  std::string describe() const override;
  int passed_input(size_t k) const override { return int(k); }
  bool same(const Depends& o) const { return values_ == o.values_; }

 private:
  const size_t values_;
};

// fun(inputs), with the rules for transforms.
MLX_API std::vector<array> custom_function(const ArrayFunction& fun, CustomRules rules,
                                           const std::vector<array>& inputs);

// fun(inputs), computed once more in the backward pass in place of keeping what is in between.
// Gradients reach the inputs only, not what fun captures.
// Chen et al., "Training deep nets with sublinear memory cost", 2016.
MLX_API std::vector<array> checkpoint(const ArrayFunction& fun, const std::vector<array>& inputs);

// The inputs, to be computed after the dependencies.
MLX_API std::vector<array> depends(const std::vector<array>& inputs,
                                   const std::vector<array>& dependencies);

}  // namespace mlx::core
