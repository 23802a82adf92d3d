// Partial derivatives of the elementwise rows: ∂y/∂x[k], one function a row. The rules that use
// them are in elementwise_grad.cpp. A row whose derivative is zero almost everywhere returns none.
#pragma once

#include <cmath>
#include <optional>

#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/shape/shape.h"

namespace mlx::core::partial {

using Args = std::span<const array>;
using Result = std::optional<array>;  // none: zero

inline array like(double value, const array& x) { return array(value, x.dtype()); }
inline array one(const array& x) { return like(1.0, x); }
// 1 where the condition holds, else 0, in the dtype of x.
inline array indicator(const array& condition, const array& x) {
  return astype(condition, x.dtype());
}

// sign(z) = conj-direction of |z|: z/|z| for complex values.
inline Result Abs(Args x, const array&, int) { return conjugate(sign(x[0])); }
inline Result Negative(Args x, const array&, int) { return like(-1.0, x[0]); }
inline Result Sign(Args, const array&, int) { return {}; }
inline Result Square(Args x, const array&, int) { return multiply(like(2.0, x[0]), x[0]); }
inline Result Floor(Args, const array&, int) { return {}; }
inline Result Ceil(Args, const array&, int) { return {}; }
inline Result Trunc(Args, const array&, int) { return {}; }
inline Result Round(Args, const array&, int) { return {}; }
inline Result Exp(Args, const array& y, int) { return y; }
inline Result Expm1(Args x, const array&, int) { return exp(x[0]); }
inline Result Log(Args x, const array&, int) { return reciprocal(x[0]); }
inline Result Log2(Args x, const array&, int) {
  return reciprocal(multiply(like(M_LN2, x[0]), x[0]));
}
inline Result Log10(Args x, const array&, int) {
  return reciprocal(multiply(like(M_LN10, x[0]), x[0]));
}
inline Result Log1p(Args x, const array&, int) { return reciprocal(add(one(x[0]), x[0])); }
inline Result Sin(Args x, const array&, int) { return cos(x[0]); }
inline Result Cos(Args x, const array&, int) { return negative(sin(x[0])); }
inline Result Tan(Args x, const array& y, int) { return add(one(x[0]), square(y)); }
inline Result Sinh(Args x, const array&, int) { return cosh(x[0]); }
inline Result Cosh(Args x, const array&, int) { return sinh(x[0]); }
inline Result Tanh(Args x, const array& y, int) { return subtract(one(x[0]), square(y)); }
inline Result ArcSin(Args x, const array&, int) { return rsqrt(subtract(one(x[0]), square(x[0]))); }
inline Result ArcCos(Args x, const array&, int) {
  return negative(rsqrt(subtract(one(x[0]), square(x[0]))));
}
inline Result ArcTan(Args x, const array&, int) { return reciprocal(add(one(x[0]), square(x[0]))); }
inline Result ArcSinh(Args x, const array&, int) { return rsqrt(add(square(x[0]), one(x[0]))); }
// Two roots, so that the branch cut of complex arguments is that of arccosh.
inline Result ArcCosh(Args x, const array&, int) {
  return multiply(rsqrt(subtract(x[0], one(x[0]))), rsqrt(add(x[0], one(x[0]))));
}
inline Result ArcTanh(Args x, const array&, int) {
  return reciprocal(subtract(one(x[0]), square(x[0])));
}
inline Result Sqrt(Args x, const array& y, int) { return divide(like(0.5, x[0]), y); }
inline Result Rsqrt(Args x, const array& y, int) {
  return multiply(like(-0.5, x[0]), divide(y, x[0]));
}
inline Result Reciprocal(Args, const array& y, int) { return negative(square(y)); }
inline Result Sigmoid(Args x, const array& y, int) { return multiply(y, subtract(one(x[0]), y)); }
inline Result Erf(Args x, const array&, int) {
  return multiply(like(M_2_SQRTPI, x[0]), exp(negative(square(x[0]))));
}
inline Result ErfInv(Args x, const array& y, int) {
  return multiply(like(1.0 / M_2_SQRTPI, x[0]), exp(square(y)));
}
inline Result Degrees(Args x, const array&, int) { return like(180.0 / M_PI, x[0]); }
inline Result Radians(Args x, const array&, int) { return like(M_PI / 180.0, x[0]); }
inline Result Real(Args x, const array&, int) { return one(x[0]); }
// Im z = Re(-i z).
inline Result Imag(Args x, const array&, int) {
  if (!x[0].dtype().is_complex()) {
    return {};
  }
  return array(complex64_t{0.0f, -1.0f});
}
inline Result Conjugate(Args x, const array&, int) { return one(x[0]); }  // the rules conjugate
inline Result LogicalNot(Args, const array&, int) { return {}; }
inline Result BitwiseInvert(Args, const array&, int) { return {}; }
inline Result IsNan(Args, const array&, int) { return {}; }
inline Result IsInf(Args, const array&, int) { return {}; }
inline Result IsFinite(Args, const array&, int) { return {}; }
inline Result IsPosInf(Args, const array&, int) { return {}; }
inline Result IsNegInf(Args, const array&, int) { return {}; }
inline Result Cast(Args, const array& y, int) { return one(y); }
inline Result Add(Args x, const array&, int) { return one(x[0]); }
inline Result Subtract(Args x, const array&, int k) { return like(k == 0 ? 1.0 : -1.0, x[0]); }
inline Result Multiply(Args x, const array&, int k) { return x[1 - k]; }
inline Result Divide(Args x, const array& y, int k) {
  return k == 0 ? reciprocal(x[1]) : negative(divide(y, x[1]));
}
inline Result FloorDivide(Args, const array&, int) { return {}; }
inline Result Remainder(Args x, const array&, int k) {
  return k == 0 ? one(x[0]) : negative(floor_divide(x[0], x[1]));
}
// b·a^(b-1), which is 0 and not NaN at b = 0; log(a)·a^b, which is 0 at a = 0.
inline Result Power(Args x, const array& y, int k) {
  array zero = like(0.0, x[0]);
  if (k == 0) {
    array slope = multiply(x[1], power(x[0], subtract(x[1], one(x[1]))));
    return where(equal(x[1], zero), zero, slope);
  }
  array base_is_zero = equal(x[0], zero);
  return multiply(y, log(where(base_is_zero, one(x[0]), x[0])));
}
// At ties the whole gradient goes to the second argument; a NaN takes it wherever it stands.
inline Result Maximum(Args x, const array&, int k) {
  array first = logical_or(greater(x[0], x[1]), isnan(x[0]));
  return indicator(k == 0 ? first : logical_not(first), x[0]);
}
inline Result Minimum(Args x, const array&, int k) {
  array first = logical_or(less(x[0], x[1]), isnan(x[0]));
  return indicator(k == 0 ? first : logical_not(first), x[0]);
}
// The weight exp(x_k - y), formed so that two equal infinities share it evenly.
inline Result LogAddExp(Args x, const array&, int k) {
  array difference = subtract(x[k], x[1 - k]);
  if (x[0].dtype().is_complex()) {
    return reciprocal(add(one(x[0]), exp(negative(difference))));
  }
  return where(equal(x[0], x[1]), like(0.5, x[0]), sigmoid(difference));
}
inline Result ArcTan2(Args x, const array&, int k) {
  array norm = add(square(x[0]), square(x[1]));
  return k == 0 ? divide(x[1], norm) : negative(divide(x[0], norm));
}
inline Result Equal(Args, const array&, int) { return {}; }
inline Result NotEqual(Args, const array&, int) { return {}; }
inline Result Less(Args, const array&, int) { return {}; }
inline Result LessEqual(Args, const array&, int) { return {}; }
inline Result Greater(Args, const array&, int) { return {}; }
inline Result GreaterEqual(Args, const array&, int) { return {}; }
inline Result LogicalAnd(Args, const array&, int) { return {}; }
inline Result LogicalOr(Args, const array&, int) { return {}; }
inline Result BitwiseAnd(Args, const array&, int) { return {}; }
inline Result BitwiseOr(Args, const array&, int) { return {}; }
inline Result BitwiseXor(Args, const array&, int) { return {}; }
inline Result LeftShift(Args, const array&, int) { return {}; }
inline Result RightShift(Args, const array&, int) { return {}; }
inline Result Select(Args x, const array& y, int k) {
  if (k == 0) {
    return {};
  }
  return indicator(k == 1 ? x[0] : logical_not(x[0]), y);
}

}  // namespace mlx::core::partial
