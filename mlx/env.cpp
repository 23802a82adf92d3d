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

// One of these words; the first where the variable is not set.
std::string choice(const char* name, std::initializer_list<std::string_view> words) {
  std::string s = text(name), all;
  if (s.empty()) {
    return std::string(*words.begin());
  }
  for (std::string_view w : words) {
    if (s == w) {
      return s;
    }
    all += (all.empty() ? "" : ", ") + std::string(w);
  }
  fail<ValueError>("[{}] expected one of {}, got {}", std::string_view(name), all, s);
}

// The user's folder for what can be made again; empty if there is none.
std::string cache_folder() {
  std::string folder = text("XDG_CACHE_HOME");
  if (folder.empty() || folder[0] != '/') {
    folder = text("HOME");
    if (folder.empty() || folder[0] != '/') {
      return "";
    }
    folder += "/.cache";
  }
  return folder + "/mlx";
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
  e.gpu_memory = choice("MLX_CUDA_MEMORY", {"auto", "managed", "device"});
  e.enable_tf32 = number("MLX_ENABLE_TF32", 0, 1) != 0;
  e.eager_fusion = number("MLX_EAGER_FUSION", 0, 1) != 0;
  e.kernel_cache_dir = text("MLX_CUDA_CACHE_DIR");
  if (e.kernel_cache_dir.empty()) {
    e.kernel_cache_dir = cache_folder();
  }
  return e;
}

}  // namespace

Environment& env() {
  static Environment e = read();
  return e;
}

}  // namespace mlx::core
