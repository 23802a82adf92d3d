// Elementwise rows of the 32- and 64-bit integers.
#include "backend/cuda/elementwise.cuh"

namespace mlx {
namespace core {
namespace cuda {

void fill_large_integers(KernelTable& t) {
  fill_rows<uint32_t>(t, KernelTypes::UInt32);
  fill_rows<int32_t>(t, KernelTypes::Int32);
  fill_rows<uint64_t>(t, KernelTypes::UInt64);
  fill_rows<int64_t>(t, KernelTypes::Int64);
}

}  // namespace cuda
}  // namespace core
}  // namespace mlx
