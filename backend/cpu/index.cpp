// Reading at positions given by arrays: whole slices, elements along an axis, windows.
#include <cstring>

#include "backend/cpu/index_table.h"
#include "backend/cpu/positions.h"

namespace mlx::core {

using namespace cpu;

namespace {

constexpr int64_t least_fetched = 64, most_fetched = 1024;  // elements

// Lines are read in no order that the hardware could foresee: asks for one ahead of time.
template <typename T>
void fetch_line(const T* line, int64_t size) {
  constexpr int64_t step = 64 / int64_t(sizeof(T));
  for (int64_t i = 0; i < size; i += step) {
    __builtin_prefetch(line + i, 0, 2);
  }
}

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
  bool fetches = f.run_stride == 1 && f.run_length >= 4 * least_fetched;
  for (int64_t i = 0; i < count; ++i) {
    if (fetches && i + 2 < count) {
      fetch_line(from + positions[i + 2] + f.runs[0], std::min(f.run_length, most_fetched));
    }
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

// Contiguous indices of 32 bits into a contiguous axis.
bool fits_take(const Operand& index, int64_t index_stride, int64_t size, int64_t stride) {
  return (index.dtype == int32 || index.dtype == uint32) && index_stride == 1 && stride == 1 &&
         size <= INT32_MAX;
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
  bool direct = in.size() == 2 && inner == 1 && in[1].row_contiguous &&
                fits_take(in[1], 1, a.shape[p.axes[0]], a.strides[p.axes[0]]);
  auto take = index_table().take[index_kernel(a.dtype.size())];
  dispatch_size(a.dtype.size(), [&]<typename T>() {
    cpu::parallel_for(runs * blocks, 1, [&](int64_t begin, int64_t end) {
      int64_t at[index_run];
      for (int64_t u = begin; u < end; ++u) {
        int64_t first = u % runs * run, count = std::min(run, n - first);
        if (!direct) {
          positions.read(first, count, at);
        }
        Odometer o(f.outer, 0);
        int64_t k = u / runs * block, stop = std::min(outer, k + block);
        o.seek(k);
        for (; k < stop; ++k, o.next()) {
          const T* from = a.ptr<T>() + o.offset(0);
          T* to = out[0].ptr<T>() + (k * n + first) * inner;
          if (direct) {
            take(from + f.runs[0], in[1].ptr<int32_t>() + first, in[1].dtype == int32, count,
                 a.shape[p.axes[0]], to);
          } else {
            gather_blocks(from, at, count, f, to);
          }
        }
      }
    });
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
  int64_t size = a.shape[p.axis];
  bool direct =
      line.values == 1 && line.target == 0 && fits_take(index, line.index, size, line.axis);
  auto take = index_table().take[index_kernel(a.dtype.size())];
  int64_t run = std::min(length, index_run), runs = (length + run - 1) / run;
  bool fetches = direct && runs == 1 && size <= length && size >= least_fetched;
  Odometer rows(walk, 1);
  int64_t grain = std::max<int64_t>(1, unit_elements / run);
  dispatch_size(a.dtype.size(), [&]<typename T>() {
    cpu::parallel_for(rows.steps() * runs, grain, [&](int64_t begin, int64_t end) {
      int64_t at[index_run];
      Odometer o(walk, 1), ahead(walk, 1);
      o.seek(begin / runs);
      ahead.seek(std::min(begin / runs + 1, rows.steps() - 1));
      for (int64_t u = begin; u < end; ++u) {
        if (fetches && u + 1 < end) {
          fetch_line(a.ptr<T>() + ahead.offset(2), size);
          ahead.next();
        }
        int64_t first = u % runs * run, count = std::min(run, length - first);
        T* to = out[0].ptr<T>() + o.offset(1) + first * line.values;
        const T* from = a.ptr<T>() + o.offset(2) + first * line.target;
        int64_t place = o.offset(0) + first * line.index;
        if (direct) {
          take(from, index.ptr<int32_t>() + place, index.dtype == int32, count, size, to);
        } else {
          read(place, line.index, count, at);
          pick(from, at, count, line, to);
        }
        if ((u + 1) % runs == 0) {
          o.next();
        }
      }
    });
  });
}

namespace {

// The window of `x` whose starts are values.
Operand window(const Operand& x, const Operand& start, const Axes& axes, ShapeView size,
               std::string_view op) {
  Operand w = x;
  char* data = x.ptr<char>();
  for (size_t k = 0; k < axes.size(); ++k) {
    int64_t first, n = x.shape[axes[k]], last = n - size[axes[k]];
    dispatch(IntegerTypes{}, start.dtype, op, [&]<typename I>() {
      I value = start.ptr<I>()[int64_t(k) * start.strides[0]];
      first = resolve<Outside::clamp>(value, n);
      if (env().check && (resolve<Outside::drop>(value, n + 1) < 0 || first > last)) {
        fail<IndexError>("[{}] a window of {} elements at {} is outside an axis of size {}", op,
                         size[axes[k]], int64_t(value), n);
      }
    });
    data += std::min(first, last) * x.strides[axes[k]] * x.dtype.size();
  }
  w.data = data;
  w.shape = Shape(size.begin(), size.end());
  w.size = element_count(size);
  w.row_contiguous = is_row_contiguous(w.shape, w.strides);
  return w;
}

}  // namespace

void eval_cpu(const DynamicSlice& p, Inputs in, Outputs out, Encoder&) {
  copy_operand(window(in[0], in[1], p.axes, p.size, "slice"), out[0]);
}

void eval_cpu(const DynamicSliceUpdate& p, Inputs in, Outputs out, Encoder&) {
  if (in[0].data != out[0].data) {
    copy_operand(in[0], out[0]);
  }
  copy_operand(in[1], window(out[0], in[2], p.axes, in[1].shape, "slice_update"));
}

}  // namespace mlx::core
