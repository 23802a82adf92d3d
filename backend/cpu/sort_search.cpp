// searchsorted by many binary searches at a time, and unique from sorted pairs of key and position.
#include <algorithm>
#include <limits>
#include <vector>

#include "backend/cpu/evaluators.h"
#include "backend/cpu/sort_lines.h"

namespace mlx::core {

namespace cpu {
namespace {

constexpr int together = 16;  // searches that wait for memory at the same time
constexpr int64_t few_values = 1 << 10;

// For each key how many of the n sorted elements come before it; on the right side equal ones do.
// All searches halve the same length, without a branch.
template <typename T>
void count_before(const T* const* sorted, int64_t step, int64_t n, const KeyOf<T>* keys,
                  SearchSide side, uint32_t* out) {
  uint32_t first[together] = {};
  auto before = [&](int q, int64_t at) {
    KeyOf<T> probe = key_of<KeyKind::canonical>(sorted[q][at * step]);
    return side == SearchSide::left ? probe < keys[q] : probe <= keys[q];
  };
  int64_t length = n;
  for (; length > 1; length -= length / 2) {
    uint32_t half = uint32_t(length / 2);
    for (int q = 0; q < together; ++q) {
      first[q] += half & -uint32_t(before(q, int64_t(first[q]) + half - 1));
    }
  }
  for (int q = 0; q < together; ++q) {
    out[q] = first[q] + (length == 1 && before(q, first[q]) ? 1 : 0);
  }
}

template <typename T>
void search_values(const SearchSorted& p, const Operand& sorted, const Operand& values,
                   uint32_t* y) {
  // The batch is in front of both; sequences do not move along the axes of the values.
  Strides of_sorted(sorted.strides.begin(), sorted.strides.end() - 1);
  of_sorted.resize(values.shape.size(), 0);
  const Strides strides[] = {of_sorted, values.strides};
  Plan walk = plan(values.shape, strides);
  int64_t n = sorted.shape.back(), step = sorted.strides.back();
  parallel_for(walk.size, few_values, [&](int64_t begin, int64_t end) {
    Odometer o(walk, 0);
    o.seek(begin);
    for (int64_t i = begin; i < end; i += together) {
      int64_t count = std::min<int64_t>(together, end - i);
      const T* sequences[together];
      KeyOf<T> keys[together] = {};
      for (int64_t q = 0; q < count; ++q, o.next()) {
        sequences[q] = sorted.ptr<const T>() + o.offset(0);
        keys[q] = key_of<KeyKind::canonical>(values.ptr<const T>()[o.offset(1)]);
      }
      std::fill(sequences + count, sequences + together, sequences[0]);
      uint32_t found[together];
      count_before(sequences, step, n, keys, p.side, found);
      std::copy_n(found, count, y + i);
    }
  });
}

// Results for one line.
struct UniqueLine {
  uint32_t* firsts;
  int32_t* counts;
  uint32_t* ranks;  // null: not wanted
  int64_t size;
};

constexpr int64_t unique_chunk = 1 << 15;

// Whether the element of the i-th pair differs from the one before; it always does for NaNs.
template <typename T>
bool starts_value(const T* x, const int64_t* pairs, int64_t i) {
  constexpr auto nan = std::numeric_limits<KeyOf<T>>::max();
  if (i == 0) return true;
  KeyOf<T> key, last;
  if constexpr (sizeof(KeyOf<T>) == 8) {
    key = key_of<KeyKind::canonical>(x[uint32_t(pairs[i])]);
    last = key_of<KeyKind::canonical>(x[uint32_t(pairs[i - 1])]);
  } else {
    key = int32_t(pairs[i] >> 32);
    last = int32_t(pairs[i - 1] >> 32);
  }
  return key != last || (!std::is_integral_v<T> && key == nan);
}

template <typename T>
void unique_line(const T* x, int64_t n, const int64_t* pairs, UniqueLine y) {
  int64_t chunks = (n + unique_chunk - 1) / unique_chunk;
  std::vector<int64_t> starts(size_t(chunks) + 1, 0);  // values that start before each chunk
  parallel_for(chunks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      int64_t count = 0, last = std::min(n, (c + 1) * unique_chunk);
      for (int64_t i = c * unique_chunk; i < last; ++i) count += starts_value(x, pairs, i);
      starts[size_t(c) + 1] = count;
    }
  });
  for (size_t c = 1; c < starts.size(); ++c) starts[c] += starts[c - 1];
  int64_t end_of_last = n;  // of the last value that is returned
  parallel_for(chunks, 1, [&](int64_t begin, int64_t end) {
    int64_t rank = starts[size_t(begin)] - 1;
    for (int64_t i = begin * unique_chunk; i < std::min(n, end * unique_chunk); ++i) {
      if (starts_value(x, pairs, i)) {
        if (++rank < y.size) {
          y.firsts[rank] = uint32_t(pairs[i]);
          y.counts[rank] = int32_t(i);  // where its elements begin
        } else if (rank == y.size) {
          end_of_last = i;
        }
      }
      if (y.ranks) {
        int64_t last = std::max<int64_t>(y.size - 1, 0);
        y.ranks[uint32_t(pairs[i])] = uint32_t(std::min(rank, last));
      }
    }
  });
  int64_t found = std::min(starts.back(), y.size);
  for (int64_t r = 0; r < found; ++r) {
    y.counts[r] = (r + 1 < found ? y.counts[r + 1] : int32_t(end_of_last)) - y.counts[r];
  }
  std::fill(y.firsts + found, y.firsts + y.size, uint32_t(pairs[0]));
  std::fill(y.counts + found, y.counts + y.size, 0);
}

}  // namespace
}  // namespace cpu

void eval_cpu(const SearchSorted& p, Inputs in, Outputs out, Encoder&) {
  dispatch(AllTypes{}, in[0].dtype, "searchsorted",
           [&]<typename T>() { cpu::search_values<T>(p, in[0], in[1], out[0].ptr<uint32_t>()); });
}

void eval_cpu(const Unique& p, Inputs in, Outputs out, Encoder& e) {
  using namespace cpu;  // NOLINT
  const Operand& x = in[0];
  Lines lines(x, out[0], x.ndim() - 1);
  int64_t n = lines.n;
  UniqueLine first{out[0].ptr<uint32_t>(), out[1].ptr<int32_t>(),
                   p.inverse == Inverse::wanted ? out[2].ptr<uint32_t>() : nullptr, p.size};
  dispatch(AllTypes{}, x.dtype, "unique", [&]<typename T>() {
    for_lines(lines, 8 * n, e, [&](const char* from, char* to, char* scratch) {
      const T* line = reinterpret_cast<const T*>(from);
      int64_t* pairs = reinterpret_cast<int64_t*>(scratch);
      UniqueLine y = first;
      int64_t number = (reinterpret_cast<uint32_t*>(to) - first.firsts) / p.size;
      y.firsts += number * p.size;
      y.counts += number * p.size;
      if (y.ranks) y.ranks += number * n;
      sorted_pairs(line, n, pairs);
      unique_line(line, n, pairs, y);
    });
  });
}

}  // namespace mlx::core
