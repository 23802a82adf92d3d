// The tape interpreter: runs elementwise rows on tiles that stay in the first-level cache. A single
// op is a tape of length one; contiguous operands of it are handed to the kernel whole.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "backend/cpu/evaluators.h"
#include "backend/cpu/tile_source.h"

namespace mlx::core {

namespace cpu {
namespace {

constexpr int64_t tile = 1024;  // elements; a slot of 8-byte elements takes 8 KB
constexpr size_t slot_bytes = size_t(tile) * 8;

// Work per piece below which waking a thread costs more than it gives.
constexpr int64_t light_grain = 1 << 16;
constexpr int64_t heavy_grain = 1 << 14;

bool is_light(EwOp op) {
  const EwInfo& row = info(op);
  return row.result != EwResult::floating || op == EwOp::Divide || op == EwOp::Sqrt;
}

// How an input is read: in place, as one repeated element, or gathered row by row.
struct Source {
  enum class Kind { flat, scalar, strided } kind;
  const char* data;
  int64_t itemsize;
  int index;  // operand of the plan
};

struct Step {
  TileFn fn;
  int sources[3];
  int arity;
  int slot;    // tile it writes, -1: straight into an output
  int output;  // output it also is, -1: none
  int64_t itemsize;
};

// Tile memory of the calling thread, kept from call to call.
char* tile_memory(size_t bytes) {
  struct Free {
    void operator()(char* p) const { std::free(p); }
  };
  thread_local std::unique_ptr<char, Free> memory;
  thread_local size_t capacity = 0;
  if (bytes > capacity) {
    size_t size = (bytes + 4095) / 4096 * 4096;
    memory.reset(static_cast<char*>(std::aligned_alloc(64, size)));
    if (!memory) {
      capacity = 0;
      throw std::bad_alloc();
    }
    capacity = size;
  }
  return memory.get();
}

// A program of tile kernels over a walk of the operands.
class Program {
 public:
  Program(std::span<const TapeStep> steps, std::span<const int16_t> results, Inputs in,
          Outputs out);
  void run() const;

 private:
  void add_inputs(Inputs in);
  void assign_slots(std::span<const TapeStep> steps, std::span<const int16_t> results);
  void run_range(int64_t begin, int64_t end) const;
  char* output(const Step& s, int64_t begin) const {
    return out_[size_t(s.output)].ptr<char>() + begin * s.itemsize;
  }
  const char* read(const Source& s, int64_t begin, int64_t n, char* slot) const;

  Outputs out_;
  int64_t size_;
  Plan plan_;
  SmallVector<Source, 4> sources_;
  SmallVector<Step, 8> steps_;
  int slots_ = 0;
  bool light_ = true;
};

Program::Program(std::span<const TapeStep> steps, std::span<const int16_t> results, Inputs in,
                 Outputs out)
    : out_(out), size_(out[0].size) {
  add_inputs(in);
  for (const TapeStep& s : steps) {
    Step step{};
    step.arity = info(s.op).arity;
    Dtype last = s.dtype;
    for (int k = 0; k < step.arity; ++k) {
      step.sources[k] = s.source[k];
      size_t slot = size_t(s.source[k]);
      last = slot < in.size() ? in[slot].dtype : steps[slot - in.size()].dtype;
    }
    step.fn = tile_kernel(s.op, last, s.dtype);
    step.itemsize = s.dtype.size();
    step.output = -1;
    light_ = light_ && is_light(s.op);
    steps_.push_back(step);
  }
  light_ = light_ && steps.size() < 6;
  assign_slots(steps, results);
}

void Program::add_inputs(Inputs in) {
  const Shape& shape = out_[0].shape;
  SmallVector<Strides, 4> strides;
  bool all_flat = true;
  for (const Operand& o : in) {
    bool flat = o.size == size_ && o.row_contiguous;
    Source s{flat ? Source::Kind::flat : Source::Kind::strided, o.ptr<const char>(), o.dtype.size(),
             int(strides.size())};
    if (!flat && o.size == 1) {
      s.kind = Source::Kind::scalar;
    } else if (!flat) {
      all_flat = false;
    }
    sources_.push_back(s);
  }
  if (all_flat) {
    return;
  }
  for (const Operand& o : in) {
    strides.push_back(broadcast_strides(o.shape, o.strides, shape));
  }
  plan_ = plan(shape, strides);
  for (size_t k = 0; k < sources_.size(); ++k) {
    Source& s = sources_[k];
    s.index = int(k);
    if (s.kind == Source::Kind::strided && plan_.scalar(int(k))) {
      s.kind = Source::Kind::scalar;
    }
  }
}

// Tiles are reused once their last reader has run. Inputs come first, scalars keep theirs
// throughout.
void Program::assign_slots(std::span<const TapeStep> steps, std::span<const int16_t> results) {
  int inputs = int(sources_.size());
  int values = inputs + int(steps.size());
  SmallVector<int, 16> last_use(size_t(values), -1);
  for (int i = 0; i < int(steps_.size()); ++i) {
    for (int k = 0; k < steps_[i].arity; ++k) {
      last_use[size_t(steps_[i].sources[k])] = i;
    }
  }
  for (size_t o = 0; o < results.size(); ++o) {
    steps_[size_t(results[o] - inputs)].output = int(o);
  }
  slots_ = inputs;
  SmallVector<int, 16> free_slots;
  for (int i = 0; i < int(steps_.size()); ++i) {
    Step& step = steps_[i];
    if (step.output >= 0) {
      step.slot = -1;
    } else if (free_slots.empty()) {
      step.slot = slots_++;
    } else {
      step.slot = free_slots.back();
      free_slots.pop_back();
    }
    for (int k = 0; k < step.arity; ++k) {
      int v = step.sources[k];
      bool first = std::find(step.sources, step.sources + k, v) == step.sources + k;
      if (first && v >= inputs && last_use[size_t(v)] == i &&
          steps_[size_t(v - inputs)].slot >= 0) {
        free_slots.push_back(steps_[size_t(v - inputs)].slot);
      }
    }
  }
}

const char* Program::read(const Source& s, int64_t begin, int64_t n, char* slot) const {
  if (s.kind == Source::Kind::flat) {
    return s.data + begin * s.itemsize;
  }
  return read_tile(plan_, s.index, s.data, s.itemsize, begin, n, slot);
}

void Program::run_range(int64_t begin, int64_t end) const {
  char* memory = tile_memory(size_t(slots_) * slot_bytes);
  size_t inputs = sources_.size();
  SmallVector<const char*, 24> at(inputs + steps_.size());
  int64_t longest = std::min(tile, end - begin);
  for (size_t k = 0; k < inputs; ++k) {
    if (sources_[k].kind == Source::Kind::scalar) {
      char* slot = memory + k * slot_bytes;
      tile_table().fill(slot, sources_[k].data, sources_[k].itemsize, longest);
      at[k] = slot;
    }
  }
  // Without scalars or gathered operands a single kernel may take the whole range at once.
  bool whole = steps_.size() == 1 && std::all_of(sources_.begin(), sources_.end(), [](auto& s) {
                 return s.kind == Source::Kind::flat;
               });
  bool asks = steps_.size() > 1;  // a single step keeps the memory busy by itself
  for (int64_t b = begin, n; b < end; b += n) {
    n = whole ? end - b : std::min(tile, end - b);
    for (size_t k = 0; k < inputs; ++k) {
      if (sources_[k].kind != Source::Kind::scalar) {
        at[k] = read(sources_[k], b, n, memory + k * slot_bytes);
      }
      if (asks && sources_[k].kind == Source::Kind::flat) {
        int64_t bytes = n * sources_[k].itemsize;
        prefetch<Level::first>(at[k] + bytes, bytes);
      }
    }
    for (const Step& s : steps_) {
      if (s.output >= 0 && asks) prefetch<Level::second>(output(s, b), n * s.itemsize);
    }
    for (size_t i = 0; i < steps_.size(); ++i) {
      const Step& s = steps_[i];
      char* to = s.output >= 0 ? output(s, b) : memory + size_t(s.slot) * slot_bytes;
      const void* from[3] = {};
      for (int k = 0; k < s.arity; ++k) {
        from[k] = at[size_t(s.sources[k])];
      }
      s.fn(from, to, n);
      at[inputs + i] = to;
    }
  }
}

void Program::run() const {
  int64_t grain = light_ ? light_grain : heavy_grain;
  if (size_ <= grain) {
    run_range(0, size_);
    return;
  }
  parallel_for(size_, grain, [&](int64_t begin, int64_t end) { run_range(begin, end); });
}

}  // namespace
}  // namespace cpu

void eval_cpu(const Elementwise& p, Inputs in, Outputs out, Encoder&) {
  TapeStep step{p.op, out[0].dtype, {0, 1, 2}};
  int16_t result = int16_t(in.size());
  cpu::Program({&step, 1}, {&result, 1}, in, out).run();
}

void eval_cpu(const Fused& p, Inputs in, Outputs out, Encoder&) {
  cpu::Program(p.steps, p.outputs, in, out).run();
}

}  // namespace mlx::core
