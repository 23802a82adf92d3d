// Functions made of elementwise rows. They compute nothing themselves.
#include "mlx/ops/elementwise/compose.h"

#include "mlx/error.h"
#include "mlx/numeric_limits.h"
#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/reduce/reduce.h"

namespace mlx::core {

array isclose(const array& a, const array& b, double rtol, double atol, bool equal_nan,
              StreamOrDevice s) {
  // Unsigned and narrow integers must not wrap in the difference.
  Dtype t = at_least_float(promote_types(a.dtype(), b.dtype()));
  array x = astype(a, t, s), y = astype(b, t, s);
  array bound = add(array(atol, float32), multiply(array(rtol, float32), abs(y, s), s), s);
  array close = less_equal(abs(subtract(x, y, s), s), bound, s);
  array infinite = logical_or(isinf(x, s), isinf(y, s), s);
  close = where(infinite, equal(x, y, s), close, s);
  if (equal_nan) {
    close = logical_or(close, logical_and(isnan(x, s), isnan(y, s), s), s);
  }
  return close;
}

array allclose(const array& a, const array& b, double rtol, double atol, bool equal_nan,
               StreamOrDevice s) {
  return all(isclose(a, b, rtol, atol, equal_nan, s), {}, false, s);
}

array array_equal(const array& a, const array& b, bool equal_nan, StreamOrDevice s) {
  if (!(a.shape() == b.shape())) {
    return array(false);
  }
  array same = equal(a, b, s);
  if (equal_nan) {
    same = logical_or(same, logical_and(isnan(a, s), isnan(b, s), s), s);
  }
  return all(same, {}, false, s);
}

array clip(const array& a, const std::optional<array>& low, const std::optional<array>& high,
           StreamOrDevice s) {
  if (!low && !high) {
    fail<ValueError>("[clip] at most one of a_min and a_max may be None");
  }
  array result = low ? maximum(a, *low, s) : a;
  return high ? minimum(result, *high, s) : result;
}

array nan_to_num(const array& a, double nan, std::optional<double> posinf,
                 std::optional<double> neginf, StreamOrDevice s) {
  Dtype t = a.dtype();
  if (!t.is_inexact()) {
    return a;
  }
  if (t.is_complex() || t == float64) {
    fail<ValueError>("[nan_to_num] expected float16, bfloat16, float32 or integers, got {}", t);
  }
  double largest = finfo(t).max;
  array result = where(isnan(a, s), array(nan, t), a, s);
  result = where(isposinf(a, s), array(posinf.value_or(largest), t), result, s);
  return where(isneginf(a, s), array(neginf.value_or(-largest), t), result, s);
}

array logical_xor(const array& a, const array& b, StreamOrDevice s) {
  return not_equal(astype(a, bool_, s), astype(b, bool_, s), s);
}

}  // namespace mlx::core
