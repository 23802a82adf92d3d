// The headers kernels include when they are compiled at run time. Their texts are made part of the
// library by cmake/embed_text.cmake.
#pragma once

#include <span>

#include "backend/cuda/jit/nvrtc.h"

namespace mlx::core::cuda {

std::span<const KernelHeader> kernel_headers();

}  // namespace mlx::core::cuda
