// The words of CUDA C++ for tapes.
#pragma once

#include "backend/gpu/tape_source.h"

namespace mlx::core::cuda {

// NVRTC knows no system headers: the fixed-width types are declared here.
inline constexpr gpu::TapeLanguage tape_language = {
    .preamble = R"(typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;
#include "mlx/ops/elementwise/scalar_dialect.h"
#include "mlx/ops/elementwise/convert.h"
#include "backend/cuda/pack.h"
using namespace mlx::core;
using namespace mlx::core::cuda;
)",
    .kernel = "extern \"C\" __global__ void __launch_bounds__(256)",
    .walk = "WalkOf<{}>",
    .output = "char*",
    .input = "Source",
    .attribute = "",
    .last_parameter = "",
    .position = "blockIdx.x * blockDim.x + threadIdx.x",
    .unroll = "#pragma unroll",
};

}  // namespace mlx::core::cuda
