// Values that are not read from memory: scalars of nodes, ranges.
#include <cstring>

#include "backend/cuda/kernels.h"
#include "mlx/dispatch.h"
#include "mlx/ops/elementwise/scalar_dialect.h"
// after the dialect
#include "mlx/ops/elementwise/convert.h"

namespace mlx::core::cuda {

namespace {

__global__ void store_kernel(uint64_t* place, uint64_t bits) { *place = bits; }

template <typename T>
__global__ void arange_kernel(T* out, int64_t n, uint64_t start, uint64_t step) {
  int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) out[i] = T(start + uint64_t(i) * step);
}

template <typename T>
__global__ void real_arange_kernel(T* out, int64_t n, double start, double step) {
  int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) out[i] = scalar::convert<T>(__dadd_rn(start, __dmul_rn(double(i), step)));
}

}  // namespace

void store_scalar(Encoder& encoder, void* place, uint64_t bits) {
  encoder.launch("store_scalar", store_kernel, Grid{dim3(1), dim3(1)},
                 static_cast<uint64_t*>(place), bits);
}

void arange(const void* start, const void* step, const Operand& out, Encoder& encoder) {
  dispatch(AllTypes{}, out.dtype, "arange", [&]<typename T>() {
    T first, by;
    std::memcpy(&first, start, sizeof first);
    std::memcpy(&by, step, sizeof by);
    Grid grid = grid_for(out.size);
    if constexpr (std::is_integral_v<T>) {
      encoder.launch("arange", arange_kernel<T>, grid, out.ptr<T>(), out.size, uint64_t(first),
                     uint64_t(by));
    } else {
      encoder.launch("arange", real_arange_kernel<T>, grid, out.ptr<T>(), out.size,
                     scalar::convert<double>(first), scalar::convert<double>(by));
    }
  });
}

}  // namespace mlx::core::cuda
