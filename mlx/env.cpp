// Reading of the environment: the only getenv of the library.
#include "mlx/env.h"

#include <cstdlib>

#include "mlx/error.h"

namespace mlx::core {

namespace {

std::string text(const char* name) {
  const char* v = std::getenv(name);
  return v ? v : "";
}

int number(const char* name, int low, int high) {
  std::string s = text(name);
  if (s.empty()) {
    return low;
  }
  char* end = nullptr;
  long v = std::strtol(s.c_str(), &end, 10);
  if (*end || v < low || v > high) {
    fail<ValueError>("[{}] expected a whole number from {} to {}, got {}", std::string_view(name),
                     low, high, s);
  }
  return int(v);
}

Environment read() {
  Environment e;
  e.disable_fusion = number("MLX_DISABLE_FUSION", 0, 1) != 0;
  e.debug = number("MLX_DEBUG", 0, 3);
  e.check = number("MLX_CHECK", 0, 1) != 0;
  e.profile = text("MLX_PROFILE");
  e.num_threads = number("MLX_NUM_THREADS", 0, 1024);
  e.cpu_isa = text("MLX_CPU_ISA");
  e.disable_compile = std::getenv("MLX_DISABLE_COMPILE") != nullptr;
  return e;
}

}  // namespace

Environment& env() {
  static Environment e = read();
  return e;
}

}  // namespace mlx::core
