// Scans along any axis of any layout: rows where the axis is the innermost one, else columns, all
// adjacent ones of a strip at a time. A long axis with few lines beside it is cut into chunks whose
// size depends on the shape alone: with more threads than lines every chunk is first added up, so
// that the chunks can start at once; otherwise lines go through their chunks in turn. Both give the
// same bits.
#include <algorithm>
#include <cstring>
#include <optional>

#include "backend/cpu/copy.h"
#include "backend/cpu/evaluators.h"
#include "backend/cpu/level_table.h"
#include "backend/cpu/scan_table.h"

namespace mlx::core {

namespace cpu {

// Generated from the option MLX_CPU_ISA_LEVELS: one LEVEL(name) each.
#define LEVEL(name)                      \
  namespace name {                       \
  void fill_float_scans(ScanTable& t);   \
  void fill_log_scans(ScanTable& t);     \
  void fill_complex_scans(ScanTable& t); \
  void fill_integer_scans(ScanTable& t); \
  }
#include "backend/cpu/tile_levels.def"
#undef LEVEL

static_assert(ScanOps::count == scan_op_count);

namespace {

constexpr Level<ScanTable> levels[] = {
#define LEVEL(name)               \
  {#name, [](ScanTable& t) {      \
     name::fill_float_scans(t);   \
     name::fill_log_scans(t);     \
     name::fill_complex_scans(t); \
     name::fill_integer_scans(t); \
   }},
#include "backend/cpu/tile_levels.def"
#undef LEVEL
};

}  // namespace

const ScanTable& scan_table(const char* wanted) { return table_of_level(levels, wanted); }

const ScanTable& scan_table() {
  static const ScanTable& table = scan_table(tile_table().isa);
  return table;
}

namespace {

constexpr int64_t grain_elements = 1 << 15;
constexpr int64_t chunk_elements = 1 << 16;
constexpr int64_t few_lines = 64;  // from here on there is enough to do in parallel without chunks
constexpr int64_t strip_size = 512;  // columns whose running values stay in L1
constexpr int64_t max_carry = 16;    // bytes

// The axes before the scanned one, the axis, and the merged axes behind it, which are adjacent.
struct Layout {
  Plan outer;
  int64_t size = 1;     // of the axis
  int64_t stride = 1;   // of the axis, in the input
  int64_t columns = 1;  // positions behind the axis
  bool direct = true;   // false: the input has to be made dense first
};

Layout layout_of(const Operand& x, int axis) {
  Layout l;
  Shape outer(x.shape.begin(), x.shape.begin() + axis);
  Strides steps(x.strides.begin(), x.strides.begin() + axis);
  l.outer = plan(outer, std::span<const Strides>(&steps, 1));
  l.size = x.shape[axis];
  l.stride = x.strides[axis];
  for (int i = axis + 1; i < x.ndim(); ++i) l.columns *= x.shape[i];
  ShapeView inner(x.shape.data() + axis + 1, x.ndim() - axis - 1);
  l.direct = is_row_contiguous(inner, {x.strides.data() + axis + 1, inner.size()}) &&
             (l.columns > 1 || l.stride == 1 || l.size == 1);
  return l;
}

// Lines of one element type through one kernel. A line is a row, or a strip of columns.
struct Job {
  const ScanKernel& kernel;
  Layout layout;
  const char* in;
  char* out;
  int64_t itemsize;
  bool reverse, inclusive;
  int64_t strip = 1, strips = 1;  // columns of a line, lines beside each other
  int64_t count = 0;              // elements along a line that are added: one less if exclusive
  int64_t chunk = 0, chunks = 1;

  int64_t lines() const { return layout.outer.size * strips; }
  int64_t width(int64_t line) const {
    return std::min(strip, layout.columns - line % strips * strip);
  }
  // First element of a line; where `o` stands is outer position line / strips.
  const char* input(int64_t line, const Odometer& o) const {
    return in + (o.offset(0) + line % strips * strip) * itemsize;
  }
  char* output(int64_t line) const {
    int64_t outer = line / strips, first = line % strips * strip;
    return out + (outer * layout.size * layout.columns + first) * itemsize;
  }

  // Elements [begin, end) in the order of the scan. Without `to` they are only added.
  void run(const char* from, char* to, int64_t width, int64_t begin, int64_t end, const void* base,
           void* local) const {
    // Positions in memory; an exclusive result lands one further on.
    int64_t first = reverse ? layout.size - end : begin, n = end - begin;
    int64_t shift = inclusive ? 0 : reverse ? -1 : 1;
    from += first * layout.stride * itemsize;
    if (to) to += (first + shift) * layout.columns * itemsize;
    if (layout.columns == 1) {
      kernel.row(from, n, reverse, to ? base : local, local, to);
      return;
    }
    int64_t step = layout.stride, out_step = layout.columns;
    if (reverse) {
      from += (n - 1) * step * itemsize;
      if (to) to += (n - 1) * out_step * itemsize;
      step = -step, out_step = -out_step;
    }
    // What is before an unchunked column is nothing, which the kernel needs not add.
    kernel.columns(from, step, n, width, chunks > 1 ? base : nullptr, local, to, out_step);
  }
  void store_nothing(char* to, int64_t width) const {
    if (!inclusive) {
      kernel.nothing(to + (reverse ? (layout.size - 1) * layout.columns * itemsize : 0), width);
    }
  }
  int64_t end_of(int64_t c) const { return std::min(count, (c + 1) * chunk); }
};

Job make_job(const Scan& p, const Operand& x, const Operand& out) {
  const ScanKernel& kernel = scan_table().scan[int(p.op)][x.dtype.index()];
  if (!kernel.row) {
    fail<RuntimeError>("[{}] has no kernel for {}", info(p.op).python_name, x.dtype);
  }
  Job job{kernel,          layout_of(x, p.way.axis), x.ptr<const char>(),
          out.ptr<char>(), x.dtype.size(),           p.way.reverse,
          p.way.inclusive};
  job.strip = std::min(job.layout.columns, strip_size);
  job.strips = (job.layout.columns + job.strip - 1) / job.strip;
  job.count = job.layout.size - !p.way.inclusive;
  job.chunk = std::max<int64_t>(job.count, 1);
  if (job.lines() < few_lines && job.count * job.strip >= 2 * chunk_elements) {
    job.chunk = std::max<int64_t>(1, chunk_elements / job.strip);
    job.chunks = (job.count + job.chunk - 1) / job.chunk;
  }
  return job;
}

// Rows in one piece each, with as little as possible to do for a short one.
void scan_rows(const Job& job) {
  const ScanKernel& k = job.kernel;
  int64_t size = job.layout.size, shift = job.inclusive ? 0 : job.reverse ? -1 : 1;
  int64_t first = shift < 0 ? 1 : 0;  // of the elements that are added
  int64_t grain = std::max<int64_t>(1, grain_elements / size);
  parallel_for(job.lines(), grain, [&](int64_t begin, int64_t end) {
    alignas(64) char base[max_carry] = {}, local[max_carry];
    k.start(base, 1);
    Odometer o(job.layout.outer, 0);
    o.seek(begin);
    for (int64_t line = begin; line < end; ++line, o.next()) {
      char* to = job.out + line * size * job.itemsize;
      job.store_nothing(to, 1);
      std::memcpy(local, base, max_carry);
      k.row(job.in + (o.offset(0) + first) * job.itemsize, job.count, job.reverse, base, local,
            to + (first + shift) * job.itemsize);
    }
  });
}

// Every line from its start to its end.
void scan_lines(const Job& job) {
  if (job.layout.columns == 1 && job.chunks == 1) {
    scan_rows(job);
    return;
  }
  const ScanKernel& k = job.kernel;
  int64_t elements = std::max<int64_t>(1, job.layout.size * job.strip);
  int64_t grain = std::max<int64_t>(1, grain_elements / elements);
  parallel_for(job.lines(), grain, [&](int64_t begin, int64_t end) {
    alignas(64) char base[strip_size * max_carry], local[strip_size * max_carry];
    Odometer o(job.layout.outer, 0);
    int64_t at = -1;
    for (int64_t line = begin; line < end; ++line) {
      if (int64_t outer = line / job.strips; outer != at) o.seek(at = outer);
      int64_t width = job.width(line);
      char* to = job.output(line);
      job.store_nothing(to, width);
      k.start(base, width);
      for (int64_t c = 0; c < job.chunks; ++c) {
        k.start(local, width);
        job.run(job.input(line, o), to, width, c * job.chunk, job.end_of(c), base, local);
        if (c + 1 < job.chunks) k.merge(base, local, width);
      }
    }
  });
}

// Chunks first added up, then scanned with what is before them.
void scan_chunks(const Job& job, Encoder& e) {
  const ScanKernel& k = job.kernel;
  int64_t bytes = job.strip * k.carry_size, tasks = job.lines() * job.chunks;
  Scratch scratch = e.scratch(size_t(tasks * bytes));
  char* carries = scratch.as<char>();
  auto each = [&](auto&& f) {
    parallel_for(tasks, 1, [&](int64_t begin, int64_t end) {
      Odometer o(job.layout.outer, 0);
      for (int64_t t = begin; t < end; ++t) {
        int64_t line = t / job.chunks;
        o.seek(line / job.strips);
        f(line, t % job.chunks, job.input(line, o), carries + t * bytes);
      }
    });
  };
  each([&](int64_t line, int64_t c, const char* from, char* total) {
    int64_t width = job.width(line);
    k.start(total, width);
    if (c + 1 < job.chunks) {
      job.run(from, nullptr, width, c * job.chunk, job.end_of(c), nullptr, total);
    }
  });
  // From the total of each chunk to what is before it.
  for (int64_t line = 0; line < job.lines(); ++line) {
    int64_t width = job.width(line);
    char* first = carries + line * job.chunks * bytes;
    alignas(64) char before[strip_size * max_carry], next[strip_size * max_carry];
    k.start(before, width);
    for (int64_t c = 0; c < job.chunks; ++c) {
      char* total = first + c * bytes;
      std::copy_n(before, width * k.carry_size, next);
      k.merge(next, total, width);
      std::copy_n(before, width * k.carry_size, total);
      std::copy_n(next, width * k.carry_size, before);
    }
  }
  each([&](int64_t line, int64_t c, const char* from, char* before) {
    alignas(64) char local[strip_size * max_carry];
    int64_t width = job.width(line);
    char* to = job.output(line);
    if (c == 0) job.store_nothing(to, width);
    k.start(local, width);
    job.run(from, to, width, c * job.chunk, job.end_of(c), before, local);
  });
}

}  // namespace
}  // namespace cpu

void eval_cpu(const Scan& p, Inputs in, Outputs out, Encoder& e) {
  using namespace cpu;  // NOLINT
  Operand x = in[0];
  std::optional<Scratch> memory;
  if (!layout_of(x, p.way.axis).direct) {
    if (p.way.inclusive) {
      copy_operand(x, out[0]);
      x = out[0];
    } else {
      x = make_dense(x, memory);
    }
  }
  Job job = make_job(p, x, out[0]);
  if (job.chunks > 1 && job.lines() < thread_count()) {
    scan_chunks(job, e);
  } else {
    scan_lines(job);
  }
}

void eval_cpu(const Recurrence& p, Inputs in, Outputs out, Encoder&) {
  using namespace cpu;  // NOLINT
  std::optional<Scratch> memory[2];
  Operand a = make_dense(in[0], memory[0]), b = make_dense(in[1], memory[1]);
  RecurrenceFn f = scan_table().recurrence[a.dtype.index()];
  if (!f) {
    fail<RuntimeError>("[linear_recurrence] has no kernel for {}", a.dtype);
  }
  Layout l = layout_of(a, p.way.axis);
  int64_t strip = std::min(l.columns, strip_size), strips = (l.columns + strip - 1) / strip;
  int64_t itemsize = a.dtype.size(), line_elements = l.size * l.columns;
  int64_t start = p.way.reverse ? (l.size - 1) * l.columns : 0;
  int64_t step = p.way.reverse ? -l.columns : l.columns;
  int64_t grain = std::max<int64_t>(1, grain_elements / (l.size * strip));
  parallel_for(l.outer.size * strips, grain, [&](int64_t begin, int64_t end) {
    alignas(64) char carries[strip_size * max_carry];
    for (int64_t t = begin; t < end; ++t) {
      int64_t first = t % strips * strip, n = std::min(strip, l.columns - first);
      int64_t at = (t / strips * line_elements + start + first) * itemsize;
      std::memset(carries, 0, size_t(n * max_carry));
      f(a.ptr<const char>() + at, b.ptr<const char>() + at, step, l.size, n, p.way.inclusive,
        carries, out[0].ptr<char>() + at);
    }
  });
}

}  // namespace mlx::core
