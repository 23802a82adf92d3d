// Copies between host and device through pinned memory, several times as fast as through pageable.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace mlx::core::cuda {

// Device memory, which nothing is writing, to host memory; returns when it is there.
void download(const void* from, void* to, size_t bytes, int device);

// Host memory to device memory in the order of `stream`; `from` has been read when it returns.
void upload(const void* from, void* to, size_t bytes, int device, cudaStream_t stream);

}  // namespace mlx::core::cuda
