// Reading the devices' properties.
#include "backend/cuda/device.h"

#include <atomic>

#include "backend/cuda/check.h"

namespace mlx::core::cuda {

namespace {

int attribute(cudaDeviceAttr a, int device) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, a, device), "cudaDeviceGetAttribute");
  return value;
}

std::vector<DeviceProperties> look() {
  int count = 0;
  if (cudaError_t error = cudaGetDeviceCount(&count); error != cudaErrorNoDevice) {
    check(error, "cudaGetDeviceCount");
  } else {
    cudaGetLastError();
    count = 0;
  }
  std::vector<DeviceProperties> found(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    DeviceProperties& d = found[size_t(i)];
    cudaDeviceProp p{};
    check(cudaGetDeviceProperties(&p, i), "cudaGetDeviceProperties");
    d.name = p.name;
    d.major = p.major;
    d.minor = p.minor;
    d.multiprocessors = p.multiProcessorCount;
    d.max_threads_per_multiprocessor = p.maxThreadsPerMultiProcessor;
    d.total_memory = p.totalGlobalMem;
    d.concurrent_managed_access = attribute(cudaDevAttrConcurrentManagedAccess, i) != 0;
  }
  return found;
}

std::atomic<bool> forked_child{false};

}  // namespace

const std::vector<DeviceProperties>& devices() {
  static const std::vector<DeviceProperties>& d = *new std::vector<DeviceProperties>(look());
  return d;
}

bool in_forked_child() { return forked_child.load(std::memory_order_relaxed); }

void refuse_in_forked_child() {
  if (in_forked_child()) [[unlikely]] {
    fail<RuntimeError>(
        "[gpu] the child of a fork cannot use the GPU of its parent, nor values that lie there: "
        "start processes with the spawn start method, or use the CPU in them");
  }
}

void enter_forked_child() { forked_child.store(true, std::memory_order_relaxed); }

void use_device(int index) { check(cudaSetDevice(index), "cudaSetDevice"); }

void reach_other_devices(int index) {
  for (int other = 0; other < int(devices().size()); ++other) {
    int possible = 0;
    if (other == index || cudaDeviceCanAccessPeer(&possible, index, other) != cudaSuccess ||
        !possible) {
      continue;
    }
    cudaError_t error = cudaDeviceEnablePeerAccess(other, 0);
    if (error == cudaErrorPeerAccessAlreadyEnabled) {
      cudaGetLastError();
    } else {
      check(error, "cudaDeviceEnablePeerAccess");
    }
  }
}

}  // namespace mlx::core::cuda
