// Elementwise rows of complex64.
#include "backend/cpu/simd/loops.h"

namespace mlx::core::cpu::MLX_SIMD_ISA {

void fill_complex(TileTable& t) { fill_vector_rows<Complex64>(t); }

}  // namespace mlx::core::cpu::MLX_SIMD_ISA
