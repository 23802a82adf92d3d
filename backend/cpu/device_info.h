// What device_info() says of the CPU.
#pragma once

#include "mlx/backend.h"

namespace mlx::core::cpu {

DeviceInfo device_info();

}  // namespace mlx::core::cpu
