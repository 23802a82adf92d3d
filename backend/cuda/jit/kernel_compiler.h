// Compiling kernels with the cache on disk in front, at once or on a thread of its own.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

namespace mlx::core::cuda {

// Whether kernels can be compiled here; with MLX_DEBUG one line says why not.
bool can_compile();

// What an earlier compilation left on disk.
std::optional<std::string> cached_kernel(const std::string& text, int sm);

// From disk or compiled now. RuntimeError with the compiler's words.
std::string compiled_kernel(const std::string& text, int sm);

struct Compilation {
  std::atomic<bool> done{false};  // then the rest may be read
  std::string binary;             // empty: it failed
  std::string error;
};

// Hands the text to the thread that compiles. What is asked for in a forked child or while the
// process ends is never done.
std::shared_ptr<const Compilation> compile_later(std::string text, int sm);

// Waits for the compilation under way; nothing is compiled any more.
void stop_compiling();

}  // namespace mlx::core::cuda
