// Errors of the float32 rows against double precision, and their values at the edges. Every
// instruction set that the CPU has.
#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "tests/cpp/accuracy.h"

namespace {

using namespace mlx::core::cpu;
using accuracy::ulps;

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float tiny = std::numeric_limits<float>::denorm_min();
constexpr float huge = std::numeric_limits<float>::max();

template <typename F>
void for_each_level(F f) {
  for (const char* const* level = tile_levels(); *level; ++level) {
    INFO("instruction set ", *level);
    f(tile_table(*level));
  }
}

float apply(const TileTable& table, int op, float x, float y = 0) {
  const void* in[] = {&x, &y};
  float out;
  table.op[op][TileTypes::Float32](in, &out, 1);
  return out;
}

TEST_CASE("unary float32 rows keep their error bounds") {
  for_each_level([](const TileTable& table) {
    bool slow = std::strcmp(table.isa, "v2") == 0;  // multiply-adds are emulated there
    for (const accuracy::UnaryRow& row : accuracy::unary_rows) {
      accuracy::Worst worst = accuracy::sweep(table, row, 17, slow ? 99991 : 9973);
      INFO(row.name, " at ", worst.at);
      CHECK(worst.error <= row.bound);
    }
  });
}

TEST_CASE("sine and cosine of large arguments") {
  for_each_level([](const TileTable& table) {
    // 16367173 * 2^72 is among the floats nearest to a multiple of pi/2.
    for (float x : {10000.0f, 10001.5f, 1e5f, 1e10f, 1.5e22f, 3e38f, std::ldexp(16367173.0f, 72)}) {
      INFO(x);
      CHECK(ulps(apply(table, TileOps::Sin, x), std::sin(double(x))) <= 2);
      CHECK(ulps(apply(table, TileOps::Cos, -x), std::cos(double(x))) <= 2);
      CHECK(ulps(apply(table, TileOps::Tan, x), std::tan(double(x))) <= 4);
    }
  });
}

struct Edge {
  int op;
  float x, expected;
};
const Edge edges[] = {
    {TileOps::Exp, inf, inf},
    {TileOps::Exp, -inf, 0},
    {TileOps::Exp, 88.72284f, inf},
    {TileOps::Exp, -103.9f, tiny},
    {TileOps::Exp, -104.0f, 0},
    {TileOps::Exp, -0.0f, 1},
    {TileOps::Expm1, -0.0f, -0.0f},
    {TileOps::Expm1, tiny, tiny},
    {TileOps::Expm1, inf, inf},
    {TileOps::Expm1, -inf, -1},
    {TileOps::Log, 0, -inf},
    {TileOps::Log, -0.0f, -inf},
    {TileOps::Log, -1, nan},
    {TileOps::Log, inf, inf},
    {TileOps::Log, 1, 0},
    {TileOps::Log2, 8, 3},
    {TileOps::Log2, tiny, -149},
    {TileOps::Log10, 1, 0},
    {TileOps::Log10, 0, -inf},
    {TileOps::Log1p, -1, -inf},
    {TileOps::Log1p, -0.0f, -0.0f},
    {TileOps::Log1p, -2, nan},
    {TileOps::Log1p, inf, inf},
    {TileOps::Sin, -0.0f, -0.0f},
    {TileOps::Sin, inf, nan},
    {TileOps::Sin, tiny, tiny},
    {TileOps::Cos, 0, 1},
    {TileOps::Cos, -inf, nan},
    {TileOps::Tan, -0.0f, -0.0f},
    {TileOps::Sinh, -0.0f, -0.0f},
    {TileOps::Sinh, -inf, -inf},
    {TileOps::Sinh, 90, inf},
    {TileOps::Cosh, -inf, inf},
    {TileOps::Cosh, 0, 1},
    {TileOps::Tanh, -0.0f, -0.0f},
    {TileOps::Tanh, inf, 1},
    {TileOps::Tanh, -20, -1},
    {TileOps::ArcSin, -0.0f, -0.0f},
    {TileOps::ArcSin, 1.5f, nan},
    {TileOps::ArcCos, 1, 0},
    {TileOps::ArcCos, -2, nan},
    {TileOps::ArcTan, -0.0f, -0.0f},
    {TileOps::ArcSinh, -0.0f, -0.0f},
    {TileOps::ArcSinh, -inf, -inf},
    {TileOps::ArcCosh, 1, 0},
    {TileOps::ArcCosh, 0.5f, nan},
    {TileOps::ArcCosh, inf, inf},
    {TileOps::ArcTanh, 1, inf},
    {TileOps::ArcTanh, -1, -inf},
    {TileOps::ArcTanh, 2, nan},
    {TileOps::ArcTanh, inf, nan},
    {TileOps::Sqrt, -0.0f, -0.0f},
    {TileOps::Sqrt, -1, nan},
    {TileOps::Rsqrt, 0, inf},
    {TileOps::Rsqrt, inf, 0},
    {TileOps::Reciprocal, -0.0f, -inf},
    {TileOps::Sigmoid, inf, 1},
    {TileOps::Sigmoid, -inf, 0},
    {TileOps::Sigmoid, 0, 0.5f},
    {TileOps::Erf, inf, 1},
    {TileOps::Erf, -inf, -1},
    {TileOps::Erf, -0.0f, -0.0f},
    {TileOps::ErfInv, 1, inf},
    {TileOps::ErfInv, -1, -inf},
    {TileOps::ErfInv, 1.1f, nan},
    {TileOps::Sign, -0.0f, 0},
    {TileOps::Sign, -tiny, -1},
    {TileOps::Abs, -inf, inf},
    {TileOps::Round, 0.5f, 0},
    {TileOps::Round, 1.5f, 2},
    {TileOps::Round, -2.5f, -2},
    {TileOps::Floor, -0.5f, -1},
    {TileOps::Ceil, -0.5f, -0.0f},
    {TileOps::Trunc, -1.5f, -1},
};

TEST_CASE("unary float32 rows at the edges") {
  for_each_level([](const TileTable& table) {
    for (const Edge& e : edges) {
      INFO("op ", e.op, " of ", e.x);
      CHECK(ulps(apply(table, e.op, e.x), e.expected) == 0);
    }
    for (const accuracy::UnaryRow& row : accuracy::unary_rows) {
      INFO(row.name);
      CHECK(std::isnan(apply(table, row.op, nan)));
    }
    CHECK(std::isnan(apply(table, TileOps::Sign, nan)));
    CHECK(std::isnan(apply(table, TileOps::ErfInv, nan)));
  });
}

std::vector<float> mixed_floats(int n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  const float special[] = {
      0,    -0.0f,           1,       -1, 0.5f, 2, 3, -3, inf, -inf, nan, tiny, -tiny,
      huge, 1.17549435e-38f, 16777216};
  std::vector<float> v(n);
  for (float& x : v) {
    uint32_t bits = random();
    switch (random() % 4) {
      case 0:
        std::memcpy(&x, &bits, 4);
        break;
      case 1:
        x = special[random() % std::size(special)];
        break;
      case 2:
        x = std::round(normal(random) * 8) / 2;
        break;
      default:
        x = normal(random) * std::exp(2 * normal(random));
    }
  }
  return v;
}

double python_remainder(double x, double y) {
  double r = std::fmod(x, y);
  if (r != 0 && (r < 0) != (y < 0)) r += y;
  return r == 0 ? std::copysign(0.0, y) : r;
}

TEST_CASE("binary float32 rows keep their error bounds") {
  constexpr int n = 100000;
  std::vector<float> a = mixed_floats(n, 1), b = mixed_floats(n, 2), out(n);
  struct Row {
    int op;
    double (*reference)(double, double);
    double bound;
  };
  const Row rows[] = {
      {TileOps::Power, [](double x, double y) { return std::pow(x, y); }, 4},
      {TileOps::ArcTan2, [](double y, double x) { return std::atan2(y, x); }, 4},
      // One rounding: the exact remainder, or the divisor less it.
      {TileOps::Remainder, python_remainder, 0.5},
      {TileOps::Divide, [](double x, double y) { return x / y; }, 0.5},
  };
  for_each_level([&](const TileTable& table) {
    const void* in[] = {a.data(), b.data()};
    for (const Row& row : rows) {
      table.op[row.op][TileTypes::Float32](in, out.data(), n);
      double worst = 0;
      int at = 0;
      for (int i = 0; i < n; ++i) {
        double error = ulps(out[i], row.reference(a[i], b[i]));
        if (error > worst) worst = error, at = i;
      }
      INFO("op ", row.op, " of ", a[at], " and ", b[at], " gave ", out[at]);
      CHECK(worst <= row.bound);
    }
  });
}

TEST_CASE("logaddexp, maximum and minimum at the edges") {
  for_each_level([](const TileTable& table) {
    CHECK(apply(table, TileOps::LogAddExp, -inf, -inf) == -inf);
    CHECK(apply(table, TileOps::LogAddExp, inf, inf) == inf);
    CHECK(apply(table, TileOps::LogAddExp, inf, -inf) == inf);
    CHECK(apply(table, TileOps::LogAddExp, -inf, 3) == 3);
    CHECK(std::isnan(apply(table, TileOps::LogAddExp, nan, inf)));
    for (float x = -30; x < 30; x += 0.37f) {
      for (float y = -30; y < 30; y += 1.13f) {
        double exact = std::log(std::exp(double(x)) + std::exp(double(y)));
        CHECK(std::fabs(apply(table, TileOps::LogAddExp, x, y) - exact) <=
              3e-7 * std::fmax(1, std::fmax(std::fabs(x), std::fabs(y))));
      }
    }
    for (int op : {TileOps::Maximum, TileOps::Minimum}) {
      CHECK(std::isnan(apply(table, op, nan, 1)));
      CHECK(std::isnan(apply(table, op, 1, nan)));
    }
    CHECK(apply(table, TileOps::Maximum, -1, 2) == 2);
    CHECK(apply(table, TileOps::Minimum, -1, 2) == -1);
  });
}

TEST_CASE("erfinv is the published polynomial, evaluated with fused multiply-adds") {
  auto horner = [](const float* c, int n, float t) {
    float p = c[0];
    for (int i = 1; i < n; ++i) p = std::fmaf(p, t, c[i]);
    return p;
  };
  const float tail[] = {3.03697567e-10f, 2.93243101e-8f,  1.22150334e-6f,
                        2.84108955e-5f,  3.93552968e-4f,  3.02698812e-3f,
                        4.83185798e-3f,  -2.64646143e-1f, 8.40016484e-1f};
  const float middle[] = {5.43877832e-9f,  1.43285448e-7f,  1.22774793e-6f, 1.12963626e-7f,
                          -5.61530760e-5f, -1.47697632e-4f, 2.31468678e-3f, 1.15392581e-2f,
                          -2.32015476e-1f, 8.86226892e-1f};
  for_each_level([&](const TileTable& table) {
    for (float x = -0.9999f; x < 1; x += 0.00137f) {
      float t = apply(table, TileOps::Log, std::fmaf(x, -x, 1));
      float p = std::fabs(t) > 6.125f ? horner(tail, 9, t) : horner(middle, 10, t);
      CHECK(apply(table, TileOps::ErfInv, x) == x * p);
      CHECK(ulps(apply(table, TileOps::Erf, apply(table, TileOps::ErfInv, x)), x) <= 40);
    }
  });
}

}  // namespace
