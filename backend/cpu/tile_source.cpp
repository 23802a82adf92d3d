// Gathering of operands into tiles.
#include "backend/cpu/tile_source.h"

#include <algorithm>
#include <cstring>

#include "mlx/dispatch.h"
#include "mlx/error.h"

namespace mlx::core::cpu {

TileFn tile_kernel(EwOp op, Dtype last_operand, Dtype result) {
  const TileTable& t = tile_table();
  TileFn fn = op == EwOp::Cast ? t.cast[last_operand.index()][result.index()]
                               : t.op[int(op)][last_operand.index()];
  if (!fn) {
    fail<RuntimeError>("[{}] has no kernel for {}", info(op).python_name, last_operand);
  }
  return fn;
}

namespace {

void gather_piece(char* to, const char* from, int64_t stride, int64_t itemsize, int64_t n) {
  if (stride == 1) {
    std::memcpy(to, from, size_t(n * itemsize));
    return;
  }
  dispatch_size(itemsize, [&]<typename T>() {
    T* out = reinterpret_cast<T*>(to);
    const T* in = reinterpret_cast<const T*>(from);
    for (int64_t i = 0; i < n; ++i) {
      out[i] = in[i * stride];
    }
  });
}

}  // namespace

const char* read_tile(const Plan& plan, int k, const char* data, int64_t itemsize, int64_t begin,
                      int64_t n, char* slot) {
  const Strides& strides = plan.strides[size_t(k)];
  int64_t length = plan.shape.empty() ? 1 : plan.shape.back();
  int64_t inner = plan.shape.empty() ? 0 : strides.back();
  int64_t row = begin / length, column = begin % length;
  Shape index(plan.shape.empty() ? 0 : plan.shape.size() - 1);
  int64_t offset = 0;
  for (int i = int(index.size()) - 1; i >= 0; --i) {
    index[i] = row % plan.shape[i];
    row /= plan.shape[i];
    offset += index[i] * strides[i];
  }
  if (column + n <= length && inner == 1) {
    return data + (offset + column) * itemsize;  // within one row: no copy
  }
  for (int64_t done = 0; done < n; column = 0) {
    int64_t piece = std::min(n - done, length - column);
    gather_piece(slot + done * itemsize, data + (offset + column * inner) * itemsize, inner,
                 itemsize, piece);
    done += piece;
    for (int i = int(index.size()) - 1; i >= 0 && done < n; --i) {
      offset += strides[i];
      if (++index[i] < plan.shape[i]) {
        break;
      }
      offset -= plan.shape[i] * strides[i];
      index[i] = 0;
    }
  }
  return slot;
}

}  // namespace mlx::core::cpu
