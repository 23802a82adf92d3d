// The GPUs of this process: which there are, what they can do, and which one the thread works on.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace mlx::core::cuda {

struct DeviceProperties {
  std::string name;
  int major = 0, minor = 0;
  int multiprocessors = 0;
  int max_threads_per_multiprocessor = 0;
  size_t total_memory = 0;
  bool concurrent_managed_access = false;  // the CPU may read managed memory while kernels run
};

// The devices the driver shows, looked at once.
const std::vector<DeviceProperties>& devices();

// Makes it the current device of the calling thread.
void use_device(int index);

// Lets kernels of the current device read the memory of the others, where the machine can do that.
void reach_other_devices(int index);

// The driver serves only the process that opened it: in the child of a fork no call of it may be
// made, and memory that it mapped is not there.
bool in_forked_child();
void refuse_in_forked_child();  // RuntimeError
void enter_forked_child();

}  // namespace mlx::core::cuda
