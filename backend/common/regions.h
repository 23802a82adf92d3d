// The shape family on any device: which elements go where. `copy(from, to)` moves the elements of
// one operand to another of the same shape and item size, whatever their strides.
#pragma once

#include <algorithm>

#include "mlx/error.h"
#include "mlx/layout.h"
#include "mlx/ops/shape/concatenate.h"
#include "mlx/ops/shape/slice.h"

namespace mlx::core::regions {

inline void* shifted(const Operand& x, int64_t elements) {
  return static_cast<char*>(x.data) + elements * x.dtype.size();
}

// The elements that `view` would have shown, in new memory.
template <typename Copy>
void copy_view(const Primitive& p, const Operand& in, const Operand& out, Copy copy) {
  Operand source = in;
  int64_t offset = 0;
  source.shape = out.shape;
  if (!p.view(in, out.shape, source.strides, offset)) {
    fail<RuntimeError>("[{}] shape {} cannot be read as {}", p.name(), in.shape, out.shape);
  }
  if (!in.is_scalar) {
    source.data = shifted(in, offset);
  }
  copy(source, out);
}

// The elements of `in` in its own order to those of `out` in row-major order.
template <typename Copy>
void copy_in_order(const Operand& in, const Operand& out, Copy copy) {
  Operand to = out;
  to.dtype = in.dtype;
  to.shape = in.shape;
  to.strides = row_major(in.shape);
  copy(in, to);
}

// A part of `x` of the given shape that begins at `start`.
inline Operand region(const Operand& x, ShapeView start, ShapeView step, ShapeView shape) {
  Operand r = x;
  int64_t offset = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    offset += start[i] * x.strides[i];
    r.strides[i] = x.strides[i] * step[i];
  }
  r.shape = Shape(shape);
  r.size = element_count(shape);
  r.row_contiguous = is_row_contiguous(r.shape, r.strides);
  r.data = shifted(x, offset);
  return r;
}

// Copies `from` to `to` but for the box [low, high): axis by axis what lies before and behind it.
template <typename Copy>
void copy_outside(const Operand& from, const Operand& to, ShapeView low, ShapeView high,
                  Copy copy) {
  Shape start(to.shape.size(), 0), step(to.shape.size(), 1), size = to.shape;
  auto copy_part = [&](size_t axis, int64_t lo, int64_t hi) {
    if (lo < hi) {
      start[axis] = lo;
      size[axis] = hi - lo;
      if (std::find(size.begin(), size.end(), 0) == size.end()) {
        copy(region(from, start, step, size), region(to, start, step, size));
      }
    }
  };
  for (size_t i = 0; i < size.size(); ++i) {
    copy_part(i, 0, low[i]);
    copy_part(i, high[i], to.shape[i]);
    start[i] = low[i];
    size[i] = high[i] - low[i];
  }
}

template <typename Copy>
void slice_update(const SliceUpdate& p, const Operand& base, const Operand& update,
                  const Operand& out, Copy copy) {
  if (base.is_scalar || base.data != out.data) {
    bool box = !base.is_scalar &&
               std::all_of(p.step.begin(), p.step.end(), [](int64_t s) { return s == 1; });
    if (box) {
      Shape end = p.start;
      for (size_t i = 0; i < end.size(); ++i) {
        end[i] += update.shape[i];
      }
      copy_outside(base, out, p.start, end, copy);
    } else {
      copy(base, out);
    }
  }
  if (update.size > 0) {
    copy(update, region(out, p.start, p.step, update.shape));
  }
}

template <typename Copy>
void concatenate(const Concatenate& p, Inputs in, const Operand& out, Copy copy) {
  Shape start(out.shape.size(), 0), step(out.shape.size(), 1);
  for (const Operand& x : in) {
    if (x.size > 0) {
      copy(x, region(out, start, step, x.shape));
    }
    start[p.axis] += x.shape[p.axis];
  }
}

}  // namespace mlx::core::regions
