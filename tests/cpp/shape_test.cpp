// The shape and index families where Python cannot look: shared memory, layouts, copy kernels.
#include "mlx/ops/shape/shape.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "backend/cpu/copy.h"
#include "mlx/graph/node.h"
#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/index/index.h"

using namespace mlx::core;

namespace {

array counting(Shape shape) {
  int64_t n = element_count(shape);
  std::vector<float> v(static_cast<size_t>(n));
  std::iota(v.begin(), v.end(), 0.0f);
  return array(v.data(), std::move(shape), float32);
}

bool shares(const array& view, const array& base) {
  view.eval();
  return view.node()->buffer == base.node()->buffer;
}

std::vector<float> values(const array& a) {
  array dense = contiguous(a);
  const float* p = dense.data<float>();
  return std::vector<float>(p, p + dense.size());
}

}  // namespace

TEST_CASE("changes of shape are views of their input") {
  array x = counting(Shape{4, 6, 5});
  int axis = 1;
  std::span<const int> one(&axis, 1);
  CHECK(shares(reshape(x, Shape{2, -1}), x));
  CHECK(shares(flatten(x), x));
  CHECK(shares(unflatten(x, 1, Shape{2, 3}), x));
  CHECK(shares(expand_dims(x, 1), x));
  CHECK(shares(squeeze(expand_dims(x, 1), one), x));
  CHECK(shares(transpose(x), x));
  CHECK(shares(moveaxis(x, 0, 2), x));
  CHECK(shares(broadcast_to(x, Shape{3, 4, 6, 5}), x));
  CHECK(shares(slice(x, Shape{3, 1, 0}, Shape{-9, 5, 5}, Shape{-1, 2, 3}), x));
  CHECK(shares(flip(x, one), x));
  CHECK(shares(split(x, 3, 1)[1], x));
  CHECK(shares(diagonal(x, 1, 0, 1), transpose(x)) == false);  // merging these axes needs a copy
  CHECK(shares(diagonal(x, 1, 1, 2), x));
  CHECK(shares(as_strided(x, Shape{3, 3}, Strides{1, 2}, 7), x));
  CHECK(shares(view(x, int32), x));
  CHECK(shares(view(x, uint8), x));
  CHECK(shares(copy(x), x));
  CHECK(shares(contiguous(x), x));
  CHECK(shares(stop_gradient(x), x));
  CHECK(shares(reshape(transpose(x, Axes{1, 0, 2}), Shape{2, 3, 4, 5}), x));
  CHECK_FALSE(shares(reshape(transpose(x), Shape{-1}), x));
  CHECK_FALSE(shares(contiguous(transpose(x)), x));
  CHECK(shares(contiguous(transpose(x), true), x));
}

TEST_CASE("a constant takes no memory, however large") {
  array z = zeros(Shape{1 << 20, 1 << 20});
  z.eval();
  CHECK(z.node()->strides == Strides{0, 0});
  CHECK(z.node()->buffer->capacity() <= 64);
}

TEST_CASE("copies between any two layouts move every element to its place") {
  std::mt19937 random(7);
  auto pick = [&](int64_t lo, int64_t hi) {
    return std::uniform_int_distribution<int64_t>(lo, hi)(random);
  };
  for (int trial = 0; trial < 400; ++trial) {
    Dtype t = std::array{uint8, uint16, uint32, uint64}[size_t(trial) % 4];
    int ndim = int(pick(0, 4));
    Shape shape;
    for (int i = 0; i < ndim; ++i) {
      shape.push_back(pick(0, 9) ? pick(1, trial % 8 ? 6 : 90) : 0);
    }
    if (element_count(shape) > 300000) {
      continue;
    }
    // Both sides: a random order of axes, gaps between elements, some axes backwards.
    auto layout = [&](std::vector<unsigned char>& memory, bool may_repeat) {
      Operand o;
      o.dtype = t;
      o.shape = shape;
      o.size = element_count(shape);
      o.strides.resize(size_t(ndim), 0);
      Axes order;
      for (int i = 0; i < ndim; ++i) {
        order.insert(order.begin() + pick(0, i), i);
      }
      int64_t stride = pick(1, 2), first = 0;
      for (int i : order) {
        if (may_repeat && pick(0, 5) == 0) {
          continue;
        }
        bool backwards = pick(0, 3) == 0;
        o.strides[i] = backwards ? -stride : stride;
        first += backwards ? (std::max<int64_t>(shape[i], 1) - 1) * stride : 0;
        stride *= std::max<int64_t>(shape[i], 1) + pick(0, 1);
      }
      memory.assign(size_t((stride + 1) * t.size()), 0);
      o.data = memory.data() + first * t.size();
      return o;
    };
    std::vector<unsigned char> a, b;
    Operand from = layout(a, true), to = layout(b, false);
    for (auto& byte : a) {
      byte = uint8_t(random());
    }
    std::vector<unsigned char> untouched = b;
    cpu::copy_operand(from, to);
    Strides both[2] = {from.strides, to.strides};
    Plan p = plan(shape, both);
    bool same = true;
    Odometer o(p, 0);
    for (int64_t i = 0; i < p.size; ++i, o.next()) {
      auto* x = static_cast<unsigned char*>(from.data) + o.offset(0) * t.size();
      auto* y = static_cast<unsigned char*>(to.data) + o.offset(1) * t.size();
      same &= std::equal(x, x + t.size(), y);
      std::fill_n(y, t.size(), uint8_t(0));
    }
    CHECK(same);
    CHECK(b == untouched);  // nothing between the elements was written
  }
}

TEST_CASE("an update of a value nobody else holds is written in place") {
  std::optional<array> x = exp(counting(Shape{64, 64}));
  x->eval();
  const void* before = x->data();
  array row = slice_update(*x, ones(Shape{1, 64}), Shape{3, 0}, Shape{1, 1});
  x.reset();
  row.eval();
  CHECK(row.data() == before);
  CHECK(row.data<float>()[3 * 64] == 1.0f);
  CHECK(row.data<float>()[4 * 64 - 64 - 1] == std::exp(3.0f * 64 - 1));
}

TEST_CASE("rows of a scatter meet in the order of their indices") {
  int64_t n = 100000;
  std::vector<int32_t> index;
  std::vector<float> update;
  for (int64_t i = 0; i < n; ++i) {
    index.push_back(int32_t(i * 7919 % 1000) - (i % 3 ? 0 : 1000));
    update.push_back(float(i));
  }
  array at(index.data(), Shape{n}, int32), value(update.data(), Shape{n}, float32);
  array out = scatter(zeros(Shape{1000}), std::span(&at, 1), value, Axes{0});
  std::vector<float> expected(1000, 0.0f);
  for (int64_t i = 0; i < n; ++i) {
    expected[size_t(index[size_t(i)] + 1000) % 1000] = update[size_t(i)];
  }
  CHECK(values(out) == expected);
}
