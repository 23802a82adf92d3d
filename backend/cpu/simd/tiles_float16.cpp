// Elementwise rows of float16.
#include "backend/cpu/simd/loops.h"

namespace mlx::core::cpu::MLX_SIMD_ISA {

void fill_float16(TileTable& t) { fill_vector_rows<Float16>(t); }

}  // namespace mlx::core::cpu::MLX_SIMD_ISA
