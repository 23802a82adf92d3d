// Finding and loading the GPU plugin. Its file, the driver it needs and the advice for whoever
// lacks one are given by the build.
#include "mlx/graph/plugin.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string_view>

#include "mlx/error.h"

namespace mlx::core {

namespace {

// The folder of the file that holds this function.
std::string library_folder() {
  Dl_info here;
  if (!dladdr(reinterpret_cast<void*>(&library_folder), &here) || !here.dli_fname) {
    return ".";
  }
  std::string path = here.dli_fname;
  size_t slash = path.rfind('/');
  return slash == path.npos ? "." : path.substr(0, slash);
}

std::string last_error() {
  const char* text = dlerror();
  return text ? text : "unknown reason";
}

#ifdef MLX_GPU_PLUGINS

GpuPlugin open_plugin(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    return {nullptr, last_error() + "; " MLX_GPU_ADVICE};
  }
  auto entry = reinterpret_cast<GpuPluginEntry>(dlsym(library, gpu_plugin_entry));
  if (!entry) {
    return {nullptr, path + " is not a plugin of this library"};
  }
  GpuPlugin found;
  found.backend = entry(plugin_mark(), &found.why);
  return found;
}

// The first of the plugins beside the library that works; else the reason of the last that is
// there.
GpuPlugin load() {
  if (!dlopen(MLX_GPU_DRIVER, RTLD_NOW | RTLD_LOCAL)) {
    return {nullptr, format("no GPU driver ({} was not found)", MLX_GPU_DRIVER)};
  }
  GpuPlugin result{nullptr, "this build has no GPU plugin"};
  std::string_view names = MLX_GPU_PLUGINS;
  while (!names.empty() && !result.backend) {
    size_t end = std::min(names.find(':'), names.size());
    std::string path = library_folder() + "/" + std::string(names.substr(0, end));
    if (access(path.c_str(), R_OK) == 0) {
      result = open_plugin(path);
    }
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return result;
}

#else

GpuPlugin load() { return {nullptr, "this build has no GPU backend"}; }

#endif

std::atomic<Backend*> loaded{nullptr};

}  // namespace

const GpuPlugin& gpu_plugin() {
  static const GpuPlugin& plugin = *[] {
    auto* p = new GpuPlugin(load());
    loaded.store(p->backend);
    return p;
  }();
  return plugin;
}

Backend* loaded_gpu_backend() { return loaded.load(); }

}  // namespace mlx::core
