// Elementwise rows of float32.
#include "backend/cpu/simd/loops.h"

namespace mlx::core::cpu::MLX_SIMD_ISA {

void fill_float32(TileTable& t) { fill_vector_rows<Float32>(t); }

}  // namespace mlx::core::cpu::MLX_SIMD_ISA
