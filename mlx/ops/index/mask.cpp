// masked_scatter: values written one after the other where a mask is true.
#include "mlx/ops/index/mask.h"

#include "mlx/error.h"
#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/index/index.h"
#include "mlx/ops/shape/shape.h"

namespace mlx::core {

std::string MaskRank::describe() const { return format("lanes={} limit={}", lane_axes, limit); }

std::vector<Shape> MaskRank::output_shapes(const std::vector<array>& inputs) const {
  return {inputs[0].shape()};
}

std::vector<array> MaskRank::vjp(const std::vector<array>& inputs, const std::vector<array>&,
                                 const std::vector<int>&, const std::vector<array>&) const {
  return {zeros_like(inputs[0])};
}

std::vector<array> MaskRank::jvp(const std::vector<array>&, const std::vector<array>&,
                                 const std::vector<int>&, const std::vector<array>& outputs) const {
  return {zeros_like(outputs[0])};
}

VmapResult MaskRank::vmap(const std::vector<array>& inputs, const std::vector<int>& mapped,
                          Stream stream) const {
  array x = moveaxis(inputs[0], mapped[0], 0, stream);
  return {{array::make(x.shape(), int64, Ref<Primitive>(new MaskRank(lane_axes + 1, limit)),
                       std::span(&x, 1), stream)},
          {0}};
}

array masked_scatter(const array& a, const array& mask, const array& values, StreamOrDevice s) {
  bool fits = mask.ndim() <= a.ndim();
  for (int i = 0; fits && i < mask.ndim(); ++i) {
    fits = mask.shape()[i] == a.shape()[i];
  }
  if (!fits || !mask.dtype().is_bool()) {
    fail<ValueError>(
        "[masked_scatter] a mask of {} with shape {} does not fit an array of shape {}",
        mask.dtype(), mask.shape(), a.shape());
  }
  array v = astype(values, a.dtype(), s);
  int rest = a.ndim() - mask.ndim();
  Shape spread = mask.shape();
  spread.resize(size_t(a.ndim()), 1);
  array chosen = reshape(mask, std::move(spread), s);
  if (v.ndim() <= rest) {
    return where(chosen, broadcast_to(v, a.shape(), s), a, s);
  }
  bool rows = v.ndim() == rest + 1;
  for (int i = 0; rows && i < rest; ++i) {
    rows = v.shape(i + 1) == a.shape(mask.ndim() + i);
  }
  if (!rows) {
    fail<ValueError>(
        "[masked_scatter] values of shape {} do not fit under a mask of shape {} of an "
        "array of shape {}",
        v.shape(), mask.shape(), a.shape());
  }
  if (mask.size() == 0) {
    return a;
  }
  array rank = array::make(mask.shape(), int64, Ref<Primitive>(new MaskRank(0, v.shape(0))),
                           std::span(&mask, 1), to_stream(s));
  if (v.shape(0) == 0) {  // nothing to take: fails if anything is asked for
    return where(chosen, astype(reshape(rank, chosen.shape(), s), a.dtype(), s), a, s);
  }
  return where(chosen, take(v, rank, 0, s), a, s);
}

}  // namespace mlx::core
