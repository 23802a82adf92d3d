// ArgReduce: where along one axis the extreme stands; the functions are in reduce.h.
#pragma once

#include "mlx/graph/primitive.h"

namespace mlx::core {

enum class Extreme : uint8_t { max, min };

// First position (uint32) of the extreme or, before any other value, of the first NaN.
class ArgReduce final : public PrimitiveOf<ArgReduce, PrimitiveId::ArgReduce> {
 public:
  ArgReduce(Extreme e, int a, bool keep) : extreme(e), axis(a), keepdims(keep) {}
  std::string_view name() const override { return extreme == Extreme::max ? "ArgMax" : "ArgMin"; }
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
  bool same(const ArgReduce& o) const {
    return extreme == o.extreme && axis == o.axis && keepdims == o.keepdims;
  }

  const Extreme extreme;
  const int axis;
  const bool keepdims;
};

}  // namespace mlx::core
