// One line per primitive on stderr (MLX_DEBUG), Chrome trace events into a file (MLX_PROFILE).
#include "mlx/graph/profile.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <mutex>

#include "mlx/env.h"
#include "mlx/error.h"

namespace mlx::core {

namespace {

// The trace is a JSON array that viewers accept without its closing bracket, so that a process that
// dies leaves a readable file.
struct TraceFile {
  std::mutex mutex;
  std::FILE* file = nullptr;

  TraceFile() {
    if (!env().profile.empty()) {
      file = std::fopen(env().profile.c_str(), "w");
      if (!file) {
        std::fprintf(stderr, "mlx: MLX_PROFILE: cannot write %s\n", env().profile.c_str());
        return;
      }
      std::setvbuf(file, nullptr, _IOLBF, 1 << 16);
      std::fputs("[\n", file);
    }
  }
};

TraceFile& trace_file() {
  static TraceFile& t = *new TraceFile();
  return t;
}

std::string shapes(Inputs operands) {
  std::string s;
  for (const Operand& o : operands) {
    s += (s.empty() ? "" : " ") + format("{}{}", o.dtype, o.shape);
  }
  return s;
}

}  // namespace

bool profiling() {
  static const bool on = env().debug > 0 || !env().profile.empty();
  return on;
}

int64_t profile_clock() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

void profile_task(const Task& task, const char* device, int64_t start, double us) {
  int64_t bytes = 0;
  for (const Operand& o : task.inputs) bytes += o.nbytes();
  for (const Operand& o : task.outputs) bytes += o.nbytes();
  std::string name(task.primitive->name());
  if (env().debug > 0) {
    std::string detail = env().debug > 1 ? " {" + task.primitive->describe() + "}" : "";
    std::fprintf(stderr, "mlx %s %-14s %10.1f us %7.2f GB/s  %s -> %s%s\n", device, name.c_str(),
                 us, us > 0 ? double(bytes) / us / 1e3 : 0.0, shapes(task.inputs).c_str(),
                 shapes(task.outputs).c_str(), detail.c_str());
  }
  TraceFile& t = trace_file();
  if (t.file) {
    std::lock_guard lock(t.mutex);
    std::fprintf(t.file,
                 "{\"name\":\"%s\",\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f,"
                 "\"args\":{\"in\":\"%s\",\"out\":\"%s\",\"bytes\":%lld}},\n",
                 name.c_str(), int(getpid()), int(gettid()), double(start) / 1e3, us,
                 shapes(task.inputs).c_str(), shapes(task.outputs).c_str(), (long long)bytes);
  }
}

}  // namespace mlx::core
