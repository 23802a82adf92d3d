// argmax and argmin: the extreme of each block by the reduction kernels, then a search for it in
// the first block that has it. Ties go to the first position, NaN beats everything.
#include <algorithm>

#include "backend/cpu/evaluators.h"
#include "backend/cpu/reduce_table.h"
#include "mlx/dispatch.h"
#include "mlx/ops/elementwise/scalar_dialect.h"
// after the dialect
#include "mlx/ops/elementwise/convert.h"

namespace mlx::core {

namespace cpu {
namespace {

constexpr int64_t block = 1024;     // elements of a row
constexpr int64_t block_rows = 64;  // rows of a column tile
constexpr int64_t column_tile = 512;
constexpr int64_t short_size = 32;  // elements of a row that is searched directly
constexpr int64_t short_run = 64;   // such rows at a time
constexpr int64_t chunk = 1 << 16;
constexpr int64_t grain_elements = 1 << 15;
constexpr int64_t few_tasks = 64;

// The type extremes are compared in: what the kernels hand over.
template <typename T>
struct CompareType {
  using type = T;
};
template <>
struct CompareType<float16_t> {
  using type = float;
};
template <>
struct CompareType<bfloat16_t> {
  using type = float;
};
template <>
struct CompareType<bool> {
  using type = uint8_t;
};

template <typename T>
struct Found {
  typename CompareType<T>::type value;
  int64_t index;
};

// One axis of the input is searched, the others are walked in the order of the output.
template <typename T>
struct Search {
  using P = typename CompareType<T>::type;

  const ReduceKernel& kernel;
  Extreme extreme;
  const T* x;
  int64_t n;       // along the axis
  int64_t stride;  // of the axis

  static P widen(T v) { return scalar::convert<P>(v); }
  bool better(P a, P b) const {
    bool beats = extreme == Extreme::max ? scalar::Greater(a, b) : scalar::Less(a, b);
    return beats | (scalar::IsNan(a) & !scalar::IsNan(b));
  }
  static bool equals(P a, P b) {
    return scalar::Equal(a, b) || (scalar::IsNan(a) && scalar::IsNan(b));
  }
  int64_t position(const T* at, int64_t begin, int64_t end, P value) const {
    while (begin < end - 1 && !equals(widen(at[begin * stride]), value)) ++begin;
    return begin;
  }

  // `count` short rows of adjacent elements: all extremes first, then where each stands.
  void short_rows(const T* at, int64_t step, int64_t count, uint32_t* out) const {
    P best[short_run];
    kernel.start(best, count);
    kernel.rows(at, step, count, n, best);
    for (int64_t r = 0; r < count; ++r) out[r] = uint32_t(position(at + r * step, 0, n, best[r]));
  }

  // A single short row is not worth a kernel.
  Found<T> short_row(const T* at, int64_t begin, int64_t end) const {
    Found<T> found{widen(at[begin * stride]), begin};
    for (int64_t i = begin + 1; i < end; ++i) {
      P value = widen(at[i * stride]);
      bool wins = better(value, found.value);
      found.value = wins ? value : found.value;
      found.index = wins ? i : found.index;
    }
    return found;
  }

  Found<T> row(const T* at, int64_t begin, int64_t end) const {
    if (end - begin <= short_size) return short_row(at, begin, end);
    P best{};
    int64_t where = begin;
    T buffer[block];
    for (int64_t i = begin; i < end; i += block) {
      int64_t m = std::min(block, end - i);
      const T* from = at + i * stride;
      if (stride != 1) {
        for (int64_t j = 0; j < m; ++j) buffer[j] = from[j * stride];
        from = buffer;
      }
      P value;
      kernel.start(&value, 1);
      kernel.row(from, m, &value);
      if (i == begin || better(value, best)) {
        best = value;
        where = i;
        if (scalar::IsNan(best)) break;
      }
    }
    return {best, position(at, where, std::min(end, where + block), best)};
  }

  // Rows [begin, end) of `columns` adjacent columns.
  void columns(const T* at, int64_t begin, int64_t end, int64_t columns, Found<T>* found) const {
    P value[column_tile];
    for (int64_t r = begin; r < end; r += block_rows) {
      kernel.start(value, columns);
      kernel.columns(at + r * stride, stride, std::min(block_rows, end - r), columns, value);
      for (int64_t j = 0; j < columns; ++j) {
        if (r == begin || better(value[j], found[j].value)) found[j] = {value[j], r};
      }
    }
    for (int64_t j = 0; j < columns; ++j) {
      int64_t first = found[j].index;
      found[j].index = position(at + j, first, std::min(end, first + block_rows), found[j].value);
    }
  }
};

// Later chunks only win if they are better: the first of equals stays.
template <typename T>
void merge(const Search<T>& s, Found<T>* found, const Found<T>* later, int64_t n) {
  for (int64_t j = 0; j < n; ++j) {
    if (s.better(later[j].value, found[j].value)) found[j] = later[j];
  }
}

int64_t grain_of(int64_t elements) {
  return std::max<int64_t>(1, grain_elements / std::max<int64_t>(1, elements));
}

// Chunks along the axis; fixed by the shape.
int64_t chunk_size(int64_t n, int64_t target, int64_t tasks) {
  return tasks < few_tasks && n >= 2 * target ? target : n;
}

template <typename T>
void search_short_rows(const Search<T>& s, const Plan& kept, uint32_t* out) {
  int64_t last = kept.shape.back(), step = kept.strides[0].back();
  parallel_for(kept.size, grain_of(s.n), [&](int64_t begin, int64_t end) {
    Odometer o(kept, 1);
    for (int64_t i = begin; i < end;) {
      int64_t first = i % last, count = std::min({short_run, last - first, end - i});
      o.seek(i / last);
      s.short_rows(s.x + o.offset(0) + first * step, step, count, out + i);
      i += count;
    }
  });
}

template <typename T>
void search_rows(const Search<T>& s, const Plan& kept, uint32_t* out, Encoder& e) {
  int64_t size = chunk_size(s.n, chunk, kept.size), chunks = (s.n + size - 1) / size;
  Scratch scratch = e.scratch(chunks > 1 ? size_t(kept.size * chunks) * sizeof(Found<T>) : 1);
  Found<T>* found = scratch.as<Found<T>>();
  parallel_for(kept.size * chunks, grain_of(size), [&](int64_t begin, int64_t end) {
    Odometer o(kept, 0);
    o.seek(begin / chunks);
    for (int64_t t = begin; t < end; ++t) {
      int64_t c = t % chunks;
      Found<T> f = s.row(s.x + o.offset(0), c * size, std::min(s.n, (c + 1) * size));
      if (chunks == 1) {
        out[t] = uint32_t(f.index);
      } else {
        found[t] = f;
      }
      if (c == chunks - 1) o.next();
    }
  });
  for (int64_t i = 0; chunks > 1 && i < kept.size; ++i) {
    for (int64_t c = 1; c < chunks; ++c) merge(s, found + i * chunks, found + i * chunks + c, 1);
    out[i] = uint32_t(found[i * chunks].index);
  }
}

// `columns`: size and output stride of the kept axis with unit stride, which `kept` leaves out.
template <typename T>
void search_columns(const Search<T>& s, const Plan& kept, int64_t columns, int64_t out_stride,
                    uint32_t* out, Encoder& e) {
  int64_t width = std::min(columns, column_tile), tiles = (columns + width - 1) / width;
  int64_t tasks = kept.size * tiles;
  int64_t size = chunk_size(s.n, std::max(block_rows, 4 * chunk / width), tasks);
  int64_t chunks = (s.n + size - 1) / size;
  Scratch scratch = e.scratch(size_t(tasks * chunks * width) * sizeof(Found<T>));
  Found<T>* found = scratch.as<Found<T>>();
  parallel_for(tasks * chunks, grain_of(size * width), [&](int64_t begin, int64_t end) {
    Odometer o(kept, 0);
    for (int64_t t = begin; t < end; ++t) {
      int64_t c = t % chunks, first = t / chunks % tiles * width;
      o.seek(t / chunks / tiles);
      s.columns(s.x + o.offset(0) + first, c * size, std::min(s.n, (c + 1) * size),
                std::min(width, columns - first), found + t * width);
    }
  });
  Odometer o(kept, 0);
  for (int64_t t = 0; t < tasks; ++t) {
    o.seek(t / tiles);
    int64_t first = t % tiles * width, n = std::min(width, columns - first);
    Found<T>* f = found + t * chunks * width;
    for (int64_t c = 1; c < chunks; ++c) merge(s, f, f + c * width, n);
    for (int64_t j = 0; j < n; ++j) {
      out[o.offset(1) + (first + j) * out_stride] = uint32_t(f[j].index);
    }
  }
}

}  // namespace
}  // namespace cpu

void eval_cpu(const ArgReduce& p, Inputs in, Outputs out, Encoder& e) {
  using namespace cpu;  // NOLINT
  const Operand& x = in[0];
  uint32_t* y = out[0].ptr<uint32_t>();
  Strides out_strides = row_major(out[0].shape);
  Shape shape;
  Strides from, to;
  int main = -1;  // kept axis with unit stride
  for (int i = 0, o = 0; i < x.ndim(); ++i, ++o) {
    if (i == p.axis) {
      o -= !p.keepdims;
      continue;
    }
    if (x.strides[i] == 1 && x.shape[i] >= 16) main = int(shape.size());
    shape.push_back(x.shape[i]);
    from.push_back(x.strides[i]);
    to.push_back(out_strides[o]);
  }
  int op = p.extreme == Extreme::max ? ReduceOps::Max : ReduceOps::Min;
  const ReduceKernel& kernel = reduce_table().reduce[op][x.dtype.index()];
  dispatch(AllTypes{}, x.dtype, "argmax", [&]<typename T>() {
    Search<T> s{kernel, p.extreme, x.ptr<const T>(), x.shape[p.axis], x.strides[p.axis]};
    if (main >= 0 && s.stride != 1) {
      int64_t columns = shape[main], out_stride = to[main];
      shape.erase(shape.begin() + main);
      from.erase(from.begin() + main);
      to.erase(to.begin() + main);
      const Strides strides[] = {from, to};
      search_columns(s, plan(shape, strides), columns, out_stride, y, e);
    } else {
      const Strides strides[] = {from};
      Plan kept = plan(shape, strides);
      if (s.n <= short_size && s.stride == 1 && !kept.shape.empty() && kept.shape.back() >= 8) {
        search_short_rows(s, kept, y);
      } else {
        search_rows(s, kept, y, e);
      }
    }
  });
}

}  // namespace mlx::core
