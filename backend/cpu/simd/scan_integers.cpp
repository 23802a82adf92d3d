// Scans and recurrences of bool and the integers.
#include "backend/cpu/simd/scan_kernels.h"

namespace mlx::core::cpu::MLX_SIMD_ISA {
namespace {

template <typename T>
void fill_integer(ScanTable& t, int type) {
  t.scan[ScanOps::CumSum][type] = plain_scan<Step<monoid::Sum, T>>();
  t.scan[ScanOps::CumProd][type] = plain_scan<Step<monoid::Prod, T>>();
  t.scan[ScanOps::CumMax][type] = plain_scan<Step<monoid::Max, T>>();
  t.scan[ScanOps::CumMin][type] = plain_scan<Step<monoid::Min, T>>();
  t.recurrence[type] = recurrence_plain<T, T>;
}

}  // namespace

void fill_integer_scans(ScanTable& t) {
  fill_integer<uint8_t>(t, TileTypes::UInt8);
  fill_integer<uint16_t>(t, TileTypes::UInt16);
  fill_integer<uint32_t>(t, TileTypes::UInt32);
  fill_integer<uint64_t>(t, TileTypes::UInt64);
  fill_integer<int8_t>(t, TileTypes::Int8);
  fill_integer<int16_t>(t, TileTypes::Int16);
  fill_integer<int32_t>(t, TileTypes::Int32);
  fill_integer<int64_t>(t, TileTypes::Int64);
  // A bool is a byte of 0 or 1; sums of bools are sums of int32.
  t.scan[ScanOps::CumProd][TileTypes::Bool] = plain_scan<Step<monoid::All, uint8_t>>();
  t.scan[ScanOps::CumMax][TileTypes::Bool] = plain_scan<Step<monoid::Any, uint8_t>>();
  t.scan[ScanOps::CumMin][TileTypes::Bool] = plain_scan<Step<monoid::All, uint8_t>>();
}

}  // namespace mlx::core::cpu::MLX_SIMD_ISA
