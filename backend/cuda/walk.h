// Walk: how a kernel turns the number of a pack of elements into the addresses of its operands.
// Plain fixed-width fields: host code, nvcc and NVRTC read this text.
#pragma once

#if !defined(MLX_TYPES_NO_STDINT)
#include <stdint.h>
#endif

namespace mlx {
namespace core {
namespace cuda {

constexpr int max_walk_axes = 6;
constexpr int max_walk_operands = 16;

// Division of 32-bit numbers by a constant: multiply and shift (Granlund and Montgomery, 1994).
struct Divisor {
  uint32_t value;
  uint32_t factor;
  uint32_t shift;
};

// Axes from the innermost out; `count` packs in all, of which the last may be short (one axis
// only). The strides come last: a walk of fewer operands is the beginning of one of more.
template <int N>
struct WalkOf {
  uint32_t count;
  uint32_t axes;
  Divisor extent[max_walk_axes];      // the innermost in packs
  uint32_t repeated;                  // bit k: operand k is one element along a pack
  uint32_t elements;                  // one axis: number of elements, so that the last pack is cut
  int64_t strides[N][max_walk_axes];  // in bytes, of one step (a pack on axis 0)
};
typedef WalkOf<4> Walk;  // of single rows

// An operand: memory, or without it a value of up to eight bytes that goes along.
struct Source {
  const char* data;
  uint64_t value;
};

#if defined(__CUDACC__)
__device__ __forceinline__ uint32_t divide(uint32_t n, const Divisor& d) {
  uint32_t high = __umulhi(n, d.factor);
  return (((n - high) >> 1) + high) >> d.shift;
}

// Byte offsets of pack i of the first N operands.
template <int N, int M>
__device__ __forceinline__ void locate(const WalkOf<M>& w, uint32_t i, int64_t (&offset)[N]) {
#pragma unroll
  for (int k = 0; k < N; ++k) offset[k] = 0;
#pragma unroll
  for (int a = 0; a < max_walk_axes; ++a) {
    if (a + 1 >= int(w.axes)) {
#pragma unroll
      for (int k = 0; k < N; ++k) offset[k] += int64_t(i) * w.strides[k][a];
      break;
    }
    uint32_t q = divide(i, w.extent[a]);
    uint32_t r = i - q * w.extent[a].value;
#pragma unroll
    for (int k = 0; k < N; ++k) offset[k] += int64_t(r) * w.strides[k][a];
    i = q;
  }
}

// Elements of pack i: V but for the last.
template <int V, int M>
__device__ __forceinline__ int elements_of(const WalkOf<M>& w, uint32_t i) {
  return w.axes <= 1 && (i + 1) * uint64_t(V) > w.elements ? int(w.elements - i * V) : V;
}
#endif

}  // namespace cuda
}  // namespace core
}  // namespace mlx
