// Packs: the few elements a thread takes at a time, loaded and stored 16 bytes at once where the
// walk allows it. nvcc and NVRTC read this text.
#pragma once

#include "backend/cuda/walk.h"
#include "mlx/types.h"

namespace mlx {
namespace core {
namespace cuda {

// 16-bit floats are computed in float and rounded once.
template <typename T>
__device__ __forceinline__ T widen(T x) {
  return x;
}
__device__ __forceinline__ float widen(float16_t x) { return to_float(x); }
__device__ __forceinline__ float widen(bfloat16_t x) { return to_float(x); }
template <typename Out, typename T>
struct Narrow {
  static __device__ __forceinline__ Out from(T x) { return x; }
};
template <>
struct Narrow<float16_t, float> {
  static __device__ __forceinline__ float16_t from(float x) { return to_float16(x); }
};
template <>
struct Narrow<bfloat16_t, float> {
  static __device__ __forceinline__ bfloat16_t from(float x) { return to_bfloat16(x); }
};
template <typename Out, typename T>
__device__ __forceinline__ Out narrow(T x) {
  return Narrow<Out, T>::from(x);
}

template <typename T, int V>
struct alignas(V * sizeof(T) > 16 ? 16 : V * sizeof(T)) Pack {
  T at[V];
};

// Elements [0, n) of the pack at an offset; `repeated` gives all the first.
template <typename T, int V>
__device__ __forceinline__ Pack<T, V> load_pack(const Source& s, int64_t offset, bool repeated,
                                                int n) {
  Pack<T, V> x;
  const char* p = s.data + offset;
  if (repeated) {
    T one;
    if (s.data) {
      one = *reinterpret_cast<const T*>(p);
    } else {
      memcpy(&one, &s.value, sizeof one);
    }
#pragma unroll
    for (int j = 0; j < V; ++j) x.at[j] = one;
  } else if (n == V) {
    x = *reinterpret_cast<const Pack<T, V>*>(p);
  } else {
#pragma unroll
    for (int j = 0; j < V; ++j) x.at[j] = reinterpret_cast<const T*>(p)[j < n ? j : 0];
  }
  return x;
}
template <typename T, int V>
__device__ __forceinline__ void store_pack(char* p, const Pack<T, V>& x, int n) {
  if (n == V) {
    *reinterpret_cast<Pack<T, V>*>(p) = x;
  } else {
#pragma unroll
    for (int j = 0; j < V; ++j) {
      if (j < n) reinterpret_cast<T*>(p)[j] = x.at[j];
    }
  }
}

}  // namespace cuda
}  // namespace core
}  // namespace mlx
