// Windows of signal processing: m samples of a bump that is symmetric about its middle, in float32.
#include <numbers>

#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/shape/shape.h"

namespace mlx::core {

namespace {

array scalar(double x) { return array(x, float32); }

// f of the positions 0 … m-1, scaled so that the last is `end`.
template <typename F>
array window(int64_t m, double end, StreamOrDevice s, F f) {
  if (m <= 1) {
    return ones(Shape{m < 1 ? 0 : 1}, float32, s);
  }
  array n = arange(scalar(0), scalar(1), m, s);
  return f(multiply(n, scalar(end / double(m - 1)), s));
}

}  // namespace

array bartlett(int64_t m, StreamOrDevice s) {
  return window(m, 2, s, [&](const array& x) {
    return subtract(scalar(1), abs(subtract(x, scalar(1), s), s), s);
  });
}

array hanning(int64_t m, StreamOrDevice s) {
  return window(m, std::numbers::pi, s, [&](const array& x) { return square(sin(x, s), s); });
}

array hamming(int64_t m, StreamOrDevice s) {
  return window(m, 2 * std::numbers::pi, s, [&](const array& x) {
    return subtract(scalar(0.54), multiply(scalar(0.46), cos(x, s), s), s);
  });
}

// 0.42 - 0.5 cos x + 0.08 cos 2x
array blackman(int64_t m, StreamOrDevice s) {
  return window(m, 2 * std::numbers::pi, s, [&](const array& x) {
    array c = cos(x, s);
    array slope = subtract(multiply(scalar(0.16), c, s), scalar(0.5), s);
    return add(scalar(0.34), multiply(c, slope, s), s);
  });
}

}  // namespace mlx::core
