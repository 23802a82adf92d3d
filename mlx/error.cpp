// Text formatting behind fail().
#include "mlx/error.h"

#include <cstdio>

namespace mlx::core::detail {

std::string to_text(std::string_view s) { return std::string(s); }
std::string to_text(int64_t v) { return std::to_string(v); }
std::string to_text(uint64_t v) { return std::to_string(v); }

std::string to_text(double v) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%g", v);
  return buffer;
}

std::string to_text(std::span<const int64_t> shape) {
  std::string s = "(";
  for (size_t i = 0; i < shape.size(); ++i) {
    s += (i ? ", " : "") + std::to_string(shape[i]);
  }
  return s + (shape.size() == 1 ? ",)" : ")");
}

std::string fill(std::string_view pattern, std::span<const std::string> values) {
  std::string s;
  size_t next = 0;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '{' && i + 1 < pattern.size() && pattern[i + 1] == '}' &&
        next < values.size()) {
      s += values[next++];
      ++i;
    } else {
      s += pattern[i];
    }
  }
  return s;
}

}  // namespace mlx::core::detail
