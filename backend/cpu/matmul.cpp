// Matrix products: by kernels of our own (packed_product.cpp) where the instruction set has them,
// else by BLAS on tiles of the output, shared out to our pool. Tiles depend on the shape alone, so
// results do not depend on the number of threads. Operands whose dtype or strides BLAS cannot take
// are converted block by block; half types meet in float32 and are rounded once. A batch whose
// matrices continue each other is one product, and a long sum for a small output is cut. A matrix
// and a vector go through gemv, or through kernels of our own for half types.
#include <algorithm>
#include <cstring>
#include <limits>

#include "backend/cpu/blas.h"
#include "backend/cpu/evaluators.h"
#include "backend/cpu/product.h"
#include "backend/cpu/tile.h"
#include "mlx/scalar_value.h"

namespace mlx::core {

namespace {

using cpu::ceil_div;
using cpu::Matrix;
using cpu::piece_work;
using cpu::Product;
using cpu::Stored;

constexpr int64_t int_max = std::numeric_limits<int>::max();
constexpr int64_t block_k = 512;               // of operands that are converted
constexpr int64_t whole_k = int64_t(1) << 30;  // of operands that are not

constexpr int64_t shortest_part = 4096;  // of a sum that is cut
constexpr int64_t most_parts = 16;

// What BLAS is told about a matrix it can read in place.
struct Direct {
  bool possible = false;
  Stored stored = Stored::plain;
  int ld = 1;
};

Direct direct(const Matrix& x) {
  int64_t rs = x.row_stride, cs = x.column_stride;
  if (x.columns == 1) {
    cs = 1;
    rs = x.rows == 1 ? 1 : rs;
  } else if (x.rows == 1) {
    rs = cs == 1 ? x.columns : 1;
  }
  if (cs == 1 && rs >= x.columns && rs <= int_max) {
    return {true, Stored::plain, int(rs)};
  }
  if (rs == 1 && cs >= x.rows && cs <= int_max) {
    return {true, Stored::transposed, int(cs)};
  }
  return {};
}

// dst = src, both contiguous or src strided, with conversion from the stored to the computed type.
template <typename T, typename C>
void read_row(const T* src, int64_t stride, C* dst, int64_t n) {
  if constexpr (std::is_same_v<T, C>) {
    if (stride == 1) {
      std::memcpy(dst, src, size_t(n) * sizeof(T));
      return;
    }
  } else if (stride == 1) {
    const void* in = src;
    cpu::tile_table().cast[dtype_of<T>.index()][dtype_of<C>.index()](&in, dst, n);
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    dst[i] = convert_scalar<C>(src[i * stride]);
  }
}

// The results in float32, rounded to a half type.
template <typename T>
void write_row(const float* src, T* dst, int64_t n) {
  const void* in = src;
  cpu::tile_table().cast[float32.index()][dtype_of<T>.index()](&in, dst, n);
}

template <typename C>
struct Block {
  const C* data;
  Stored stored;
  int ld;
};

// One operand: read in place, or copied block by block into `scratch`.
template <typename T, typename C>
struct Source {
  Matrix matrix;
  Direct in_place;

  explicit Source(const Matrix& m) : matrix(m) {
    if constexpr (std::is_same_v<T, C>) {
      in_place = direct(m);
    }
  }

  Block<C> block(int64_t offset, int64_t r, int64_t rows, int64_t c, int64_t columns,
                 C* scratch) const {
    const T* p = reinterpret_cast<const T*>(matrix.data) + offset + r * matrix.row_stride +
                 c * matrix.column_stride;
    if constexpr (std::is_same_v<T, C>) {
      if (in_place.possible) {
        return {p, in_place.stored, in_place.ld};
      }
    }
    // The copy keeps the order that lies closer together in memory.
    bool by_rows = std::abs(matrix.column_stride) <= std::abs(matrix.row_stride) || rows == 1;
    int64_t outer = by_rows ? rows : columns, inner = by_rows ? columns : rows;
    int64_t step = by_rows ? matrix.row_stride : matrix.column_stride;
    int64_t stride = by_rows ? matrix.column_stride : matrix.row_stride;
    for (int64_t i = 0; i < outer; ++i) {
      read_row(p + i * step, stride, scratch + i * inner, inner);
    }
    return {scratch, by_rows ? Stored::plain : Stored::transposed, int(inner)};
  }
};

struct Tiling {
  int64_t rows, columns, down, across;  // size of a tile, number of tiles

  int64_t count() const { return down * across; }
};

// Tiles of up to 512 × 512, halved down to 128 while there are few.
Tiling choose_tiling(int64_t m, int64_t n, int64_t k, int64_t batch) {
  int64_t rows = 512, columns = 512;
  auto down = [&] { return ceil_div(m, rows); };
  auto across = [&] { return ceil_div(n, columns); };
  double work = double(m) * double(n) * double(k);
  while (batch * down() * across() < 32 && work / double(down() * across()) > piece_work) {
    bool taller = std::min(rows, m) >= std::min(columns, n);
    int64_t& side = taller ? rows : columns;
    if (std::min(side, taller ? m : n) <= 128) {
      break;
    }
    side /= 2;
  }
  Tiling t{0, 0, down(), across()};
  // Even tiles, in units of the vectors of the kernels.
  t.rows = ceil_div(ceil_div(m, t.down), 16) * 16;
  t.columns = ceil_div(ceil_div(n, t.across), 16) * 16;
  t.down = ceil_div(m, t.rows);
  t.across = ceil_div(n, t.columns);
  return t;
}

template <typename C>
void scale(C* x, int64_t n, float factor) {
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (std::is_same_v<C, complex64_t>) {
      x[i] = {x[i].re * factor, x[i].im * factor};
    } else {
      x[i] = factor == 0.0f ? C(0) : x[i] * C(factor);
    }
  }
}

template <typename T>
T sum_of(T a, T b) {
  if constexpr (std::is_same_v<T, complex64_t>) {
    return {a.re + b.re, a.im + b.im};
  } else {
    return a + b;
  }
}

// One product: T is stored, C computed.
template <typename T, typename C>
class Gemm {
 public:
  explicit Gemm(const Product& p)
      : p_(p),
        a_(p.a),
        b_(p.b),
        tiling_(choose_tiling(p.m(), p.n(), p.k(), p.batch.size)),
        copied_(!a_.in_place.possible || !b_.in_place.possible),
        step_k_(std::min(p.k(), copied_ ? block_k : whole_k)) {}

  void run() {
    double work =
        double(tiling_.rows) * double(tiling_.columns) * double(std::max<int64_t>(1, p_.k()));
    int64_t grain = std::max<int64_t>(1, int64_t(piece_work / work));
    cpu::parallel_for(p_.batch.size * tiling_.count(), grain, [&](int64_t begin, int64_t end) {
      Scratch scratch(scratch_bytes());
      Odometer at(p_.batch, 0);
      int64_t matrix = -1;
      for (int64_t t = begin; t < end; ++t) {
        if (t / tiling_.count() != matrix) {
          matrix = t / tiling_.count();
          at.seek(matrix);
        }
        tile(at, t % tiling_.count(), scratch.as<C>());
      }
    });
  }

 private:
  static constexpr bool rounds = !std::is_same_v<T, C>;

  int64_t scratch_a() const { return a_.in_place.possible ? 0 : tiling_.rows * step_k_; }
  int64_t scratch_b() const { return b_.in_place.possible ? 0 : tiling_.columns * step_k_; }
  size_t scratch_bytes() const {
    int64_t sum = rounds ? tiling_.rows * tiling_.columns : 0;
    return size_t(std::max<int64_t>(1, scratch_a() + scratch_b() + sum)) * sizeof(C);
  }

  void tile(const Odometer& at, int64_t t, C* scratch) const {
    int64_t r = t % tiling_.down * tiling_.rows, c = t / tiling_.down * tiling_.columns;
    int64_t rows = std::min(tiling_.rows, p_.m() - r),
            columns = std::min(tiling_.columns, p_.n() - c);
    T* out = reinterpret_cast<T*>(p_.out) + at.offset(3) + r * p_.n() + c;
    C* sum = scratch + scratch_a() + scratch_b();
    int64_t ld = columns;
    if constexpr (!rounds) {
      sum = out;
      ld = p_.n();
    }
    if (p_.beta != 0.0f) {
      load(at.offset(2), r, rows, c, columns, sum, ld);
    }
    if (ld <= int_max) {
      accumulate(at, r, rows, c, columns, scratch, sum, int(ld));
    } else {
      // Rows too far apart for BLAS: one at a time.
      for (int64_t i = 0; i < rows; ++i) {
        accumulate(at, r + i, 1, c, columns, scratch, sum + i * ld, int(columns));
      }
    }
    if constexpr (rounds) {
      for (int64_t i = 0; i < rows; ++i) {
        write_row(sum + i * ld, out + i * p_.n(), columns);
      }
    }
  }

  // The addend, which may already be where the result goes.
  void load(int64_t offset, int64_t r, int64_t rows, int64_t c, int64_t columns, C* sum,
            int64_t ld) const {
    const Matrix& x = p_.c;
    const T* p =
        reinterpret_cast<const T*>(x.data) + offset + r * x.row_stride + c * x.column_stride;
    if (static_cast<const void*>(p) == sum) {
      return;
    }
    for (int64_t i = 0; i < rows; ++i) {
      read_row(p + i * x.row_stride, x.column_stride, sum + i * ld, columns);
    }
  }

  void accumulate(const Odometer& at, int64_t r, int64_t rows, int64_t c, int64_t columns,
                  C* scratch, C* sum, int ld) const {
    for (int64_t k = 0; k < p_.k(); k += step_k_) {
      int64_t depth = std::min(step_k_, p_.k() - k);
      Block<C> a = a_.block(at.offset(0), r, rows, k, depth, scratch);
      Block<C> b = b_.block(at.offset(1), k, depth, c, columns, scratch + scratch_a());
      cpu::gemm(a.stored, b.stored, int(rows), int(columns), int(depth), p_.alpha, a.data, a.ld,
                b.data, b.ld, k == 0 ? p_.beta : 1.0f, sum, ld);
    }
    for (int64_t i = 0; i < rows && p_.k() == 0; ++i) {
      if (p_.beta == 0.0f) {
        std::fill(sum + i * ld, sum + i * ld + columns, C());
      } else {
        scale(sum + i * ld, columns, p_.beta);
      }
    }
  }

  const Product& p_;
  const Source<T, C> a_, b_;
  const Tiling tiling_;
  const bool copied_;
  const int64_t step_k_;
};

// y = alpha · a @ x + beta · c in pieces of y; `a` is read in place.
template <typename T>
class MatrixVector {
 public:
  MatrixVector(const Product& p, bool column)
      : p_(p),
        a_slot_(column ? 0 : 1),
        a_(column ? p.a : p.b.transposed()),
        x_(column ? p.b : p.a.transposed()),
        c_stride_(column ? p.c.row_stride : p.c.column_stride),
        layout_(direct(a_)) {}

  bool possible() const {
    return layout_.possible && x_.row_stride >= 1 && x_.row_stride <= int_max;
  }

  void run() {
    int64_t m = a_.rows, k = a_.columns;
    int64_t piece = std::clamp<int64_t>((int64_t(1) << 18) / k, 512, 1 << 16);
    int64_t pieces = ceil_div(m, piece);
    int64_t grain = std::max<int64_t>(1, int64_t(piece_work / 4) / (std::min(m, piece) * k));
    cpu::parallel_for(p_.batch.size * pieces, grain, [&](int64_t begin, int64_t end) {
      Scratch scratch(rounds ? size_t(k + std::min(m, piece)) * sizeof(float) : 1);
      Odometer at(p_.batch, 0);
      for (int64_t t = begin; t < end; ++t) {
        at.seek(t / pieces);
        int64_t r = t % pieces * piece;
        rows(at, r, std::min(piece, m - r), scratch.as<float>());
      }
    });
  }

 private:
  static constexpr bool rounds = is_half_type<T>;

  void rows(const Odometer& at, int64_t r, int64_t rows, float* scratch) const {
    const T* a = reinterpret_cast<const T*>(a_.data) + at.offset(a_slot_) + r * a_.row_stride;
    const T* x = reinterpret_cast<const T*>(x_.data) + at.offset(1 - a_slot_);
    const T* c = reinterpret_cast<const T*>(p_.c.data) + at.offset(2) + r * c_stride_;
    T* y = reinterpret_cast<T*>(p_.out) + at.offset(3) + r;
    if constexpr (rounds) {
      half_rows(a, x, c, y, rows, scratch);
    } else {
      if (p_.beta == 0.0f) {
        std::fill(y, y + rows, T());
      } else if (c != y) {
        read_row(c, c_stride_, y, rows);
      }
      if (p_.beta != 0.0f && p_.beta != 1.0f) {
        scale(y, rows, p_.beta);
      }
      cpu::gemv(layout_.stored, int(rows), int(a_.columns), p_.alpha, a, layout_.ld, x,
                int(x_.row_stride), y);
    }
  }

  void half_rows(const T* a, const T* x, const T* c, T* y, int64_t rows, float* scratch) const {
    const auto& table = cpu::tile_table();
    const auto& products =
        dtype_of<T> == float16 ? table.float16_products : table.bfloat16_products;
    int64_t k = a_.columns;
    float *wide_x = scratch, *sum = scratch + k;
    read_row(x, x_.row_stride, wide_x, k);
    if (layout_.stored == Stored::plain) {
      products.dot(a, layout_.ld, rows, k, wide_x, sum);
    } else {
      std::fill(sum, sum + rows, 0.0f);
      products.accumulate(a, layout_.ld, k, rows, wide_x, sum);
    }
    if (p_.alpha != 1.0f) {
      scale(sum, rows, p_.alpha);
    }
    for (int64_t i = 0; i < rows && p_.beta != 0.0f; ++i) {
      sum[i] += p_.beta * to_float(c[i * c_stride_]);
    }
    write_row(sum, y, rows);
  }

  const Product& p_;
  const int a_slot_;
  const Matrix a_, x_;
  const int64_t c_stride_;
  const Direct layout_;
};

// True if the product was a matrix and a vector that can be read in place.
template <typename T>
bool try_matrix_vector(const Product& p) {
  if ((p.m() != 1 && p.n() != 1) || p.k() == 0 || p.k() > whole_k) {
    return false;
  }
  MatrixVector<T> product(p, p.n() == 1);
  if (!product.possible()) {
    return false;
  }
  product.run();
  return true;
}

// Leading matrices of `a` against one `b` are more rows, if they continue each other.
void join_batch_to_rows(Product& p) {
  Plan& batch = p.batch;
  while (!batch.shape.empty()) {
    int64_t a = batch.strides[0].back(), b = batch.strides[1].back(), c = batch.strides[2].back();
    int64_t out = batch.strides[3].back(), rows = p.a.rows;
    if (rows == 1) {
      p.a.row_stride = a;
      p.c.row_stride = c;
    }
    bool joins = b == 0 && a == rows * p.a.row_stride && out == rows * p.n() &&
                 (!p.c.data || c == rows * p.c.row_stride);
    if (!joins) {
      return;
    }
    p.a.rows *= batch.shape.back();
    p.c.rows = p.a.rows;
    batch.size /= batch.shape.back();
    batch.shape.pop_back();
    for (Strides& s : batch.strides) {
      s.pop_back();
    }
  }
}

Strides leading(const Strides& s) { return Strides(s.begin(), s.end() - 2); }

Matrix last_axes(const Operand& x) {
  size_t d = x.shape.size();
  return {static_cast<const char*>(x.data), x.shape[d - 2], x.shape[d - 1], x.strides[d - 2],
          x.strides[d - 1]};
}

Product make_product(const Operand& a, const Operand& b, const Operand* c, const Operand& out,
                     float alpha, float beta) {
  Product p;
  p.dtype = out.dtype;
  p.a = last_axes(a);
  p.b = last_axes(b);
  p.out = static_cast<char*>(out.data);
  p.alpha = alpha;
  ShapeView shape = ShapeView(out.shape).first(out.shape.size() - 2);
  auto batch_strides = [&](const Operand& x) {
    Strides s(x.strides.begin(), x.strides.end() - 2);
    return broadcast_strides(ShapeView(x.shape).first(x.shape.size() - 2), s, shape);
  };
  Strides c_batch(shape.size(), 0);
  if (c && beta != 0.0f) {
    Strides s = broadcast_strides(c->shape, c->strides, out.shape);
    size_t d = s.size();
    p.c = {static_cast<const char*>(c->data), p.m(), p.n(), s[d - 2], s[d - 1]};
    p.beta = beta;
    c_batch = leading(s);
  }
  const Strides batches[] = {batch_strides(a), batch_strides(b), c_batch, leading(out.strides)};
  p.batch = plan(shape, batches);
  join_batch_to_rows(p);
  return p;
}

template <typename T>
void run_whole(const Product& p) {
  if (!try_matrix_vector<T>(p) && !cpu::try_packed_product(p)) {
    Gemm<T, std::conditional_t<is_half_type<T>, float, T>>(p).run();
  }
}

// How many parts a long sum is cut into, when the output alone gives too little to share out.
int64_t sum_parts(const Product& p) {
  double work = double(p.m()) * double(p.n()) * double(p.k());
  if (p.batch.size != 1 || p.k() < 2 * shortest_part || work < piece_work / 2) {
    return 1;
  }
  int64_t tiles = choose_tiling(p.m(), p.n(), p.k(), 1).count();
  int64_t parts = std::min(most_parts / tiles, p.k() / shortest_part);
  return p.m() * p.n() * parts > (int64_t(1) << 22) ? 1 : parts;
}

// The products of the parts as one batch, what is left over of the sum, and their total.
template <typename T>
void run_in_parts(const Product& p, int64_t parts, Encoder& e) {
  int64_t length = p.k() / parts, rest = p.k() % parts, size = p.m() * p.n();
  Scratch scratch = e.scratch(size_t((parts + 1) * size) * sizeof(T));
  T* sums = scratch.as<T>();
  Product part = p;
  part.c = {};
  part.beta = 0;
  part.out = reinterpret_cast<char*>(sums);
  part.a.columns = part.b.rows = length;
  const Strides steps[] = {{length * p.a.column_stride}, {length * p.b.row_stride}, {0}, {size}};
  part.batch = plan(Shape{parts}, steps);
  run_whole<T>(part);
  part.a.columns = part.b.rows = rest;
  part.a.data += parts * length * p.a.column_stride * int64_t(sizeof(T));
  part.b.data += parts * length * p.b.row_stride * int64_t(sizeof(T));
  part.out += parts * size * int64_t(sizeof(T));
  part.batch = p.batch;
  run_whole<T>(part);
  T* out = reinterpret_cast<T*>(p.out);
  const T* c = reinterpret_cast<const T*>(p.c.data);
  cpu::parallel_for(size, 1 << 14, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      T total = sums[i];
      for (int64_t k = 1; k <= parts; ++k) {
        total = sum_of(total, sums[k * size + i]);
      }
      if (p.beta != 0.0f) {
        T addend = c[i / p.n() * p.c.row_stride + i % p.n() * p.c.column_stride];
        scale(&addend, 1, p.beta);
        total = sum_of(total, addend);
      }
      out[i] = total;
    }
  });
}

}  // namespace

void cpu::multiply(const Product& p, std::string_view op, Encoder& e) {
  dispatch(InexactTypes{}, p.dtype, op, [&]<typename T>() {
    if constexpr (!is_half_type<T>) {
      if (int64_t parts = sum_parts(p); parts > 1) {
        return run_in_parts<T>(p, parts, e);
      }
    }
    run_whole<T>(p);
  });
}

void eval_cpu(const Matmul&, Inputs in, Outputs out, Encoder& e) {
  cpu::multiply(make_product(in[0], in[1], nullptr, out[0], 1.0f, 0.0f), "matmul", e);
}

void eval_cpu(const AddMM& p, Inputs in, Outputs out, Encoder& e) {
  cpu::multiply(make_product(in[1], in[2], &in[0], out[0], p.alpha, p.beta), "addmm", e);
}

}  // namespace mlx::core
