// The reduction kernels where Python cannot look: all instruction sets give the same bits.
#include "mlx/ops/reduce/reduce.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "backend/cpu/reduce_table.h"

using namespace mlx::core;

namespace {

using cpu::ReduceKernel;

// Elements of `t` that are finite whatever the dtype: small integers, or halves of them.
std::vector<char> elements(Dtype t, int64_t n, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<char> bytes(size_t(n * t.size()));
  for (int64_t i = 0; i < n; ++i) {
    float v = float(int(random() % 2001)) / 1000.0f - 1.0f;
    char* to = bytes.data() + i * t.size();
    if (t == float32) {
      std::memcpy(to, &v, 4);
    } else if (t == float64) {
      double d = v;
      std::memcpy(to, &d, 8);
    } else if (t == complex64) {
      complex64_t z{v, 1.0f - v * v};
      std::memcpy(to, &z, 8);
    } else if (t == float16) {
      float16_t h = to_float16(v);
      std::memcpy(to, &h, 2);
    } else if (t == bfloat16) {
      bfloat16_t h = to_bfloat16(v);
      std::memcpy(to, &h, 2);
    } else if (t == bool_) {
      *to = char(random() & 1);
    } else {
      uint32_t u = random();
      for (int64_t b = 0; b < t.size(); ++b) to[b] = char(u >> (b % 4 * 8));
    }
  }
  return bytes;
}

std::vector<char> by_rows(const ReduceKernel& k, const char* x, int64_t n) {
  std::vector<char> total(size_t(k.total_size)), out(8);
  k.start(total.data(), 1);
  k.row(x, n, total.data());
  k.finish(total.data(), 1, double(n), double(n), out.data());
  return out;
}

// `count` adjacent rows of n elements at once.
std::vector<char> by_runs(const ReduceKernel& k, const char* x, int64_t count, int64_t n) {
  std::vector<char> totals(size_t(k.total_size * count)), out(size_t(8 * count));
  k.start(totals.data(), count);
  k.rows(x, n, count, n, totals.data());
  k.finish(totals.data(), count, double(n), double(n), out.data());
  return out;
}

std::vector<char> by_columns(const ReduceKernel& k, const char* x, int64_t rows, int64_t n) {
  std::vector<char> totals(size_t(k.total_size * n)), out(size_t(8 * n));
  k.start(totals.data(), n);
  k.columns(x, n, rows, n, totals.data());
  k.finish(totals.data(), n, double(rows), double(rows), out.data());
  return out;
}

}  // namespace

TEST_CASE("every instruction set reduces to the same bits") {
  const char* const* levels = cpu::tile_levels();
  const cpu::ReduceTable& first = cpu::reduce_table(levels[0]);
  for (int level = 1; levels[level]; ++level) {
    const cpu::ReduceTable& other = cpu::reduce_table(levels[level]);
    for (int op = 0; op < reduce_op_count; ++op) {
      for (int type = 0; type < dtype_count; ++type) {
        const ReduceKernel &a = first.reduce[op][type], &b = other.reduce[op][type];
        REQUIRE((a.row == nullptr) == (b.row == nullptr));
        if (!a.row) continue;
        CAPTURE(info(ReduceOp(op)).name);
        CAPTURE(std::string(Dtype(Dtype::Id(type)).name()));
        std::vector<char> x = elements(Dtype(Dtype::Id(type)), 9000, uint32_t(op * 100 + type));
        for (int64_t n : {1, 2, 31, 32, 33, 100, 1023, 1024, 1500, 9000}) {
          CHECK(by_rows(a, x.data(), n) == by_rows(b, x.data(), n));
          CHECK(by_runs(a, x.data(), 9000 / n, n) == by_runs(b, x.data(), 9000 / n, n));
        }
        for (int64_t n : {1, 3, 16, 45, 90, 1500}) {
          CHECK(by_columns(a, x.data(), 9000 / n, n) == by_columns(b, x.data(), 9000 / n, n));
        }
      }
    }
    for (Dtype t : {float16, bfloat16, float32, float64}) {
      const cpu::SoftmaxKernel &a = first.softmax[t.index()], &b = other.softmax[t.index()];
      std::vector<char> x = elements(t, 3000, 7);
      std::vector<float> scratch(3000);
      for (int64_t n : {1, 5, 10, 32, 100, 1000, 2999}) {
        int64_t rows = 2999 / n;
        std::vector<char> y(size_t(rows * n * t.size())), z(y.size());
        a.softmax(x.data(), rows, n, y.data(), scratch.data());
        b.softmax(x.data(), rows, n, z.data(), scratch.data());
        CHECK(y == z);
        a.logsumexp(x.data(), rows, n, y.data());
        b.logsumexp(x.data(), rows, n, z.data());
        CHECK(std::memcmp(y.data(), z.data(), size_t(rows * t.size())) == 0);
      }
    }
  }
}

TEST_CASE("rows at once reduce to the bits of each, NaN included") {
  const cpu::ReduceTable& table = cpu::reduce_table();
  for (int op = 0; op < reduce_op_count; ++op) {
    for (int type = 0; type < dtype_count; ++type) {
      const ReduceKernel& k = table.reduce[op][type];
      Dtype t = Dtype(Dtype::Id(type));
      if (!k.row) continue;
      CAPTURE(info(ReduceOp(op)).name);
      CAPTURE(std::string(t.name()));
      std::vector<char> x = elements(t, 40000, uint32_t(op * 100 + type));
      if (t == float32 || t == float16 || t == bfloat16) {
        for (int64_t i : {5000, 20001, 33000}) {
          std::memset(x.data() + i * t.size(), 0x7f, size_t(t.size()));  // a NaN
        }
      }
      for (int64_t n : {32, 33, 100, 1023, 1024, 1500, 4096, 5003}) {
        int64_t count = 40000 / n, bytes = k.total_size;
        std::vector<char> totals(size_t(bytes * count)), total(size_t(bytes), 0);
        k.start(totals.data(), count);
        k.rows(x.data(), n, count, n, totals.data());
        for (int64_t r = 0; r < count; ++r) {
          k.start(total.data(), 1);
          k.row(x.data() + r * n * t.size(), n, total.data());
          CHECK(std::memcmp(total.data(), totals.data() + r * bytes, size_t(bytes)) == 0);
        }
      }
    }
  }
}

TEST_CASE("a long float32 sum keeps its digits") {
  const int64_t n = 10'000'000;
  std::vector<float> x(static_cast<size_t>(n));
  double exact = 0, magnitude = 0;
  std::mt19937 random(1);
  for (float& v : x) {
    v = float(random()) / 4294967296.0f - 0.25f;
    exact += v;
    magnitude += std::abs(v);
  }
  array a(x.data(), Shape{n}, float32);
  CHECK(std::abs(double(sum(a).item<float>()) - exact) <=
        0x1p-24 * (std::abs(exact) + 0.1 * magnitude / 32));
  double mean_error = double(mean(a).item<float>()) - exact / double(n);
  CHECK(std::abs(mean_error) <= 0x1p-23 * std::abs(exact / double(n)));
}
