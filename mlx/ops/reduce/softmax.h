// Softmax and LogSumExp over the last axis; the functions, for any axes, are in reduce.h.
#pragma once

#include "mlx/graph/primitive.h"

namespace mlx::core {

// Of float16, bfloat16, float32 or float64; half types are computed in float32.
class Softmax final : public PrimitiveOf<Softmax, PrimitiveId::Softmax> {
 public:
  std::string_view name() const override { return "Softmax"; }
  std::vector<array> vjp(const std::vector<array>& inputs, const std::vector<array>& cotangents,
                         const std::vector<int>& argnums,
                         const std::vector<array>& outputs) const override;
  std::vector<array> jvp(const std::vector<array>& inputs, const std::vector<array>& tangents,
                         const std::vector<int>& argnums,
                         const std::vector<array>& outputs) const override;
  VmapResult vmap(const std::vector<array>& inputs, const std::vector<int>& axes,
                  Stream stream) const override;
  std::vector<Shape> output_shapes(const std::vector<array>& inputs) const override;
  uint32_t overwritable() const override { return 1; }
  bool same(const Softmax&) const { return true; }
};

// Drops the last axis.
class LogSumExp final : public PrimitiveOf<LogSumExp, PrimitiveId::LogSumExp> {
 public:
  std::string_view name() const override { return "LogSumExp"; }
  std::vector<array> vjp(const std::vector<array>& inputs, const std::vector<array>& cotangents,
                         const std::vector<int>& argnums,
                         const std::vector<array>& outputs) const override;
  std::vector<array> jvp(const std::vector<array>& inputs, const std::vector<array>& tangents,
                         const std::vector<int>& argnums,
                         const std::vector<array>& outputs) const override;
  VmapResult vmap(const std::vector<array>& inputs, const std::vector<int>& axes,
                  Stream stream) const override;
  std::vector<Shape> output_shapes(const std::vector<array>& inputs) const override;
  bool same(const LogSumExp&) const { return true; }
};

}  // namespace mlx::core
