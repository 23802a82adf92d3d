// KernelCache: compiled kernels in files of the user's, kept from one process to the next.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace mlx::core::cuda {

class KernelCache {
 public:
  // The folder is made when something is first stored. An empty name: nothing is kept.
  KernelCache(std::string folder, int64_t limit_bytes)
      : folder_(std::move(folder)), limit_(limit_bytes) {}

  // What was stored under this identity; nothing if it is not there, or not whole, or if others may
  // write to the folder.
  std::optional<std::string> find(const std::string& identity) const;
  // Other processes may do the same at the same time. Failures are no error: the kernel is compiled
  // again next time.
  void store(const std::string& identity, const std::string& binary) const;

 private:
  void drop_oldest() const;

  const std::string folder_;
  const int64_t limit_;
};

}  // namespace mlx::core::cuda
