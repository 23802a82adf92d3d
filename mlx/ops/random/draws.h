// The arithmetic of unbiased integers and of draws from a discrete distribution: one text for the
// host and the devices, so that they draw the same.
#pragma once

#include "mlx/ops/random/threefry.h"

namespace mlx {
namespace core {
namespace random {

struct WideProduct {
  uint64_t high;
  uint64_t low;
};

MLX_TYPE_FN WideProduct wide_product(uint64_t a, uint64_t b) {
  uint64_t a0 = uint32_t(a), a1 = a >> 32, b0 = uint32_t(b), b1 = b >> 32;
  uint64_t low = a0 * b0, cross = a1 * b0 + (low >> 32), other = a0 * b1 + uint32_t(cross);
  WideProduct p;
  p.high = a1 * b1 + (cross >> 32) + (other >> 32);
  p.low = (other << 32) | uint32_t(low);
  return p;
}

// A number in [0, range) from 64-bit words, every one equally likely (Lemire 2019): words whose
// product falls into the short first interval are rejected. Attempt 0 takes `word`; later ones
// take words of a key of their own, derived for this element.
MLX_TYPE_FN uint64_t bounded(WordPair<uint32_t> key, int64_t element, uint64_t word,
                             uint64_t range) {
  WideProduct m = wide_product(word, range);
  if (m.low < range) {
    uint64_t threshold = (0 - range) % range;
    WordPair<uint32_t> own =
        threefry(~key.x0, ~key.x1, WordPair<uint32_t>{uint32_t(element), uint32_t(element >> 32)});
    for (uint32_t attempt = 0; m.low < threshold; ++attempt) {
      WordPair<uint32_t> w = threefry(own.x0, own.x1, WordPair<uint32_t>{attempt, 0});
      m = wide_product(uint64_t(w.x0) | uint64_t(w.x1) << 32, range);
    }
  }
  return m.high;
}

// Cumulative sums of weights are those of the blocks before, plus those within the block of so many
// weights, each added up from the left in double: that order can be shared out, and is kept to.
constexpr int64_t weight_block = 256;

}  // namespace random
}  // namespace core
}  // namespace mlx
