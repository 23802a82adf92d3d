// The choice of the sorting kernels, and sorting on several threads: partitions around sampled
// medians, one more level than there are threads, then one part a thread.
#include "backend/cpu/sort_engine.h"

#include <algorithm>
#include <vector>

#include "backend/cpu/level_table.h"

namespace mlx::core::cpu {

// Generated from the option MLX_CPU_ISA_LEVELS: one LEVEL(name) each.
#define LEVEL(name)                  \
  namespace name {                   \
  void fill_sorts(SortTable& t);     \
  void fill_sort_keys(SortTable& t); \
  }
#include "backend/cpu/tile_levels.def"
#undef LEVEL

namespace {

constexpr Level<SortTable> levels[] = {
#define LEVEL(name)           \
  {#name, [](SortTable& t) {  \
     name::fill_sorts(t);     \
     name::fill_sort_keys(t); \
   }},
#include "backend/cpu/tile_levels.def"
#undef LEVEL
};

template <typename K>
struct Part {
  K* keys;
  int64_t n;
};

template <typename K>
K sampled_median(const K* keys, int64_t n) {
  constexpr int64_t size = 1024;
  K sample[size];
  for (int64_t i = 0; i < size; ++i) sample[i] = keys[i * (n / size)];
  sort_kernels<K>().select(sample, size, size / 2, sort_rounds(size));
  return sample[size / 2];
}

template <typename K>
int64_t split(Part<K> p) {
  K pivot = sampled_median(p.keys, p.n);
  int64_t count = sort_kernels<K>().part(p.keys, p.n, pivot);
  // The pivot may be the least key: then put all equal ones in front.
  bool least = count == 0 && pivot != std::numeric_limits<K>::max();
  return least ? sort_kernels<K>().part(p.keys, p.n, K(pivot + 1)) : count;
}

template <typename K>
void sort_on_threads(K* keys, int64_t n) {
  const SortKernels<K>& kernels = sort_kernels<K>();
  if (n < 2 * sorted_together || thread_count() == 1) {
    return kernels.sort(keys, n, sort_rounds(n));
  }
  std::vector<Part<K>> parts{{keys, n}};
  while (int64_t(parts.size()) < 2 * thread_count()) {
    std::vector<Part<K>> halves(2 * parts.size());
    parallel_for(int64_t(parts.size()), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        Part<K> p = parts[size_t(i)];
        int64_t count = p.n < sorted_together ? 0 : split(p);
        halves[size_t(2 * i)] = {p.keys, count};
        halves[size_t(2 * i + 1)] = {p.keys + count, p.n - count};
      }
    });
    parts = std::move(halves);
  }
  parallel_for(int64_t(parts.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Part<K> p = parts[size_t(i)];
      kernels.sort(p.keys, p.n, sort_rounds(p.n));
    }
  });
}

}  // namespace

const SortTable& sort_table(const char* wanted) { return table_of_level(levels, wanted); }

const SortTable& sort_table() {
  static const SortTable& table = sort_table(tile_table().isa);
  return table;
}

void sort_keys(int32_t* keys, int64_t n) { sort_on_threads(keys, n); }
void sort_keys(int64_t* keys, int64_t n) { sort_on_threads(keys, n); }

}  // namespace mlx::core::cpu
