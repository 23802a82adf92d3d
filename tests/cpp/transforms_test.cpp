// The transforms of the C++ API, and what they leave behind.
#include "mlx/transforms/transforms.h"

#include <doctest/doctest.h>

#include "mlx/error.h"
#include "mlx/graph/node.h"
#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/reduce/reduce.h"

namespace mlx::core {

namespace {

std::vector<array> cube(const std::vector<array>& x) { return {x[0] * x[0] * x[0]}; }

}  // namespace

TEST_CASE("derivatives of a cube") {
  array x(2.0f), one(1.0f);
  auto back = vjp(cube, {x}, std::vector<array>{one});
  CHECK(back.outputs[0].item<float>() == 8);
  CHECK(back.derivatives[0].item<float>() == 12);
  CHECK(jvp(cube, {x}, {one}).derivatives[0].item<float>() == 12);
  ArrayFunction slope = [&](const std::vector<array>& v) {
    return vjp(cube, v, std::vector<array>{one}).derivatives;
  };
  CHECK(vjp(slope, {x}, std::vector<array>{one}).derivatives[0].item<float>() == 12);
  CHECK(jvp(slope, {x}, {one}).derivatives[0].item<float>() == 12);
}

TEST_CASE("vmap moves axes") {
  array x({1.0f, 2.0f, 3.0f}), y(10.0f);
  auto f = [](const std::vector<array>& v) { return std::vector<array>{v[0] + v[1], v[1]}; };
  auto zero = [](size_t n) { return std::vector<int>(n, 0); };
  auto out = vmap(f, {x, y}, {0, not_mapped}, zero);
  REQUIRE(out[0].shape() == Shape{3});
  REQUIRE(out[1].shape() == Shape{3});
  CHECK(sum(out[0]).item<float>() == 36);
  CHECK(sum(out[1]).item<float>() == 30);
  CHECK_THROWS_AS(vmap(f, {x, y}, {not_mapped, not_mapped}, zero), ValueError);
  CHECK_THROWS_AS(vmap(f, {x, y}, {1, not_mapped}, zero), AxisError);
}

TEST_CASE("a transform leaves no tracers and no nodes behind") {
  array x(2.0f), one(1.0f);
  int64_t before = live_nodes();
  {
    auto r = vjp(cube, {x}, std::vector<array>{one});
    CHECK(r.outputs[0].tracer() == 0);
    CHECK(r.derivatives[0].tracer() == 0);
    eval({r.outputs[0], r.derivatives[0]});
    vmap(cube, {array({1.0f, 2.0f})}, {0}, [](size_t) { return std::vector<int>{0}; });
  }
  CHECK(live_nodes() == before);
}

TEST_CASE("values that were evaluated inside forget their history afterwards") {
  array x(2.0f), one(1.0f);
  int64_t before = live_nodes();
  auto r = vjp(
      [](const std::vector<array>& v) {
        std::vector<array> y = cube(v);
        eval(y);
        return y;
      },
      {x}, std::vector<array>{one});
  r.derivatives.clear();
  CHECK(r.outputs[0].item<float>() == 8);
  CHECK(live_nodes() == before + 1);
}

}  // namespace mlx::core
