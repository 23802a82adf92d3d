// A hash of texts for names of cached files (FNV-1a, 64 bits, the last step mixed). What is found
// under a name is compared, so that two texts of one hash only cost time.
#pragma once

#include <cstdint>
#include <string_view>

namespace mlx::core::cuda {

class Hash {
 public:
  void add(std::string_view text) {
    for (unsigned char c : text) {
      state_ = (state_ ^ c) * 0x100000001b3u;
    }
    state_ = (state_ ^ text.size()) * 0x100000001b3u;
  }
  uint64_t value() const {
    uint64_t h = state_;
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdu;
    return h ^ (h >> 33);
  }

 private:
  uint64_t state_ = 0xcbf29ce484222325u;
};

}  // namespace mlx::core::cuda
