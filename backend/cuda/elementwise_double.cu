// Elementwise rows of float64.
#include "backend/cuda/elementwise.cuh"

namespace mlx {
namespace core {
namespace cuda {

void fill_double(KernelTable& t) { fill_rows<double>(t, KernelTypes::Float64); }

}  // namespace cuda
}  // namespace core
}  // namespace mlx
