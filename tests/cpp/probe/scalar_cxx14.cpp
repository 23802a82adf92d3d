// The shared arithmetic as plain C++14: what does not compile here would not compile for the
// devices either.
#include "mlx/ops/elementwise/scalar_dialect.h"
//
#include "mlx/ops/elementwise/convert.h"

namespace mlx {
namespace core {

template <typename T>
T real_rows(T x, T y) {
  T sum = x;
  bool all = true;
  using namespace scalar;
  sum += Abs(x) + Negative(x) + Sign(x) + Square(x) + Floor(x) + Ceil(x) + Trunc(x) + Round(x);
  sum += Exp(x) + Expm1(x) + Log(x) + Log2(x) + Log10(x) + Log1p(x) + Sin(x) + Cos(x) + Tan(x);
  sum += Sinh(x) + Cosh(x) + Tanh(x) + ArcSin(x) + ArcCos(x) + ArcTan(x) + ArcSinh(x) + ArcCosh(x) +
         ArcTanh(x);
  sum += Sqrt(x) + Rsqrt(x) + Reciprocal(x) + Sigmoid(x) + Erf(x) + ErfInv(x) + Degrees(x) +
         Radians(x);
  sum += scalar::Real(x) + Imag(x) + Conjugate(x) + Cast(x);
  sum += Add(x, y) + Subtract(x, y) + Multiply(x, y) + Divide(x, y) + FloorDivide(x, y) +
         Remainder(x, y);
  sum += Power(x, y) + Maximum(x, y) + Minimum(x, y) + LogAddExp(x, y) + ArcTan2(x, y) +
         Select(all, x, y);
  all &= LogicalNot(x) | IsNan(x) | IsInf(x) | IsFinite(x) | IsPosInf(x) | IsNegInf(x);
  all &= Equal(x, y) | NotEqual(x, y) | Less(x, y) | LessEqual(x, y) | Greater(x, y) |
         GreaterEqual(x, y);
  all &= LogicalAnd(x, y) | LogicalOr(x, y);
  return all ? sum : x;
}

template <typename T>
T integer_rows(T x, T y) {
  using namespace scalar;
  T r = BitwiseInvert(x) ^ Abs(x) ^ Sign(x) ^ Square(x) ^ Floor(x) ^ Imag(x);
  r ^= Add(x, y) ^ Subtract(x, y) ^ Multiply(x, y) ^ FloorDivide(x, y) ^ Remainder(x, y) ^
       Power(x, y);
  r ^= Maximum(x, y) ^ Minimum(x, y) ^ BitwiseAnd(x, y) ^ BitwiseOr(x, y) ^ BitwiseXor(x, y);
  return Less(x, y) ? r : y;
}

complex64_t complex_rows(complex64_t x, complex64_t y) {
  using namespace scalar;
  complex64_t r = Power(Divide(Exp(x), Log(y)), Multiply(Sqrt(x), Rsqrt(y)));
  r = Add(Add(Sin(r), Cos(r)), Subtract(Tan(r), Tanh(r)));
  r = Add(ArcSin(ArcCos(r)), ArcTan(ArcSinh(r)));
  r = Add(ArcCosh(ArcTanh(r)), LogAddExp(r, Log1p(Conjugate(Sign(r)))));
  return Less(x, y) ? Maximum(r, x) : Minimum(r, y);
}

void instantiate() {
  float f = real_rows(0.5f, 2.0f);
  double d = real_rows(0.5, 2.0);
  int32_t i = integer_rows(int32_t(3), int32_t(4));
  uint8_t u = integer_rows(uint8_t(3), uint8_t(4));
  bool b = integer_rows(true, false);
  complex64_t z = complex_rows({f, float(d)}, {float(i + u), float(b)});
  int8_t narrow = scalar::convert<int8_t>(z);
  float16_t h = scalar::convert<float16_t>(d + narrow);
  bfloat16_t bf = scalar::convert<bfloat16_t>(h);
  (void)scalar::LeftShift(scalar::convert<uint64_t>(bf), uint64_t(3));
  (void)scalar::RightShift(scalar::convert<int64_t>(f), int64_t(3));
}

}  // namespace core
}  // namespace mlx
