// Checks of CUDA's return codes: what failed, in the runtime's words, as our own exceptions.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "mlx/error.h"

namespace mlx::core::cuda {

// An error that leaves the context unusable: everything on the device is lost.
bool is_sticky(cudaError_t error);

// RuntimeError, or MemoryError where the device has no room. `what` names the call.
[[noreturn]] void fail_cuda(cudaError_t error, const char* what);
[[noreturn]] void fail_driver(CUresult error, const char* what);

inline void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) [[unlikely]] {
    fail_cuda(error, what);
  }
}
inline void check(CUresult error, const char* what) {
  if (error != CUDA_SUCCESS) [[unlikely]] {
    fail_driver(error, what);
  }
}

}  // namespace mlx::core::cuda
