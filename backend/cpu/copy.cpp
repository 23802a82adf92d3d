// Copies by item size: memcpy of runs, fills, transposition in tiles of a cache line's width, and
// plain strided loops for the rest.
#include "backend/cpu/copy.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "mlx/dispatch.h"

namespace mlx::core::cpu {

namespace {

constexpr int64_t cache_line = 64;
constexpr int64_t unit_bytes = 64 << 10;    // of a block that is copied row by row
constexpr int64_t grain_bytes = 256 << 10;  // least work worth another thread
constexpr int64_t transpose_side = 8;       // of a block that is transposed, in tiles

// A matrix in both layouts, strides in elements.
struct Block {
  int64_t rows, cols;
  int64_t from_row, from_col;
  int64_t to_row, to_col;
};

template <typename T>
struct Vector {
  static constexpr int lanes = int(16 / sizeof(T));
  typedef T type __attribute__((vector_size(16)));

  static type load(const T* p) {
    type v;
    std::memcpy(&v, p, sizeof v);
    return v;
  }
  template <size_t... I>
  static type low(type a, type b, std::index_sequence<I...>) {
    return __builtin_shufflevector(a, b, (int(I / 2) + (I % 2 ? lanes : 0))...);
  }
  template <size_t... I>
  static type high(type a, type b, std::index_sequence<I...>) {
    return __builtin_shufflevector(a, b, (lanes / 2 + int(I / 2) + (I % 2 ? lanes : 0))...);
  }
  template <size_t... I>
  static type reversed(type a, std::index_sequence<I...>) {
    return __builtin_shufflevector(a, a, (lanes - 1 - int(I))...);
  }
};

// to[i] = from[-i]
template <typename T>
void copy_backwards(const T* from, T* to, int64_t n) {
  using V = Vector<T>;
  int64_t i = 0;
  for (; i + V::lanes <= n; i += V::lanes) {
    typename V::type v = V::load(from - i - (V::lanes - 1));
    v = V::reversed(v, std::make_index_sequence<V::lanes>());
    std::memcpy(to + i, &v, sizeof v);
  }
  for (; i < n; ++i) {
    to[i] = from[-i];
  }
}

// Transposes lanes × lanes elements by log2(lanes) rounds of interleaving.
template <typename T>
void transpose_in_registers(const T* from, int64_t from_stride, T* to, int64_t to_stride) {
  using V = Vector<T>;
  constexpr int n = V::lanes;
  constexpr std::make_index_sequence<n> all{};
  typename V::type a[n], b[n];
  for (int i = 0; i < n; ++i) {
    a[i] = V::load(from + i * from_stride);
  }
  for (int round = 1; round < n; round *= 2) {
    for (int i = 0; i < n / 2; ++i) {
      b[2 * i] = V::low(a[i], a[i + n / 2], all);
      b[2 * i + 1] = V::high(a[i], a[i + n / 2], all);
    }
    std::copy(b, b + n, a);
  }
  for (int i = 0; i < n; ++i) {
    std::memcpy(to + i * to_stride, &a[i], sizeof a[i]);
  }
}

// One tile: whole cache lines are read along rows and written along columns, by way of a buffer,
// so that no line is needed twice even where all of them fall into one set of the cache.
template <typename T>
void transpose_tile(const T* from, int64_t from_col, T* to, int64_t to_row) {
  constexpr int side = int(cache_line / sizeof(T)), n = Vector<T>::lanes;
  alignas(cache_line) T buffer[side * side];
  for (int c = 0; c < side; c += n) {
    for (int r = 0; r < side; r += n) {
      transpose_in_registers(from + c * from_col + r, from_col, buffer + r * side + c, side);
    }
  }
  for (int r = 0; r < side; ++r) {
    std::memcpy(to + r * to_row, buffer + r * side, cache_line);
  }
}

template <typename T>
void copy_strided(const T* from, T* to, const Block& b) {
  for (int64_t r = 0; r < b.rows; ++r) {
    const T* x = from + r * b.from_row;
    T* y = to + r * b.to_row;
    for (int64_t c = 0; c < b.cols; ++c) {
      y[c * b.to_col] = x[c * b.from_col];
    }
  }
}

template <typename T>
void copy_transposed(const T* from, T* to, const Block& b) {
  constexpr int64_t side = cache_line / int64_t(sizeof(T));
  if (b.from_row != 1 || b.to_col != 1) {
    copy_strided(from, to, b);
    return;
  }
  int64_t rows = b.rows / side * side, cols = b.cols / side * side;
  for (int64_t c = 0; c < cols; c += side) {
    for (int64_t r = 0; r < rows; r += side) {
      transpose_tile(from + r + c * b.from_col, b.from_col, to + r * b.to_row + c, b.to_row);
    }
  }
  Block right = b;
  right.cols = b.cols - cols;
  copy_strided(from + cols * b.from_col, to + cols, right);
  Block below = b;
  below.rows = b.rows - rows;
  below.cols = cols;
  copy_strided(from + rows, to + rows * b.to_row, below);
}

template <typename T>
void copy_rows(const T* from, T* to, const Block& b) {
  if (b.to_col == 1 && b.from_col == -1) {
    for (int64_t r = 0; r < b.rows; ++r) {
      copy_backwards(from + r * b.from_row, to + r * b.to_row, b.cols);
    }
  } else if (b.to_col != 1 || (b.from_col != 1 && b.from_col != 0)) {
    copy_strided(from, to, b);
  } else if (b.from_col == 0) {
    for (int64_t r = 0; r < b.rows; ++r) {
      std::fill_n(to + r * b.to_row, b.cols, from[r * b.from_row]);
    }
  } else if (b.cols * int64_t(sizeof(T)) < 32) {
    copy_strided(from, to, b);
  } else {
    for (int64_t r = 0; r < b.rows; ++r) {
      std::memcpy(to + r * b.to_row, from + r * b.from_row, size_t(b.cols) * sizeof(T));
    }
  }
}

}  // namespace

CopyPlan::CopyPlan(ShapeView shape, std::span<const int64_t> from, std::span<const int64_t> to,
                   int64_t itemsize)
    : itemsize_(itemsize) {
  // Elements may be moved in any order: the destination is walked forwards, outer axes first.
  Axes order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return std::abs(to[a]) > std::abs(to[b]); });
  Shape sizes;
  Strides sorted[2];
  for (int i : order) {
    bool backwards = to[i] < 0;
    sizes.push_back(shape[i]);
    sorted[0].push_back(backwards ? -from[i] : from[i]);
    sorted[1].push_back(backwards ? -to[i] : to[i]);
    if (backwards && shape[i] > 0) {
      from_offset_ += (shape[i] - 1) * from[i];
      to_offset_ += (shape[i] - 1) * to[i];
    }
  }
  plan_ = plan(sizes, sorted);
  while (plan_.shape.size() < 2) {
    plan_.shape.insert(plan_.shape.begin(), 1);
    plan_.strides[0].insert(plan_.strides[0].begin(), plan_.strides[0].empty() ? 1 : 0);
    plan_.strides[1].insert(plan_.strides[1].begin(), plan_.strides[1].empty() ? 1 : 0);
  }
  if (plan_.size > 0) {
    prefer_source_order();
    cut_into_blocks();
  }
}

// Finds the axis along which the source is densest. If that is not the innermost one, it becomes
// the row axis of blocks that are transposed.
void CopyPlan::prefer_source_order() {
  size_t last = plan_.shape.size() - 1, dense = last;
  const Strides& from = plan_.strides[0];
  if (from[last] == 0 || std::abs(from[last]) == 1) {
    return;
  }
  for (size_t i = 0; i < last; ++i) {
    if (from[i] != 0 && std::abs(from[i]) < std::abs(from[dense])) {
      dense = i;
    }
  }
  if (dense == last || plan_.shape[dense] < 4 || plan_.shape[last] < 4) {
    return;
  }
  transposed_ = true;
  auto to_row_place = [&](auto& v) {
    std::rotate(v.begin() + dense, v.begin() + dense + 1, v.begin() + last);
  };
  to_row_place(plan_.shape);
  to_row_place(plan_.strides[0]);
  to_row_place(plan_.strides[1]);
}

void CopyPlan::cut_into_blocks() {
  size_t last = plan_.shape.size() - 1;
  int64_t rows = plan_.shape[last - 1], cols = plan_.shape[last];
  outer_ = plan_.size / (rows * cols);
  if (transposed_) {
    block_rows_ = block_cols_ = transpose_side * cache_line / itemsize_;
  } else {
    block_cols_ = std::min(cols, unit_bytes / itemsize_);
    block_rows_ = std::max<int64_t>(1, unit_bytes / itemsize_ / block_cols_);
  }
  row_blocks_ = (rows + block_rows_ - 1) / block_rows_;
  col_blocks_ = (cols + block_cols_ - 1) / block_cols_;
}

void CopyPlan::run_units(const char* from, char* to, int64_t begin, int64_t end) const {
  size_t last = plan_.shape.size() - 1;
  const Strides& fs = plan_.strides[0];
  const Strides& ts = plan_.strides[1];
  int64_t blocks = row_blocks_ * col_blocks_;
  Odometer outer(plan_, 2);
  outer.seek(begin / blocks);
  dispatch_size(itemsize_, [&]<typename T>() {
    const T* source = reinterpret_cast<const T*>(from) + from_offset_;
    T* target = reinterpret_cast<T*>(to) + to_offset_;
    for (int64_t u = begin; u < end; ++u) {
      int64_t row = u % blocks / col_blocks_ * block_rows_, col = u % col_blocks_ * block_cols_;
      Block b{std::min(block_rows_, plan_.shape[last - 1] - row),
              std::min(block_cols_, plan_.shape[last] - col),
              fs[last - 1],
              fs[last],
              ts[last - 1],
              ts[last]};
      const T* x = source + outer.offset(0) + row * b.from_row + col * b.from_col;
      T* y = target + outer.offset(1) + row * b.to_row + col * b.to_col;
      transposed_ ? copy_transposed(x, y, b) : copy_rows(x, y, b);
      if ((u + 1) % blocks == 0) {
        outer.next();
      }
    }
  });
}

void CopyPlan::run(const void* from, void* to) const {
  run_units(static_cast<const char*>(from), static_cast<char*>(to), 0, units());
}

void CopyPlan::run_parallel(const void* from, void* to) const {
  int64_t n = units();
  if (n == 0) {
    return;
  }
  int64_t bytes = std::max<int64_t>(1, plan_.size * itemsize_ / n);
  parallel_for(n, std::max<int64_t>(1, grain_bytes / bytes), [&](int64_t begin, int64_t end) {
    run_units(static_cast<const char*>(from), static_cast<char*>(to), begin, end);
  });
}

void copy_operand(const Operand& from, const Operand& to) {
  CopyPlan(to.shape, from.strides, to.strides, to.dtype.size()).run_parallel(from.data, to.data);
}

Operand make_dense(const Operand& x, std::optional<Scratch>& memory) {
  if (x.row_contiguous) {
    return x;
  }
  memory.emplace(size_t(x.nbytes()));
  Operand dense = x;
  dense.data = memory->as<void>();
  dense.strides = row_major(x.shape);
  dense.row_contiguous = true;
  dense.is_scalar = false;
  copy_operand(x, dense);
  return dense;
}

}  // namespace mlx::core::cpu
