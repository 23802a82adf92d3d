// Elementwise rows of bool and the 8- and 16-bit integers.
#include "backend/cuda/elementwise.cuh"

namespace mlx {
namespace core {
namespace cuda {

void fill_small_integers(KernelTable& t) {
  fill_rows<bool>(t, KernelTypes::Bool);
  fill_rows<uint8_t>(t, KernelTypes::UInt8);
  fill_rows<int8_t>(t, KernelTypes::Int8);
  fill_rows<uint16_t>(t, KernelTypes::UInt16);
  fill_rows<int16_t>(t, KernelTypes::Int16);
}

}  // namespace cuda
}  // namespace core
}  // namespace mlx
