// Conversions between all dtypes, and the choice between two arrays.
#include "backend/cuda/elementwise.cuh"

namespace mlx {
namespace core {
namespace cuda {

namespace {

template <typename From, typename To>
RowKernels cast() {
  constexpr int V = pack_elements<From, To>();
  return {reinterpret_cast<const void*>(&cast_kernel<From, To, V>),
          reinterpret_cast<const void*>(&cast_kernel<From, To, 1>), V};
}

template <typename From>
void fill_from(RowKernels* row) {
  int to = 0;
#define DTYPE(Name, constant, text, To, ...) row[to++] = cast<From, To>();
#include "mlx/dtypes.def"
#undef DTYPE
}

template <typename T>
RowKernels select() {
  constexpr int V = pack_elements<T, T>();
  return {reinterpret_cast<const void*>(&select_kernel<T, V>),
          reinterpret_cast<const void*>(&select_kernel<T, 1>), V};
}

}  // namespace

void fill_casts(KernelTable& t) {
  int from = 0;
#define DTYPE(Name, constant, text, From, ...) fill_from<From>(t.casts[from++]);
#include "mlx/dtypes.def"
#undef DTYPE
  t.selects[0] = select<uint8_t>();
  t.selects[1] = select<uint16_t>();
  t.selects[2] = select<uint32_t>();
  t.selects[3] = select<uint64_t>();
}

}  // namespace cuda
}  // namespace core
}  // namespace mlx
