// searchsorted by binary search, and unique by positions in sorted order.
#include <algorithm>

#include "backend/cpu/evaluators.h"
#include "backend/cpu/sort_lines.h"

namespace mlx::core {

namespace cpu {
namespace {

// How many of the n sorted elements come before `key`, equal ones included on the right side.
// Halving without a branch: `first` elements are known to come before.
template <typename T>
int64_t count_before(const T* sorted, int64_t step, int64_t n, KeyOf<T> key, SearchSide side) {
  int64_t first = 0;
  for (int64_t rest = n; rest > 0;) {
    int64_t half = (rest + 1) / 2;
    KeyOf<T> probe = key_of<KeyKind::canonical>(sorted[(first + half - 1) * step]);
    bool before = side == SearchSide::left ? probe < key : probe <= key;
    first += before ? half : 0;
    rest = before ? rest - half : half - 1;
  }
  return first;
}

// Ranks, first positions and counts of one line from its sorted order.
template <typename T>
void unique_line(const T* x, int64_t n, const uint32_t* order, uint32_t* ranks, uint32_t* firsts,
                 int32_t* counts, int64_t size) {
  int64_t rank = -1;
  KeyOf<T> last = 0;
  for (int64_t i = 0; i < n; ++i) {
    T v = x[order[i]];
    KeyOf<T> key = key_of<KeyKind::canonical>(v);
    if (i == 0 || key != last || is_nan(v)) {
      last = key;
      if (++rank < size) {
        firsts[rank] = order[i];
        counts[rank] = 0;
      }
    }
    if (rank < size) ++counts[rank];
    ranks[order[i]] = uint32_t(std::min(rank, std::max<int64_t>(size - 1, 0)));
  }
  for (int64_t r = rank + 1; r < size; ++r) {
    firsts[r] = order[0];
    counts[r] = 0;
  }
}

}  // namespace
}  // namespace cpu

void eval_cpu(const SearchSorted& p, Inputs in, Outputs out, Encoder&) {
  using namespace cpu;  // NOLINT
  const Operand &sorted = in[0], &values = in[1];
  // The batch is in front of both; its strides are 0 for the axes of the values.
  Strides of_sorted(sorted.strides.begin(), sorted.strides.end() - 1);
  of_sorted.resize(values.shape.size(), 0);
  const Strides strides[] = {of_sorted, values.strides};
  Plan walk = plan(values.shape, strides);
  int64_t n = sorted.shape.back(), step = sorted.strides.back();
  uint32_t* y = out[0].ptr<uint32_t>();
  dispatch(AllTypes{}, sorted.dtype, "searchsorted", [&]<typename T>() {
    parallel_for(walk.size, 1 << 10, [&](int64_t begin, int64_t end) {
      Odometer o(walk, 0);
      o.seek(begin);
      for (int64_t i = begin; i < end; ++i, o.next()) {
        KeyOf<T> key = key_of<KeyKind::canonical>(values.ptr<const T>()[o.offset(1)]);
        y[i] = uint32_t(count_before(sorted.ptr<const T>() + o.offset(0), step, n, key, p.side));
      }
    });
  });
}

void eval_cpu(const Unique& p, Inputs in, Outputs out, Encoder& e) {
  using namespace cpu;  // NOLINT
  const Operand& x = in[0];
  Lines lines(x, out[0], x.ndim() - 1);
  int64_t n = lines.n, order_bytes = (4 * n + 63) / 64 * 64;
  uint32_t *ranks = out[0].ptr<uint32_t>(), *firsts = out[1].ptr<uint32_t>();
  int32_t* counts = out[2].ptr<int32_t>();
  dispatch(AllTypes{}, x.dtype, "unique", [&]<typename T>() {
    for_lines(lines, order_bytes + 8 * n, e, [&](const char* from, char* to, char* scratch) {
      const T* line = reinterpret_cast<const T*>(from);
      uint32_t *order = reinterpret_cast<uint32_t*>(scratch),
               *to_ranks = reinterpret_cast<uint32_t*>(to);
      int64_t number = (to_ranks - ranks) / n;
      sorted_order(line, n, order, reinterpret_cast<int64_t*>(scratch + order_bytes));
      unique_line(line, n, order, to_ranks, firsts + number * p.size, counts + number * p.size,
                  p.size);
    });
  });
}

}  // namespace mlx::core
