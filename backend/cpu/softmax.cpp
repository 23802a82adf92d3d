// Softmax and LogSumExp of the last axis: a row at a time; strided rows are gathered first.
#include <algorithm>

#include "backend/cpu/evaluators.h"
#include "backend/cpu/reduce_table.h"
#include "mlx/dispatch.h"

namespace mlx::core {

namespace cpu {
namespace {

constexpr int64_t grain_elements = 1 << 13;  // exponentials are dear

// Calls f(adjacent rows, number of the first, how many, n floats of scratch) for all rows of x.
template <typename F>
void for_rows(const Operand& x, Encoder& e, const F& f) {
  int64_t n = x.shape.back(), stride = x.strides.back(), itemsize = x.dtype.size();
  Shape outer(x.shape.begin(), x.shape.end() - 1);
  Strides steps(x.strides.begin(), x.strides.end() - 1);
  Plan rows = plan(outer, std::span<const Strides>(&steps, 1));
  bool gathers = stride != 1 && n > 1;
  int64_t gathered_bytes = gathers ? (n * itemsize + 3) / 4 * 4 : 0;
  int64_t grain = std::max<int64_t>(1, grain_elements / n);
  parallel_for(rows.size, grain, [&](int64_t begin, int64_t end) {
    Scratch scratch = e.scratch(size_t(gathered_bytes + n * int64_t(sizeof(float))));
    char* gathered = scratch.as<char>();
    float* floats = reinterpret_cast<float*>(gathered + gathered_bytes);
    if (x.row_contiguous) {
      f(x.ptr<const char>() + begin * n * itemsize, begin, end - begin, floats);
      return;
    }
    Odometer o(rows, 0);
    o.seek(begin);
    for (int64_t i = begin; i < end; ++i, o.next()) {
      const char* row = x.ptr<const char>() + o.offset(0) * itemsize;
      if (gathers) {
        dispatch_size(itemsize, [&]<typename T>() {
          const T* from = reinterpret_cast<const T*>(row);
          for (int64_t j = 0; j < n; ++j) reinterpret_cast<T*>(gathered)[j] = from[j * stride];
        });
        row = gathered;
      }
      f(row, i, 1, floats);
    }
  });
}

}  // namespace
}  // namespace cpu

void eval_cpu(const Softmax&, Inputs in, Outputs out, Encoder& e) {
  const Operand &x = in[0], &y = out[0];
  auto kernel = cpu::reduce_table().softmax[x.dtype.index()].softmax;
  int64_t n = x.shape.back(), bytes = n * x.dtype.size();
  cpu::for_rows(x, e, [&](const char* rows, int64_t first, int64_t count, float* scratch) {
    kernel(rows, count, n, y.ptr<char>() + first * bytes, scratch);
  });
}

void eval_cpu(const LogSumExp&, Inputs in, Outputs out, Encoder& e) {
  const Operand &x = in[0], &y = out[0];
  auto kernel = cpu::reduce_table().softmax[x.dtype.index()].logsumexp;
  int64_t n = x.shape.back(), itemsize = x.dtype.size();
  cpu::for_rows(x, e, [&](const char* rows, int64_t first, int64_t count, float*) {
    kernel(rows, count, n, y.ptr<char>() + first * itemsize);
  });
}

}  // namespace mlx::core
