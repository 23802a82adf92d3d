// Threefry-2x32 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011): a keyed
// bijection of pairs of words, 20 rounds. One text for the host and the devices.
#pragma once

#include "mlx/types.h"

namespace mlx {
namespace core {
namespace random {

template <typename U>  // uint32_t or a vector of it
struct WordPair {
  U x0;
  U x1;
};

template <typename U>
MLX_TYPE_FN void threefry_round(WordPair<U>& x, int rotation) {
  x.x0 = x.x0 + x.x1;
  x.x1 = (x.x1 << rotation) | (x.x1 >> (32 - rotation));
  x.x1 = x.x1 ^ x.x0;
}

template <typename U>
MLX_TYPE_FN WordPair<U> threefry(uint32_t k0, uint32_t k1, WordPair<U> x) {
  const int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const uint32_t ks[3] = {k0, k1, k0 ^ k1 ^ 0x1BD11BDAu};
  x.x0 = x.x0 + ks[0];
  x.x1 = x.x1 + ks[1];
  for (uint32_t i = 1; i <= 5; ++i) {
    for (int r = 0; r < 4; ++r) {
      threefry_round(x, rotations[(i - 1) % 2][r]);
    }
    x.x0 = x.x0 + ks[i % 3];
    x.x1 = x.x1 + (ks[(i + 1) % 3] + i);
  }
  return x;
}

// Where the words of an output of `words` words come from: word i and word i + second are the two
// results for counter(i), for i < half; a middle word (odd counts) is the first result for
// (half, 0). Indices beyond 32 bits change the difference of the counter's words, so that no
// counter is used twice.
struct WordPlan {
  int64_t half;
  int64_t second;
};

MLX_TYPE_FN WordPlan word_plan(int64_t words) {
  WordPlan p;
  p.half = words / 2;
  p.second = p.half + words % 2;
  return p;
}

MLX_TYPE_FN WordPair<uint32_t> counter(WordPlan p, int64_t i) {
  WordPair<uint32_t> c;
  c.x0 = uint32_t(i);
  c.x1 = uint32_t(i + p.second + (i >> 32));
  return c;
}

}  // namespace random
}  // namespace core
}  // namespace mlx
