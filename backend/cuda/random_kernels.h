// Launches of the random kernels. Keys, weights and numbers are row-major.
#pragma once

#include "backend/cuda/encoder.h"

namespace mlx::core::cuda {

// `bytes` bytes for each of `key_count` keys, one after the other.
void random_bits(const void* keys, int64_t key_count, void* out, int64_t bytes, Encoder& encoder);

// What the bounds of an element are, from its place in the output; axes outermost first.
struct Bounds {
  static constexpr int max_axes = 8;
  const void* low;
  const void* high;
  int axes;
  int64_t extent[max_axes];
  int64_t low_stride[max_axes];
  int64_t high_stride[max_axes];
};

// Turns the 64-bit words that `out` holds into integers within the bounds.
void bound_integers(Dtype dtype, const void* keys, int64_t key_count, const Bounds& bounds,
                    const Operand& out, Encoder& encoder);

// `draws` indices from each of `batches` distributions over n weights.
void sample_indices(const float* weights, int64_t n, const float* numbers, int64_t draws,
                    int64_t batches, uint32_t* out, Encoder& encoder);

}  // namespace mlx::core::cuda
