// Affinity and CPU quota of the process.
#include "backend/cpu/processors.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

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

#if defined(__linux__)
// A set of processors, which may be larger than the fixed type holds.
class ProcessorSet {
 public:
  // Those the calling thread may use.
  static ProcessorSet allowed() {
    for (int capacity = 1024; capacity <= (1 << 20); capacity *= 2) {
      ProcessorSet set(capacity);
      if (sched_getaffinity(0, set.bytes(), set.set_) == 0) {
        return set;
      }
    }
    return ProcessorSet(1024);
  }

  explicit ProcessorSet(int capacity) : capacity_(capacity), set_(CPU_ALLOC(capacity)) {
    CPU_ZERO_S(bytes(), set_);
  }
  ProcessorSet(ProcessorSet&& o) noexcept
      : capacity_(o.capacity_), set_(std::exchange(o.set_, nullptr)) {}
  ~ProcessorSet() { CPU_FREE(set_); }

  int capacity() const { return capacity_; }
  int count() const { return CPU_COUNT_S(bytes(), set_); }
  bool has(int processor) const { return CPU_ISSET_S(processor, bytes(), set_); }
  void add(int processor) { CPU_SET_S(processor, bytes(), set_); }
  void apply() const { sched_setaffinity(0, bytes(), set_); }

 private:
  size_t bytes() const { return CPU_ALLOC_SIZE(capacity_); }

  int capacity_;
  cpu_set_t* set_;
};
#endif

int affinity() {
#if defined(__linux__)
  if (int count = ProcessorSet::allowed().count(); count > 0) {
    return count;
  }
#endif
  return std::max(1, int(std::thread::hardware_concurrency()));
}

}  // namespace

int quota_of(const char* cpu_max) {
  double quota = 0, period = 0;
  return std::sscanf(cpu_max, "%lf %lf", &quota, &period) == 2 ? rounded_up(quota, period) : 0;
}

void spread_thread(int from, int steps) {
#if defined(__linux__)
  ProcessorSet allowed = ProcessorSet::allowed(), one(allowed.capacity());
  int count = allowed.count(), processor = from;
  for (steps %= std::max(count, 1); steps > 0;) {
    processor = (processor + 1) % allowed.capacity();
    steps -= allowed.has(processor);
  }
  if (count > 1 && processor != from) {
    one.add(processor);
    one.apply();
    allowed.apply();
  }
#else
  (void)from, (void)steps;
#endif
}

int current_processor() {
#if defined(__linux__)
  return std::max(0, sched_getcpu());
#else
  return 0;
#endif
}

int available_processors() {
  static const int count = [] {
    int quota = group_quota(), allowed = affinity();
    return quota > 0 ? std::min(quota, allowed) : allowed;
  }();
  return count;
}

}  // namespace mlx::core::cpu
