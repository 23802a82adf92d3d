// compile, custom_function and depends of the C++ API; primitives without a mapping rule.
#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "mlx/error.h"
#include "mlx/graph/node.h"
#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/reduce/reduce.h"
#include "mlx/ops/shape/shape.h"
#include "mlx/transforms/custom.h"
#include "mlx/transforms/transforms.h"

namespace mlx::core {

namespace {

// {x + y, x - y} of whole arrays, with nothing but an evaluator.
class SumAndDifference final : public Primitive {
 public:
  std::string_view name() const override { return "SumAndDifference"; }
  std::vector<Shape> output_shapes(const std::vector<array>& in) const override {
    return {in[0].shape(), in[0].shape()};
  }
  void eval_cpu(Inputs in, Outputs out, Encoder&) const override {
    for (int64_t i = 0; i < out[0].size; ++i) {
      float x = in[0].ptr<float>()[i * in[0].strides[0]];
      float y = in[1].ptr<float>()[i * in[1].strides[0]];
      out[0].ptr<float>()[i] = x + y;
      out[1].ptr<float>()[i] = x - y;
    }
  }
};

std::vector<array> sum_and_difference(const std::vector<array>& x) {
  return array::make_many({x[0].shape(), x[0].shape()}, {float32, float32},
                          Ref<Primitive>(new SumAndDifference()), x, to_stream(StreamOrDevice{}));
}

std::vector<float> values(const array& a) {
  array dense = contiguous(a);
  const float* p = dense.data<float>();
  return {p, p + dense.size()};
}

}  // namespace

TEST_CASE("a compiled function is traced once for each shape") {
  int calls = 0;
  ArrayFunction f = compile([&](const std::vector<array>& x) {
    ++calls;
    return std::vector<array>{exp(x[0]) * x[1] + x[0]};
  });
  array a({0.0f, 0.0f}), b({1.0f, 2.0f});
  for (int i = 0; i < 3; ++i) {
    CHECK(values(f({a, b})[0]) == std::vector<float>{1, 2});
  }
  CHECK(calls == 1);
  f({a, array(1.0f)});
  CHECK(calls == 2);
  disable_compile();
  f({a, b});
  f({a, b});
  CHECK(calls == 4);
  enable_compile();
  CHECK_THROWS_AS(compile([](const std::vector<array>& x) {
                    eval(x[0]);
                    return x;
                  })({a}),
                  ValueError);
}

TEST_CASE("what repeats is computed once and what nobody reads not at all") {
  ArrayFunction f = compile([](const std::vector<array>& x) {
    array y = sum(exp(x[0])), z = sum(exp(x[0]));
    array unread = sum(sin(x[0]));
    return std::vector<array>{y + z, copy(y)};
  });
  array x({1.0f, 2.0f});
  int64_t before = live_nodes();
  std::vector<array> out = f({x});
  int64_t trace = live_nodes() - before;
  std::vector<array> again = f({x});
  // exp, sum, add: the copy is the sum itself.
  CHECK(live_nodes() - before - trace == 3);
  CHECK(out[0].item<float>() == again[0].item<float>());
}

TEST_CASE("a shapeless function follows the shapes of its inputs") {
  int calls = 0;
  ArrayFunction f = compile(
      [&](const std::vector<array>& x) {
        ++calls;
        return std::vector<array>{sum(x[0]) + x[0]};
      },
      true);
  CHECK(values(f({array({1.0f, 2.0f})})[0]) == std::vector<float>{4, 5});
  CHECK(values(f({array({1.0f, 2.0f, 3.0f})})[0]) == std::vector<float>{7, 8, 9});
  CHECK(calls == 1);
}

TEST_CASE("a compiled function leaves no nodes behind") {
  array x({1.0f, 2.0f});
  int64_t before = live_nodes();
  {
    ArrayFunction f = compile(
        [](const std::vector<array>& v) { return std::vector<array>{v[0] * array(2.0f), v[0]}; });
    eval(f({x}));
  }
  CHECK(live_nodes() == before);
}

TEST_CASE("threads share a compiled function") {
  ArrayFunction inner = [](const std::vector<array>& x) {
    array y = exp(x[0]) * array(2.0f);
    return std::vector<array>{y + x[1], sum(y)};
  };
  ArrayFunction f = compile(inner);
  std::atomic<int> wrong{0};
  auto work = [&](int seed) {
    for (int i = 0; i < 40; ++i) {
      array x = zeros({1 + (seed + i) % 3});
      array y = array(float(i));
      std::vector<array> r = f({x, y});
      eval(r);
      wrong += values(r[0])[0] != 2.0f + float(i);
      wrong += r[1].item<float>() != 2.0f * float(x.size());
      wrong += vjp(f, {x, y}, std::vector<array>{zeros_like(x), array(1.0f)})
                   .derivatives[1]
                   .item<float>() != 0.0f;
    }
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back(work, t);
  }
  for (std::thread& t : threads) {
    t.join();
  }
  CHECK(wrong == 0);
}

TEST_CASE("a primitive without a mapping rule is applied slice by slice") {
  const float data[] = {1, 2, 3, 4, 5, 6};
  array x(data, Shape{2, 3}, float32), y({10.0f, 20.0f});
  auto first = [](size_t n) { return std::vector<int>(n, 0); };
  // Slices are the columns.
  std::vector<array> r = vmap(sum_and_difference, {x, y}, {1, not_mapped}, first);
  REQUIRE(r.size() == 2);
  CHECK(r[0].shape() == Shape{3, 2});
  CHECK(values(r[0]) == std::vector<float>{11, 24, 12, 25, 13, 26});
  CHECK(values(r[1]) == std::vector<float>{-9, -16, -8, -15, -7, -14});
  CHECK_THROWS_AS(vmap(sum_and_difference, {zeros({0, 2}), y}, {0, not_mapped}, first), ValueError);
  CHECK_THROWS_AS(vjp(sum_and_difference, {y, y}, std::vector<array>{y, y}), ValueError);
  ArrayFunction f = compile(sum_and_difference);
  CHECK(values(f({y, y})[0]) == std::vector<float>{20, 40});
  CHECK(values(f({y, y})[0]) == std::vector<float>{20, 40});
}

TEST_CASE("rules of a custom function") {
  CustomRules rules;
  rules.vjp = [](const std::vector<array>&, const std::vector<array>& g,
                 const std::vector<array>&) { return std::vector<array>{g[0] * array(10.0f)}; };
  ArrayFunction f = [&](const std::vector<array>& x) {
    return custom_function(
        [](const std::vector<array>& v) { return std::vector<array>{sin(v[0])}; }, rules, x);
  };
  array x(0.0f), one(1.0f);
  CHECK(vjp(f, {x}, std::vector<array>{one}).derivatives[0].item<float>() == 10);
  CHECK(jvp(f, {x}, {one}).derivatives[0].item<float>() == 1);
  ArrayFunction saving = [](const std::vector<array>& v) {
    return checkpoint([](const std::vector<array>& u) { return std::vector<array>{u[0] * u[0]}; },
                      v);
  };
  CHECK(vjp(saving, {array(3.0f)}, std::vector<array>{one}).derivatives[0].item<float>() == 6);
  CHECK(depends({x, one}, {one})[1].item<float>() == 1);
}

}  // namespace mlx::core
