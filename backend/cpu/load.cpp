// Reading values from files.
#include "mlx/io/load.h"

#include "backend/cpu/evaluators.h"
#include "mlx/dispatch.h"

namespace mlx::core {

namespace {

template <typename T>
void reverse_bytes(T* p, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (sizeof(T) == 2) {
      p[i] = __builtin_bswap16(p[i]);
    } else if constexpr (sizeof(T) == 4) {
      p[i] = __builtin_bswap32(p[i]);
    } else if constexpr (sizeof(T) == 8) {
      p[i] = __builtin_bswap64(p[i]);
    }
  }
}

}  // namespace

void eval_cpu(const Load& p, Inputs, Outputs out, Encoder&) {
  const Operand& o = out[0];
  p.reader->read(o.data, uint64_t(o.nbytes()), p.offset);
  if (p.swapped) {
    dispatch_size(p.swapped, [&]<typename T>() {
      reverse_bytes(o.ptr<T>(), o.nbytes() / int64_t(sizeof(T)));
    });
  }
}

}  // namespace mlx::core
