// Arrays made from nothing: constants are broadcast scalars, ranges are computed.
#include "mlx/ops/shape/create.h"

#include <cmath>
#include <cstring>

#include "mlx/error.h"
#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/shape/like.h"
#include "mlx/ops/shape/shape.h"
#include "mlx/scalar_value.h"

namespace mlx::core {

Arange::Arange(const array& first, const array& by, int64_t n) : dtype(first.dtype()), count(n) {
  std::memcpy(start, first.data(), size_t(dtype.size()));
  std::memcpy(step, by.data(), size_t(dtype.size()));
}

std::string Arange::describe() const {
  return dispatch(AllTypes{}, dtype, "arange", [&]<typename T>() {
    T first, by;
    std::memcpy(&first, start, sizeof first);
    std::memcpy(&by, step, sizeof by);
    return format("start={} step={} size={}", convert_scalar<double>(first),
                  convert_scalar<double>(by), count);
  });
}

std::vector<Shape> Arange::output_shapes(const std::vector<array>&) const { return {Shape{count}}; }

VmapResult Arange::vmap(const std::vector<array>&, const std::vector<int>&, Stream stream) const {
  return {{array::make(Shape{count}, dtype, Ref<Primitive>(const_cast<Arange*>(this)), {}, stream)},
          {-1}};
}

array arange(const array& start, const array& step, int64_t count, StreamOrDevice s) {
  Dtype t = start.dtype();
  if (t.is_bool() || step.dtype() != t) {
    fail<ValueError>("[arange] expected start and step of one number dtype, got {} and {}", t,
                     step.dtype());
  }
  return array::make(Shape{count}, t, Ref<Primitive>(new Arange(start, step, count)), {},
                     to_stream(s));
}

array arange(double start, double stop, double step, Dtype dtype, StreamOrDevice s) {
  if (dtype.is_bool()) {
    fail<ValueError>("[arange] bool is no dtype for a range");
  }
  if (!std::isfinite(start) || !std::isfinite(stop) || std::isnan(step) || step == 0) {
    fail<ValueError>(
        "[arange] expected a finite start and stop and a step that is not 0, got "
        "start {}, stop {}, step {}",
        start, stop, step);
  }
  double length = std::max(0.0, std::ceil((stop - start) / step));
  if (std::isinf(step)) {  // the first element is there if the step leads towards stop
    length = (step > 0 ? start < stop : start > stop) ? 1 : 0;
    step = 0;
  }
  if (length > double(INT32_MAX)) {
    fail<ValueError>("[arange] a range of {} elements is too long", length);
  }
  return arange(array(start, dtype), array(step, dtype), int64_t(length), s);
}

array linspace(double start, double stop, int64_t num, bool endpoint, Dtype dtype,
               StreamOrDevice s) {
  if (num < 0) {
    fail<ValueError>("[linspace] expected a number of samples that is not negative, got {}", num);
  }
  Dtype t = dtype == float64 ? float64 : float32;
  if (num == 1) {
    return full(Shape{1}, array(start, t), dtype, s);
  }
  // (1 - t)·start + t·stop is exact at both ends.
  array steps = arange(array(0.0, t), array(1.0, t), num, s);
  array fraction = divide(steps, array(double(endpoint ? num - 1 : num), t), s);
  array from = multiply(subtract(array(1.0, t), fraction, s), array(start, t), s);
  array to = multiply(fraction, array(stop, t), s);
  return astype(add(from, to, s), dtype, s);
}

array full(Shape shape, const array& value, Dtype dtype, StreamOrDevice s) {
  return broadcast_to(astype(value, dtype, s), std::move(shape), s);
}

array zeros(Shape shape, Dtype dtype, StreamOrDevice s) {
  return broadcast_to(array(0.0, dtype), std::move(shape), s);
}

array ones(Shape shape, Dtype dtype, StreamOrDevice s) {
  return broadcast_to(array(1.0, dtype), std::move(shape), s);
}

array zeros_like(const array& a, StreamOrDevice s) {
  return full_like(a, array(0.0, a.dtype()), s);
}

array ones_like(const array& a, StreamOrDevice s) { return full_like(a, array(1.0, a.dtype()), s); }

}  // namespace mlx::core
