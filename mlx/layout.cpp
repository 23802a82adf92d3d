// Contiguity, broadcasting and the iteration plan.
#include "mlx/layout.h"

#include "mlx/error.h"

namespace mlx::core {

int64_t element_count(ShapeView shape, std::string_view op) {
  int64_t n = 1;
  bool overflow = false, empty = false;
  for (int64_t d : shape) {
    if (d < 0) {
      fail<ValueError>("[{}] negative dimension in shape {}", op, shape);
    }
    overflow |= __builtin_mul_overflow(n, d, &n);
    empty |= d == 0;
  }
  if (empty) {
    return 0;
  }
  if (overflow) {
    fail<OverflowError>("[{}] shape {} has more elements than a 64-bit size can count", op, shape);
  }
  return n;
}

size_t byte_count(int64_t elements, int64_t itemsize) {
  size_t bytes;
  return __builtin_mul_overflow(size_t(elements), size_t(itemsize), &bytes) ? SIZE_MAX : bytes;
}

Strides row_major(ShapeView shape) {
  Strides strides(shape.size(), 1);
  for (int i = int(shape.size()) - 2; i >= 0; --i) {
    // The other axes of an empty array may be of any length: their strides mean nothing.
    if (__builtin_mul_overflow(strides[i + 1], std::max<int64_t>(shape[i + 1], 1), &strides[i])) {
      strides[i] = 1;
    }
  }
  return strides;
}

bool is_row_contiguous(ShapeView shape, std::span<const int64_t> strides) {
  int64_t expected = 1;
  for (int i = int(shape.size()) - 1; i >= 0; --i) {
    if (shape[i] == 0) {
      return true;
    }
    if (shape[i] != 1) {
      if (strides[i] != expected) {
        return false;
      }
      if (__builtin_mul_overflow(expected, shape[i], &expected)) {
        return element_count(shape, "layout") == 0;
      }
    }
  }
  return true;
}

Shape broadcast_shapes(ShapeView a, ShapeView b, std::string_view op) {
  if (a.size() < b.size()) {
    std::swap(a, b);
  }
  Shape out(a);
  size_t shift = a.size() - b.size();
  for (size_t i = 0; i < b.size(); ++i) {
    int64_t x = a[shift + i], y = b[i];
    if (x == y || y == 1) {
      continue;
    }
    if (x != 1) {
      fail<ValueError>("[{}] shapes {} and {} cannot be broadcast together", op, a, b);
    }
    out[shift + i] = y;
  }
  return out;
}

Strides broadcast_strides(ShapeView shape, std::span<const int64_t> strides, ShapeView target) {
  Strides out(target.size(), 0);
  size_t shift = target.size() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i) {
    out[shift + i] = shape[i] == 1 && target[shift + i] != 1 ? 0 : strides[i];
  }
  return out;
}

bool reshape_strides(ShapeView shape, std::span<const int64_t> strides, ShapeView target,
                     Strides& result) {
  result = row_major(target);
  if (is_row_contiguous(shape, strides)) {
    return true;
  }
  // Merge the source into maximal runs with one stride each, then cut the target out of the runs.
  Shape run_size;
  Strides run_stride;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) {
      continue;
    }
    if (!run_size.empty() && run_stride.back() == strides[i] * shape[i]) {
      run_size.back() *= shape[i];
      run_stride.back() = strides[i];
    } else {
      run_size.push_back(shape[i]);
      run_stride.push_back(strides[i]);
    }
  }
  size_t axis = target.size();
  for (size_t r = run_size.size(); r-- > 0;) {
    int64_t covered = 1;
    while (covered < run_size[r]) {
      if (axis == 0) {
        return false;
      }
      --axis;
      result[axis] = run_stride[r] * covered;
      covered *= target[axis];
    }
    if (covered != run_size[r]) {
      return false;
    }
  }
  while (axis > 0) {
    --axis;
    if (target[axis] != 1) {
      return false;
    }
    result[axis] = 1;
  }
  return true;
}

int normalize_axis(int64_t axis, int64_t ndim, std::string_view op) {
  if (axis < -ndim || axis >= ndim) {
    fail<AxisError>("[{}] axis {} is out of range for an array with {} dimensions", op, axis, ndim);
  }
  return int(axis < 0 ? axis + ndim : axis);
}

Axes normalize_axes(std::span<const int> axes, int64_t ndim, std::string_view op) {
  Axes out;
  for (int a : axes) {
    out.push_back(normalize_axis(a, ndim, op));
  }
  std::sort(out.begin(), out.end());
  for (size_t i = 1; i < out.size(); ++i) {
    if (out[i] == out[i - 1]) {
      fail<ValueError>("[{}] axis {} is given twice", op, out[i]);
    }
  }
  return out;
}

bool Plan::scalar(int k) const {
  return std::all_of(strides[k].begin(), strides[k].end(), [](int64_t s) { return s == 0; });
}

Plan plan(ShapeView shape, std::span<const Strides> operands) {
  Plan p;
  p.size = 1;
  p.strides.resize(operands.size());
  for (int i = int(shape.size()) - 1; i >= 0; --i) {
    p.size *= shape[i];
    if (shape[i] == 1) {
      continue;
    }
    // Built innermost first; the new outer axis merges if it continues every operand.
    bool merges = !p.shape.empty();
    for (size_t k = 0; k < operands.size() && merges; ++k) {
      merges = operands[k][i] == p.strides[k].back() * p.shape.back();
    }
    if (merges) {
      p.shape.back() *= shape[i];
      continue;
    }
    p.shape.push_back(shape[i]);
    for (size_t k = 0; k < operands.size(); ++k) {
      p.strides[k].push_back(operands[k][i]);
    }
  }
  std::reverse(p.shape.begin(), p.shape.end());
  p.dense = p.shape.size() <= 1;
  for (auto& s : p.strides) {
    std::reverse(s.begin(), s.end());
    p.dense = p.dense && (s.empty() || s[0] == 1);
  }
  return p;
}

Odometer::Odometer(const Plan& p, int inner_axes)
    : plan_(p), outer_(std::max(0, int(p.shape.size()) - inner_axes)) {
  for (int i = 0; i < outer_; ++i) {
    steps_ *= p.shape[i];
  }
  index_.resize(outer_, 0);
  offsets_.resize(p.strides.size(), 0);
}

void Odometer::seek(int64_t step) {
  for (size_t k = 0; k < offsets_.size(); ++k) {
    offsets_[k] = 0;
  }
  for (int i = outer_ - 1; i >= 0; --i) {
    index_[i] = step % plan_.shape[i];
    step /= plan_.shape[i];
    for (size_t k = 0; k < offsets_.size(); ++k) {
      offsets_[k] += index_[i] * plan_.strides[k][i];
    }
  }
}

void Odometer::next() {
  for (int i = outer_ - 1; i >= 0; --i) {
    bool wraps = ++index_[i] == plan_.shape[i];
    for (size_t k = 0; k < offsets_.size(); ++k) {
      offsets_[k] += wraps ? -(plan_.shape[i] - 1) * plan_.strides[k][i] : plan_.strides[k][i];
    }
    if (!wraps) {
      return;
    }
    index_[i] = 0;
  }
}

}  // namespace mlx::core
