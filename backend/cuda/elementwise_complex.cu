// Elementwise rows of complex64.
#include "backend/cuda/elementwise.cuh"

namespace mlx {
namespace core {
namespace cuda {

void fill_complex(KernelTable& t) { fill_rows<complex64_t>(t, KernelTypes::Complex64); }

}  // namespace cuda
}  // namespace core
}  // namespace mlx
