// Reductions over any set of axes of any layout. By where the unit stride lies: whole rows of a
// reduced axis, many short ones at a time, rows of a kept axis added up (columns), and the same
// after gathering a tile, where neither is contiguous. Long reductions with few
// outputs are cut into chunks whose size depends on the shape alone, never on the thread count.
#include <algorithm>
#include <cstring>

#include "backend/cpu/evaluators.h"
#include "backend/cpu/level_table.h"
#include "backend/cpu/reduce_table.h"
#include "mlx/dispatch.h"

namespace mlx::core {

namespace cpu {

// Generated from the option MLX_CPU_ISA_LEVELS: one LEVEL(name) each.
#define LEVEL(name)                             \
  namespace name {                              \
  void fill_float_reductions(ReduceTable& t);   \
  void fill_complex_reductions(ReduceTable& t); \
  void fill_integer_reductions(ReduceTable& t); \
  void fill_softmax(ReduceTable& t);            \
  }
#include "backend/cpu/tile_levels.def"
#undef LEVEL

static_assert(ReduceOps::count == reduce_op_count);

namespace {

constexpr Level<ReduceTable> levels[] = {
#define LEVEL(name)                    \
  {#name, [](ReduceTable& t) {         \
     name::fill_float_reductions(t);   \
     name::fill_complex_reductions(t); \
     name::fill_integer_reductions(t); \
     name::fill_softmax(t);            \
   }},
#include "backend/cpu/tile_levels.def"
#undef LEVEL
};

}  // namespace

const ReduceTable& reduce_table(const char* wanted) { return table_of_level(levels, wanted); }

const ReduceTable& reduce_table() {
  static const ReduceTable& table = reduce_table(tile_table().isa);
  return table;
}

namespace {

constexpr int64_t grain_elements = 1 << 15;
constexpr int64_t chunk_elements = 1 << 16;
constexpr int64_t few_tasks = 64;  // from here on there is enough to do in parallel without chunks
constexpr int64_t column_tile = 1024;
constexpr int64_t gather_tile = 128;
constexpr int64_t gather_rows = 64;
constexpr int64_t row_buffer = 1024;
constexpr int64_t max_total = 24;  // bytes

struct Axis {
  int64_t size = 1;
  int64_t in = 1;  // strides in elements
  int64_t out = 1;
};
using AxisList = SmallVector<Axis, 4>;

Plan plan_of(const AxisList& axes) {
  Plan p;
  p.size = 1;
  p.strides.resize(2);
  for (const Axis& a : axes) {
    p.size *= a.size;
    p.shape.push_back(a.size);
    p.strides[0].push_back(a.in);
    p.strides[1].push_back(a.out);
  }
  return p;
}

// A reduction reduced to its essentials: axes of size 1 dropped, neighbours merged.
struct Job {
  const ReduceKernel& kernel;
  const char* in;
  char* out;
  int64_t itemsize;
  int64_t out_itemsize;
  AxisList kept;     // in the order of the output
  AxisList reduced;  // strides not negative, largest first; never empty
  int64_t outputs = 1;
  int64_t count = 1;  // elements of each output
  double degrees = 0;

  const char* at(int64_t offset) const { return in + offset * itemsize; }
  void finish(const char* totals, int64_t n, char* to) const {
    kernel.finish(totals, n, double(count), degrees, to);
  }
};

void append_kept(AxisList& axes, Axis a) {
  if (!axes.empty() && axes.back().in == a.size * a.in) {
    axes.back() = {axes.back().size * a.size, a.in, a.out};
  } else {
    axes.push_back(a);
  }
}

// The order of summation is ours to choose: strides are made positive and sorted.
void sort_reduced(AxisList& axes) {
  std::sort(axes.begin(), axes.end(), [](const Axis& a, const Axis& b) { return a.in > b.in; });
  AxisList merged;
  for (const Axis& a : axes) {
    append_kept(merged, a);
  }
  if (merged.empty()) {
    merged.push_back({});
  }
  axes = merged;
}

Job make_job(const Reduce& p, const Operand& in, const Operand& out) {
  Job job{reduce_table().reduce[int(p.op)][in.dtype.index()],
          static_cast<const char*>(in.data),
          static_cast<char*>(out.data),
          in.dtype.size(),
          out.dtype.size(),
          {},
          {}};
  if (!job.kernel.row) {
    fail<RuntimeError>("[{}] has no kernel for {}", info(p.op).python_name, in.dtype);
  }
  auto next = p.axes.begin();
  Strides out_strides = row_major(out.shape);
  size_t o = 0;
  for (int i = 0; i < in.ndim(); ++i) {
    int64_t size = in.shape[i], stride = in.strides[i];
    if (next != p.axes.end() && *next == i) {
      ++next;
      o += p.keepdims;
      job.count *= size;
      if (size == 1) continue;
      if (stride < 0) {
        job.in += (size - 1) * stride * job.itemsize;
        stride = -stride;
      }
      job.reduced.push_back({size, stride, 0});
    } else {
      job.outputs *= size;
      if (size != 1) append_kept(job.kept, {size, stride, out_strides[o]});
      ++o;
    }
  }
  sort_reduced(job.reduced);
  job.degrees = double(std::max<int64_t>(job.count - p.ddof, 0));
  return job;
}

// The units of a long reduction, cut into chunks; with enough other tasks there is one chunk.
struct Chunks {
  int64_t units;
  int64_t per_chunk;
  int64_t count = 1;

  Chunks(int64_t n, int64_t unit_elements, int64_t target, int64_t tasks) : units(n), per_chunk(n) {
    if (tasks < few_tasks && n * unit_elements >= 2 * target) {
      per_chunk = std::max<int64_t>(1, target / unit_elements);
      count = (n + per_chunk - 1) / per_chunk;
    }
  }
  int64_t begin(int64_t chunk) const { return chunk * per_chunk; }
  int64_t end(int64_t chunk) const { return std::min(units, (chunk + 1) * per_chunk); }
};

int64_t grain_of(int64_t elements_per_task) {
  return std::max<int64_t>(1, grain_elements / std::max<int64_t>(1, elements_per_task));
}

// Joins the totals of all chunks into those of the first; `n` totals a chunk.
void merge_chunks(const Job& job, char* totals, int64_t chunks, int64_t n) {
  for (int64_t c = 1; c < chunks; ++c) {
    job.kernel.merge(totals, totals + c * n * job.kernel.total_size, n);
  }
}

template <typename T>
void gather_row(const char* from, int64_t stride, int64_t n, char* to) {
  const T* x = reinterpret_cast<const T*>(from);
  T* y = reinterpret_cast<T*>(to);
  for (int64_t i = 0; i < n; ++i) y[i] = x[i * stride];
}

// ---- rows ----

// Pieces of the innermost reduced axis, under all positions of the outer ones.
class RowSource {
 public:
  explicit RowSource(const Job& job)
      : job_(job), inner_(job.reduced.back()), outer_axes_(job.reduced) {
    outer_axes_.pop_back();
    outer_ = plan_of(outer_axes_);
    piece_ = std::min(inner_.size, chunk_elements);
    pieces_ = (inner_.size + piece_ - 1) / piece_;
  }
  int64_t units() const { return outer_.size * pieces_; }
  int64_t unit_elements() const { return piece_; }

  void add(const char* base, int64_t begin, int64_t end, char* total) const {
    Odometer outer(outer_, 0);
    outer.seek(begin / pieces_);
    for (int64_t u = begin, p = begin % pieces_; u < end; ++u) {
      int64_t first = p * piece_, n = std::min(piece_, inner_.size - first);
      add_piece(base + (outer.offset(0) + first * inner_.in) * job_.itemsize, n, total);
      if (++p == pieces_) {
        p = 0;
        outer.next();
      }
    }
  }

 private:
  void add_piece(const char* x, int64_t n, char* total) const {
    if (inner_.in == 1) {
      job_.kernel.row(x, n, total);
      return;
    }
    alignas(64) char buffer[row_buffer * 8];
    for (int64_t i = 0; i < n; i += row_buffer) {
      int64_t m = std::min(row_buffer, n - i);
      const char* from = x + i * inner_.in * job_.itemsize;
      dispatch_size(job_.itemsize,
                    [&]<typename T>() { gather_row<T>(from, inner_.in, m, buffer); });
      job_.kernel.row(buffer, m, total);
    }
  }

  const Job& job_;
  Axis inner_;
  AxisList outer_axes_;
  Plan outer_;
  int64_t piece_, pieces_;
};

void reduce_rows(const Job& job, Encoder& e) {
  const ReduceKernel& k = job.kernel;
  RowSource source(job);
  Plan kept = plan_of(job.kept);
  Chunks chunks(source.units(), source.unit_elements(), chunk_elements, job.outputs);
  if (chunks.count == 1) {
    parallel_for(job.outputs, grain_of(job.count), [&](int64_t begin, int64_t end) {
      constexpr int64_t batch = 32;
      alignas(64) char totals[batch * max_total];
      Odometer o(kept, 0);
      o.seek(begin);
      for (int64_t i = begin; i < end; i += batch) {
        int64_t n = std::min(batch, end - i);
        k.start(totals, n);
        for (int64_t j = 0; j < n; ++j, o.next()) {
          source.add(job.at(o.offset(0)), 0, chunks.units, totals + j * k.total_size);
        }
        job.finish(totals, n, job.out + i * job.out_itemsize);
      }
    });
    return;
  }
  Scratch scratch = e.scratch(size_t(job.outputs * chunks.count * k.total_size));
  char* totals = scratch.as<char>();
  parallel_for(job.outputs * chunks.count, 1, [&](int64_t begin, int64_t end) {
    Odometer o(kept, 0);
    for (int64_t t = begin; t < end; ++t) {
      int64_t c = t % chunks.count;
      o.seek(t / chunks.count);
      k.start(totals + t * k.total_size, 1);
      source.add(job.at(o.offset(0)), chunks.begin(c), chunks.end(c), totals + t * k.total_size);
    }
  });
  for (int64_t i = 0; i < job.outputs; ++i) {
    char* first = totals + i * chunks.count * k.total_size;
    merge_chunks(job, first, chunks.count, 1);
    job.finish(first, 1, job.out + i * job.out_itemsize);
  }
}

// Many rows: the kernel takes a run of them along the last kept axis.
void reduce_row_runs(const Job& job) {
  constexpr int64_t batch = 128;
  const ReduceKernel& k = job.kernel;
  Axis last = job.kept.back();
  AxisList outer_axes = job.kept;
  outer_axes.pop_back();
  Plan outer = plan_of(outer_axes);
  parallel_for(job.outputs, grain_of(job.count), [&](int64_t begin, int64_t end) {
    alignas(64) char totals[batch * max_total];
    Odometer o(outer, 0);
    for (int64_t i = begin; i < end;) {
      int64_t first = i % last.size, n = std::min({batch, last.size - first, end - i});
      o.seek(i / last.size);
      k.start(totals, n);
      k.rows(job.at(o.offset(0) + first * last.in), last.in, n, job.count, totals);
      job.finish(totals, n, job.out + i * job.out_itemsize);
      i += n;
    }
  });
}

// ---- columns ----

// Results of `n` columns, `stride` elements apart in the output.
void store_columns(const Job& job, const char* totals, int64_t n, char* out, int64_t stride) {
  if (stride == 1) {
    job.finish(totals, n, out);
    return;
  }
  alignas(64) char buffer[column_tile * 8];
  job.finish(totals, n, buffer);
  dispatch_size(job.out_itemsize, [&]<typename T>() {
    for (int64_t i = 0; i < n; ++i)
      reinterpret_cast<T*>(out)[i * stride] = reinterpret_cast<const T*>(buffer)[i];
  });
}

// Adds rows of `n` adjacent columns to n totals. Narrow dense rows are taken several at a time as
// one wide row.
void add_columns(const Job& job, const char* x, int64_t stride, int64_t rows, int64_t n,
                 char* totals) {
  const ReduceKernel& k = job.kernel;
  constexpr int64_t wide = 64;
  int64_t group = wide / n;
  if (stride == n && group > 1 && rows >= 2 * group) {
    alignas(64) char sums[wide * max_total];
    k.start(sums, group * n);
    k.columns(x, group * n, rows / group, group * n, sums);
    for (int64_t g = 0; g < group; ++g) k.merge(totals, sums + g * n * k.total_size, n);
    x += rows / group * group * n * job.itemsize;
    rows %= group;
  }
  if (rows > 0) k.columns(x, stride, rows, n, totals);
}

// `main`: the kept axis with unit stride.
void reduce_columns(const Job& job, size_t main, Encoder& e) {
  const ReduceKernel& k = job.kernel;
  Axis columns = job.kept[main], inner = job.reduced.back();
  AxisList kept_outer = job.kept, reduced_outer = job.reduced;
  kept_outer.erase(kept_outer.begin() + main);
  reduced_outer.pop_back();
  Plan kept = plan_of(kept_outer), outer = plan_of(reduced_outer);
  int64_t width = std::min(columns.size, column_tile);
  int64_t tiles = (columns.size + width - 1) / width;
  int64_t target = std::max<int64_t>(64, 4 * chunk_elements / width);  // rows
  int64_t piece = std::min(inner.size, target), pieces = (inner.size + piece - 1) / piece;
  Chunks chunks(outer.size * pieces, piece, target, kept.size * tiles);

  auto add = [&](int64_t task, int64_t chunk, int64_t in, char* totals) {
    int64_t first = task % tiles * width, n = std::min(width, columns.size - first);
    k.start(totals, n);
    Odometer o(outer, 0);
    int64_t begin = chunks.begin(chunk), end = chunks.end(chunk);
    o.seek(begin / pieces);
    for (int64_t u = begin, p = begin % pieces; u < end; ++u) {
      int64_t row = p * piece, rows = std::min(piece, inner.size - row);
      add_columns(job, job.at(in + o.offset(0) + row * inner.in + first), inner.in, rows, n,
                  totals);
      if (++p == pieces) {
        p = 0;
        o.next();
      }
    }
  };
  auto store = [&](int64_t task, int64_t out, const char* totals) {
    int64_t first = task % tiles * width, n = std::min(width, columns.size - first);
    store_columns(job, totals, n, job.out + (out + first * columns.out) * job.out_itemsize,
                  columns.out);
  };
  int64_t tasks = kept.size * tiles;
  if (chunks.count == 1) {
    parallel_for(tasks, grain_of(job.count * width), [&](int64_t begin, int64_t end) {
      alignas(64) char totals[column_tile * max_total];
      Odometer o(kept, 0);
      for (int64_t t = begin; t < end; ++t) {
        o.seek(t / tiles);
        add(t, 0, o.offset(0), totals);
        store(t, o.offset(1), totals);
      }
    });
    return;
  }
  int64_t tile_bytes = width * k.total_size;
  Scratch scratch = e.scratch(size_t(tasks * chunks.count * tile_bytes));
  char* totals = scratch.as<char>();
  parallel_for(tasks * chunks.count, 1, [&](int64_t begin, int64_t end) {
    Odometer o(kept, 0);
    for (int64_t t = begin; t < end; ++t) {
      o.seek(t / chunks.count / tiles);
      add(t / chunks.count, t % chunks.count, o.offset(0), totals + t * tile_bytes);
    }
  });
  parallel_for(tasks, 1, [&](int64_t begin, int64_t end) {
    Odometer o(kept, 0);
    for (int64_t t = begin; t < end; ++t) {
      o.seek(t / tiles);
      char* first = totals + t * chunks.count * tile_bytes;
      int64_t n = std::min(width, columns.size - t % tiles * width);
      for (int64_t c = 1; c < chunks.count; ++c) k.merge(first, first + c * tile_bytes, n);
      store(t, o.offset(1), first);
    }
  });
}

// ---- gathered columns ----

// Tiles of outputs × reduced elements are copied to where the outputs are adjacent.
void reduce_gathered(const Job& job, Encoder& e) {
  const ReduceKernel& k = job.kernel;
  Plan kept = plan_of(job.kept), reduced = plan_of(job.reduced);
  int64_t tiles = (job.outputs + gather_tile - 1) / gather_tile;
  int64_t target = chunk_elements / gather_tile;
  Chunks chunks(job.count, 1, target, tiles);

  auto add = [&](int64_t tile, int64_t chunk, char* totals) {
    int64_t first = tile * gather_tile, n = std::min(gather_tile, job.outputs - first);
    int64_t columns[gather_tile];
    Odometer o(kept, 0), r(reduced, 0);
    o.seek(first);
    for (int64_t j = 0; j < n; ++j, o.next()) columns[j] = o.offset(0);
    k.start(totals, n);
    int64_t i = chunks.begin(chunk), end = chunks.end(chunk);
    r.seek(i);
    alignas(64) char buffer[gather_tile * gather_rows * 8];
    while (i < end) {
      int64_t rows = std::min(gather_rows, end - i);
      dispatch_size(job.itemsize, [&]<typename T>() {
        T* to = reinterpret_cast<T*>(buffer);
        for (int64_t q = 0; q < rows; ++q, to += n, r.next()) {
          const T* x = reinterpret_cast<const T*>(job.in) + r.offset(0);
          for (int64_t j = 0; j < n; ++j) to[j] = x[columns[j]];
        }
      });
      add_columns(job, buffer, n, rows, n, totals);
      i += rows;
    }
  };
  auto store = [&](int64_t tile, const char* totals) {
    int64_t first = tile * gather_tile, n = std::min(gather_tile, job.outputs - first);
    job.finish(totals, n, job.out + first * job.out_itemsize);
  };
  if (chunks.count == 1) {
    parallel_for(tiles, grain_of(job.count * gather_tile), [&](int64_t begin, int64_t end) {
      alignas(64) char totals[gather_tile * max_total];
      for (int64_t t = begin; t < end; ++t) {
        add(t, 0, totals);
        store(t, totals);
      }
    });
    return;
  }
  int64_t tile_bytes = gather_tile * k.total_size;
  Scratch scratch = e.scratch(size_t(tiles * chunks.count * tile_bytes));
  char* totals = scratch.as<char>();
  parallel_for(tiles * chunks.count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      add(t / chunks.count, t % chunks.count, totals + t * tile_bytes);
    }
  });
  for (int64_t t = 0; t < tiles; ++t) {
    char* first = totals + t * chunks.count * tile_bytes;
    int64_t n = std::min(gather_tile, job.outputs - t * gather_tile);
    for (int64_t c = 1; c < chunks.count; ++c) k.merge(first, first + c * tile_bytes, n);
    store(t, first);
  }
}

// Outputs of no elements: the identity.
void reduce_nothing(const Job& job) {
  alignas(64) char totals[gather_tile * max_total];
  for (int64_t i = 0; i < job.outputs; i += gather_tile) {
    int64_t n = std::min(gather_tile, job.outputs - i);
    job.kernel.start(totals, n);
    job.finish(totals, n, job.out + i * job.out_itemsize);
  }
}

}  // namespace
}  // namespace cpu

void eval_cpu(const Reduce& p, Inputs in, Outputs out, Encoder& e) {
  using namespace cpu;  // NOLINT
  Job job = make_job(p, in[0], out[0]);
  if (job.count == 0) {
    reduce_nothing(job);
    return;
  }
  const Axis& row = job.reduced.back();
  size_t main = 0;
  for (size_t i = 1; i < job.kept.size(); ++i) {
    if (std::abs(job.kept[i].in) < std::abs(job.kept[main].in)) main = i;
  }
  bool dense_columns = false;
  if (!job.kept.empty() && job.kept[main].in == 1) {
    int64_t n = job.kept[main].size;
    dense_columns = n >= 16 || (row.in == n && row.size * n >= 128);
  }
  bool one_axis = row.in == 1 && job.reduced.size() == 1;
  if (one_axis && job.outputs >= few_tasks && job.kept.back().size >= 8) {
    reduce_row_runs(job);
  } else if (row.in == 1 && (row.size >= 32 || job.outputs < 16)) {
    reduce_rows(job, e);
  } else if (one_axis && job.kept.back().size >= 8) {
    reduce_row_runs(job);
  } else if (dense_columns) {
    reduce_columns(job, main, e);
  } else if (job.outputs >= 16) {
    reduce_gathered(job, e);
  } else {
    reduce_rows(job, e);
  }
}

}  // namespace mlx::core
