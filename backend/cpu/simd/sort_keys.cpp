// Elements of every dtype to sorting keys and back; plain loops, which compilers vectorise.
#include "backend/cpu/sort_keys.h"

#include "backend/cpu/simd/vec.h"
#include "backend/cpu/sort_table.h"

namespace mlx::core::cpu::MLX_SIMD_ISA {
namespace {

template <typename T, KeyKind kind>
void keys(const void* px, int64_t n, void* out) {
  const T* x = (const T*)px;
  KeyOf<T>* k = (KeyOf<T>*)out;
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) k[i] = key_of<kind>(x[i]);
}

template <typename T>
void values(const void* pk, int64_t n, void* out) {
  const KeyOf<T>* k = (const KeyOf<T>*)pk;
  T* y = (T*)out;
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = value_of<T>(k[i]);
}

template <typename T>
void pairs(const void* px, int64_t n, int64_t first, int64_t* out) {
  const T* x = (const T*)px;
  for (int64_t i = 0; i < n; ++i) {
    int64_t key = key_of<KeyKind::canonical>(x[i]);
    if (sizeof(KeyOf<T>) == 8) key >>= 32;
    out[i] = key << 32 | (first + i);
  }
}

template <typename T>
void fill(KeyKernels& k) {
  k.canonical = keys<T, KeyKind::canonical>;
  k.pairs = pairs<T>;
  if constexpr (!std::is_same_v<T, complex64_t>) {
    k.exact = keys<T, KeyKind::exact>;
    k.values = values<T>;
  }
}

}  // namespace

void fill_sort_keys(SortTable& t) {
#define DTYPE(Name, constant, text, Type, ...) fill<Type>(t.keys[TileTypes::Name]);
#include "mlx/dtypes.def"
#undef DTYPE
}

}  // namespace mlx::core::cpu::MLX_SIMD_ISA
