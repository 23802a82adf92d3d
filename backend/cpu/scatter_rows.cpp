// Updates are sorted by where they go, by counting. Then every row of the result is made in one go,
// from the base and its updates in their order, by whatever thread takes it: the base is not copied
// first, and sums of half types need no more than a tile of float32.
#include "backend/cpu/scatter_rows.h"

#include <cstring>

#include "backend/cpu/scatter_modes.h"

namespace mlx::core::cpu {

namespace {

constexpr int64_t least_bytes = 64;      // of a row
constexpr int64_t tile = 512;            // elements of a row made at a time
constexpr int64_t unit_bytes = 1 << 18;  // about what a thread takes at a time

// Updates order[first[d]] … order[first[d + 1] - 1] go to destination d.
struct ByDestination {
  Scratch memory;
  int64_t destinations;
  int32_t* first;
  int32_t* order;
  int32_t most = 0;  // updates of one destination

  ByDestination(const Positions& numbers, int64_t destinations)
      : memory(size_t(destinations + 2 + 2 * numbers.size()) * sizeof(int32_t)),
        destinations(destinations) {
    first = memory.as<int32_t>();
    order = first + destinations + 2;
    int32_t* number = order + numbers.size();
    // Counts two places up; sums of them one place up, where each then is the next place to fill.
    std::fill_n(first, destinations + 2, 0);
    int64_t run[index_run];
    for (int64_t i = 0; i < numbers.size(); i += index_run) {
      int64_t count = std::min(index_run, numbers.size() - i);
      numbers.read(i, count, run);
      for (int64_t k = 0; k < count; ++k) {
        number[i + k] = int32_t(run[k]);
        first[run[k] < 0 ? 0 : run[k] + 2] += run[k] >= 0;
      }
    }
    for (int64_t d = 2; d < destinations + 2; ++d) {
      most = std::max(most, first[d]);
      first[d] += first[d - 1];
    }
    for (int64_t i = 0; i < numbers.size(); ++i) {
      if (number[i] >= 0) {
        order[first[number[i] + 1]++] = int32_t(i);
      }
    }
  }

  // Where part `part` of `parts` of equal work begins; updates and rows count the same.
  int64_t boundary(int64_t part, int64_t parts) const {
    int64_t total = destinations + first[destinations];
    int64_t target = int64_t(__int128(total) * part / parts), low = 0, high = destinations;
    while (low < high) {
      int64_t middle = (low + high) / 2;
      if (middle + first[middle] < target) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
};

// One row from its base and `count` > 0 updates, which lie `stride` elements apart.
template <ScatterMode mode, typename A, typename T>
void make_row(const T* base, const T* updates, const int32_t* order, int64_t count, int64_t stride,
              int64_t length, T* out) {
  if constexpr (mode == ScatterMode::assign) {
    std::memcpy(out, updates + order[count - 1] * stride, size_t(length) * sizeof(T));
    return;
  } else {
    A kept[tile];
    for (int64_t c = 0; c < length; c += tile) {
      int64_t n = std::min(tile, length - c);
      const T *b = base + c, *u = updates + order[0] * stride + c;
      T* to = out + c;
      if (count == 1) {
        for (int64_t j = 0; j < n; ++j) {
          to[j] = convert_scalar<T>(applied<mode>(A(widen(b[j])), u[j]));
        }
        continue;
      }
      for (int64_t j = 0; j < n; ++j) {
        kept[j] = applied<mode>(A(widen(b[j])), u[j]);
      }
      for (int64_t k = 1; k + 1 < count; ++k) {
        u = updates + order[k] * stride + c;
        for (int64_t j = 0; j < n; ++j) {
          kept[j] = applied<mode>(kept[j], u[j]);
        }
      }
      u = updates + order[count - 1] * stride + c;
      for (int64_t j = 0; j < n; ++j) {
        to[j] = convert_scalar<T>(applied<mode>(kept[j], u[j]));
      }
    }
  }
}

struct Job {
  const Operand& base;
  const Operand& updates;
  const Operand& out;
  const Frame& frame;
  const ByDestination& sorted;
  const Axes& axes;

  int64_t offset_of(int64_t destination) const {
    int64_t offset = 0;
    for (size_t k = axes.size(); k-- > 0;) {
      int64_t n = out.shape[axes[k]];
      offset += destination % n * out.strides[axes[k]];
      destination /= n;
    }
    return offset;
  }

  template <ScatterMode mode, typename A, typename T>
  void run() const {
    int64_t inner = frame.inner_size(), rows = std::max<int64_t>(1, frame.outer.size);
    int64_t updates_of_row = updates.size / rows;
    int64_t bytes = (sorted.destinations * inner + updates_of_row) * int64_t(sizeof(T));
    int64_t parts = std::clamp<int64_t>(bytes / unit_bytes, 1, sorted.destinations);
    parallel_for(rows * parts, 1, [&](int64_t begin, int64_t end) {
      for (int64_t unit = begin; unit < end; ++unit) {
        Odometer o(frame.outer, 0);
        o.seek(unit / parts);
        int64_t d = sorted.boundary(unit % parts, parts);
        int64_t stop = sorted.boundary(unit % parts + 1, parts);
        const T* from = updates.ptr<T>() + unit / parts * updates_of_row;
        for (; d < stop; ++d) {
          make_destination<mode, A>(o.offset(0) + offset_of(d), d, from);
        }
      }
    });
  }

  template <ScatterMode mode, typename A, typename T>
  void make_destination(int64_t offset, int64_t d, const T* from) const {
    const int32_t* order = sorted.order + sorted.first[d];
    int64_t count = sorted.first[d + 1] - sorted.first[d], length = frame.run_length;
    const T* base_row = base.ptr<T>() + offset;
    T* row = out.ptr<T>() + offset;
    for (int64_t run : frame.runs) {
      if (count > 0) {
        make_row<mode, A>(base_row + run, from, order, count, frame.inner_size(), length,
                          row + run);
      } else if (base_row != row) {
        std::memcpy(row + run, base_row + run, size_t(length) * sizeof(T));
      }
      from += length;
    }
  }
};

}  // namespace

bool scatter_rows(const Scatter& p, Inputs in, const Operand& updates, const Operand& out,
                  const Frame& frame) {
  int64_t destinations = 1, count = in.size() > 2 ? in[2].size : 1;
  for (int axis : p.axes) {
    destinations *= out.shape[axis];
  }
  bool in_place = in[0].data == out.data;
  if (frame.run_stride != 1 || frame.run_length * out.dtype.size() < least_bytes ||
      updates.size < unit_elements || std::max(count, destinations) > INT32_MAX / 2 ||
      (in_place && destinations / 4 > count)) {
    return false;
  }
  Positions numbers(in.subspan(2), out.shape, p.axes, Outside::drop, "scatter");
  ByDestination sorted(numbers, destinations);
  if (thread_count() > 1 && frame.outer.size <= 1 && sorted.most > count / 2) {
    return false;
  }
  std::optional<Scratch> memory;
  Operand base = make_dense(in[0], memory);
  Job job{base, updates, out, frame, sorted, p.axes};
  if (p.mode == ScatterMode::assign) {
    dispatch_size(out.dtype.size(), [&]<typename T>() { job.run<ScatterMode::assign, T, T>(); });
  } else {
    dispatch(AllTypes{}, out.dtype, "scatter", [&]<typename T>() {
      using A = std::conditional_t<is_half_type<T>, float, T>;
      with_mode(p.mode, [&]<ScatterMode mode>() { job.run<mode, A, T>(); });
    });
  }
  return true;
}

}  // namespace mlx::core::cpu
