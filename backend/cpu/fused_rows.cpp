// Tapes with reductions of rows: a block of whole rows at a time goes through all steps while it is
// in the cache. The kernels are those that run the steps one by one, so the bits are the same.
#include <algorithm>

#include "backend/cpu/evaluators.h"
#include "backend/cpu/reduce_table.h"
#include "backend/cpu/tile_source.h"

namespace mlx::core {

namespace cpu {
namespace {

constexpr int64_t block_elements = 2048;
constexpr int64_t max_block = 64;  // rows
constexpr int64_t grain_elements = 1 << 14;
constexpr int64_t total_bytes = 24;

using Kind = RowStep::Kind;

// An input as wide steps read it, and as steps of one value a row do.
struct Source {
  const char* data;
  int64_t itemsize;
  bool flat = false;      // wide and in row-major order: read in place
  bool repeated = false;  // the same for all rows: a tile of it is made once
  int plan = -1;          // operand of the wide plan
  bool wide_use = false, row_use = false;
  size_t wide_tile = 0, row_tile = 0;  // offsets in the memory of a thread
};

struct Step {
  Kind kind;
  bool wide;
  int arity;
  int sources[3];
  bool source_wide[3];
  int64_t source_size[3];  // bytes of an element
  TileFn fn;
  const ReduceKernel* reduce;
  const SoftmaxKernel* softmax;
  double degrees;
  int64_t itemsize;
  int output = -1;  // it also is, -1: none
  size_t tile = 0;
};

class RowProgram {
 public:
  RowProgram(const FusedRows& p, Inputs in, Outputs out);
  void run(Encoder& e) const;

 private:
  struct Thread {
    char* memory;
    SmallVector<const char*, 24> wide, rows;  // where values are: per slot
  };

  void add_sources(Inputs in);
  void add_steps(const FusedRows& p, Inputs in);
  void assign_tiles();
  size_t take(size_t bytes);
  void run_range(int64_t begin, int64_t end, char* memory) const;
  void read_inputs(int64_t row, int64_t count, Thread& t) const;
  char* output(const Step& s, int64_t row) const {
    return out_[size_t(s.output)].ptr<char>() + row * (s.wide ? n_ : 1) * s.itemsize;
  }
  const char* operand(const Step& s, int k, int64_t count, Thread& t) const;
  void run_step(const Step& s, int64_t count, char* to, Thread& t) const;

  Outputs out_;
  Shape wide_;
  int64_t rows_, n_, block_;
  Plan plan_, row_plan_;
  SmallVector<Source, 4> sources_;
  SmallVector<Step, 8> steps_;
  size_t spread_tile_[3] = {};  // values a row, repeated along the row, of each operand of a step
  size_t totals_ = 0, floats_ = 0, bytes_ = 0;
};

RowProgram::RowProgram(const FusedRows& p, Inputs in, Outputs out) : out_(out) {
  for (const Operand& o : in) {
    wide_ = broadcast_shapes(wide_, o.shape);
  }
  n_ = wide_.back();
  rows_ = element_count(wide_) / n_;
  block_ = std::clamp<int64_t>(block_elements / n_, 1, max_block);
  add_sources(in);
  add_steps(p, in);
  assign_tiles();
}

void RowProgram::add_sources(Inputs in) {
  SmallVector<Strides, 4> wide, rows;
  Shape outer(wide_.begin(), wide_.end() - 1);
  for (const Operand& o : in) {
    Source s{o.ptr<const char>(), o.dtype.size()};
    s.flat = o.size == rows_ * n_ && o.row_contiguous;
    s.plan = int(sources_.size());
    sources_.push_back(s);
    wide.push_back(broadcast_strides(o.shape, o.strides, wide_));
    const Strides& strides = wide.back();
    sources_.back().repeated =
        std::all_of(strides.begin(), strides.end() - 1, [](int64_t x) { return x == 0; });
    rows.push_back(Strides(strides.begin(), strides.end() - 1));
  }
  plan_ = plan(wide_, wide);
  row_plan_ = plan(outer, rows);
}

void RowProgram::add_steps(const FusedRows& p, Inputs in) {
  int inputs = int(in.size());
  for (const RowStep& r : p.steps) {
    Step s{};
    s.kind = r.kind;
    s.wide = r.wide;
    s.arity = r.kind == Kind::elementwise ? info(r.op).arity : 1;
    s.itemsize = r.dtype.size();
    s.output = -1;
    Dtype last = r.dtype;
    for (int k = 0; k < s.arity; ++k) {
      int v = s.sources[k] = r.source[k];
      bool reads_wide = r.wide || r.kind != Kind::elementwise;
      last = v < inputs ? in[size_t(v)].dtype : p.steps[size_t(v - inputs)].dtype;
      s.source_size[k] = last.size();
      s.source_wide[k] = reads_wide;
      if (v < inputs) {
        (reads_wide ? sources_[size_t(v)].wide_use : sources_[size_t(v)].row_use) = true;
      }
    }
    if (r.kind == Kind::elementwise) {
      s.fn = tile_kernel(r.op, last, r.dtype);
    } else {
      s.reduce = &reduce_table().reduce[int(r.reduction)][last.index()];
      s.softmax = &reduce_table().softmax[last.index()];
      s.degrees = double(std::max<int64_t>(n_ - r.ddof, 0));
    }
    steps_.push_back(s);
  }
  for (size_t o = 0; o < p.outputs.size(); ++o) {
    steps_[size_t(p.outputs[o] - inputs)].output = int(o);
  }
}

size_t RowProgram::take(size_t bytes) {
  size_t at = bytes_;
  bytes_ += (bytes + 63) / 64 * 64;
  return at;
}

// Wide tiles are used again once their last reader has run.
void RowProgram::assign_tiles() {
  size_t wide = size_t(block_ * n_) * 8, narrow = size_t(block_) * 8;
  int inputs = int(sources_.size());
  for (Source& s : sources_) {
    if (s.wide_use && !s.flat) s.wide_tile = take(wide);
    if (s.row_use) s.row_tile = take(narrow);
  }
  SmallVector<int, 24> last_use(sources_.size() + steps_.size(), -1);
  bool spreads[3] = {};
  for (int i = 0; i < int(steps_.size()); ++i) {
    for (int k = 0; k < steps_[i].arity; ++k) {
      int v = steps_[i].sources[k];
      last_use[size_t(v)] = i;
      spreads[k] |= v >= inputs && steps_[i].wide && !steps_[size_t(v - inputs)].wide;
    }
  }
  SmallVector<size_t, 8> unused;
  for (int i = 0; i < int(steps_.size()); ++i) {
    Step& s = steps_[i];
    if (s.output < 0 && !s.wide) {
      s.tile = take(narrow);
    } else if (s.output < 0 && unused.empty()) {
      s.tile = take(wide);
    } else if (s.output < 0) {
      s.tile = unused.back();
      unused.pop_back();
    }
    for (int k = 0; k < s.arity; ++k) {
      int v = s.sources[k];
      bool first = std::find(s.sources, s.sources + k, v) == s.sources + k;
      if (first && v >= inputs && last_use[size_t(v)] == i) {
        const Step& from = steps_[size_t(v - inputs)];
        if (from.wide && from.output < 0) unused.push_back(from.tile);
      }
    }
  }
  for (int k = 0; k < 3; ++k) {
    if (spreads[k]) spread_tile_[k] = take(wide);
  }
  totals_ = take(size_t(block_) * total_bytes);
  floats_ = take(size_t(n_) * sizeof(float));
}

// Of `count` rows from `row` on.
void RowProgram::read_inputs(int64_t row, int64_t count, Thread& t) const {
  for (size_t k = 0; k < sources_.size(); ++k) {
    const Source& s = sources_[k];
    if (s.wide_use && s.flat) {
      t.wide[k] = s.data + row * n_ * s.itemsize;
      prefetch<Level::second>(t.wide[k] + count * n_ * s.itemsize, count * n_ * s.itemsize);
    } else if (s.wide_use && !s.repeated) {
      t.wide[k] = read_tile(plan_, s.plan, s.data, s.itemsize, row * n_, count * n_,
                            t.memory + s.wide_tile);
    }
    if (s.row_use) {
      t.rows[k] =
          read_tile(row_plan_, s.plan, s.data, s.itemsize, row, count, t.memory + s.row_tile);
    }
  }
}

const char* RowProgram::operand(const Step& s, int k, int64_t count, Thread& t) const {
  size_t v = size_t(s.sources[k]);
  bool is_wide = v < sources_.size() || steps_[v - sources_.size()].wide;
  if (!s.source_wide[k]) return t.rows[v];
  if (is_wide) return t.wide[v];
  char* to = t.memory + spread_tile_[k];
  for (int64_t r = 0; r < count; ++r) {
    tile_table().fill(to + r * n_ * s.source_size[k], t.rows[v] + r * s.source_size[k],
                      s.source_size[k], n_);
  }
  return to;
}

void RowProgram::run_step(const Step& s, int64_t count, char* to, Thread& t) const {
  const void* from[3] = {};
  for (int k = 0; k < s.arity; ++k) {
    from[k] = operand(s, k, count, t);
  }
  switch (s.kind) {
    case Kind::elementwise:
      s.fn(from, to, s.wide ? count * n_ : count);
      break;
    case Kind::reduce: {
      char* totals = t.memory + totals_;
      s.reduce->start(totals, count);
      s.reduce->rows(from[0], n_, count, n_, totals);
      s.reduce->finish(totals, count, double(n_), s.degrees, to);
      break;
    }
    case Kind::softmax:
      s.softmax->softmax(from[0], count, n_, to, t.memory + floats_);
      break;
    case Kind::logsumexp:
      s.softmax->logsumexp(from[0], count, n_, to);
      break;
  }
}

void RowProgram::run_range(int64_t begin, int64_t end, char* memory) const {
  size_t inputs = sources_.size(), slots = inputs + steps_.size();
  Thread t{memory, SmallVector<const char*, 24>(slots), SmallVector<const char*, 24>(slots)};
  for (size_t k = 0; k < inputs; ++k) {
    const Source& s = sources_[k];
    if (s.wide_use && s.repeated && !s.flat) {
      int64_t count = std::min(block_, end - begin);
      char* tile = memory + s.wide_tile;
      t.wide[k] = read_tile(plan_, s.plan, s.data, s.itemsize, begin * n_, count * n_, tile);
    }
  }
  for (int64_t row = begin, count; row < end; row += count) {
    count = std::min(block_, end - row);
    read_inputs(row, count, t);
    for (const Step& s : steps_) {
      if (s.output >= 0 && s.wide) prefetch<Level::second>(output(s, row), count * n_ * s.itemsize);
    }
    for (size_t i = 0; i < steps_.size(); ++i) {
      const Step& s = steps_[i];
      char* to = memory + s.tile;
      if (s.output >= 0) to = output(s, row);
      run_step(s, count, to, t);
      (s.wide ? t.wide : t.rows)[inputs + i] = to;
    }
  }
}

void RowProgram::run(Encoder& e) const {
  int64_t grain = std::max<int64_t>(1, grain_elements / (block_ * n_)) * block_;
  parallel_for(rows_, grain, [&](int64_t begin, int64_t end) {
    Scratch scratch = e.scratch(bytes_);
    run_range(begin, end, scratch.as<char>());
  });
}

}  // namespace
}  // namespace cpu

void eval_cpu(const FusedRows& p, Inputs in, Outputs out, Encoder& e) {
  cpu::RowProgram(p, in, out).run(e);
}

}  // namespace mlx::core
