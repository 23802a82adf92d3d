// Elementwise rows of float64.
#include "backend/cpu/simd/loops.h"

namespace mlx::core::cpu::MLX_SIMD_ISA {

void fill_float64(TileTable& t) { fill_scalar_rows<double>(t, TileTypes::Float64); }

}  // namespace mlx::core::cpu::MLX_SIMD_ISA
