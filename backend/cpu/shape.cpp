// The shape family: views that had to be computed after all, joins, updates of regions, ranges.
#include "backend/cpu/copy.h"
#include "backend/cpu/evaluators.h"
#include "mlx/error.h"
#include "mlx/scalar_value.h"

namespace mlx::core {

namespace {

using cpu::copy_operand;

void* shifted(const Operand& x, int64_t elements) {
  return static_cast<char*>(x.data) + elements * x.dtype.size();
}

// The elements that `view` would have shown, in new memory.
template <typename P>
void copy_view(const P& p, const Operand& in, const Operand& out) {
  Operand source = in;
  int64_t offset = 0;
  source.shape = out.shape;
  if (!p.view(in, out.shape, source.strides, offset)) {
    fail<RuntimeError>("[{}] shape {} cannot be read as {}", p.name(), in.shape, out.shape);
  }
  source.data = shifted(in, offset);
  copy_operand(source, out);
}

// A part of `x` of the given shape that begins at `start`.
Operand region(const Operand& x, ShapeView start, ShapeView step, ShapeView shape) {
  Operand r = x;
  int64_t offset = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    offset += start[i] * x.strides[i];
    r.strides[i] = x.strides[i] * step[i];
  }
  r.shape = Shape(shape);
  r.data = shifted(x, offset);
  return r;
}

// Copies `from` to `to` but for the box [low, high): axis by axis what lies before and behind it.
void copy_outside(const Operand& from, const Operand& to, ShapeView low, ShapeView high) {
  Shape start(to.shape.size(), 0), step(to.shape.size(), 1), size = to.shape;
  auto copy_part = [&](size_t axis, int64_t lo, int64_t hi) {
    if (lo < hi) {
      start[axis] = lo;
      size[axis] = hi - lo;
      copy_operand(region(from, start, step, size), region(to, start, step, size));
    }
  };
  for (size_t i = 0; i < size.size(); ++i) {
    copy_part(i, 0, low[i]);
    copy_part(i, high[i], to.shape[i]);
    start[i] = low[i];
    size[i] = high[i] - low[i];
  }
}

}  // namespace

// Row-major order is kept, so the elements are those of the input in its own order.
void eval_cpu(const Reshape&, Inputs in, Outputs out, Encoder&) {
  Operand to = out[0];
  to.shape = in[0].shape;
  to.strides = row_major(in[0].shape);
  copy_operand(in[0], to);
}

void eval_cpu(const Transpose& p, Inputs in, Outputs out, Encoder&) { copy_view(p, in[0], out[0]); }

void eval_cpu(const Broadcast& p, Inputs in, Outputs out, Encoder&) { copy_view(p, in[0], out[0]); }

void eval_cpu(const Slice& p, Inputs in, Outputs out, Encoder&) { copy_view(p, in[0], out[0]); }

void eval_cpu(const AsStrided& p, Inputs in, Outputs out, Encoder&) { copy_view(p, in[0], out[0]); }

void eval_cpu(const View&, Inputs in, Outputs out, Encoder&) {
  Operand to = out[0];
  to.dtype = in[0].dtype;
  to.shape = in[0].shape;
  to.strides = row_major(in[0].shape);
  copy_operand(in[0], to);
}

void eval_cpu(const Copy&, Inputs in, Outputs out, Encoder&) { copy_operand(in[0], out[0]); }

void eval_cpu(const Contiguous&, Inputs in, Outputs out, Encoder&) { copy_operand(in[0], out[0]); }

void eval_cpu(const StopGradient&, Inputs in, Outputs out, Encoder&) {
  copy_operand(in[0], out[0]);
}

void eval_cpu(const SliceUpdate& p, Inputs in, Outputs out, Encoder&) {
  const Operand& base = in[0];
  const Operand& update = in[1];
  if (base.data != out[0].data) {
    bool box = std::all_of(p.step.begin(), p.step.end(), [](int64_t s) { return s == 1; });
    if (box) {
      Shape end = p.start;
      for (size_t i = 0; i < end.size(); ++i) {
        end[i] += update.shape[i];
      }
      copy_outside(base, out[0], p.start, end);
    } else {
      copy_operand(base, out[0]);
    }
  }
  copy_operand(update, region(out[0], p.start, p.step, update.shape));
}

void eval_cpu(const Concatenate& p, Inputs in, Outputs out, Encoder&) {
  Shape start(out[0].shape.size(), 0), step(out[0].shape.size(), 1);
  for (const Operand& x : in) {
    if (x.size > 0) {
      copy_operand(x, region(out[0], start, step, x.shape));
    }
    start[p.axis] += x.shape[p.axis];
  }
}

void eval_cpu(const Arange& p, Inputs, Outputs out, Encoder&) {
  dispatch(AllTypes{}, p.dtype, "arange", [&]<typename T>() {
    T first, step;
    std::memcpy(&first, p.start, sizeof first);
    std::memcpy(&step, p.step, sizeof step);
    T* to = out[0].ptr<T>();
    cpu::parallel_for(p.count, 1 << 15, [&](int64_t begin, int64_t end) {
      if constexpr (std::is_integral_v<T>) {
        uint64_t x = uint64_t(first), d = uint64_t(step);  // wraps
        for (int64_t i = begin; i < end; ++i) {
          to[i] = T(x + uint64_t(i) * d);
        }
      } else {
        // In double, so that the result is the nearest to the exact value.
        double x = convert_scalar<double>(first), d = convert_scalar<double>(step);
        for (int64_t i = begin; i < end; ++i) {
          to[i] = convert_scalar<T>(x + double(i) * d);
        }
      }
    });
  });
}

}  // namespace mlx::core
