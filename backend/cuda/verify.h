// MLX_CHECK: the CPU runs every task of the device as well, on copies of its inputs, and the
// results are compared.
#pragma once

#include <cuda_runtime_api.h>

#include "mlx/backend.h"

namespace mlx::core::cuda {

class Verification {
 public:
  // Copies the inputs, which outputs may overwrite. Work queued before on `queue` is waited for.
  Verification(const Task& task, int device, cudaStream_t queue);

  // The task has been queued. RuntimeError if a result is not the CPU's; what the CPU raises.
  void compare(cudaStream_t queue);

 private:
  void run_on_cpu();

  const Task& task_;
  const int device_;
  bool skipped_ = false;  // an input has failed, or there is nothing to compare with
  Task twin_;
  SmallVector<Ref<Buffer>, 4> memory_;
};

}  // namespace mlx::core::cuda
