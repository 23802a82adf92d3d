// The sorting kernels of every instruction set against the standard library: all sizes around a
// block, patterns that quicksorts dislike, and the method that is taken when partitions go wrong.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "backend/cpu/sort_table.h"

using namespace mlx::core::cpu;

namespace {

template <typename K>
std::vector<K> pattern(int kind, int64_t n) {
  std::mt19937_64 random(uint64_t(kind * 1000 + n));
  std::vector<K> x(size_t(n), K(0));
  constexpr K low = std::numeric_limits<K>::min(), high = std::numeric_limits<K>::max();
  for (int64_t i = 0; i < n; ++i) {
    K r = K(random()),
      values[] = {
          r, K(i), K(-i), K(7), K(r % 3), r % 2 ? high : r, r % 2 ? low : high, K(i % 7 * 1000)};
    x[size_t(i)] = values[kind];
  }
  return x;
}
constexpr int patterns = 8;

// The vectors are as long as their contents: a sanitizer sees what is written past them.
template <typename K>
void check_sort(const SortKernels<K>& kernels, const std::vector<K>& x, int rounds) {
  int64_t n = int64_t(x.size());
  std::vector<K> want = x, got = x;
  std::sort(want.begin(), want.end());
  kernels.sort(got.data(), n, rounds);
  CHECK(got == want);
  for (int64_t k : {int64_t(0), n / 3, n / 2, n - 1}) {
    got = x;
    kernels.select(got.data(), n, k, rounds);
    K key = got[size_t(k)];
    bool divided = true;
    for (int64_t i = 0; i < n; ++i)
      divided &= i < k ? got[size_t(i)] <= key : got[size_t(i)] >= key;
    CHECK(divided);
    CHECK(key == want[size_t(k)]);
    std::sort(got.begin(), got.end());
    CHECK(got == want);
  }
  K pivot = want[size_t(n / 2)];
  CHECK(kernels.count(x.data(), n, pivot) == std::count(x.begin(), x.end(), pivot));
  got = x;
  int64_t count = kernels.part(got.data(), n, pivot);
  CHECK(count == std::lower_bound(want.begin(), want.end(), pivot) - want.begin());
  CHECK(std::all_of(got.begin(), got.begin() + count, [&](K key) { return key < pivot; }));
  std::sort(got.begin(), got.end());
  CHECK(got == want);
}

template <typename K>
void check_sorts(const SortKernels<K>& kernels) {
  for (int kind = 0; kind < patterns; ++kind) {
    for (int64_t n = 1; n < 600; n += n < 40 ? 1 : 13) {
      check_sort(kernels, pattern<K>(kind, n), sort_rounds(n));
    }
    for (int64_t n : {1000, 5000, 70000}) {
      check_sort(kernels, pattern<K>(kind, n), sort_rounds(n));
      check_sort(kernels, pattern<K>(kind, n), 0);
      check_sort(kernels, pattern<K>(kind, n), 3);
    }
  }
}

void check_divide(const SortTable& table, const std::vector<int32_t>& keys, int64_t equals) {
  int64_t n = int64_t(keys.size());
  std::vector<int32_t> sorted = keys;
  std::sort(sorted.begin(), sorted.end());
  int32_t middle = sorted[size_t(n / 2)];
  std::vector<uint32_t> before, behind;
  int64_t rest = equals;
  for (int64_t i = 0; i < n; ++i) {
    int32_t key = keys[size_t(i)];
    bool low = key < middle || (key == middle && rest-- > 0);
    (low ? before : behind).push_back(uint32_t(i));
  }
  std::vector<uint32_t> low(before.size() + 16), high(behind.size() + 16);
  int64_t count = table.divide(keys.data(), n, middle, equals, low.data(), high.data());
  CHECK(count == int64_t(before.size()));
  low.resize(before.size());
  high.resize(behind.size());
  CHECK(low == before);
  CHECK(high == behind);
}

}  // namespace

TEST_CASE("sorting kernels of every instruction set") {
  for (const char* const* level = tile_levels(); *level; ++level) {
    CAPTURE(std::string(*level));
    const SortTable& table = sort_table(*level);
    check_sorts(table.narrow);
    check_sorts(table.wide);
    for (int kind = 0; kind < patterns; ++kind) {
      for (int64_t n : {1, 7, 8, 15, 16, 17, 100, 1000, 4099}) {
        for (int64_t equals : {0, 1, 3}) check_divide(table, pattern<int32_t>(kind, n), equals);
      }
    }
  }
}
