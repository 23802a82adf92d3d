// Writing at positions given by arrays. What belongs to one destination is always applied by one
// thread, in the order of the indices: results do not depend on the number of threads.
#include "backend/cpu/positions.h"
#include "backend/cpu/scatter_modes.h"
#include "backend/cpu/scatter_rows.h"

namespace mlx::core {

using namespace cpu;

namespace {

constexpr int64_t column_width = 64;  // least columns of a row that a thread takes
constexpr int64_t max_parts = 16;     // most threads that share destinations

// What a scatter works on. A is the type results are kept in: float for half types.
template <typename A, typename T>
struct ScatterJob {
  A* out;
  const T* updates;  // [outer][positions][inner]
  const Positions& positions;
  const Frame& frame;

  int64_t outer() const { return std::max<int64_t>(1, frame.outer.size); }

  // The part of it for outer positions [o0, o1), positions whose offset is in [low, high), and
  // columns [c0, c1) of the runs.
  template <ScatterMode mode>
  void run(int64_t o0, int64_t o1, int64_t low, int64_t high, int64_t c0, int64_t c1) const {
    int64_t at[index_run], from[index_run];
    int64_t n = positions.size(), inner = frame.inner_size();
    for (int64_t first = 0; first < n; first += index_run) {
      int64_t count = std::min(index_run, n - first);
      positions.read(first, count, at);
      int64_t kept = 0;  // without branches: which positions are wanted may well be random
      for (int64_t i = 0; i < count; ++i) {
        int64_t position = at[i];
        at[kept] = position;
        from[kept] = first + i;
        kept += position >= low && position < high;
      }
      Odometer o(frame.outer, 0);
      o.seek(o0);
      for (int64_t k = o0; k < o1; ++k, o.next()) {
        apply_kept<mode>(out + o.offset(0), updates + k * n * inner, at, from, kept, c0, c1);
      }
    }
  }

  template <ScatterMode mode>
  void apply_kept(A* to, const T* source, const int64_t* at, const int64_t* from, int64_t kept,
                  int64_t c0, int64_t c1) const {
    int64_t inner = frame.inner_size();
    if (inner == 1) {
      A* element = to + frame.runs[0];
      for (int64_t i = 0; i < kept; ++i) {
        A& x = element[at[i]];
        x = applied<mode>(x, source[from[i]]);
      }
      return;
    }
    for (int64_t i = 0; i < kept; ++i) {
      const T* update = source + from[i] * inner;
      if (i + 2 < kept) {
        fetch(to + at[i + 2] + frame.runs[0] + c0, source + from[i + 2] * inner + c0, c1 - c0);
      }
      for (int64_t run : frame.runs) {
        apply_run<mode>(to + at[i] + run, update, c0, c1);
        update += frame.run_length;
      }
    }
  }

  // Rows lie anywhere: those of the update after the next are asked for ahead of time.
  void fetch(const A* row, const T* update, int64_t length) const {
    constexpr int64_t line = 64, most = 4096;
    if (frame.run_stride == 1 && length * int64_t(sizeof(T)) >= 4 * line) {
      for (int64_t i = 0; i < std::min<int64_t>(length, most / sizeof(T)); i += line / sizeof(T)) {
        __builtin_prefetch(row + i, 0, 2);
        __builtin_prefetch(update + i, 0, 2);
      }
    }
  }

  template <ScatterMode mode>
  void apply_run(A* row, const T* update, int64_t c0, int64_t c1) const {
    if (frame.run_stride != 1) {
      for (int64_t j = c0; j < c1; ++j) {
        A& x = row[j * frame.run_stride];
        x = applied<mode>(x, update[j]);
      }
      return;
    }
#pragma GCC ivdep
    for (int64_t j = c0; j < c1; ++j) {
      row[j] = applied<mode>(row[j], update[j]);
    }
  }

  // Ends of `parts` ranges of offsets that get about the same number of updates; empty if most of
  // them go to few places.
  std::vector<int64_t> ranges(int64_t parts) const {
    constexpr int64_t buckets = 1024;
    int64_t width = (span + buckets - 1) / buckets, n = positions.size(), total = 0, most = 0;
    std::vector<int64_t> count(buckets);
    int64_t at[index_run];
    for (int64_t first = 0; first < n; first += index_run) {
      int64_t some = std::min(index_run, n - first);
      positions.read(first, some, at);
      for (int64_t i = 0; i < some; ++i) {
        if (at[i] >= 0) {
          ++count[size_t(at[i] / width)];
          ++total;
        }
      }
    }
    std::vector<int64_t> ends;
    int64_t seen = 0;
    for (int64_t b = 0; b < buckets; ++b) {
      most = std::max(most, count[size_t(b)]);
      seen += count[size_t(b)];
      while (seen * parts >= total * int64_t(ends.size() + 1) && int64_t(ends.size()) < parts - 1) {
        ends.push_back((b + 1) * width);
      }
    }
    ends.push_back(INT64_MAX);
    return most * 2 * parts > 3 * total ? std::vector<int64_t>{} : ends;
  }

  // Shares the destinations out: by outer position, by ranges, or by columns of long runs if most
  // updates go to the same places.
  template <ScatterMode mode>
  void run_parallel() const {
    int64_t rows = outer(), length = frame.run_length;
    int64_t inner = frame.inner_size(), work = rows * positions.size() * inner;
    int64_t parts = std::min<int64_t>(cpu::thread_count(), max_parts);
    // Every owner of a range reads all indices: that has to cost less than what it saves.
    bool ranges_pay = inner >= 8 || parts >= 4;
    if (work < unit_elements || parts == 1 || (rows == 1 && !ranges_pay)) {
      run<mode>(0, rows, 0, INT64_MAX, 0, length);
      return;
    }
    if (rows >= max_parts) {
      int64_t grain = std::max<int64_t>(1, rows * unit_elements / work);
      cpu::parallel_for(rows, grain, [&](int64_t begin, int64_t end) {
        run<mode>(begin, end, 0, INT64_MAX, 0, length);
      });
      return;
    }
    std::vector<int64_t> ends = ranges(parts);
    if (ends.empty() && length >= 2 * column_width) {
      cpu::parallel_for(length, column_width, [&](int64_t begin, int64_t end) {
        run<mode>(0, rows, 0, INT64_MAX, begin, end);
      });
    } else if (ends.empty()) {
      run<mode>(0, rows, 0, INT64_MAX, 0, length);
    } else {
      cpu::parallel_for(parts, 1, [&](int64_t begin, int64_t end) {
        int64_t low = begin == 0 ? 0 : ends[size_t(begin) - 1];
        run<mode>(0, rows, low, ends[size_t(end) - 1], 0, length);
      });
    }
  }
  int64_t span = 0;  // offsets of positions are below it
};

void copy_base(const Operand& base, const Operand& out) {
  if (base.data != out.data) {
    cpu::copy_operand(base, out);
  }
}

// Calls f(accumulator, type of it and of the elements) for a sum into `out`, which holds the base.
// Sums of half types are kept in float32 and rounded once.
template <typename F>
void with_accumulator(const Operand& base, const Operand& out, std::string_view op, F&& f) {
  dispatch(AllTypes{}, out.dtype, op, [&]<typename T>() {
    copy_base(base, out);
    if constexpr (!is_half_type<T>) {
      f.template operator()<T, T>(out.ptr<T>());
    } else {
      Scratch memory(size_t(out.size) * sizeof(float));
      float* wide = memory.as<float>();
      T* narrow = out.ptr<T>();
      cpu::parallel_for(out.size, unit_elements, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          wide[i] = to_float(narrow[i]);
        }
      });
      f.template operator()<float, T>(wide);
      cpu::parallel_for(out.size, unit_elements, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          narrow[i] = convert_scalar<T>(wide[i]);
        }
      });
    }
  });
}

// Lines along the indexed axis are independent of each other; along a line the order counts.
template <ScatterMode mode, typename A, typename T>
void scatter_lines(const ScatterAxis& p, const Operand& index, const Operand& updates,
                   const Operand& out, A* to) {
  IndexReader read(index, out.shape[p.axis], Outside::drop, "put_along_axis");
  Line line{index.strides[p.axis], updates.strides[p.axis], 0, out.strides[p.axis]};
  int64_t length = index.shape[p.axis];
  Shape others = out.shape;
  others[p.axis] = 1;
  Strides strides[3] = {index.strides, updates.strides, out.strides};
  Plan walk = plan(others, strides);
  int64_t grain = std::max<int64_t>(1, unit_elements / std::max<int64_t>(1, length));
  Odometer lines(walk, 0);
  cpu::parallel_for(lines.steps(), grain, [&](int64_t begin, int64_t end) {
    int64_t at[index_run];
    Odometer o(walk, 0);
    o.seek(begin);
    for (int64_t k = begin; k < end; ++k, o.next()) {
      const T* from = updates.ptr<T>() + o.offset(1);
      A* base = to + o.offset(2);
      for (int64_t first = 0; first < length; first += index_run) {
        int64_t count = std::min(index_run, length - first);
        read(o.offset(0) + first * line.index, line.index, count, at);
        for (int64_t i = 0; i < count; ++i) {
          if (at[i] >= 0) {
            A& x = base[at[i] * line.axis];
            x = applied<mode>(x, from[(first + i) * line.values]);
          }
        }
      }
    }
  });
}

}  // namespace

void eval_cpu(const Scatter& p, Inputs in, Outputs out, Encoder&) {
  const Operand& target = out[0];
  std::optional<Scratch> memory;
  Operand updates = cpu::make_dense(in[1], memory);
  Frame f = make_frame(target.shape, target.strides, p.axes, p.position);
  if (target.dtype.is_half() && scatter_rows(p, in, updates, target, f)) {
    return;
  }
  Positions positions(in.subspan(2), target, p.axes, Outside::drop, "scatter");
  int64_t span = 1;
  for (int axis : p.axes) {
    span += (target.shape[axis] - 1) * target.strides[axis];
  }
  if (p.mode == ScatterMode::assign) {
    copy_base(in[0], target);
    dispatch_size(target.dtype.size(), [&]<typename T>() {
      ScatterJob<T, T> job{target.ptr<T>(), updates.ptr<T>(), positions, f, span};
      job.template run_parallel<ScatterMode::assign>();
    });
    return;
  }
  with_accumulator(in[0], target, "scatter", [&]<typename A, typename T>(A* sums) {
    ScatterJob<A, T> job{sums, updates.ptr<T>(), positions, f, span};
    with_mode(p.mode, [&]<ScatterMode mode>() { job.template run_parallel<mode>(); });
  });
}

void eval_cpu(const ScatterAxis& p, Inputs in, Outputs out, Encoder&) {
  const Operand& target = out[0];
  if (p.mode == ScatterMode::assign) {
    copy_base(in[0], target);
    dispatch_size(target.dtype.size(), [&]<typename T>() {
      scatter_lines<ScatterMode::assign, T, T>(p, in[2], in[1], target, target.ptr<T>());
    });
    return;
  }
  with_accumulator(in[0], target, "put_along_axis", [&]<typename A, typename T>(A* sums) {
    with_mode(p.mode, [&]<ScatterMode mode>() {
      scatter_lines<mode, A, T>(p, in[2], in[1], target, sums);
    });
  });
}

}  // namespace mlx::core
