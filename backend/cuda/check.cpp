// The texts of failed CUDA calls.
#include "backend/cuda/check.h"

#include "backend/cuda/driver.h"

namespace mlx::core::cuda {

bool is_sticky(cudaError_t error) {
  switch (error) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
    case cudaErrorContextIsDestroyed:
    case cudaErrorUnknown:
      return true;
    default:
      return false;
  }
}

void fail_cuda(cudaError_t error, const char* what) {
  if (!is_sticky(error)) {
    cudaGetLastError();  // or the next call would report it again
  }
  if (error == cudaErrorMemoryAllocation) {
    fail<MemoryError>("[{}] the GPU has no memory left", what);
  }
  fail<RuntimeError>(
      "[{}] {}: {}{}", what, cudaGetErrorName(error), cudaGetErrorString(error),
      is_sticky(error) ? "; the device is lost to this process, which has to start again to use it"
                       : "");
}

void fail_driver(CUresult error, const char* what) {
  const char *name = nullptr, *text = nullptr;
  driver().get_error_name(error, &name);
  driver().get_error_string(error, &text);
  if (error == CUDA_ERROR_OUT_OF_MEMORY) {
    fail<MemoryError>("[{}] the GPU has no memory left", what);
  }
  fail<RuntimeError>("[{}] {}: {}", what, name ? name : "unknown error", text ? text : "");
}

}  // namespace mlx::core::cuda
