// Threefry against its published test vectors, and the layout of words in an output.
#include "mlx/ops/random/random.h"

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "mlx/ops/random/threefry.h"

using namespace mlx::core;

namespace {

array bits_of(uint64_t seed, Shape shape, int width) {
  return random::bits(shape, width, random::key(seed));
}

std::vector<uint32_t> expected_words(uint64_t seed, int64_t count) {
  random::WordPlan plan = random::word_plan(count);
  uint32_t k0 = uint32_t(seed >> 32), k1 = uint32_t(seed);
  std::vector<uint32_t> words(static_cast<size_t>(count));
  for (int64_t i = 0; i < plan.half; ++i) {
    auto w = random::threefry(k0, k1, random::counter(plan, i));
    words[size_t(i)] = w.x0;
    words[size_t(i + plan.second)] = w.x1;
  }
  if (count % 2) {
    random::WordPair<uint32_t> middle{uint32_t(plan.half), 0};
    words[size_t(plan.half)] = random::threefry(k0, k1, middle).x0;
  }
  return words;
}

}  // namespace

TEST_CASE("threefry: published test vectors") {
  struct Case {
    uint32_t k0, k1, c0, c1, x0, x1;
  };
  const Case cases[] = {
      {0, 0, 0, 0, 0x6b200159u, 0x99ba4efeu},
      {~0u, ~0u, ~0u, ~0u, 0x1cb996fcu, 0xbb002be7u},
      {0x13198a2eu, 0x03707344u, 0x243f6a88u, 0x85a308d3u, 0xc4923a9cu, 0x483df7a0u},
  };
  for (const Case& c : cases) {
    auto w = random::threefry(c.k0, c.k1, random::WordPair<uint32_t>{c.c0, c.c1});
    CHECK(w.x0 == c.x0);
    CHECK(w.x1 == c.x1);
  }
}

TEST_CASE("threefry: counters beyond 32 bits are not used twice") {
  random::WordPlan plan = random::word_plan(int64_t(1) << 35);
  for (int64_t i : {int64_t(0), int64_t(1), int64_t(12345)}) {
    auto a = random::counter(plan, i), b = random::counter(plan, i + (int64_t(1) << 32));
    CHECK(a.x0 == b.x0);
    CHECK(a.x1 != b.x1);
  }
}

TEST_CASE("random bits: every size and width cuts the same words") {
  for (int width : {1, 2, 4, 8}) {
    for (int64_t n : {1, 2, 3, 5, 7, 8, 63, 64, 65, 129, 1000, 16383, 20001, 70003}) {
      CAPTURE(width);
      CAPTURE(n);
      array a = bits_of(77, {n}, width);
      int64_t bytes = n * width;
      std::vector<uint32_t> words = expected_words(77, (bytes + 3) / 4);
      CHECK(a.itemsize() == width);
      CHECK(std::memcmp(a.data(), words.data(), size_t(bytes)) == 0);
    }
  }
}

TEST_CASE("random state: split on the host equals split of the key") {
  random::seed(123456789012345);
  array keys = random::split(random::key(123456789012345), 2);
  array drawn = random::bits({5});
  array second(keys.data<uint32_t>() + 2, {2}, uint32);
  array expected = random::bits({5}, 4, second);
  CHECK(std::memcmp(drawn.data(), expected.data(), 20) == 0);
  CHECK(std::memcmp(random::state().data(), keys.data(), 8) == 0);
}
