// Checks and vmap helpers of the index ops.
#include "mlx/ops/index/common.h"

#include "mlx/error.h"
#include "mlx/graph/node.h"
#include "mlx/ops/shape/shape.h"

namespace mlx::core {

void check_index_dtype(std::string_view op, const array& index) {
  if (!index.dtype().is_integer()) {
    fail<ValueError>("[{}] expected indices of an integer dtype, got {} with shape {}", op,
                     index.dtype(), index.shape());
  }
}

array index_cotangent(std::string_view op, const array& index) {
  // Casts and views between stop_gradient and the use as an index change nothing.
  const array* x = &index;
  while (x->node()->primitive && x->node()->inputs.size() == 1) {
    if (x->node()->primitive->id() == PrimitiveId::StopGradient) {
      return zeros_like(index);
    }
    x = &x->node()->inputs[0];
  }
  fail<ValueError>("[{}] has no derivative with respect to indices; use stop_gradient on them", op);
}

int64_t lane_count(const std::vector<array>& inputs, const std::vector<int>& mapped) {
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (mapped[k] >= 0) {
      return inputs[k].shape(mapped[k]);
    }
  }
  return 0;
}

array lanes_first(const array& a, int mapped, int64_t lanes, Stream s) {
  if (mapped >= 0) {
    return moveaxis(a, mapped, 0, s);
  }
  Shape shape{lanes};
  shape.append(a.shape().begin(), a.shape().end());
  return broadcast_to(a, std::move(shape), s);
}

}  // namespace mlx::core
