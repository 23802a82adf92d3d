// Select by the size of its values: bits are moved, not numbers. And the table of this instruction
// set.
#include "backend/cpu/simd/loops.h"

namespace mlx::core::cpu::MLX_SIMD_ISA {

namespace {

template <typename T>
void select_tile(const void* const* in, void* out, int64_t n) {
  const uint8_t* c = (const uint8_t*)in[0];
  const T *a = (const T*)in[1], *b = (const T*)in[2];
  T* o = (T*)out;
  MLX_SIMD_LOOP
  for (int64_t i = 0; i < n; ++i) o[i] = scalar::Select<T>(c[i] != 0, a[i], b[i]);
}

void fill_select(TileTable& t) {
  int type = 0;
#define DTYPE(Name, constant, text, Type, ...)                                \
  t.op[TileOps::Select][type++] = sizeof(Type) == 1   ? select_tile<uint8_t>  \
                                  : sizeof(Type) == 2 ? select_tile<uint16_t> \
                                  : sizeof(Type) == 4 ? select_tile<uint32_t> \
                                                      : select_tile<uint64_t>;
#include "mlx/dtypes.def"
#undef DTYPE
}

}  // namespace

void fill(TileTable& t) {
  fill_float32(t);
  fill_float16(t);
  fill_bfloat16(t);
  fill_float64(t);
  fill_integers(t);
  fill_complex(t);
  fill_casts(t);
  fill_select(t);
  fill_random(t);
  fill_half_products(t);
}

}  // namespace mlx::core::cpu::MLX_SIMD_ISA
