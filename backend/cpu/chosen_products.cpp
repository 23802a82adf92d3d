// Products of chosen parts (gather_mm, segmented_mm), each computed in place as a product of its
// own. Rows that meet the same matrix are one product: they are copied together where they do not
// lie together already; the matrices, which are large, never are.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "backend/cpu/evaluators.h"
#include "backend/cpu/positions.h"
#include "backend/cpu/product.h"

namespace mlx::core {

namespace {

using cpu::Matrix;
using cpu::Product;

constexpr int64_t tall = 64;  // rows of a product that is as good alone

// One matrix of a batch, or the only one.
Matrix matrix_of(const Operand& x, int64_t index) {
  size_t d = x.shape.size();
  int64_t offset = d == 3 ? index * x.strides[0] : 0;
  return {x.ptr<const char>() + offset * x.dtype.size(), x.shape[d - 2], x.shape[d - 1],
          x.strides[d - 2], x.strides[d - 1]};
}

void multiply(Dtype dtype, const Matrix& a, const Matrix& b, char* out, std::string_view op,
              Encoder& e) {
  Product p;
  p.dtype = dtype;
  p.a = a;
  p.b = b;
  p.out = out;
  p.batch = plan({}, std::vector<Strides>(4));
  cpu::multiply(p, op, e);
}

// Many small tasks share the threads; few have all of them in turn.
template <typename F>
void for_each_task(int64_t count, F f) {
  if (count < 4 * cpu::thread_count()) {
    for (int64_t i = 0; i < count; ++i) {
      f(i);
    }
    return;
  }
  cpu::parallel_for(count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      f(i);
    }
  });
}

// The values of an index array in order, in the range of `size`.
std::vector<int64_t> read_indices(const Operand& x, int64_t size, std::string_view op) {
  std::vector<int64_t> values(size_t(x.size));
  cpu::IndexReader read(x, size, cpu::Outside::clamp, op);
  const Strides strides[] = {x.strides};
  Plan walk = plan(x.shape, strides);
  Odometer at(walk, 0);
  for (int64_t& v : values) {
    read(at.offset(0), 0, 1, &v);
    at.next();
  }
  return values;
}

// dst (dense) = the rows of src.
void copy_rows(const Matrix& src, int64_t itemsize, char* dst) {
  dispatch_size(itemsize, [&]<typename T>() {
    T* to = reinterpret_cast<T*>(dst);
    for (int64_t i = 0; i < src.rows; ++i, to += src.columns) {
      const T* from = reinterpret_cast<const T*>(src.data) + i * src.row_stride;
      if (src.column_stride == 1) {
        std::memcpy(to, from, size_t(src.columns) * sizeof(T));
        continue;
      }
      for (int64_t j = 0; j < src.columns; ++j) {
        to[j] = from[j * src.column_stride];
      }
    }
  });
}

class GatheredProduct {
 public:
  GatheredProduct(Inputs in, Outputs out, Encoder& e)
      : a_(in[0]),
        b_(in[1]),
        out_(out[0]),
        left_(read_indices(in[2], in[0].shape[0], "gather_mm")),
        right_(read_indices(in[3], in[1].shape[0], "gather_mm")),
        order_(left_.size()),
        encoder_(e) {
    // Results that use the same matrix of b follow each other; groups of one if that is no gain.
    std::iota(order_.begin(), order_.end(), 0);
    if (rows() < tall) {
      std::stable_sort(order_.begin(), order_.end(),
                       [&](int64_t i, int64_t j) { return right_[size_t(i)] < right_[size_t(j)]; });
    }
    for (size_t i = 0; i < order_.size(); ++i) {
      if (i == 0 || rows() >= tall || matrix(i) != matrix(i - 1)) {
        begins_.push_back(i);
      }
    }
    begins_.push_back(order_.size());
  }

  void run() {
    for_each_task(int64_t(begins_.size()) - 1,
                  [&](int64_t g) { group(begins_[size_t(g)], begins_[size_t(g) + 1]); });
  }

 private:
  int64_t rows() const { return a_.shape[1]; }
  int64_t matrix(size_t i) const { return right_[size_t(order_[i])]; }
  int64_t left(size_t i) const { return left_[size_t(order_[i])]; }
  int64_t out_bytes() const { return rows() * b_.shape[2] * out_.dtype.size(); }

  void group(size_t begin, size_t end) {
    int64_t count = int64_t(end - begin);
    Matrix b = matrix_of(b_, matrix(begin)), a = matrix_of(a_, left(begin));
    char* out = out_.ptr<char>() + order_[begin] * out_bytes();
    bool together = true;  // results, and so far rows
    for (size_t i = begin + 1; i < end; ++i) {
      together = together && order_[i] == order_[i - 1] + 1;
    }
    size_t scratch_a = size_t(count * rows() * a.columns * a_.dtype.size());
    size_t scratch_out = together ? 0 : size_t(count * out_bytes());
    bool copied = !join_rows(begin, end, a);
    Scratch scratch = encoder_.scratch((copied ? scratch_a : 0) + scratch_out + 1);
    char* memory = scratch.as<char>();
    if (copied) {
      for (size_t i = begin; i < end; ++i) {
        copy_rows(matrix_of(a_, left(i)), a_.dtype.size(),
                  memory + size_t(i - begin) * (scratch_a / size_t(count)));
      }
      a = {memory, count * rows(), a.columns, a.columns, 1};
      memory += scratch_a;
    }
    multiply(out_.dtype, a, b, together ? out : memory, "gather_mm", encoder_);
    for (size_t i = begin; i < end && !together; ++i) {
      std::memcpy(out_.ptr<char>() + order_[i] * out_bytes(),
                  memory + int64_t(i - begin) * out_bytes(), size_t(out_bytes()));
    }
  }

  // True if the rows of the group are one matrix already, which `a` then is.
  bool join_rows(size_t begin, size_t end, Matrix& a) const {
    if (end - begin == 1) {
      return true;
    }
    int64_t step = (left(begin + 1) - left(begin)) * a_.strides[0];
    for (size_t i = begin + 1; i < end; ++i) {
      if ((left(i) - left(i - 1)) * a_.strides[0] != step) {
        return false;
      }
    }
    if (rows() == 1) {
      a.row_stride = step;
    } else if (step != rows() * a.row_stride) {
      return false;
    }
    a.rows *= int64_t(end - begin);
    return true;
  }

  const Operand &a_, &b_, &out_;
  const std::vector<int64_t> left_, right_;
  std::vector<int64_t> order_;
  std::vector<size_t> begins_;
  Encoder& encoder_;
};

}  // namespace

void eval_cpu(const GatherMM&, Inputs in, Outputs out, Encoder& e) {
  GatheredProduct(in, out, e).run();
}

void eval_cpu(const SegmentedMM&, Inputs in, Outputs out, Encoder& e) {
  const Operand &a = in[0], &b = in[1], &segments = in[2];
  int64_t k = a.shape[1], itemsize = a.dtype.size();
  // Ends are places between elements: 0 … k, negative ones at 0.
  std::vector<int64_t> ends(size_t(segments.size));
  const Strides strides[] = {segments.strides};
  Plan walk = plan(segments.shape, strides);
  Odometer at(walk, 0);
  dispatch(IntegerTypes{}, segments.dtype, "segmented_mm", [&]<typename I>() {
    for (int64_t& end : ends) {
      I value = segments.ptr<const I>()[at.offset(0)];
      end = value < I(0) ? 0 : uint64_t(value) > uint64_t(k) ? k : int64_t(value);
      at.next();
    }
  });
  int64_t out_bytes = a.shape[0] * b.shape[1] * out[0].dtype.size();
  for_each_task(segments.size / 2, [&](int64_t i) {
    int64_t begin = ends[size_t(2 * i)],
            length = std::max<int64_t>(ends[size_t(2 * i + 1)] - begin, 0);
    Matrix left = matrix_of(a, 0), right = matrix_of(b, 0);
    left.data += begin * left.column_stride * itemsize;
    right.data += begin * right.row_stride * itemsize;
    left.columns = right.rows = length;
    multiply(out[0].dtype, left, right, out[0].ptr<char>() + i * out_bytes, "segmented_mm", e);
  });
}

}  // namespace mlx::core
