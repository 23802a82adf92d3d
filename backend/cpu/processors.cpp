// Affinity and CPU quota of the process.
#include "backend/cpu/processors.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#endif

namespace mlx::core::cpu {

namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

int rounded_up(double quota, double period) {
  return quota > 0 && period > 0 ? std::max(1, int((quota + period - 1) / period)) : 0;
}

// The path of the process in the unified hierarchy: the line "0::/path".
std::string group_path() {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("0::", 0) == 0) {
      return line.substr(3);
    }
  }
  return "/";
}

// The smallest quota of the group and the groups around it; 0 if there is none.
int group_quota() {
  int least = 0;
  auto consider = [&](int quota) {
    if (quota > 0 && (least == 0 || quota < least)) {
      least = quota;
    }
  };
  for (std::string path = group_path();;) {
    consider(quota_of(first_line("/sys/fs/cgroup" + path + "/cpu.max").c_str()));
    size_t slash = path.rfind('/');
    if (path.empty() || slash == std::string::npos) {
      break;
    }
    path.resize(slash);
  }
  const std::string v1 = "/sys/fs/cgroup/cpu/cpu.cfs_";
  consider(rounded_up(std::atof(first_line(v1 + "quota_us").c_str()),
                      std::atof(first_line(v1 + "period_us").c_str())));
  return least;
}

int affinity() {
#if defined(__linux__)
  // The mask may be larger than the fixed type holds.
  for (int processors = 1024; processors <= (1 << 20); processors *= 2) {
    cpu_set_t* set = CPU_ALLOC(processors);
    size_t bytes = CPU_ALLOC_SIZE(processors);
    int count = sched_getaffinity(0, bytes, set) == 0 ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (count > 0) {
      return count;
    }
  }
#endif
  return std::max(1, int(std::thread::hardware_concurrency()));
}

}  // namespace

int quota_of(const char* cpu_max) {
  double quota = 0, period = 0;
  return std::sscanf(cpu_max, "%lf %lf", &quota, &period) == 2 ? rounded_up(quota, period) : 0;
}

int available_processors() {
  static const int count = [] {
    int quota = group_quota(), allowed = affinity();
    return quota > 0 ? std::min(quota, allowed) : allowed;
  }();
  return count;
}

}  // namespace mlx::core::cpu
