// Sort and partition in all modes, a line at a time. Lines of values are sorted as exact keys and
// mended where equal elements differ in bits; all else goes by positions, which are unique.
#include <algorithm>

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
}

void Lines::gather(const char* from, int64_t count, char* to) const {
  dispatch_size(x.dtype.size(), [&]<typename T>() {
    const T* f = reinterpret_cast<const T*>(from);
    T* t = reinterpret_cast<T*>(to);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t k = 0; k < count; ++k) t[k * n + i] = f[i * x_step + k * x_next];
    }
  });
}

void Lines::scatter(const char* from, int64_t count, char* to) const {
  dispatch_size(y.dtype.size(), [&]<typename T>() {
    const T* f = reinterpret_cast<const T*>(from);
    T* t = reinterpret_cast<T*>(to);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t k = 0; k < count; ++k) t[i * y_step + k * y_next] = f[k * m + i];
    }
  });
}

namespace {

constexpr int64_t short_line = 128;  // sorted whole by partitions

// Equal elements that differ in bits, in the order of x: NaNs and zeros of both signs. `keys` are
// sorted.
template <typename T>
void mend_equals(const T* x, int64_t n, const KeyOf<T>* keys, T* y) {
  if constexpr (!std::is_integral_v<T>) {
    const KeyOf<T>* last = keys + n;
    constexpr KeyOf<T> nan = std::numeric_limits<KeyOf<T>>::max();
    int64_t at = std::lower_bound(keys, last, nan) - keys;
    for (int64_t i = 0; at < n; ++i) {
      if (is_nan(x[i])) y[at++] = x[i];
    }
    const KeyOf<T> zero = 0;  // and -1 for the negative one
    at = std::lower_bound(keys, last, zero - 1) - keys;
    int64_t positive = std::lower_bound(keys + at, last, zero) - keys;
    int64_t end = std::upper_bound(keys + positive, last, zero) - keys;
    if (at == positive || positive == end) return;
    for (int64_t i = 0; at < end; ++i) {
      if (key_of<KeyKind::canonical>(x[i]) == zero) y[at++] = x[i];
    }
  }
}

template <typename T>
void gather_positions(const T* x, const uint32_t* order, int64_t n, T* y) {
  for (int64_t i = 0; i < n; ++i) y[i] = x[order[i]];
}

// Values; the scratch holds a key for each element.
template <typename T>
void sort_values(const T* x, int64_t n, T* y, void* scratch) {
  if constexpr (std::is_same_v<T, complex64_t>) {
    uint32_t* order = static_cast<uint32_t*>(scratch);
    sorted_order(x, n, order, order + (n + 15) / 16 * 16);
    gather_positions(x, order, n, y);
  } else {
    KeyOf<T>* keys = static_cast<KeyOf<T>*>(scratch);
    parallel_for(n, sorted_together, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) keys[i] = key_of<KeyKind::exact>(x[i]);
    });
    sort_keys(keys, n);
    parallel_for(n, sorted_together, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) y[i] = value_of<T>(keys[i]);
    });
    mend_equals(x, n, keys, y);
  }
}

// The key of rank k of a line.
template <typename T>
KeyOf<T> select(const T* x, int64_t n, int64_t k, KeyOf<T>* keys) {
  for (int64_t i = 0; i < n; ++i) keys[i] = key_of<KeyKind::canonical>(x[i]);
  select_key(keys, n, k);
  return keys[k];
}

// Positions of the elements before rank k, of the one of rank k, and of those behind it.
template <typename T>
void partition_order(const T* x, int64_t n, int64_t k, uint32_t* order, void* scratch) {
  if (n <= short_line) return sorted_order(x, n, order, scratch);
  KeyOf<T>* keys = static_cast<KeyOf<T>*>(scratch);
  KeyOf<T> middle = select(x, n, k, keys);
  int64_t less = 0;
  for (int64_t i = 0; i < k; ++i) less += keys[i] < middle;
  int64_t equals = k - less;  // of them, those that go before
  int64_t before = 0, behind = k + 1;
  for (int64_t i = 0; i < n; ++i) {
    KeyOf<T> key = key_of<KeyKind::canonical>(x[i]);
    if (key < middle || (key == middle && equals-- > 0)) {
      order[before++] = uint32_t(i);
    } else if (key == middle && equals == -1) {
      order[k] = uint32_t(i);
    } else {
      order[behind++] = uint32_t(i);
    }
  }
}

// Positions of the k largest, ascending.
template <typename T>
void topk_order(const T* x, int64_t n, int64_t k, uint32_t* order, void* scratch) {
  uint32_t* all = static_cast<uint32_t*>(scratch);
  sorted_order(x, n, all, all + (n + 15) / 16 * 16);
  std::copy(all + n - k, all + n, order);
}

// Position of the element that stands `nth` among those of this key.
template <typename T>
uint32_t position(const T* x, KeyOf<T> key, int64_t nth) {
  for (int64_t i = 0;; ++i) {
    if (key_of<KeyKind::canonical>(x[i]) == key && nth-- == 0) return uint32_t(i);
  }
}

template <typename T>
void middle_order(const T* x, int64_t n, uint32_t* order, void* scratch) {
  for (int64_t i = 0; i < n; ++i) {
    if (is_nan(x[i])) {
      order[0] = order[1] = uint32_t(i);
      return;
    }
  }
  KeyOf<T>* keys = static_cast<KeyOf<T>*>(scratch);
  int64_t high = n / 2, low = (n - 1) / 2;
  KeyOf<T> key = select(x, n, high, keys);
  int64_t less = 0;
  for (int64_t i = 0; i < high; ++i) less += keys[i] < key;
  order[0] = order[1] = position(x, key, high - less);
  if (low == high) return;
  KeyOf<T> lower = *std::max_element(keys, keys + high);
  less = 0;
  for (int64_t i = 0; i < high; ++i) less += keys[i] < lower;
  order[0] = position(x, lower, low - less);
}

template <typename T>
void sort_positions(const Sort& p, const T* x, int64_t n, uint32_t* order, void* scratch) {
  switch (p.mode) {
    case SortMode::sort:
    case SortMode::argsort:
      return sorted_order(x, n, order, scratch);
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

}  // namespace
}  // namespace cpu

void eval_cpu(const Sort& p, Inputs in, Outputs out, Encoder& e) {
  using namespace cpu;  // NOLINT
  Lines lines(in[0], out[0], p.axis);
  int64_t n = lines.n, m = lines.m, order_bytes = (4 * n + 63) / 64 * 64;
  int64_t scratch_bytes = 2 * order_bytes + order_scratch(n);
  dispatch(AllTypes{}, in[0].dtype, "sort", [&]<typename T>() {
    for_lines(lines, scratch_bytes, e, [&](const char* from, char* to, char* scratch) {
      const T* x = reinterpret_cast<const T*>(from);
      if (p.gives_positions()) {
        sort_positions(p, x, n, reinterpret_cast<uint32_t*>(to), scratch);
      } else if (p.mode == SortMode::sort) {
        sort_values(x, n, reinterpret_cast<T*>(to), scratch);
      } else {
        uint32_t* order = reinterpret_cast<uint32_t*>(scratch);
        sort_positions(p, x, n, order, scratch + order_bytes);
        gather_positions(x, order, m, reinterpret_cast<T*>(to));
      }
    });
  });
}

}  // namespace mlx::core
