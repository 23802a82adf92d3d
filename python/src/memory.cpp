// Memory statistics and limits, summed over the devices, and the small modules metal and cuda.
#include <algorithm>

#include "mlx/backend.h"
#include "mlx/graph/node.h"
#include "python/src/convert.h"
#include "python/src/trees.h"

namespace mlx::core {

namespace {

// Calls f with the memory of every device type of this process.
template <typename F>
void each_memory(F&& f) {
  for (Device::Type type : {Device::cpu, Device::gpu}) {
    if (Backend* b = find_backend(type)) {
      f(b->memory());
    }
  }
}

template <typename F>
size_t total(F&& f) {
  size_t sum = 0;
  each_memory([&](MemoryControl& m) { sum += f(m); });
  return sum;
}

size_t get_active_memory() {
  return total([](MemoryControl& m) { return m.active(); });
}
size_t get_peak_memory() {
  return total([](MemoryControl& m) { return m.peak(); });
}
size_t get_cache_memory() {
  return total([](MemoryControl& m) { return m.cached(); });
}
size_t get_memory_limit() {
  return total([](MemoryControl& m) { return m.limit(); });
}
void reset_peak_memory() {
  each_memory([](MemoryControl& m) { m.reset_peak(); });
}
void clear_cache() {
  each_memory([](MemoryControl& m) { m.clear_cache(); });
}
size_t set_cache_limit(size_t limit) {
  return total([&](MemoryControl& m) { return m.set_cache_limit(limit); });
}
size_t set_memory_limit(size_t limit) {
  return total([&](MemoryControl& m) { return m.set_limit(limit); });
}

// No device of this build keeps memory wired.
size_t set_wired_limit(size_t) { return 0; }

size_t get_array_buffer_size(nb::args args) {
  std::vector<const Buffer*> seen;
  size_t sum = 0;
  visit_arrays(args, [&](nb::handle h) {
    const array& a = *as_array(h);
    if (!a.is_available()) {
      fail<ValueError>(
          "[get_array_buffer_size] arrays must be evaluated first (got one of shape {})",
          a.shape());
    }
    const Node& n = *a.node();
    if (n.has_scalar) {
      sum += size_t(a.nbytes());
    } else if (std::find(seen.begin(), seen.end(), n.buffer.get()) == seen.end()) {
      seen.push_back(n.buffer.get());
      sum += n.buffer->size();
    }
  });
  return sum;
}

void bind_statistics(nb::module_& m) {
  define(m, "get_active_memory", &get_active_memory, "Bytes of memory in use.");
  define(m, "get_peak_memory", &get_peak_memory,
         "The most bytes that were in use since the start or :func:`reset_peak_memory`.");
  define(m, "reset_peak_memory", &reset_peak_memory, "Set the peak to zero.");
  define(m, "get_cache_memory", &get_cache_memory, "Bytes kept for later use.");
  define(m, "clear_cache", &clear_cache, "Give cached memory back to the system.");
  define(m, "set_cache_limit", &set_cache_limit, "limit"_a,
         "Set how many bytes may be kept for later use; 0 keeps none. Returns the previous limit.");
  define(m, "set_memory_limit", &set_memory_limit, "limit"_a,
         "Set how many bytes may be in use before allocation fails. Returns the previous limit.");
  define(m, "get_memory_limit", &get_memory_limit, "The limit of :func:`set_memory_limit`.");
  define(m, "set_wired_limit", &set_wired_limit, "limit"_a,
         "Set how many bytes a Metal device keeps resident; without one this does nothing.\n"
         "Returns the previous limit.");
  define(m, "get_array_buffer_size", &get_array_buffer_size, "args"_a,
         nb::sig("def get_array_buffer_size(*args) -> int"),
         "Bytes of the distinct buffers behind the evaluated arrays in the arguments (trees).\n\n"
         "Raises:\n    ValueError: an array is not evaluated yet.");
}

// Tells, on every use, which function to call instead.
void deprecated(const char* name) {
  nb::module_ sys = nb::module_::import_("sys");
  sys.attr("stderr").attr("write")(format(
      "mx.metal.{} is deprecated and will be removed in a future version. Use mx.{} instead.\n",
      name, name));
}

void bind_metal(nb::module_& m) {
  nb::module_ metal = m.def_submodule("metal", "Metal devices.");
  metal.def("is_available", [] { return false; }, "Is there a Metal device?");
  metal.def(
      "device_info",
      [] {
        deprecated("device_info");
        return nb::dict();
      },
      "Deprecated: use :func:`mlx.core.device_info`.");
  auto alias = [&](const char* name, size_t (*f)()) {
    metal.def(name, [name, f] {
      deprecated(name);
      return f();
    });
  };
  auto setter = [&](const char* name, size_t (*f)(size_t)) {
    metal.def(
        name,
        [name, f](size_t limit) {
          deprecated(name);
          return f(limit);
        },
        "limit"_a);
  };
  auto action = [&](const char* name, void (*f)()) {
    metal.def(name, [name, f] {
      deprecated(name);
      f();
    });
  };
  alias("get_active_memory", &get_active_memory);
  alias("get_peak_memory", &get_peak_memory);
  alias("get_cache_memory", &get_cache_memory);
  action("reset_peak_memory", &reset_peak_memory);
  action("clear_cache", &clear_cache);
  setter("set_cache_limit", &set_cache_limit);
  setter("set_memory_limit", &set_memory_limit);
  setter("set_wired_limit", &set_wired_limit);
  metal.def("start_capture", [](const std::string&) {}, "path"_a, "Does nothing without Metal.");
  metal.def("stop_capture", [] {}, "Does nothing without Metal.");
}

}  // namespace

void bind_memory(nb::module_& m) {
  bind_statistics(m);
  bind_metal(m);
  nb::module_ cuda = m.def_submodule("cuda", "CUDA devices.");
  cuda.def(
      "is_available", [] { return find_backend(Device::gpu) != nullptr; },
      "Is there a CUDA device?");
}

}  // namespace mlx::core
