// Memory of the devices: plain, or (MLX_CUDA_MEMORY=managed) managed slabs that live on the GPU and
// that the CPU can reach in place.
#pragma once

#include "mlx/graph/caching_allocator.h"

namespace mlx::core::cuda {

// The caching allocator of one device.
CachingAllocator& device_memory(int device);

// Statistics and limits over all devices.
MemoryControl& all_devices_memory();

}  // namespace mlx::core::cuda
