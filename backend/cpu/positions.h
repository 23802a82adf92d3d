// What the evaluators of the index family share. Indices are brought into range once, in short
// runs; everything after that works with offsets that are known to be inside.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "backend/cpu/copy.h"
#include "backend/cpu/evaluators.h"
#include "mlx/dispatch.h"
#include "mlx/env.h"
#include "mlx/error.h"

namespace mlx::core::cpu {

inline constexpr int64_t index_run = 1024;         // indices resolved at a time
inline constexpr int64_t unit_elements = 1 << 15;  // elements worth another thread

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

inline Frame make_frame(ShapeView shape, std::span<const int64_t> strides, const Axes& axes,
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

// The index arrays of a Gather or Scatter together: for each of their elements an offset, or its
// number among all positions along the indexed axes.
class Positions {
 public:
  Positions(Inputs indices, const Operand& target, const Axes& axes, Outside outside,
            std::string_view op)
      : Positions(indices, target.shape, axes, outside, op) {
    for (size_t k = 0; k < indices.size(); ++k) {
      strides_[k] = target.strides[axes[k]];
    }
  }
  // Numbers.
  Positions(Inputs indices, ShapeView shape, const Axes& axes, Outside outside, std::string_view op)
      : memory_(indices.size()), outside_(outside) {
    Shape sizes;
    for (size_t k = 0; k < indices.size(); ++k) {
      sizes.push_back(shape[axes[k]]);
      readers_.emplace_back(make_dense(indices[k], memory_[k]), sizes.back(), outside, op);
      size_ = indices[k].size;
    }
    strides_ = row_major(sizes);
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

// Innermost loops of GatherAxis and ScatterAxis: element strides of the three operands and of the
// indexed axis.
struct Line {
  int64_t index, values, target, axis;
};

}  // namespace mlx::core::cpu
