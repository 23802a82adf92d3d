// The complex64 rows against double precision: values, principal branches on both sides of the
// cuts, sizes near the ends of the range, infinities and NaN.
#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <vector>

#include "backend/cpu/tile.h"
#include "mlx/types.h"

namespace {

using namespace mlx::core::cpu;
using mlx::core::complex64_t;
using Z = std::complex<double>;

struct Row {
  const char* name;
  int op;
  Z (*reference)(Z);
};
const Row rows[] = {
    {"exp", TileOps::Exp, [](Z z) { return std::exp(z); }},
    {"log", TileOps::Log, [](Z z) { return std::log(z); }},
    {"log2", TileOps::Log2, [](Z z) { return std::log(z) / std::log(2.0); }},
    {"log10", TileOps::Log10, [](Z z) { return std::log10(z); }},
    {"sqrt", TileOps::Sqrt, [](Z z) { return std::sqrt(z); }},
    {"rsqrt", TileOps::Rsqrt, [](Z z) { return 1.0 / std::sqrt(z); }},
    {"reciprocal", TileOps::Reciprocal, [](Z z) { return 1.0 / z; }},
    {"square", TileOps::Square, [](Z z) { return z * z; }},
    {"sin", TileOps::Sin, [](Z z) { return std::sin(z); }},
    {"cos", TileOps::Cos, [](Z z) { return std::cos(z); }},
    {"tan", TileOps::Tan, [](Z z) { return std::tan(z); }},
    {"sinh", TileOps::Sinh, [](Z z) { return std::sinh(z); }},
    {"cosh", TileOps::Cosh, [](Z z) { return std::cosh(z); }},
    {"tanh", TileOps::Tanh, [](Z z) { return std::tanh(z); }},
    {"arcsin", TileOps::ArcSin, [](Z z) { return std::asin(z); }},
    {"arccos", TileOps::ArcCos, [](Z z) { return std::acos(z); }},
    {"arctan", TileOps::ArcTan, [](Z z) { return std::atan(z); }},
    {"arcsinh", TileOps::ArcSinh, [](Z z) { return std::asinh(z); }},
    {"arccosh", TileOps::ArcCosh, [](Z z) { return std::acosh(z); }},
    {"arctanh", TileOps::ArcTanh, [](Z z) { return std::atanh(z); }},
};

std::vector<const TileTable*> tables() {
  std::vector<const TileTable*> all;
  for (const char* const* level = tile_levels(); *level; ++level)
    all.push_back(&tile_table(*level));
  return all;
}

Z apply(const TileTable& table, int op, Z a, Z b = {}) {
  complex64_t x{float(a.real()), float(a.imag())}, y{float(b.real()), float(b.imag())}, z;
  const void* in[] = {&x, &y};
  table.op[op][TileTypes::Complex64](in, &z, 1);
  return {z.re, z.im};
}

// Error relative to the size of the value; parts beyond float's range count as infinite.
double error(Z result, Z exact) {
  const double largest = std::numeric_limits<float>::max();
  if (std::abs(exact.real()) > largest || std::abs(exact.imag()) > largest) {
    return std::isfinite(result.real()) && std::isfinite(result.imag()) ? INFINITY : 0;
  }
  double size = std::fmax(std::abs(exact), std::numeric_limits<float>::min());
  double e = std::abs(result - exact) / size;
  return e == e ? e : INFINITY;
}

TEST_CASE("complex rows of moderate values") {
  for (const TileTable* table : tables()) {
    for (const Row& row : rows) {
      double worst = 0;
      Z at;
      for (double x = -6.1; x < 6.2; x += 0.173) {
        for (double y = -6.1; y < 6.2; y += 0.191) {
          Z z(float(x), (float)y);
          double e = error(apply(*table, row.op, z), row.reference(z));
          if (e > worst) worst = e, at = z;
        }
      }
      INFO(row.name, " at ", at.real(), " + ", at.imag(), "i");
      CHECK(worst < 8e-7);
    }
  }
}

TEST_CASE("complex rows of tiny, huge and nearly singular values") {
  const double parts[] = {0,         1e-40, 1e-25, 1e-10, 1e-4, 0.5,  1,
                          1.0000001, 2,     80,    1e5,   1e12, 1e25, 3e38};
  for (const TileTable* table : tables()) {
    for (const Row& row : rows) {
      for (double x : parts) {
        for (double y : parts) {
          for (int sign = 0; sign < 4; ++sign) {
            Z z(float(sign & 1 ? -x : x), float(sign & 2 ? -y : y));
            Z exact = row.reference(z);
            if (!std::isfinite(exact.real()) || !std::isfinite(exact.imag())) continue;
            INFO(row.name, " at ", z.real(), " + ", z.imag(), "i: ", exact.real(), " + ",
                 exact.imag(), "i");
            Z result = apply(*table, row.op, z);
            INFO("gave ", result.real(), " + ", result.imag(), "i");
            CHECK(error(result, exact) < 2e-6);
          }
        }
      }
    }
  }
}

TEST_CASE("complex rows have C99's signs on the branch cuts") {
  for (const TileTable* table : tables()) {
    for (const Row& row : rows) {
      for (double size : {0.25, 3.0}) {
        for (Z z : {Z(-size, 0.0), Z(-size, -0.0), Z(size, 0.0), Z(size, -0.0), Z(0.0, size),
                    Z(-0.0, size), Z(0.0, -size), Z(-0.0, -size)}) {
          INFO(row.name, " at ", z.real(), " + ", z.imag(), "i");
          CHECK(error(apply(*table, row.op, z), row.reference(z)) < 8e-7);
        }
      }
    }
  }
}

TEST_CASE("complex arithmetic at the edges") {
  const double inf = INFINITY, nan = NAN;
  for (const TileTable* table : tables()) {
    CHECK(apply(*table, TileOps::Divide, {2, 1}, {0, 0}) == Z(inf, inf));
    CHECK(apply(*table, TileOps::Divide, {2, 1}, {inf, 3}) == Z(0, 0));
    CHECK(error(apply(*table, TileOps::Divide, {1e38, 1e38}, {1e38, -1e38}), {0, 1}) < 1e-6);
    CHECK(error(apply(*table, TileOps::Divide, {1e-38, 0}, {1e-38, 1e-38}), {0.5, -0.5}) < 1e-6);
    CHECK(error(apply(*table, TileOps::Power, {2, 1}, {2, 0}), {3, 4}) < 1e-6);
    CHECK(error(apply(*table, TileOps::Power, {-1, 0}, {0.5, 0}), {0, 1}) < 1e-6);
    CHECK(apply(*table, TileOps::Power, {0, 0}, {2, 0}) == Z(0, 0));
    CHECK(std::isnan(apply(*table, TileOps::Power, {0, 0}, {0, 0}).real()));
    CHECK(apply(*table, TileOps::Sign, {0, 0}) == Z(0, 0));
    CHECK(error(apply(*table, TileOps::Sign, {3e38, -3e38}), {std::sqrt(0.5), -std::sqrt(0.5)}) <
          1e-6);
    CHECK(apply(*table, TileOps::Exp, {-inf, nan}) == Z(0, 0));
    CHECK(apply(*table, TileOps::Sqrt, {3, inf}) == Z(inf, inf));
    CHECK(apply(*table, TileOps::Sqrt, {-inf, 3}) == Z(0, inf));
    CHECK(apply(*table, TileOps::Log, {0, 0}) == Z(-inf, 0));
    // 1e-12 would be lost in 1 + z.
    CHECK(error(apply(*table, TileOps::Log1p, {1e-12, 1e-20}), {1e-12, 1e-20}) < 1e-6);
    CHECK(error(apply(*table, TileOps::Log1p, {1, 2}), std::log(Z(2, 2))) < 1e-6);
    CHECK(error(apply(*table, TileOps::LogAddExp, {2, 1}, {1, 0}),
                std::log(std::exp(Z(2, 1)) + std::exp(Z(1, 0)))) < 1e-6);
    CHECK(std::isnan(apply(*table, TileOps::Maximum, {nan, 0}, {1, 0}).real()));
    CHECK(std::isnan(apply(*table, TileOps::Minimum, {1, 0}, {0, nan}).imag()));
    CHECK(apply(*table, TileOps::Maximum, {1, 2}, {1, 1}) == Z(1, 2));
    CHECK(apply(*table, TileOps::Minimum, {1, 2}, {0, 9}) == Z(0, 9));
    complex64_t z{3e38f, 3e38f}, pair[] = {{-3, nan}, {3, 4}};
    float size;
    const void *in[] = {&z}, *big[] = {&pair[1]};
    table->op[TileOps::Abs][TileTypes::Complex64](in, &size, 1);
    CHECK(size == INFINITY);
    table->op[TileOps::Abs][TileTypes::Complex64](big, &size, 1);
    CHECK(size == 5);
    bool less;
    const void* unordered[] = {&pair[0], &pair[1]};
    table->op[TileOps::Less][TileTypes::Complex64](unordered, &less, 1);
    CHECK_FALSE(less);
  }
}

}  // namespace
