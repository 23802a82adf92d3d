// Errors of the float32 rows in units in the last place against double precision: shared by
// scalar_accuracy_test.cpp (a stride through all floats) and tools/ulp_sweep.cpp (all of them).
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "backend/cpu/tile.h"

namespace accuracy {

using mlx::core::cpu::TileFn;
using mlx::core::cpu::TileOps;
using mlx::core::cpu::TileTable;
using mlx::core::cpu::TileTypes;

struct UnaryRow {
  const char* name;
  int op;
  double (*reference)(double);
  double bound;
};

inline double sigmoid(double x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}

// The bound of each row over all floats. erfinv keeps a published polynomial, whose tail is what it
// is.
inline constexpr UnaryRow unary_rows[] = {
    {"exp", TileOps::Exp, [](double x) { return std::exp(x); }, 2},
    {"expm1", TileOps::Expm1, [](double x) { return std::expm1(x); }, 2},
    {"log", TileOps::Log, [](double x) { return std::log(x); }, 2},
    {"log2", TileOps::Log2, [](double x) { return std::log2(x); }, 2},
    {"log10", TileOps::Log10, [](double x) { return std::log10(x); }, 2},
    {"log1p", TileOps::Log1p, [](double x) { return std::log1p(x); }, 2},
    {"sin", TileOps::Sin, [](double x) { return std::sin(x); }, 2},
    {"cos", TileOps::Cos, [](double x) { return std::cos(x); }, 2},
    {"tan", TileOps::Tan, [](double x) { return std::tan(x); }, 4},
    {"sinh", TileOps::Sinh, [](double x) { return std::sinh(x); }, 4},
    {"cosh", TileOps::Cosh, [](double x) { return std::cosh(x); }, 4},
    {"tanh", TileOps::Tanh, [](double x) { return std::tanh(x); }, 2},
    {"arcsin", TileOps::ArcSin, [](double x) { return std::asin(x); }, 4},
    {"arccos", TileOps::ArcCos, [](double x) { return std::acos(x); }, 4},
    {"arctan", TileOps::ArcTan, [](double x) { return std::atan(x); }, 4},
    {"arcsinh", TileOps::ArcSinh, [](double x) { return std::asinh(x); }, 4},
    {"arccosh", TileOps::ArcCosh, [](double x) { return std::acosh(x); }, 4},
    {"arctanh", TileOps::ArcTanh, [](double x) { return std::atanh(x); }, 4},
    {"sqrt", TileOps::Sqrt, [](double x) { return std::sqrt(x); }, 0.5},
    {"rsqrt", TileOps::Rsqrt, [](double x) { return 1 / std::sqrt(x); }, 4},
    {"reciprocal", TileOps::Reciprocal, [](double x) { return 1 / x; }, 0.5},
    {"sigmoid", TileOps::Sigmoid, sigmoid, 2},
    {"erf", TileOps::Erf, [](double x) { return std::erf(x); }, 2},
};

// |result - exact| in units in the last place of the float nearest to exact; NaN where only one is
// NaN gives infinity.
inline double ulps(float result, double exact) {
  const double inf = std::numeric_limits<double>::infinity();
  if (std::isnan(exact) || std::isnan(result))
    return std::isnan(exact) == std::isnan(result) ? 0 : inf;
  if (double(result) == exact) return std::signbit(result) == std::signbit(exact) ? 0 : inf;
  int e;
  std::frexp(exact, &e);
  double ulp = std::ldexp(1.0, std::isinf(exact) ? 104 : std::fmax(e - 24, -149));
  // Infinity stands for the first number past the largest one, as in rounding.
  double limited = std::isinf(exact) ? std::copysign(0x1p128, exact) : exact;
  double value = std::isinf(result) ? std::copysign(0x1p128, result) : double(result);
  if (std::fabs(limited) > 0x1p128) limited = std::copysign(0x1p128, limited);
  return std::fabs(value - limited) / ulp;
}

struct Worst {
  double error = 0;
  float at = 0;
};

// All floats whose bits are first + k * step.
inline Worst sweep(const TileTable& table, const UnaryRow& row, uint64_t first, uint64_t step) {
  constexpr int block = 4096;
  static thread_local float in[block], out[block];
  TileFn tile = table.op[row.op][TileTypes::Float32];
  Worst worst;
  for (uint64_t bits = first; bits < (uint64_t(1) << 32);) {
    int n = 0;
    for (; n < block && bits < (uint64_t(1) << 32); ++n, bits += step) {
      uint32_t u = uint32_t(bits);
      std::memcpy(&in[n], &u, 4);
    }
    const void* operands[] = {in};
    tile(operands, out, n);
    for (int i = 0; i < n; ++i) {
      double error = ulps(out[i], row.reference(in[i]));
      if (error > worst.error) worst = {error, in[i]};
    }
  }
  return worst;
}

}  // namespace accuracy
