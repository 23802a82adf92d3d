// Limits of the dtypes, from the layout of their bits.
#include "mlx/numeric_limits.h"

#include <cmath>
#include <limits>

#include "mlx/error.h"

namespace mlx::core {

FloatInfo finfo(Dtype t) {
  if (!t.is_inexact()) {
    fail<ValueError>("[finfo] expected a floating or complex dtype, got {}", t);
  }
  if (t == float64) {
    using limits = std::numeric_limits<double>;
    return {t, 64, limits::lowest(), limits::max(), limits::epsilon(), limits::min()};
  }
  // Digits of the significand (with the hidden one) and the largest exponent of two.
  int digits = 24, exponent = 127, bits = 32;
  if (t == float16) {
    digits = 11, exponent = 15, bits = 16;
  } else if (t == bfloat16) {
    digits = 8, bits = 16;
  }
  double eps = std::ldexp(1.0, 1 - digits);
  double max = std::ldexp(2.0 - eps, exponent);
  return {t.is_complex() ? float32 : t, bits, -max, max, eps, std::ldexp(1.0, 1 - exponent)};
}

IntInfo iinfo(Dtype t) {
  if (!t.is_integer()) {
    fail<ValueError>("[iinfo] expected an integer dtype, got {}", t);
  }
  int bits = int(t.size()) * 8;
  uint64_t all = ~uint64_t(0) >> (64 - bits);
  return t.is_signed() ? IntInfo{t, -int64_t(all / 2) - 1, all / 2} : IntInfo{t, 0, all};
}

bool is_dtype(Dtype t, std::string_view kind) {
  if (kind == "bool") {
    return t.is_bool();
  }
  if (kind == "signed integer") {
    return t.is_signed();
  }
  if (kind == "unsigned integer") {
    return t.is_integer() && !t.is_signed();
  }
  if (kind == "integral") {
    return t.is_integer();
  }
  if (kind == "real floating") {
    return t.is_floating();
  }
  if (kind == "complex floating") {
    return t.is_complex();
  }
  if (kind == "numeric") {
    return !t.is_bool();
  }
  fail<ValueError>("[isdtype] unknown kind '{}' of dtypes", kind);
}

}  // namespace mlx::core
