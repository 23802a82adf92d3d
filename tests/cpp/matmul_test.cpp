// Products against a plain loop in double, over dtypes, sizes around the tiles, and layouts.
#include "mlx/ops/matmul/matmul.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "mlx/graph/buffer.h"
#include "mlx/graph/node.h"
#include "mlx/scalar_value.h"

using namespace mlx::core;

namespace {

struct Filled {
  array values;
  std::vector<double> exact;  // as stored, row-major
};

double pattern(int64_t i, int salt) {
  return double((i * 7919 + salt * 104729) % 1009) / 504.5 - 1.0;
}

// An array of `shape` in `dtype`, stored with its last two axes exchanged if `transposed`.
Filled filled(Shape shape, Dtype dtype, int salt, bool transposed = false) {
  size_t d = shape.size();
  int64_t rows = shape[d - 2], columns = shape[d - 1], size = 1;
  for (int64_t n : shape) size *= n;
  std::vector<char> stored(size_t(size * dtype.size()) + 1);
  std::vector<double> exact(static_cast<size_t>(size));
  for (int64_t i = 0; i < size; ++i) {
    int64_t matrix = i / (rows * columns), r = i / columns % rows, c = i % columns;
    int64_t at = transposed ? matrix * rows * columns + c * rows + r : i;
    dispatch(FloatTypes{}, dtype, "test", [&]<typename T>() {
      T v = convert_scalar<T>(pattern(i, salt));
      std::memcpy(stored.data() + at * dtype.size(), &v, sizeof v);
      exact[size_t(i)] = convert_scalar<double>(v);
    });
  }
  Shape in_memory = shape;
  if (transposed) std::swap(in_memory[d - 1], in_memory[d - 2]);
  array a(stored.data(), in_memory, dtype);
  if (transposed) {
    Strides strides = row_major(in_memory);
    std::swap(strides[d - 1], strides[d - 2]);
    a = array::from_buffer(a.node()->buffer, shape, strides, 0, dtype);
  }
  return {a, exact};
}

double value_at(const array& a, int64_t i) {
  double v = 0;
  dispatch(FloatTypes{}, a.dtype(), "test",
           [&]<typename T>() { v = convert_scalar<double>(a.data<T>()[i]); });
  return v;
}

// Largest error relative to the size of the terms of a batch of products.
double worst_error(const array& got, const Filled& a, const Filled& b, int64_t batch, int64_t m,
                   int64_t n, int64_t k, bool shared_b) {
  double worst = 0;
  for (int64_t t = 0; t < batch; ++t) {
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0, terms = 1e-30;
        for (int64_t l = 0; l < k; ++l) {
          double p = a.exact[size_t((t * m + i) * k + l)] *
                     b.exact[size_t(((shared_b ? 0 : t) * k + l) * n + j)];
          sum += p;
          terms += std::abs(p);
        }
        worst = std::max(worst, std::abs(value_at(got, (t * m + i) * n + j) - sum) / terms);
      }
    }
  }
  return worst;
}

double tolerance(Dtype t) {
  return t == float64 ? 1e-14 : t == float32 ? 1e-6 : t == float16 ? 1e-3 : 8e-3;
}

}  // namespace

TEST_CASE("matmul: dtypes, sizes and transposed operands") {
  const int64_t sizes[][3] = {{1, 1, 1},    {3, 5, 7},      {1, 9, 33},  {17, 1, 40},
                              {64, 64, 64}, {130, 70, 600}, {2, 700, 3}, {65, 129, 1}};
  for (Dtype dtype : {float32, float64, float16, bfloat16}) {
    for (auto [m, n, k] : sizes) {
      for (int layout = 0; layout < 4; ++layout) {
        CAPTURE(dtype.name());
        CAPTURE(m);
        CAPTURE(n);
        CAPTURE(k);
        CAPTURE(layout);
        Filled a = filled({m, k}, dtype, 1, layout & 1), b = filled({k, n}, dtype, 2, layout & 2);
        CHECK(worst_error(matmul(a.values, b.values), a, b, 1, m, n, k, true) < tolerance(dtype));
      }
    }
  }
}

TEST_CASE("matmul: a batch against one matrix and against its own") {
  for (Dtype dtype : {float32, bfloat16}) {
    for (bool shared : {true, false}) {
      for (bool transposed : {false, true}) {
        Filled a = filled({3, 20, 30}, dtype, 3, transposed);
        Filled b = shared ? filled({30, 11}, dtype, 4) : filled({3, 30, 11}, dtype, 4);
        array product = matmul(a.values, b.values);
        CHECK(product.shape() == Shape{3, 20, 11});
        CHECK(worst_error(product, a, b, 3, 20, 11, 30, shared) < tolerance(dtype));
      }
    }
  }
}

TEST_CASE("matmul: a sum over nothing is zero, beta keeps what is added") {
  array a(nullptr, Shape{3, 0}, float32), b(nullptr, Shape{0, 2}, float32);
  array zero = matmul(a, b);
  for (int i = 0; i < 6; ++i) CHECK(value_at(zero, i) == 0.0);
  array sum = addmm(array(3.0f), a, b, 1.0f, 2.0f);
  for (int i = 0; i < 6; ++i) CHECK(value_at(sum, i) == 6.0);
}

TEST_CASE("addmm: a factor of zero leaves its term out") {
  float nan = std::numeric_limits<float>::quiet_NaN();
  Filled a = filled({5, 6}, float32, 5), b = filled({6, 4}, float32, 6);
  array sum = addmm(array(nan), a.values, b.values, 1.0f, 0.0f);
  CHECK(worst_error(sum, a, b, 1, 5, 4, 6, true) < 1e-6);
}

TEST_CASE("matmul: bad operands are refused by name") {
  array a({1.0f, 2.0f}), b({1, 2});
  CHECK_THROWS_AS(matmul(array(1.0f), a), ValueError);
  CHECK_THROWS_AS(matmul(b, b), ValueError);
  CHECK_THROWS_WITH(matmul(a, array({1.0f, 2.0f, 3.0f})), doctest::Contains("[matmul]"));
}
