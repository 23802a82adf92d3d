// The GPU backend: a plugin beside the library, loaded at the first use of a GPU.
#pragma once

#include <string>

#include "mlx/backend.h"

namespace mlx::core {

struct GpuPlugin {
  Backend* backend = nullptr;
  std::string why;  // one line: what is missing and what to install, where there is no backend
};

MLX_INTERNAL const GpuPlugin& gpu_plugin();
// Null where no GPU has been asked for.
MLX_INTERNAL Backend* loaded_gpu_backend();

// The one function a plugin exports under the name gpu_plugin_entry. It is given the mark of the
// library that loads it and returns null and a reason where they do not fit or no device answers.
inline constexpr const char* gpu_plugin_entry = "mlx_gpu_plugin";
using GpuPluginEntry = Backend* (*)(uint64_t mark, std::string* why);

// Differs between builds whose objects differ in layout.
constexpr uint64_t plugin_mark() {
  uint64_t hash = 14695981039346656037u;
  auto mix = [&hash](uint64_t v) { hash = (hash ^ v) * 1099511628211u; };
  for (const char* c = MLX_VERSION; *c; ++c) {
    mix(uint64_t(*c));
  }
  for (size_t size : {sizeof(Task), sizeof(Operand), sizeof(Buffer), sizeof(Primitive),
                      sizeof(Stream), sizeof(Shape), size_t(primitive_count)}) {
    mix(size);
  }
  return hash;
}

}  // namespace mlx::core
