// Evaluation: order, fusion, donation, failures, threads and depth of graphs.
#include <doctest/doctest.h>

#include <cmath>
#include <thread>
#include <utility>

#include "mlx/backend.h"
#include "mlx/env.h"
#include "mlx/graph/array.h"
#include "mlx/graph/node.h"
#include "mlx/graph/scheduler.h"
#include "mlx/ops/elementwise/elementwise.h"

using namespace mlx::core;

namespace {

// Copies its input, or throws where it is told to.
class Fragile final : public Primitive {
 public:
  explicit Fragile(bool throws) : throws_(throws) {}
  std::string_view name() const override { return "Fragile"; }
  std::vector<Shape> output_shapes(const std::vector<array>& in) const override {
    return {in[0].shape()};
  }
  void eval_cpu(Inputs in, Outputs out, Encoder&) const override {
    if (throws_) {
      throw std::runtime_error("it broke");
    }
    std::copy_n(in[0].ptr<const float>(), in[0].size, out[0].ptr<float>());
  }

 private:
  bool throws_;
};

array fragile(const array& a, bool throws) {
  return array::make(a.shape(), a.dtype(), Ref<Primitive>(new Fragile(throws)),
                     std::span<const array>(&a, 1), default_stream(Device::cpu));
}

array counting(int n) {
  std::vector<float> v(static_cast<size_t>(n));
  for (int i = 0; i < n; ++i) v[size_t(i)] = float(i) / 16;
  return array(v.data(), Shape{n}, float32);
}

array chain(const array& x) { return exp(negative(abs(x))) * x + array(0.5f); }

}  // namespace

TEST_CASE("a chain of elementwise ops has the same bits fused and not") {
  for (int n : {1, 3, 1000, 5000, 200001}) {
    array x = counting(n);
    array fused = chain(x);
    fused.eval();
    env().disable_fusion = true;
    array single = chain(x);
    single.eval();
    env().disable_fusion = false;
    CHECK(std::equal(fused.data<float>(), fused.data<float>() + n, single.data<float>()));
    CHECK(fused.data<float>()[n - 1] ==
          doctest::Approx(std::exp(-(n - 1) / 16.0) * (n - 1) / 16.0 + 0.5));
  }
}

TEST_CASE("a value that is also held elsewhere becomes an extra output") {
  array x = counting(100);
  array inner = exp(negative(x));
  array outer = inner * x + array(1.0f);
  outer.eval();
  CHECK(inner.is_available());
  CHECK(inner.data<float>()[16] == doctest::Approx(std::exp(-1.0)));
  CHECK(outer.data<float>()[16] == doctest::Approx(std::exp(-1.0) + 1));
}

TEST_CASE("held arrays are never overwritten") {
  array x = counting(4096);
  array y = x + array(1.0f);
  y.eval();
  array z = y + array(1.0f);
  z.eval();
  CHECK(x.data<float>()[16] == 1.0f);
  CHECK(y.data<float>()[16] == 2.0f);
  CHECK(z.data<float>()[16] == 3.0f);
}

// Like the update of an optimizer: states and a parameter, each from its former value.
TEST_CASE("outputs of a tape take over inputs that nobody holds and no later step reads") {
  const array one(1.0f), half(0.5f);
  array g = counting(4096), m = g * half, v = g + one, p = g * g;
  for (const array& x : {g, m, v, p}) x.eval();
  const array held = p;
  const float x = g.data<float>()[16];
  float first = x / 2, second = x + 1, value = x * x;
  for (int step = 0; step < 3; ++step) {
    const void* place = v.data();
    float before = first;
    first = first / 2 + x;
    second = second / 2 + x * x;
    value = value / 2 - first / (second + 1) + before;
    array former = std::exchange(m, m * half + g);
    v = v * half + g * g;
    p = p * half - m / (v + one) + former;  // a late read of the first state
    former = one;
    p.eval();
    CHECK(v.data() == place);
    CHECK(m.data<float>()[16] == first);
    CHECK(v.data<float>()[16] == second);
    CHECK(p.data<float>()[16] == value);
    CHECK(g.data<float>()[16] == x);
    CHECK(held.data<float>()[16] == x * x);
  }
}

TEST_CASE("a failure is raised at every read of what depends on it and nowhere else") {
  for (bool async : {false, true}) {
    array x = counting(10);
    array bad = fragile(x, true);
    array dependant = exp(bad);
    array good = exp(x);
    std::vector<array> all{dependant, good};
    if (async) {
      async_eval(all);
    } else {
      CHECK_THROWS_AS(eval(all), RuntimeError);
    }
    for (int i = 0; i < 2; ++i) {
      CHECK_THROWS_WITH_AS(dependant.eval(), doctest::Contains("Fragile"), RuntimeError);
      CHECK_THROWS_WITH_AS(bad.eval(), doctest::Contains("it broke"), RuntimeError);
    }
    CHECK(good.data<float>()[16 % 10] == doctest::Approx(std::exp(6 / 16.0)));
    CHECK(fragile(good, false).data<float>()[0] == doctest::Approx(1.0));
  }
}

TEST_CASE("a graph of a million nodes evaluates and dies without recursion") {
  int64_t before = live_nodes();
  {
    array x = counting(4);
    for (int i = 0; i < 1000000; ++i) {
      x = x + array(1.0f);
    }
    x.eval();
    CHECK(x.data<float>()[0] == 1000000.0f);
  }
  {
    array x = counting(4);
    for (int i = 0; i < 1000000; ++i) {
      x = abs(x);
    }
  }
  CHECK(live_nodes() == before);
}

TEST_CASE("threads evaluate shared graphs and share a stream") {
  Stream shared = new_stream(Device::cpu);
  array base = counting(1000);
  array common = exp(base, shared);
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        array y = add(common, array(float(t)), i % 2 ? StreamOrDevice(shared) : StreamOrDevice());
        if (i % 3 == 0) {
          async_eval(std::span<const array>(&y, 1));
        }
        right += std::abs(y.data<float>()[16] - (std::exp(1.0f) + float(t))) < 1e-5f;
      }
    });
  }
  for (auto& t : threads) t.join();
  CHECK(right == 200);
}

TEST_CASE("more memory than the limit is refused and the process goes on") {
  MemoryControl& memory = backend_of(Device::cpu).memory();
  size_t previous = memory.set_limit(memory.active() + (1 << 20));
  array x = counting(1000);
  array big = array::make(Shape{1 << 20}, float32, Ref<Primitive>(new Fragile(false)),
                          std::span<const array>(&x, 1), default_stream(Device::cpu));
  CHECK_THROWS_WITH_AS(big.eval(), doctest::Contains("wanted"), MemoryError);
  array small = exp(x);
  CHECK(small.data<float>()[0] == 1.0f);
  memory.set_limit(previous);
}

TEST_CASE("mixed streams in one graph") {
  Stream a = new_stream(Device::cpu), b = new_stream(Device::cpu);
  array x = counting(5000);
  for (int i = 0; i < 20; ++i) {
    array y = exp(negative(x, a), b);
    array z = add(y, abs(x, a), b);
    array w = add(z, y, a);
    CHECK(w.data<float>()[16] == doctest::Approx(2 * std::exp(-1.0) + 1));
  }
}
