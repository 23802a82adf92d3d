// Evaluation under load and in corners: streams that wait for each other, threads, failures, memory
// that is used again while work is queued. Results against plain loops over doubles.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <memory>
#include <random>
#include <thread>

#include "mlx/backend.h"
#include "mlx/env.h"
#include "mlx/graph/node.h"
#include "mlx/graph/scheduler.h"
#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/shape/shape.h"
#include "mlx/transforms/trace.h"

using namespace mlx::core;

namespace {

using Clock = std::chrono::steady_clock;

// A copy that calls a function first: to be slow, to throw, to look around.
class Probe final : public Primitive {
 public:
  explicit Probe(std::function<void()> f) : f_(std::move(f)) {}
  std::string_view name() const override { return "Probe"; }
  std::vector<Shape> output_shapes(const std::vector<array>& in) const override {
    return {in[0].shape()};
  }
  void eval_cpu(Inputs in, Outputs out, Encoder&) const override {
    f_();
    std::copy_n(in[0].ptr<const float>(), in[0].size, out[0].ptr<float>());
  }

 private:
  std::function<void()> f_;
};

array probe(const array& a, Stream s, std::function<void()> f) {
  return array::make(a.shape(), a.dtype(), Ref<Primitive>(new Probe(std::move(f))),
                     std::span<const array>(&a, 1), s);
}

void nap(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

// x reversed and x plus one; reverses in a way that would show if it wrote over what it reads.
class TwoOutputs final : public Primitive {
 public:
  std::string_view name() const override { return "TwoOutputs"; }
  std::vector<Shape> output_shapes(const std::vector<array>& in) const override {
    return {in[0].shape(), in[0].shape()};
  }
  void eval_cpu(Inputs in, Outputs out, Encoder&) const override {
    for (int64_t i = 0; i < in[0].size; ++i) {
      out[0].ptr<float>()[i] = in[0].ptr<const float>()[in[0].size - 1 - i];
      out[1].ptr<float>()[i] = in[0].ptr<const float>()[i] + 1;
    }
  }
};

std::vector<array> two_outputs(const array& a, Stream s) {
  return array::make_many({a.shape(), a.shape()}, {a.dtype(), a.dtype()},
                          Ref<Primitive>(new TwoOutputs()), std::span<const array>(&a, 1), s);
}

// Writes the second input, reversed, over the first.
class ReverseInto final : public Primitive {
 public:
  std::string_view name() const override { return "ReverseInto"; }
  uint32_t overwritable() const override { return 1; }
  std::vector<Shape> output_shapes(const std::vector<array>& in) const override {
    return {in[0].shape()};
  }
  void eval_cpu(Inputs in, Outputs out, Encoder&) const override {
    for (int64_t i = 0; i < in[1].size; ++i) {
      out[0].ptr<float>()[i] = in[1].ptr<const float>()[in[1].size - 1 - i];
    }
  }
};

array ramp(int64_t n, float scale = 1) {
  std::vector<float> v(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) v[size_t(i)] = float(i % 97) / 97 * scale;
  return array(v.data(), Shape{n}, float32);
}

void start(const array& a) { async_eval(std::span<const array>(&a, 1)); }

struct Value {
  array a;
  std::vector<double> expected;
};

constexpr int64_t length = 257;

// Grows a random graph of values in [-1, 1] over some streams and checks what it keeps.
class RandomGraph {
 public:
  RandomGraph(unsigned seed, std::vector<Stream> streams, std::vector<Value> shared = {})
      : random_(seed), streams_(std::move(streams)), values_(std::move(shared)) {
    values_.push_back(leaf());
  }

  void grow(int steps) {
    for (int i = 0; i < steps; ++i) {
      step();
      if (values_.size() > 12) {
        values_.erase(values_.begin() + pick(values_.size()));  // some are read by others, some not
      }
    }
  }

  int check() {
    int wrong = 0;
    for (const Value& v : values_) {
      const float* data = v.a.data<float>();
      bool right = v.a.size() == int64_t(v.expected.size());
      std::vector<float> dense;
      const Strides& s = v.a.strides();
      for (int64_t i = 0; right && i < v.a.size(); ++i) {
        right = std::abs(data[i * s[0]] - v.expected[size_t(i)]) < 1e-4;
      }
      wrong += !right;
    }
    return wrong;
  }

  const std::vector<Value>& values() const { return values_; }

 private:
  int pick(size_t n) { return int(random_() % n); }
  const Value& any() { return values_[size_t(pick(values_.size()))]; }
  Stream stream() { return streams_[size_t(pick(streams_.size()))]; }

  Value leaf() {
    Value v{ramp(length), {}};
    for (int64_t i = 0; i < length; ++i) v.expected.push_back(double(i % 97) / 97);
    return v;
  }

  template <typename F>
  void unary(const array& a, const Value& of, F f) {
    Value v{a, of.expected};
    for (double& x : v.expected) x = f(x);
    values_.push_back(std::move(v));
  }

  void step() {
    Value x = any(), y = any();
    Stream s = stream();
    switch (pick(10)) {
      case 0:
        return unary(sin(x.a, s), x, [](double v) { return std::sin(v); });
      case 1:
        return unary(negative(x.a, s), x, [](double v) { return -v; });
      case 2:
        return unary(abs(x.a, s), x, [](double v) { return std::abs(v); });
      case 3: {
        Value v{multiply(x.a, y.a, s), x.expected};
        for (size_t i = 0; i < v.expected.size(); ++i) v.expected[i] *= y.expected[i];
        values_.push_back(std::move(v));
        return;
      }
      case 4: {
        Value v{multiply(add(x.a, y.a, s), array(0.5f), stream()), x.expected};
        for (size_t i = 0; i < v.expected.size(); ++i) {
          v.expected[i] = (v.expected[i] + y.expected[i]) / 2;
        }
        values_.push_back(std::move(v));
        return;
      }
      case 5:
        return unary(reshape(reshape(x.a, {1, length}, s), {length}, stream()), x,
                     [](double v) { return v; });
      case 6: {
        std::vector<array> two = two_outputs(x.a, s);
        Value v{pick(2) ? two[0] : two[0] + array(0.0f), x.expected};
        std::reverse(v.expected.begin(), v.expected.end());
        if (pick(2)) {
          unary(multiply(two[1], array(0.5f), stream()), x, [](double e) { return (e + 1) / 2; });
        }
        values_.push_back(std::move(v));
        return;
      }
      case 7:
        return unary(probe(x.a, s, [] {}), x, [](double v) { return v; });
      case 8:
        if (pick(2)) {
          start(x.a);
        } else {
          x.a.eval();
        }
        return;
      default:
        values_.push_back(leaf());
    }
  }

  std::mt19937 random_;
  std::vector<Stream> streams_;
  std::vector<Value> values_;
};

}  // namespace

TEST_CASE("random graphs over several streams and threads have the values of plain loops") {
  std::vector<Stream> streams{default_stream(Device::cpu), new_stream(Device::cpu),
                              new_stream(Device::cpu)};
  MemoryControl& memory = backend_of(Device::cpu).memory();
  int64_t nodes = live_nodes();
  for (size_t cache : {size_t(1) << 30, size_t(4096)}) {
    size_t previous = memory.set_cache_limit(cache);
    std::atomic<int> wrong{0};
    auto stop = Clock::now() + std::chrono::milliseconds(1200);
    for (unsigned round = 0; Clock::now() < stop; ++round) {
      RandomGraph base(round, streams);
      base.grow(20);
      std::vector<std::thread> threads;
      for (unsigned t = 0; t < 3; ++t) {
        threads.emplace_back([&, t] {
          std::vector<Stream> mine = streams;
          mine.push_back(default_stream(Device::cpu));
          RandomGraph g(round * 8 + t, mine, base.values());
          g.grow(60);
          wrong += g.check();
        });
      }
      for (std::thread& t : threads) t.join();
      wrong += base.check();
    }
    CHECK(wrong == 0);
    memory.set_cache_limit(previous);
  }
  synchronize_all();
  CHECK(live_nodes() == nodes);
}

TEST_CASE("streams that wait for views, empty and failed values of each other come to an end") {
  Stream s = new_stream(Device::cpu), t = new_stream(Device::cpu);
  array x = ramp(64);
  array slow = probe(x, t, [] { nap(5); });
  array view = reshape(slow, {8, 8}, t);
  array b = exp(view, s);
  array c = exp(b, t);
  CHECK(c.data<float>()[0] == doctest::Approx(std::exp(1.0)));

  array none = exp(reshape(array(nullptr, Shape{0}, float32), {0, 3}, t), t);
  array here = probe(x, t, [] { nap(5); });
  array also = probe(none, s, [] {});
  array last = probe(also, t, [] {});
  eval({here, last});
  CHECK(last.size() == 0);

  array bad = probe(x, t, [] { throw std::runtime_error("it broke"); });
  array bad_view = reshape(bad, {8, 8}, s);
  array after = exp(exp(bad_view, s), t);
  CHECK_THROWS_WITH_AS(after.eval(), doctest::Contains("it broke"), RuntimeError);
  CHECK_THROWS_WITH_AS(bad_view.eval(), doctest::Contains("it broke"), RuntimeError);
}

TEST_CASE("a full queue that waits for a view of another stream is emptied") {
  Stream s = new_stream(Device::cpu), t = new_stream(Device::cpu);
  array view = reshape(probe(ramp(4), t, [] { nap(20); }), {2, 2}, t);
  array x = probe(view, s, [] {});
  for (int i = 0; i < 6000; ++i) {
    x = probe(x, s, [] {});
  }
  x.eval();
  CHECK(x.data<float>()[3] == doctest::Approx(3 / 97.0));
}

TEST_CASE("an array from host data does not take memory that queued work still reads") {
  std::vector<float> other(4096, 7.0f);
  std::vector<array> results;
  for (int i = 0; i < 20; ++i) {
    array y = ramp(4096) + array(1.0f);
    array z = probe(y, default_stream(Device::cpu), [] { nap(3); }) + array(1.0f);
    y = z;
    start(z);  // the temporaries are given back here, while the worker sleeps
    for (int k = 0; k < 3; ++k) {
      results.push_back(array(other.data(), Shape{4096}, float32));
    }
    CHECK(z.data<float>()[96] == doctest::Approx(96 / 97.0 * 1.0 + 1.0 + 1.0).epsilon(1e-5));
    results.clear();
  }
}

TEST_CASE("an inline batch sees that an input of another stream failed while it waited") {
  Stream s = new_stream(Device::cpu);
  array x = ramp(64);
  array bad = probe(x, s, [] {
    nap(30);
    throw std::runtime_error("it broke");
  });
  start(bad);
  array y = exp(bad);
  CHECK_THROWS_WITH_AS(y.eval(), doctest::Contains("it broke"), RuntimeError);
}

TEST_CASE("a value that is read at two places is overwritten only if both allow it") {
  array x = ramp(100) + array(0.0f);
  std::vector<float> wanted(x.data<float>(), x.data<float>() + 100);
  array inputs[] = {x, x};
  array y = array::make(x.shape(), float32, Ref<Primitive>(new ReverseInto()), inputs,
                        default_stream(Device::cpu));
  x = inputs[0] = inputs[1] = array(0.0f);
  y.eval();
  for (size_t i = 0; i < 100; ++i) {
    CHECK(y.data<float>()[i] == wanted[99 - i]);
  }
}

TEST_CASE("evaluation inside an evaluation is refused, what is there can be read") {
  array x = ramp(8), pending = exp(x);
  for (bool async : {false, true}) {
    std::atomic<int> refused{0};
    array y = probe(x, default_stream(Device::cpu), [&] {
      CHECK(x.data<float>()[0] == 0.0f);
      synchronize();
      try {
        pending.eval();
      } catch (const RuntimeError&) {
        ++refused;
      }
    });
    if (async) {
      start(y);
    }
    y.eval();
    CHECK(refused == 1);
  }
  CHECK(pending.data<float>()[0] == 1.0f);
}

TEST_CASE("an interrupted evaluation gives its nodes back to all who wait for them") {
  static std::atomic<bool> stop{false};
  Stream s = new_stream(Device::cpu);
  for (int round = 0; round < 15; ++round) {
    array x = ramp(16);
    array early = probe(x, s, [] { nap(1); });
    for (int i = 0; i < 80; ++i) {
      early = probe(early, s, [] { nap(1); });
    }
    array shared = early;
    stop = round % 3 != 0;
    set_interrupt_check([] { return stop.exchange(false); });
    std::vector<std::thread> threads;
    std::atomic<int> right{0}, interruptions{0};
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        nap(t * 3);
        array y = add(shared, array(float(t)), s);
        for (bool done = false; !done;) {
          try {
            right += std::abs(y.data<float>()[15] - (15 / 97.0f + float(t))) < 1e-5f;
            done = true;
          } catch (const Interrupted&) {
            ++interruptions;
          }
        }
      });
    }
    for (std::thread& t : threads) t.join();
    set_interrupt_check(nullptr);
    CHECK(right == 4);
  }
}

TEST_CASE("a sibling that comes back to life leaves the others' values alone") {
  array x = ramp(32);
  TraceScope trace(TraceScope::Evaluation::allowed);
  array p = array::placeholder(x.shape(), float32);
  x.set_tracer(1);
  std::vector<array> two = two_outputs(x, default_stream(Device::cpu));
  array kept = two[0];
  two.clear();
  kept.eval();
  const void* before = kept.data();
  std::vector<array> again = outputs_of(kept);
  CHECK(again[0].same_node(kept));
  CHECK(again[1].data<float>()[31] == doctest::Approx(1 + 31 / 97.0));
  CHECK(kept.data() == before);
  CHECK(kept.data<float>()[0] == doctest::Approx(31 / 97.0));
}

TEST_CASE("sizes beyond 64 bits are refused, empty shapes of any extent are not") {
  array huge = broadcast_to(array(1.0f), Shape{int64_t(1) << 31, int64_t(1) << 31});
  CHECK_THROWS_AS(exp(huge).eval(), MemoryError);
  CHECK_THROWS_AS(element_count(Shape{0, -1}), ValueError);
  CHECK(element_count(Shape{int64_t(1) << 40, int64_t(1) << 40, 0}) == 0);
  CHECK_THROWS_AS(element_count(Shape{int64_t(1) << 40, int64_t(1) << 40}), OverflowError);
  Shape empty{0, int64_t(1) << 40, int64_t(1) << 40};
  CHECK(is_row_contiguous(empty, row_major(empty)));
  array e(nullptr, empty, float32);
  CHECK(exp(e).data() != nullptr);
}

TEST_CASE("short-lived threads with streams of their own do not use streams up") {
  ThreadLocalStream local = new_thread_local_stream(Device::cpu);
  array x = ramp(8);
  std::atomic<int> right{0};
  int before = new_stream(Device::cpu).index;
  for (int i = 0; i < 200; ++i) {
    std::thread([&] { right += exp(add(x, x), to_stream(local)).data<float>()[0] == 1.0f; }).join();
  }
  CHECK(right == 200);
  CHECK(new_stream(Device::cpu).index - before < 10);
}

TEST_CASE("the cache keeps its limit and its counters, whatever is still queued") {
  MemoryControl& memory = backend_of(Device::cpu).memory();
  synchronize_all();
  memory.clear_cache();
  size_t active = memory.active();
  size_t previous = memory.set_cache_limit(100000);
  {
    std::vector<array> many;
    for (int i = 0; i < 3000; ++i) {
      many.push_back(ramp(10 + i % 50));
    }
    CHECK(memory.active() > active);
    CHECK(memory.peak() >= memory.active());
  }
  CHECK(memory.active() == active);
  CHECK(memory.cached() <= 100000);
  CHECK(memory.cached() > 50000);
  memory.set_cache_limit(0);
  CHECK(memory.cached() == 0);
  array y = ramp(1000);
  for (int i = 0; i < 50; ++i) {
    y = probe(y, default_stream(Device::cpu), [] {});
  }
  start(y);
  CHECK(y.data<float>()[96] == doctest::Approx(96 / 97.0));
  synchronize();
  CHECK(memory.cached() == 0);
  memory.set_cache_limit(previous);
}

// The sanitizers of GCC 12 do not hold the locks of their own allocator over a fork.
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
TEST_CASE("a child made while other threads evaluate can evaluate") {
  std::atomic<bool> stop{false};
  Stream s = new_stream(Device::cpu);
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      array x = ramp(300);
      while (!stop) {
        array y = exp(reshape(exp(x, s), {3, 100}));
        if (t) start(y);
        y.eval();
      }
    });
  }
  for (int i = 0; i < 10; ++i) {
    nap(2);
    pid_t child = fork();
    if (child == 0) {
      alarm(10);
      array x = ramp(300);
      bool right = exp(x).data<float>()[0] == 1.0f;
      array y = exp(add(x, x));
      start(y);
      _exit(right && y.data<float>()[0] == 1.0f ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  stop = true;
  for (std::thread& t : threads) t.join();
}
#endif
