// Sort and partition in all modes, a line at a time. Lines of values are sorted as exact keys and
// mended where equal elements differ in bits; all else goes by positions, which are unique.
#include <algorithm>
#include <limits>

#include "backend/cpu/evaluators.h"
#include "backend/cpu/sort_lines.h"

namespace mlx::core {

namespace cpu {

Lines::Lines(const Operand& x, const Operand& y, int axis)
    : x(x), y(y), n(x.shape[axis]), m(y.shape[axis]) {
  Shape shape = x.shape;
  Strides strides[] = {x.strides, row_major(y.shape)};
  x_step = strides[0][axis];
  y_step = strides[1][axis];
  shape.erase(shape.begin() + axis);
  for (Strides& s : strides) s.erase(s.begin() + axis);
  outer = plan(shape, strides);
  neighbours = outer.shape.empty() ? 1 : outer.shape.back();
  x_next = outer.shape.empty() ? 0 : outer.strides[0].back();
  y_next = outer.shape.empty() ? 0 : outer.strides[1].back();
  // Neighbours share cache lines; their tile should stay in the cache.
  constexpr int64_t most = 16, bytes = 1 << 20;
  bool strided = gathers() || scatters();
  tile = strided ? std::clamp<int64_t>(bytes / (n * x.dtype.size()), 4, most) : 1;
  tile = std::min(tile, neighbours);
  auto distance = [](int64_t n, int64_t size) { return ((n * size + 63) / 64 + 1) * 64 / size; };
  x_line = distance(n, x.dtype.size());
  y_line = distance(m, y.dtype.size());
}

void Lines::gather(const char* from, int64_t count, char* to) const {
  dispatch_size(x.dtype.size(), [&]<typename T>() {
    const T* f = reinterpret_cast<const T*>(from);
    T* t = reinterpret_cast<T*>(to);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t k = 0; k < count; ++k) t[k * x_line + i] = f[i * x_step + k * x_next];
    }
  });
}

void Lines::scatter(const char* from, int64_t count, char* to) const {
  dispatch_size(y.dtype.size(), [&]<typename T>() {
    const T* f = reinterpret_cast<const T*>(from);
    T* t = reinterpret_cast<T*>(to);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t k = 0; k < count; ++k) t[i * y_step + k * y_next] = f[k * y_line + i];
    }
  });
}

namespace {

constexpr int64_t short_line = 128;  // sorted whole by partitions

constexpr int64_t padded(int64_t n) { return (n + 63) / 64 * 64; }

// Memory for one line: arrays of n elements and some more, one behind the other.
class LineScratch {
 public:
  explicit LineScratch(char* memory) : at_(memory) {}
  static constexpr int64_t bytes(int64_t n, int arrays, int64_t itemsize) {
    return arrays * padded((n + slack) * itemsize);
  }
  template <typename T>
  T* take(int64_t n) {
    T* p = reinterpret_cast<T*>(at_);
    at_ += bytes(n, 1, sizeof(T));
    return p;
  }

 private:
  static constexpr int64_t slack = 16;  // kernels write whole vectors
  char* at_;
};

// Ranges of sorted exact keys whose elements may differ in bits: NaNs, zeros of both signs.
struct Equals {
  int64_t zeros, zeros_end, nans;
};
template <typename K>
Equals equals_in(const K* keys, int64_t n) {
  const K* last = keys + n;
  int64_t negative = std::lower_bound(keys, last, K(-1)) - keys;
  int64_t positive = std::lower_bound(keys + negative, last, K(0)) - keys;
  int64_t end = std::upper_bound(keys + positive, last, K(0)) - keys;
  int64_t nans = std::lower_bound(keys + end, last, std::numeric_limits<K>::max()) - keys;
  return {negative, negative == positive || positive == end ? negative : end, nans};
}

// Puts these elements in the order they have in x.
template <typename T>
void mend_equals(Equals e, const T* x, int64_t n, T* y) {
  for (int64_t i = 0; e.nans < n; ++i) {
    if (is_nan(x[i])) y[e.nans++] = x[i];
  }
  for (int64_t i = 0; e.zeros < e.zeros_end; ++i) {
    if (key_of<KeyKind::canonical>(x[i]) == 0) y[e.zeros++] = x[i];
  }
}

template <typename T>
void gather_positions(const T* x, const uint32_t* order, int64_t n, T* y) {
  for (int64_t i = 0; i < n; ++i) y[i] = x[order[i]];
}

template <typename T>
void sort_bytes(const T* x, int64_t n, T* y) {
  int64_t counts[256] = {};
  constexpr int least = std::is_signed_v<T> ? -128 : 0;
  for (int64_t i = 0; i < n; ++i) ++counts[int(x[i]) - least];
  for (int v = 0; v < 256; ++v) {
    std::fill_n(y, counts[v], T(v + least));
    y += counts[v];
  }
}

template <typename T>
void sort_values(const T* x, int64_t n, T* y, LineScratch scratch) {
  if constexpr (std::is_same_v<T, complex64_t>) {
    uint32_t* order = scratch.take<uint32_t>(n);
    sorted_order(x, n, order, scratch.take<int64_t>(n));
    gather_positions(x, order, n, y);
  } else if constexpr (sizeof(T) == 1) {
    sort_bytes(x, n, y);
  } else {
    using K = KeyOf<T>;
    K* keys = sizeof(K) == sizeof(T) ? reinterpret_cast<K*>(y) : scratch.take<K>(n);
    parallel_for(n, sorted_together, [&](int64_t begin, int64_t end) {
      key_kernels<T>().exact(x + begin, end - begin, keys + begin);
    });
    sort_keys(keys, n);
    Equals equals{};
    if constexpr (!std::is_integral_v<T>) equals = equals_in(keys, n);
    parallel_for(n, sorted_together, [&](int64_t begin, int64_t end) {
      key_kernels<T>().values(keys + begin, end - begin, y + begin);
    });
    if constexpr (!std::is_integral_v<T>) mend_equals(equals, x, n, y);
  }
}

// Keys of a line, and the same with the one of rank k in its place.
template <typename K>
struct Selected {
  const K* keys;
  const K* ranked;
  uint32_t *before, *behind;  // room for positions; the first is that of `ranked`
};
template <typename T>
Selected<KeyOf<T>> select(const T* x, int64_t n, int64_t k, LineScratch& scratch) {
  using K = KeyOf<T>;
  K *keys = scratch.take<K>(n), *ranked = scratch.take<K>(n);
  key_kernels<T>().canonical(x, n, keys);
  std::copy_n(keys, n, ranked);
  sort_kernels<K>().select(ranked, n, k, sort_rounds(n));
  return {keys, ranked, reinterpret_cast<uint32_t*>(ranked), scratch.take<uint32_t>(n)};
}

int64_t divide(const int32_t* keys, int64_t n, int32_t middle, int64_t equals, uint32_t* before,
               uint32_t* behind) {
  return sort_table().divide(keys, n, middle, equals, before, behind);
}
int64_t divide(const int64_t* keys, int64_t n, int64_t middle, int64_t equals, uint32_t* before,
               uint32_t* behind) {
  int64_t lows = 0;
  for (int64_t i = 0; i < n; ++i) {
    bool low = keys[i] < middle || (keys[i] == middle && equals-- > 0);
    before[lows] = uint32_t(i);
    behind[i - lows] = uint32_t(i);
    lows += low;
  }
  return lows;
}

template <typename K>
int64_t count_equal(const K* keys, int64_t n, K key) {
  return sort_kernels<K>().count(keys, n, key);
}

// Positions of the elements before rank k, of the one of rank k, and of those behind it.
template <typename T>
void partition_order(const T* x, int64_t n, int64_t k, uint32_t* order, LineScratch scratch) {
  if (n <= short_line) return sorted_order(x, n, order, scratch.take<int64_t>(n));
  auto s = select(x, n, k, scratch);
  KeyOf<T> middle = s.ranked[k];
  divide(s.keys, n, middle, 1 + count_equal(s.ranked, k, middle), s.before, s.behind);
  int64_t at = k;  // the last of the equal ones has rank k
  while (s.keys[s.before[at]] != middle) --at;
  std::copy_n(s.before, at, order);
  std::copy_n(s.before + at + 1, k - at, order + at);
  order[k] = s.before[at];
  std::copy_n(s.behind, n - k - 1, order + k + 1);
}

// Positions of the k largest, ascending.
template <typename T>
void topk_order(const T* x, int64_t n, int64_t k, uint32_t* order, LineScratch scratch) {
  int64_t* pairs = scratch.take<int64_t>(n);
  if (n <= short_line) {
    uint32_t* all = scratch.take<uint32_t>(n);
    sorted_order(x, n, all, pairs);
    std::copy_n(all + n - k, k, order);
    return;
  }
  auto s = select(x, n, n - k, scratch);
  KeyOf<T> least = s.ranked[n - k];
  divide(s.keys, n, least, count_equal(s.ranked, n - k, least), s.before, s.behind);
  for (int64_t i = 0; i < k; ++i) {
    uint32_t position = s.behind[i];
    int64_t key = s.keys[position];
    pairs[i] = (sizeof(KeyOf<T>) == 8 ? key >> 32 : key) * (int64_t(1) << 32) + position;
  }
  sort_pairs(x, pairs, k);
  sort_table().positions(pairs, k, order);
}

// Position of the element that stands `nth` among those of this key.
template <typename K>
uint32_t position_of(const K* keys, K key, int64_t nth) {
  for (int64_t i = 0;; ++i) {
    if (keys[i] == key && nth-- == 0) return uint32_t(i);
  }
}

template <typename T>
void middle_order(const T* x, int64_t n, uint32_t* order, LineScratch scratch) {
  using K = KeyOf<T>;
  int64_t high = n / 2, low = (n - 1) / 2;
  auto s = select(x, n, high, scratch);
  constexpr K nan = std::numeric_limits<K>::max();
  if (!std::is_integral_v<T> && count_equal(s.ranked + high, n - high, nan) > 0) {
    order[0] = order[1] = position_of(s.keys, nan, 0);
    return;
  }
  K key = s.ranked[high];
  int64_t equals = count_equal(s.ranked, high, key);
  order[0] = order[1] = position_of(s.keys, key, equals);
  if (low == high) return;
  K lower = *std::max_element(s.ranked, s.ranked + high);
  order[0] = position_of(s.keys, lower, count_equal(s.ranked, high, lower) - 1);
}

template <typename T>
void sort_positions(const Sort& p, const T* x, int64_t n, uint32_t* order, LineScratch scratch) {
  switch (p.mode) {
    case SortMode::sort:
    case SortMode::argsort:
      return sorted_order(x, n, order, scratch.take<int64_t>(n));
    case SortMode::partition:
    case SortMode::argpartition:
      return partition_order(x, n, p.k < 0 ? p.k + n : p.k, order, scratch);
    case SortMode::topk:
    case SortMode::argtopk:
      return topk_order(x, n, p.k, order, scratch);
    case SortMode::argmiddle:
      return middle_order(x, n, order, scratch);
  }
}

// What the functions above take for one line.
int64_t scratch_for(const Sort& p, int64_t n, int64_t itemsize) {
  int64_t positions = LineScratch::bytes(n, 1, 4), pairs = LineScratch::bytes(n, 1, 8);
  int64_t keys = LineScratch::bytes(n, 2, itemsize == 8 ? 8 : 4);
  switch (p.mode) {
    case SortMode::sort:
      return itemsize == 1 ? 0 : itemsize == 2 ? positions : itemsize == 4 ? 0 : positions + pairs;
    case SortMode::argsort:
      return pairs;
    case SortMode::partition:
    case SortMode::argpartition:
    case SortMode::topk:
    case SortMode::argtopk:
    case SortMode::argmiddle:
      return 2 * positions + pairs + keys;
  }
  return 0;
}

}  // namespace
}  // namespace cpu

void eval_cpu(const Sort& p, Inputs in, Outputs out, Encoder& e) {
  using namespace cpu;  // NOLINT
  Lines lines(in[0], out[0], p.axis);
  int64_t n = lines.n, m = lines.m, scratch_bytes = scratch_for(p, n, in[0].dtype.size());
  dispatch(AllTypes{}, in[0].dtype, "sort", [&]<typename T>() {
    for_lines(lines, scratch_bytes, e, [&](const char* from, char* to, char* memory) {
      const T* x = reinterpret_cast<const T*>(from);
      LineScratch scratch(memory);
      if (p.gives_positions()) {
        sort_positions(p, x, n, reinterpret_cast<uint32_t*>(to), scratch);
      } else if (p.mode == SortMode::sort) {
        sort_values(x, n, reinterpret_cast<T*>(to), scratch);
      } else {
        uint32_t* order = scratch.take<uint32_t>(n);
        sort_positions(p, x, n, order, scratch);
        gather_positions(x, order, m, reinterpret_cast<T*>(to));
      }
    });
  });
}

}  // namespace mlx::core
