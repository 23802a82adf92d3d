// Conversions between all element types. The 16-bit floats go through a chunk of float32, converted
// by vectors.
#include "backend/cpu/simd/loops.h"

namespace mlx::core::cpu::MLX_SIMD_ISA {

namespace {

template <typename From, typename To>
void convert_loop(const void* in, void* out, int64_t n) {
  const stored<From>* a = (const stored<From>*)in;
  stored<To>* o = (stored<To>*)out;
  MLX_SIMD_LOOP
  for (int64_t i = 0; i < n; ++i) o[i] = scalar::convert<To>(From(a[i]));
}

template <typename From, typename To>
void plain_cast(const void* const* in, void* out, int64_t n) {
  convert_loop<From, To>(in[0], out, n);
}

template <typename T>
struct Elements;
template <>
struct Elements<float> : Float32 {};
template <>
struct Elements<float16_t> : Float16 {};
template <>
struct Elements<bfloat16_t> : BFloat16 {};

struct CastRow {
  MLX_SIMD_FN F apply(F x) { return x; }
};

// float64 meets its float32 chunk already rounded to odd, so that the rounding to 16 bits is the
// only one.
template <typename From>
void to_chunk(const void* in, float* chunk, int64_t n) {
  convert_loop<From, float>(in, chunk, n);
}
template <>
void to_chunk<double>(const void* in, float* chunk, int64_t n) {
  const double* a = (const double*)in;
  for (int64_t i = 0; i < n; ++i) chunk[i] = scalar::impl::round_to_odd(a[i]);
}

constexpr int64_t chunk_size = 256;

template <typename From, typename To>
void to_half_cast(const void* const* in, void* out, int64_t n) {
  float chunk[chunk_size];
  const void* source[] = {chunk};
  for (int64_t i = 0; i < n; i += chunk_size) {
    int64_t count = n - i < chunk_size ? n - i : chunk_size;
    to_chunk<From>((const From*)in[0] + i, chunk, count);
    vector_tile<CastRow, 1, Float32, Elements<To>>(source, (To*)out + i, count);
  }
}

template <typename From, typename To>
void from_half_cast(const void* const* in, void* out, int64_t n) {
  float chunk[chunk_size];
  for (int64_t i = 0; i < n; i += chunk_size) {
    int64_t count = n - i < chunk_size ? n - i : chunk_size;
    const void* source[] = {(const From*)in[0] + i};
    vector_tile<CastRow, 1, Elements<From>, Float32>(source, chunk, count);
    convert_loop<float, To>(chunk, (To*)out + i, count);
  }
}

template <typename T>
inline constexpr bool is_half = false;
template <>
inline constexpr bool is_half<float16_t> = true;
template <>
inline constexpr bool is_half<bfloat16_t> = true;
template <typename A, typename B>
inline constexpr bool same = false;
template <typename A>
inline constexpr bool same<A, A> = true;

template <typename T>
void copy_tile(const void* const* in, void* out, int64_t n) {
  memmove(out, in[0], n * sizeof(T));
}

template <typename From, typename To>
constexpr TileFn cast() {
  if constexpr (same<From, To>) {
    return copy_tile<stored<From>>;
  } else if constexpr (same<From, bool>) {
    return cast<uint8_t, To>();  // a bool is a byte of 0 or 1, and loops over bytes vectorise
  } else if constexpr (is_half<From>) {
    if constexpr (same<To, float> || is_half<To>) {
      return vector_tile<CastRow, 1, Elements<From>, Elements<To>>;
    } else {
      return from_half_cast<From, To>;
    }
  } else if constexpr (is_half<To>) {
    return to_half_cast<From, To>;
  } else {
    return plain_cast<From, To>;
  }
}

template <typename T>
void copies(void* to, const void* value, int64_t n) {
  T v;
  memcpy(&v, value, sizeof v);
  T* out = (T*)to;
  MLX_SIMD_LOOP
  for (int64_t i = 0; i < n; ++i) out[i] = v;
}

void copies_of(void* to, const void* value, int64_t itemsize, int64_t n) {
  switch (itemsize) {
    case 1:
      return copies<uint8_t>(to, value, n);
    case 2:
      return copies<uint16_t>(to, value, n);
    case 4:
      return copies<uint32_t>(to, value, n);
    default:
      return copies<uint64_t>(to, value, n);
  }
}

template <typename From>
void fill_from(TileFn* row) {
  int to = 0;
#define DTYPE(Name, constant, text, To, ...) row[to++] = cast<From, To>();
#include "mlx/dtypes.def"
#undef DTYPE
}

}  // namespace

void fill_casts(TileTable& t) {
  t.fill = copies_of;
  int from = 0;
#define DTYPE(Name, constant, text, From, ...) fill_from<From>(t.cast[from++]);
#include "mlx/dtypes.def"
#undef DTYPE
}

}  // namespace mlx::core::cpu::MLX_SIMD_ISA
