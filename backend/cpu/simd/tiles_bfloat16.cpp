// Elementwise rows of bfloat16.
#include "backend/cpu/simd/loops.h"

namespace mlx::core::cpu::MLX_SIMD_ISA {

void fill_bfloat16(TileTable& t) { fill_vector_rows<BFloat16>(t); }

}  // namespace mlx::core::cpu::MLX_SIMD_ISA
