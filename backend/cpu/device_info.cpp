// Name and architecture of the machine's processor.
#include "backend/cpu/device_info.h"

#include <cstdio>
#include <cstring>
#include <string>

namespace mlx::core::cpu {

DeviceInfo device_info() {
  std::string name = "CPU";
  if (std::FILE* f = std::fopen("/proc/cpuinfo", "r")) {
    char line[256];
    while (std::fgets(line, sizeof line, f)) {
      if (!std::strncmp(line, "model name", 10)) {
        if (const char* colon = std::strchr(line, ':')) {
          name = colon + 1;
          name.erase(0, name.find_first_not_of(' '));
          name.erase(name.find_last_not_of(" \n") + 1);
        }
        break;
      }
    }
    std::fclose(f);
  }
#if defined(__x86_64__)
  std::string architecture = "x86_64";
#elif defined(__aarch64__)
  std::string architecture = "arm64";
#else
  std::string architecture = "unknown";
#endif
  return {{"device_name", name}, {"architecture", architecture}};
}

}  // namespace mlx::core::cpu
