// NVRTC, NVIDIA's compiler as a library: opened when it is first needed, and not needed to run.
#pragma once

#include <string>

namespace mlx::core::cuda {

// A text the compiler may include; compiled into the library from the files of the sources.
struct KernelHeader {
  const char* name;
  const char* text;
};

// "13.0", or empty if there is no NVRTC; nvrtc_problem() then says why.
const std::string& nvrtc_version();
const std::string& nvrtc_problem();

// What identifies a compilation beside the text: options, version, the headers' text.
std::string compile_identity(int sm);

// Machine code for devices of compute capability `sm` (90). RuntimeError with the compiler's words
// if it refuses the text. Any thread.
std::string compile_kernel(const std::string& text, int sm);

}  // namespace mlx::core::cuda
