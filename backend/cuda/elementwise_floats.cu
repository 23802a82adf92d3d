// Elementwise rows of float32, float16 and bfloat16.
#include "backend/cuda/elementwise.cuh"

namespace mlx {
namespace core {
namespace cuda {

void fill_floats(KernelTable& t) {
  fill_rows<float>(t, KernelTypes::Float32);
  fill_rows<float16_t>(t, KernelTypes::Float16);
  fill_rows<bfloat16_t>(t, KernelTypes::BFloat16);
}

}  // namespace cuda
}  // namespace core
}  // namespace mlx
