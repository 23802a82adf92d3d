// The index family. Indices are brought into range once, in short runs; everything after that works
// with offsets that are known to be inside. What belongs to one destination is always applied by
// one thread, in the order of the indices: results do not depend on the number of threads.
#include <cstring>

#include "backend/cpu/copy.h"
#include "backend/cpu/evaluators.h"
#include "mlx/env.h"
#include "mlx/error.h"
#include "mlx/scalar_value.h"

namespace mlx::core {

namespace {

constexpr int64_t index_run = 1024;         // indices resolved at a time
constexpr int64_t unit_elements = 1 << 15;  // elements worth another thread
constexpr int64_t column_width = 64;        // least columns of a row that a thread takes
constexpr int64_t max_parts = 16;           // most threads that share destinations

enum class Outside { clamp, drop };  // drop: the resolved index is -1

// Without branches, so that loops over it are vectorised.
template <Outside outside, typename I>
int64_t resolve(I value, int64_t n) {
  if constexpr (std::is_same_v<I, uint64_t>) {
    bool inside = value < uint64_t(n);
    return inside ? int64_t(value) : outside == Outside::drop ? -1 : n - 1;
  } else {
    int64_t v = int64_t(value);
    v += v < 0 ? n : 0;
    if constexpr (outside == Outside::drop) {
      return v >= n || v < 0 ? -1 : v;
    } else {
      v = v < 0 ? 0 : v;
      return v >= n ? n - 1 : v;
    }
  }
}

// Reads index values of any integer dtype as offsets along one axis.
class IndexReader {
 public:
  IndexReader(const Operand& x, int64_t size, Outside outside, std::string_view op)
      : data_(x.data), size_(size) {
    dispatch(IntegerTypes{}, x.dtype, op, [&]<typename I>() {
      read_ = outside == Outside::drop ? &read<Outside::drop, I> : &read<Outside::clamp, I>;
      check_ = &read<Outside::drop, I>;
    });
    if (env().check) {
      check(x, op);
    }
  }
  // `count` values from element `first` on, `stride` elements apart.
  void operator()(int64_t first, int64_t stride, int64_t count, int64_t* out) const {
    read_(data_, first, stride, count, size_, out);
  }

 private:
  template <Outside outside, typename I>
  static void read(const void* data, int64_t first, int64_t stride, int64_t count, int64_t size,
                   int64_t* out) {
    const I* x = static_cast<const I*>(data) + first;
    if (stride == 1) {
      for (int64_t i = 0; i < count; ++i) {
        out[i] = resolve<outside>(x[i], size);
      }
    } else {
      for (int64_t i = 0; i < count; ++i) {
        out[i] = resolve<outside>(x[i * stride], size);
      }
    }
  }
  void check(const Operand& x, std::string_view op) const {
    Plan p = plan(x.shape, std::span(&x.strides, 1));
    Odometer o(p, 0);
    for (int64_t i = 0; i < p.size; ++i, o.next()) {
      int64_t v;
      check_(data_, o.offset(0), 1, 1, size_, &v);
      if (v < 0) {
        fail<IndexError>("[{}] an index is outside an axis of size {}", op, size_);
      }
    }
  }

  const void* data_;
  int64_t size_;
  using Read = void (*)(const void*, int64_t, int64_t, int64_t, int64_t, int64_t*);
  Read read_ = nullptr, check_ = nullptr;
};

// The axes of an operand around the indexed ones, as offsets: outer positions are walked, the inner
// ones are runs of one length and stride.
struct Frame {
  Plan outer;
  std::vector<int64_t> runs;  // offset of each inner run
  int64_t run_length = 1, run_stride = 1;

  int64_t inner_size() const { return int64_t(runs.size()) * run_length; }
};

Frame make_frame(ShapeView shape, std::span<const int64_t> strides, const Axes& axes,
                 int position) {
  Shape sizes[2];
  Strides steps[2];
  int seen = 0;
  for (int i = 0; i < int(shape.size()); ++i) {
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) {
      int side = seen++ < position ? 0 : 1;
      sizes[side].push_back(shape[i]);
      steps[side].push_back(strides[i]);
    }
  }
  Frame f;
  f.outer = plan(sizes[0], std::span(&steps[0], 1));
  Plan inner = plan(sizes[1], std::span(&steps[1], 1));
  if (!inner.shape.empty()) {
    f.run_length = inner.shape.back();
    f.run_stride = inner.strides[0].back();
  }
  Odometer o(inner, 1);
  for (int64_t i = 0; i < o.steps(); ++i, o.next()) {
    f.runs.push_back(o.offset(0));
  }
  return f;
}

// The index arrays of a Gather or Scatter together: for each of their elements an offset.
class Positions {
 public:
  Positions(Inputs indices, const Operand& target, const Axes& axes, Outside outside,
            std::string_view op)
      : memory_(indices.size()), outside_(outside) {
    for (size_t k = 0; k < indices.size(); ++k) {
      Operand dense = cpu::make_dense(indices[k], memory_[k]);
      readers_.emplace_back(dense, target.shape[axes[k]], outside, op);
      strides_.push_back(target.strides[axes[k]]);
      size_ = indices[k].size;
    }
  }
  int64_t size() const { return size_; }
  // Offsets of `count` ≤ index_run positions; -1 for what is dropped.
  void read(int64_t first, int64_t count, int64_t* out) const {
    std::fill_n(out, count, 0);
    int64_t run[index_run];
    for (size_t k = 0; k < readers_.size(); ++k) {
      readers_[k](first, 1, count, run);
      for (int64_t i = 0; i < count; ++i) {
        bool dropped = outside_ == Outside::drop && (run[i] < 0 || out[i] < 0);
        out[i] = dropped ? -1 : out[i] + run[i] * strides_[k];
      }
    }
  }

 private:
  std::vector<std::optional<Scratch>> memory_;
  std::vector<IndexReader> readers_;
  Strides strides_;
  int64_t size_ = 1;
  Outside outside_;
};

// One inner block for each of `count` positions.
template <typename T>
void gather_blocks(const T* from, const int64_t* positions, int64_t count, const Frame& f, T* to) {
  if (f.inner_size() == 1) {
    const T* x = from + f.runs[0];
    for (int64_t i = 0; i < count; ++i) {
      to[i] = x[positions[i]];
    }
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t run : f.runs) {
      const T* x = from + positions[i] + run;
      if (f.run_stride == 1) {
        std::memcpy(to, x, size_t(f.run_length) * sizeof(T));
      } else {
        for (int64_t j = 0; j < f.run_length; ++j) {
          to[j] = x[j * f.run_stride];
        }
      }
      to += f.run_length;
    }
  }
}

// Applies updates to destinations: out[position + run + j] (op)= updates, in the order of `i`.
template <ScatterMode mode, typename A, typename T>
void apply(A& to, T value) {
  if constexpr (mode == ScatterMode::assign) {
    to = value;
  } else if constexpr (std::is_same_v<T, bool>) {
    to = to || value;
  } else if constexpr (std::is_same_v<T, complex64_t>) {
    to.re += value.re;
    to.im += value.im;
  } else if constexpr (std::is_integral_v<T>) {
    to = T(uint64_t(to) + uint64_t(value));
  } else {
    to += A(widen(value));
  }
}

// What a scatter works on. A is the type sums are kept in: float for half types.
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
        apply<mode>(element[at[i]], source[from[i]]);
      }
      return;
    }
    for (int64_t i = 0; i < kept; ++i) {
      const T* update = source + from[i] * inner;
      for (int64_t run : frame.runs) {
        A* row = to + at[i] + run;
        for (int64_t j = c0; j < c1; ++j) {
          apply<mode>(row[j * frame.run_stride], update[j]);
        }
        update += frame.run_length;
      }
    }
  }

  // Shares the destinations out: by outer position, by columns of long runs, else by ranges.
  template <ScatterMode mode>
  void run_parallel() const {
    int64_t rows = outer(), length = frame.run_length;
    int64_t inner = frame.inner_size(), work = rows * positions.size() * inner;
    int64_t parts = std::min<int64_t>(cpu::thread_count(), max_parts);
    // Every owner of a range reads all indices: that has to cost less than what it saves.
    bool ranges_pay = inner >= 8 || parts >= 4;
    if (work < unit_elements || (rows == 1 && !ranges_pay)) {
      run<mode>(0, rows, 0, INT64_MAX, 0, length);
    } else if (rows >= max_parts) {
      int64_t grain = std::max<int64_t>(1, rows * unit_elements / work);
      cpu::parallel_for(rows, grain, [&](int64_t begin, int64_t end) {
        run<mode>(begin, end, 0, INT64_MAX, 0, length);
      });
    } else if (length >= 2 * column_width) {
      cpu::parallel_for(length, column_width, [&](int64_t begin, int64_t end) {
        run<mode>(0, rows, 0, INT64_MAX, begin, end);
      });
    } else {
      cpu::parallel_for(parts, 1, [&](int64_t begin, int64_t end) {
        auto bound = [&](int64_t part) { return int64_t(__int128(span) * part / parts); };
        run<mode>(0, rows, bound(begin), bound(end), 0, length);
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

// Innermost loops of GatherAxis and ScatterAxis: element strides of the three operands and of the
// indexed axis.
struct Line {
  int64_t index, values, target, axis;
};

template <typename T>
void pick(const T* from, const int64_t* at, int64_t count, const Line& line, T* to) {
  if (line.values == 1 && line.target == 0 && line.axis == 1) {
    for (int64_t i = 0; i < count; ++i) {
      to[i] = from[at[i]];
    }
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    to[i * line.values] = from[i * line.target + at[i] * line.axis];
  }
}

}  // namespace

void eval_cpu(const Gather& p, Inputs in, Outputs out, Encoder&) {
  const Operand& a = in[0];
  Frame f = make_frame(a.shape, a.strides, p.axes, p.position);
  Positions positions(in.subspan(1), a, p.axes, Outside::clamp, "gather");
  int64_t n = positions.size(), outer = std::max<int64_t>(1, f.outer.size);
  int64_t inner = f.inner_size();
  // A unit is a run of positions for a block of outer ones.
  int64_t run = std::clamp<int64_t>(unit_elements / inner, 1, index_run);
  int64_t block = std::clamp<int64_t>(unit_elements / (inner * std::min(run, n)), 1, outer);
  int64_t runs = (n + run - 1) / run, blocks = (outer + block - 1) / block;
  dispatch_size(a.dtype.size(), [&]<typename T>() {
    cpu::parallel_for(runs * blocks, 1, [&](int64_t begin, int64_t end) {
      int64_t at[index_run];
      for (int64_t u = begin; u < end; ++u) {
        int64_t first = u % runs * run, count = std::min(run, n - first);
        positions.read(first, count, at);
        Odometer o(f.outer, 0);
        int64_t k = u / runs * block, stop = std::min(outer, k + block);
        o.seek(k);
        for (; k < stop; ++k, o.next()) {
          gather_blocks(a.ptr<T>() + o.offset(0), at, count, f,
                        out[0].ptr<T>() + (k * n + first) * inner);
        }
      }
    });
  });
}

void eval_cpu(const Scatter& p, Inputs in, Outputs out, Encoder&) {
  const Operand& target = out[0];
  std::optional<Scratch> memory;
  Operand updates = cpu::make_dense(in[1], memory);
  Positions positions(in.subspan(2), target, p.axes, Outside::drop, "scatter");
  Frame f = make_frame(target.shape, target.strides, p.axes, p.position);
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
    job.template run_parallel<ScatterMode::add>();
  });
}

void eval_cpu(const GatherAxis& p, Inputs in, Outputs out, Encoder&) {
  const Operand& a = in[0];
  const Operand& index = in[1];
  IndexReader read(index, a.shape[p.axis], Outside::clamp, "take_along_axis");
  // An element-wise walk over the result; the indexed axis of `a` is entered by the index alone.
  Strides strides[3] = {index.strides, out[0].strides, a.strides};
  strides[2][p.axis] = 0;
  Plan walk = plan(out[0].shape, strides);
  bool has_axis = !walk.shape.empty();
  int64_t length = has_axis ? walk.shape.back() : 1;
  Line line{has_axis ? walk.strides[0].back() : 0, has_axis ? walk.strides[1].back() : 0,
            has_axis ? walk.strides[2].back() : 0, a.strides[p.axis]};
  int64_t run = std::min(length, index_run), runs = (length + run - 1) / run;
  Odometer rows(walk, 1);
  int64_t grain = std::max<int64_t>(1, unit_elements / run);
  dispatch_size(a.dtype.size(), [&]<typename T>() {
    cpu::parallel_for(rows.steps() * runs, grain, [&](int64_t begin, int64_t end) {
      int64_t at[index_run];
      Odometer o(walk, 1);
      o.seek(begin / runs);
      for (int64_t u = begin; u < end; ++u) {
        int64_t first = u % runs * run, count = std::min(run, length - first);
        read(o.offset(0) + first * line.index, line.index, count, at);
        T* to = out[0].ptr<T>() + o.offset(1) + first * line.values;
        const T* from = a.ptr<T>() + o.offset(2) + first * line.target;
        pick(from, at, count, line, to);
        if ((u + 1) % runs == 0) {
          o.next();
        }
      }
    });
  });
}

namespace {

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
            apply<mode>(base[at[i] * line.axis], from[(first + i) * line.values]);
          }
        }
      }
    }
  });
}

}  // namespace

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
    scatter_lines<ScatterMode::add, A, T>(p, in[2], in[1], target, sums);
  });
}

void eval_cpu(const MaskRank& p, Inputs in, Outputs out, Encoder&) {
  std::optional<Scratch> memory;
  Operand mask = cpu::make_dense(in[0], memory);
  ShapeView shape = mask.shape;
  int64_t lanes = element_count(shape.first(size_t(p.lane_axes)));
  int64_t length = mask.size / lanes;
  cpu::parallel_for(
      lanes, std::max<int64_t>(1, unit_elements / length), [&](int64_t begin, int64_t end) {
        for (int64_t lane = begin; lane < end; ++lane) {
          const bool* m = mask.ptr<bool>() + lane * length;
          int64_t* rank = out[0].ptr<int64_t>() + lane * length;
          int64_t count = 0;
          for (int64_t i = 0; i < length; ++i) {
            rank[i] = count;
            count += m[i];
          }
          if (count > p.limit) {
            fail<RuntimeError>("[masked_scatter] {} places are chosen, but there are {} values",
                               count, p.limit);
          }
        }
      });
}

}  // namespace mlx::core
