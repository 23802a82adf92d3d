// Matrix products on the device: which operands can be read in place, which batches are one larger
// product, and who computes it: a matrix and a vector go to kernels of our own (gemv.cu), all else
// to cuBLASLt. What neither can read is copied first.
#include <algorithm>
#include <limits>

#include "backend/cuda/blas_lt.h"
#include "backend/cuda/check.h"
#include "backend/cuda/copy.h"
#include "backend/cuda/evaluators.h"
#include "backend/cuda/gemv.h"
#include "mlx/layout.h"

namespace mlx::core {

namespace {

using cuda::Gemm;
using cuda::GemmOperand;
using cuda::Gemv;

constexpr int64_t int_max = std::numeric_limits<int>::max();
constexpr int64_t rows_at_once = int64_t(1) << 30;
constexpr int64_t batch_at_once = 65535;

// A matrix of each batch entry: the last two axes of an operand.
struct Matrix {
  char* data = nullptr;
  int64_t rows = 0, columns = 0;
  int64_t row_stride = 0, column_stride = 0;

  char* at(int64_t offset, int64_t itemsize) const { return data + offset * itemsize; }
};

struct Product {
  Dtype dtype = float32;
  Matrix a, b, c, out;  // c has no data: no addend
  float alpha = 1, beta = 0;
  Plan batch;  // operands 0 a, 1 b, 2 c, 3 out

  int64_t m() const { return out.rows; }
  int64_t n() const { return out.columns; }
  int64_t k() const { return a.columns; }
};

Matrix last_axes(const Operand& x, const Strides& strides) {
  size_t d = strides.size();
  return {static_cast<char*>(x.data), x.shape[x.shape.size() - 2], x.shape.back(), strides[d - 2],
          strides[d - 1]};
}

Strides leading(const Strides& s) { return Strides(s.begin(), s.end() - 2); }

// Leading matrices of a against one b are more rows, if they continue each other.
void join_batch_to_rows(Product& p) {
  Plan& batch = p.batch;
  while (!batch.shape.empty()) {
    int64_t count = batch.shape.back(), rows = p.out.rows;
    int64_t a = batch.strides[0].back(), b = batch.strides[1].back(), c = batch.strides[2].back(),
            out = batch.strides[3].back();
    int64_t a_row = rows == 1 ? a : p.a.row_stride, c_row = rows == 1 ? c : p.c.row_stride;
    bool joins = b == 0 && a != 0 && a == rows * a_row && out == rows * p.n() &&
                 (!p.c.data || c == rows * c_row) && rows <= int_max / count && p.n() <= int_max &&
                 p.k() <= int_max;
    if (!joins) {
      return;
    }
    p.a.row_stride = a_row;
    p.c.row_stride = c_row;
    p.a.rows = p.c.rows = p.out.rows = rows * count;
    p.out.row_stride = p.n();
    batch.size /= count;
    batch.shape.pop_back();
    for (Strides& s : batch.strides) {
      s.pop_back();
    }
  }
}

// The operands of a product, which may be replaced by copies of them.
struct Given {
  Operand a, b;
  const Operand* c;  // null: no addend
  Operand out;
  float alpha, beta;

  Product product() const {
    Product p;
    p.dtype = out.dtype;
    p.alpha = alpha;
    p.beta = c ? beta : 0;
    p.a = last_axes(a, a.strides);
    p.b = last_axes(b, b.strides);
    p.out = last_axes(out, out.strides);
    p.out.row_stride = p.n();
    p.out.column_stride = 1;
    ShapeView shape = ShapeView(out.shape).first(out.shape.size() - 2);
    auto batch_strides = [&](const Operand& x) {
      return broadcast_strides(ShapeView(x.shape).first(x.shape.size() - 2), leading(x.strides),
                               shape);
    };
    Strides c_batch(shape.size(), 0);
    if (c) {
      Strides s = broadcast_strides(c->shape, c->strides, out.shape);
      size_t d = s.size();
      p.c = {static_cast<char*>(c->data), p.m(), p.n(), s[d - 2], s[d - 1]};
      c_batch = leading(s);
    }
    const Strides batches[] = {batch_strides(a), batch_strides(b), c_batch, leading(out.strides)};
    p.batch = plan(shape, batches);
    join_batch_to_rows(p);
    return p;
  }
};

// ---- reading in place ----

struct Direct {
  bool possible = false;
  bool transposed = false;
  int64_t ld = 1;
};

Direct direct(const Matrix& x) {
  int64_t rs = x.row_stride, cs = x.column_stride;
  if ((cs == 1 || x.columns == 1) && (x.rows == 1 || (rs >= x.columns && rs <= int_max))) {
    return {true, false, x.rows == 1 ? x.columns : rs};
  }
  if ((rs == 1 || x.rows == 1) && (x.columns == 1 || (cs >= x.rows && cs <= int_max))) {
    return {true, true, x.columns == 1 ? x.rows : cs};
  }
  return {};
}

// Batches go forward or stay where they are.
bool readable(const Matrix& x, const Strides& batch) {
  return direct(x).possible &&
         std::all_of(batch.begin(), batch.end(), [](int64_t s) { return s >= 0; });
}

// A copy in rows, of what is repeated along the batch only once.
Operand row_copy(Operand x, Encoder& encoder) {
  for (size_t i = 0; i + 2 < x.shape.size(); ++i) {
    if (x.strides[i] == 0) {
      x.size /= x.shape[i];
      x.shape[i] = 1;
    }
  }
  Operand copy = x;
  copy.strides = row_major(x.shape);
  copy.row_contiguous = true;
  copy.data = encoder.keep(size_t(copy.nbytes()));
  cuda::copy_operand(x, copy, encoder);
  return copy;
}

bool takes_gemv(const Product& p) { return (p.m() == 1 || p.n() == 1) && !p.dtype.is_complex(); }

// The operand that is the matrix, and the vector: a and b if the result is a column, else b and a.
Gemv vector_form(const Product& p) {
  bool column = p.n() == 1;
  const Matrix &a = p.a, &b = p.b;
  Gemv g{};
  g.depth = p.k();
  if (column) {
    g.rows = p.m();
    g.row_stride = a.row_stride;
    g.depth_stride = a.column_stride;
    g.x_stride = b.row_stride;
    g.c_stride = p.c.row_stride;
  } else {
    g.rows = p.n();
    g.row_stride = b.column_stride;
    g.depth_stride = b.row_stride;
    g.x_stride = a.column_stride;
    g.c_stride = p.c.column_stride;
  }
  // Along an axis of size 1 any stride will do.
  g.row_stride = g.rows == 1 ? (g.depth_stride == 1 ? g.depth : 1) : g.row_stride;
  g.depth_stride = g.depth == 1 ? (g.row_stride == 1 ? g.rows : 1) : g.depth_stride;
  g.alpha = p.alpha;
  g.beta = p.beta;
  return g;
}

// Copies what cannot be read as it is; true if anything changed.
class Preparation {
 public:
  Preparation(Given& given, Encoder& encoder) : given_(given), encoder_(encoder) {}

  bool step() {
    Product p = given_.product();
    if (!takes_gemv(p)) {
      bool a = !readable(p.a, p.batch.strides[0]) && copy(given_.a, a_copied_);
      bool b = !readable(p.b, p.batch.strides[1]) && copy(given_.b, b_copied_);
      return a || b;
    }
    Gemv g = vector_form(p);
    bool column = p.n() == 1;
    if (g.row_stride != 1 && g.depth_stride != 1) {
      return column ? copy(given_.a, a_copied_) : copy(given_.b, b_copied_);
    }
    // Sums along lines read the vector by 16 bytes too.
    bool aligned =
        g.x_stride == 1 && reinterpret_cast<uintptr_t>(column ? p.b.data : p.a.data) % 16 == 0;
    if (g.along() && g.depth_stride == 1 && !aligned) {
      return column ? copy(given_.b, b_copied_) : copy(given_.a, a_copied_);
    }
    return false;
  }

 private:
  bool copy(Operand& x, bool& copied) {
    if (copied) {
      return false;
    }
    x = row_copy(x, encoder_);
    return copied = true;
  }

  Given& given_;
  Encoder& encoder_;
  bool a_copied_ = false, b_copied_ = false;
};

// ---- batches ----

// Calls f(offsets of a, b, c, out, number of matrices) for runs along the longest axis of the
// batch; their strides are `strides`.
struct Runs {
  int64_t count = 1;
  int64_t strides[4] = {};
  Plan others;

  explicit Runs(const Plan& batch) : others(batch) {
    if (batch.shape.empty()) {
      return;
    }
    auto longest = std::max_element(batch.shape.begin(), batch.shape.end()) - batch.shape.begin();
    count = batch.shape[size_t(longest)];
    others.shape.erase(others.shape.begin() + longest);
    for (size_t i = 0; i < 4; ++i) {
      strides[i] = batch.strides[i][size_t(longest)];
      others.strides[i].erase(others.strides[i].begin() + longest);
    }
  }

  template <typename F>
  void each(F&& f) const {
    Odometer at(others, 0);
    for (int64_t i = 0; i < at.steps(); ++i, at.next()) {
      const int64_t offsets[4] = {at.offset(0), at.offset(1), at.offset(2), at.offset(3)};
      f(offsets);
    }
  }
};

void run_gemv(const Product& p, Encoder& encoder) {
  Gemv g = vector_form(p);
  bool column = p.n() == 1;
  Runs runs(p.batch);
  g.batch = runs.count;
  g.matrix_batch = runs.strides[column ? 0 : 1];
  g.x_batch = runs.strides[column ? 1 : 0];
  g.c_batch = runs.strides[2];
  g.y_batch = runs.strides[3];
  int64_t size = p.dtype.size();
  runs.each([&](const int64_t* offsets) {
    const char *a = p.a.at(offsets[0], size), *b = p.b.at(offsets[1], size);
    g.matrix = column ? a : b;
    g.x = column ? b : a;
    g.c = p.c.data ? p.c.at(offsets[2], size) : nullptr;
    g.y = p.out.at(offsets[3], size);
    cuda::gemv(p.dtype, g, encoder);
  });
}

// ---- cuBLASLt ----

// The addend as a row for all rows, aligned for wide reads; null if it is no such thing.
const void* bias_of(const Product& p, Encoder& encoder) {
  bool batched = std::any_of(p.batch.strides[2].begin(), p.batch.strides[2].end(),
                             [](int64_t s) { return s != 0; });
  if (!p.c.data || p.beta != 1 || batched || p.c.row_stride != 0 || p.c.column_stride == 0 ||
      p.dtype == float64 || p.dtype.is_complex()) {
    return nullptr;
  }
  if (p.c.column_stride == 1 && reinterpret_cast<uintptr_t>(p.c.data) % 16 == 0) {
    return p.c.data;
  }
  Operand row;
  row.data = p.c.data;
  row.dtype = p.dtype;
  row.shape = {p.n()};
  row.strides = {p.c.column_stride};
  row.size = p.n();
  row.row_contiguous = p.c.column_stride == 1;
  return row_copy(row, encoder).data;
}

// The addend where cuBLASLt can read it: in place, or copied into the result. Updates the plan.
void place_addend(Product& p, const Given& given, Encoder& encoder) {
  Matrix& c = p.c;
  int64_t row_stride = c.rows == 1 ? c.columns : c.row_stride;
  int64_t column_stride = c.columns == 1 ? 1 : c.column_stride;
  bool forward = std::all_of(p.batch.strides[2].begin(), p.batch.strides[2].end(),
                             [](int64_t s) { return s > 0; });
  if (column_stride != 1 || row_stride < c.columns || row_stride > int_max || !forward) {
    Operand from = *given.c;
    from.strides = broadcast_strides(from.shape, from.strides, given.out.shape);
    from.shape = given.out.shape;
    from.size = given.out.size;
    from.row_contiguous = false;
    cuda::copy_operand(from, given.out, encoder);
    c = p.out;
    p.batch.strides[2] = p.batch.strides[3];
  } else {
    c.row_stride = row_stride;
    c.column_stride = 1;
  }
}

// False if cuBLASLt refused; it does so at once or never.
bool run_blas(const Product& p, const void* bias, Encoder& encoder) {
  Direct a = direct(p.a), b = direct(p.b);
  Runs runs(p.batch);
  int64_t size = p.dtype.size();
  bool done = true;
  runs.each([&](const int64_t* offsets) {
    for (int64_t first = 0; done && first < runs.count; first += batch_at_once) {
      for (int64_t row = 0; done && row < p.m(); row += rows_at_once) {
        Gemm g;
        g.dtype = p.dtype;
        g.m = std::min(rows_at_once, p.m() - row);
        g.n = p.n();
        g.k = p.k();
        g.batch = std::min(batch_at_once, runs.count - first);
        auto place = [&](const Matrix& x, int i, int64_t row_stride) {
          return x.at(offsets[i] + first * runs.strides[i] + row * row_stride, size);
        };
        g.a = {place(p.a, 0, p.a.row_stride), a.transposed, a.ld, runs.strides[0]};
        g.b = {place(p.b, 1, 0), b.transposed, b.ld, runs.strides[1]};
        g.out = place(p.out, 3, p.n());
        g.out_batch_stride = runs.strides[3];
        g.alpha = p.alpha;
        g.bias = bias;
        if (!bias && p.c.data) {
          g.c = {place(p.c, 2, p.c.row_stride), false, p.c.row_stride, runs.strides[2]};
          g.beta = p.beta;
        }
        done = cuda::gemm(g, encoder);
      }
    }
  });
  return done;
}

void run(Given given, Encoder& encoder) {
  Preparation preparation(given, encoder);
  while (preparation.step()) {
  }
  Product p = given.product();
  if (takes_gemv(p)) {
    run_gemv(p, encoder);
    return;
  }
  const void* bias = bias_of(p, encoder);
  if (bias && run_blas(p, bias, encoder)) {
    return;
  }
  if (p.c.data) {
    place_addend(p, given, encoder);
  }
  if (!run_blas(p, nullptr, encoder)) {
    fail<RuntimeError>(
        "[matmul] cuBLASLt has no algorithm for {} matrices of {} by {} and {} by {}", p.dtype,
        p.m(), p.k(), p.k(), p.n());
  }
}

// beta·c: the product with a sum over one zero, which rounds as any other.
void run_without_product(Given given, Encoder& encoder) {
  const Operand& out = given.out;
  if (!given.c) {
    cuda::check(cudaMemsetAsync(out.data, 0, size_t(out.nbytes()), encoder.queue()),
                "cudaMemsetAsync");
    return;
  }
  int64_t m = out.shape[out.shape.size() - 2], n = out.shape.back();
  Operand zeros;
  zeros.dtype = out.dtype;
  zeros.size = std::max(m, n);
  zeros.data = encoder.keep(size_t(zeros.nbytes()));
  cuda::check(cudaMemsetAsync(zeros.data, 0, size_t(zeros.nbytes()), encoder.queue()),
              "cudaMemsetAsync");
  given.a = given.b = zeros;
  given.a.shape = {m, 1};
  given.b.shape = {1, n};
  given.a.size = m;
  given.b.size = n;
  given.a.strides = {1, 1};
  given.b.strides = {n, 1};
  given.alpha = 1;
  run(given, encoder);
}

void evaluate(const Operand& a, const Operand& b, const Operand* c, const Operand& out, float alpha,
              float beta, Encoder& encoder) {
  auto in_memory = [&](Operand x) {
    x.data = const_cast<void*>(encoder.address(x));
    x.is_scalar = false;
    return x;
  };
  Operand addend;
  Given given{in_memory(a), in_memory(b), nullptr, out, alpha, beta};
  if (c && beta != 0) {
    addend = in_memory(*c);
    given.c = &addend;
  }
  if (alpha == 0 || a.shape.back() == 0) {
    run_without_product(given, encoder);
  } else {
    run(given, encoder);
  }
}

// cuBLASLt counts in int; vectors are read by kernels that count further.
bool fits(const array& a, const array& b) {
  int64_t m = a.shape(-2), k = a.shape(-1), n = b.shape(-1);
  bool vector = (m == 1 || n == 1) && !a.dtype().is_complex();
  return vector || (k <= int_max && n <= int_max);
}

}  // namespace

bool supports_gpu(const Matmul&, std::span<const array> inputs) {
  return fits(inputs[0], inputs[1]);
}

bool supports_gpu(const AddMM&, std::span<const array> inputs) {
  return fits(inputs[1], inputs[2]);
}

void eval_gpu(const Matmul&, Inputs in, Outputs out, Encoder& encoder) {
  evaluate(in[0], in[1], nullptr, out[0], 1, 0, encoder);
}

void eval_gpu(const AddMM& p, Inputs in, Outputs out, Encoder& encoder) {
  evaluate(in[1], in[2], &in[0], out[0], p.alpha, p.beta, encoder);
}

}  // namespace mlx::core
