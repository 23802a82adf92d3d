// Elementwise rows of bool and the integers.
#include "backend/cpu/simd/loops.h"

namespace mlx::core::cpu::MLX_SIMD_ISA {

void fill_integers(TileTable& t) {
  fill_scalar_rows<bool>(t, TileTypes::Bool);
  fill_scalar_rows<uint8_t>(t, TileTypes::UInt8);
  fill_scalar_rows<uint16_t>(t, TileTypes::UInt16);
  fill_scalar_rows<uint32_t>(t, TileTypes::UInt32);
  fill_scalar_rows<uint64_t>(t, TileTypes::UInt64);
  fill_scalar_rows<int8_t>(t, TileTypes::Int8);
  fill_scalar_rows<int16_t>(t, TileTypes::Int16);
  fill_scalar_rows<int32_t>(t, TileTypes::Int32);
  fill_scalar_rows<int64_t>(t, TileTypes::Int64);
}

}  // namespace mlx::core::cpu::MLX_SIMD_ISA
