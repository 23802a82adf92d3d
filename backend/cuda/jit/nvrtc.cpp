// Opening NVRTC and calling it.
#include "backend/cuda/jit/nvrtc.h"

#include <dlfcn.h>

#include <vector>

#include "backend/cuda/jit/hash.h"
#include "backend/cuda/jit/kernel_headers.h"
#include "mlx/error.h"

namespace mlx::core::cuda {

namespace {

// As in nvrtc.h, which building does not require.
using Program = struct ProgramState*;
using Result = int;

struct Nvrtc {
  Result (*version)(int*, int*);
  const char* (*error_string)(Result);
  Result (*create)(Program*, const char*, const char*, int, const char* const*, const char* const*);
  Result (*destroy)(Program*);
  Result (*compile)(Program, int, const char* const*);
  Result (*log_size)(Program, size_t*);
  Result (*log)(Program, char*);
  Result (*cubin_size)(Program, size_t*);
  Result (*cubin)(Program, char*);
  std::string version_text;
  std::string problem;
};

// The plugin takes the version of CUDA that it was built for, as the driver's age was checked for.
constexpr const char* library_names[] = {
#if defined(MLX_NVRTC_NAME)
    MLX_NVRTC_NAME
#else
    "libnvrtc.so.13", "libnvrtc.so.12"
#endif
};

template <typename F>
bool find(void* library, F& f, const char* name) {
  f = reinterpret_cast<F>(dlsym(library, name));
  return f != nullptr;
}

// NVRTC opens its builtins by bare name, which finds nothing beside it in folders of packages: what
// has been opened by path before is found.
void open_builtins(const Nvrtc& n, int major, int minor) {
  Dl_info where{};
  if (dladdr(reinterpret_cast<void*>(n.version), &where) && where.dli_fname) {
    std::string path = where.dli_fname;
    path = path.substr(0, path.rfind('/') + 1);
    dlopen(format("{}libnvrtc-builtins.so.{}.{}", path, major, minor).c_str(), RTLD_NOW);
  }
}

Nvrtc open() {
  Nvrtc n{};
  void* library = nullptr;
  for (const char* name : library_names) {
    library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library) {
      break;
    }
    n.problem = dlerror();
  }
  if (!library) {
    return n;
  }
  n.problem.clear();
  bool found = find(library, n.version, "nvrtcVersion") &&
               find(library, n.error_string, "nvrtcGetErrorString") &&
               find(library, n.create, "nvrtcCreateProgram") &&
               find(library, n.destroy, "nvrtcDestroyProgram") &&
               find(library, n.compile, "nvrtcCompileProgram") &&
               find(library, n.log_size, "nvrtcGetProgramLogSize") &&
               find(library, n.log, "nvrtcGetProgramLog") &&
               find(library, n.cubin_size, "nvrtcGetCUBINSize") &&
               find(library, n.cubin, "nvrtcGetCUBIN");
  int major = 0, minor = 0;
  if (!found || n.version(&major, &minor) != 0) {
    n.problem = "libnvrtc lacks a function; it is too old";
    return n;
  }
  n.version_text = format("{}.{}", major, minor);
  open_builtins(n, major, minor);
  return n;
}

// Never unloaded: a thread may be compiling when the process ends.
const Nvrtc& nvrtc() {
  static const Nvrtc& n = *new Nvrtc(open());
  return n;
}

std::vector<std::string> options(int sm) {
  return {format("--gpu-architecture=sm_{}", sm), "--std=c++17", "--fmad=false",
          "-DMLX_TYPES_NO_STDINT"};
}

uint64_t headers_hash() {
  static const uint64_t hash = [] {
    Hash h;
    for (const KernelHeader& header : kernel_headers()) {
      h.add(header.name);
      h.add(header.text);
    }
    return h.value();
  }();
  return hash;
}

std::string log_of(const Nvrtc& n, Program p) {
  size_t size = 0;
  n.log_size(p, &size);
  std::string log(size, '\0');
  if (size) {
    n.log(p, log.data());
    log.resize(log.find('\0'));
  }
  return log;
}

}  // namespace

const std::string& nvrtc_version() { return nvrtc().version_text; }
const std::string& nvrtc_problem() { return nvrtc().problem; }

std::string compile_identity(int sm) {
  std::string text = format("nvrtc {} headers {}", nvrtc_version(), headers_hash());
  for (const std::string& o : options(sm)) {
    text += " " + o;
  }
  return text;
}

std::string compile_kernel(const std::string& text, int sm) {
  const Nvrtc& n = nvrtc();
  if (n.version_text.empty()) {
    fail<RuntimeError>("[compile] NVRTC is missing: {}", n.problem);
  }
  std::vector<const char*> names, texts, arguments;
  for (const KernelHeader& header : kernel_headers()) {
    names.push_back(header.name);
    texts.push_back(header.text);
  }
  const std::vector<std::string> given = options(sm);
  for (const std::string& o : given) {
    arguments.push_back(o.c_str());
  }
  struct Destroy {
    const Nvrtc& n;
    Program p = nullptr;
    ~Destroy() { n.destroy(&p); }
  } program{n};
  Result r = n.create(&program.p, text.c_str(), "kernel.cu", int(names.size()), texts.data(),
                      names.data());
  if (r == 0) {
    r = n.compile(program.p, int(arguments.size()), arguments.data());
    if (r != 0) {
      fail<RuntimeError>("[compile] NVRTC: {}\n{}", n.error_string(r), log_of(n, program.p));
    }
  }
  size_t size = 0;
  std::string binary;
  if (r == 0 && (r = n.cubin_size(program.p, &size)) == 0) {
    binary.resize(size);
    r = n.cubin(program.p, binary.data());
  }
  if (r != 0) {
    fail<RuntimeError>("[compile] NVRTC: {}", n.error_string(r));
  }
  return binary;
}

}  // namespace mlx::core::cuda
