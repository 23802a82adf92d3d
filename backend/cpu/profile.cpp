// One line per primitive on stderr (MLX_DEBUG), Chrome trace events into a file (MLX_PROFILE).
#include "backend/cpu/profile.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <mutex>

#include "mlx/env.h"
#include "mlx/error.h"

namespace mlx::core::cpu {

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

bool ProfiledRange::enabled() {
  static const bool on = env().debug > 0 || !env().profile.empty();
  return on;
}

int64_t ProfiledRange::now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

void ProfiledRange::report() const {
  int64_t end = now();
  int64_t bytes = 0;
  for (const Operand& o : task_.inputs) bytes += o.nbytes();
  for (const Operand& o : task_.outputs) bytes += o.nbytes();
  double us = double(end - start_) / 1e3;
  std::string name(task_.primitive->name());
  if (env().debug > 0) {
    std::string detail = env().debug > 1 ? " {" + task_.primitive->describe() + "}" : "";
    std::fprintf(stderr, "mlx cpu %-14s %10.1f us %7.2f GB/s  %s -> %s%s\n", name.c_str(), us,
                 us > 0 ? double(bytes) / us / 1e3 : 0.0, shapes(task_.inputs).c_str(),
                 shapes(task_.outputs).c_str(), detail.c_str());
  }
  TraceFile& t = trace_file();
  if (t.file) {
    std::lock_guard lock(t.mutex);
    std::fprintf(t.file,
                 "{\"name\":\"%s\",\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f,"
                 "\"args\":{\"in\":\"%s\",\"out\":\"%s\",\"bytes\":%lld}},\n",
                 name.c_str(), int(getpid()), int(gettid()), double(start_) / 1e3, us,
                 shapes(task_.inputs).c_str(), shapes(task_.outputs).c_str(), (long long)bytes);
  }
}

}  // namespace mlx::core::cpu
