// Host memory: 64-byte aligned blocks, cached by size class, counted against a limit.
#pragma once

#include <span>

#include "mlx/backend.h"

namespace mlx::core::cpu {

// Empty if the limit or the system has no room.
Memory allocate_memory(size_t bytes, int32_t stream);
// As above, but drops the cache, tries again and then throws MemoryError.
Memory allocate_or_fail(size_t bytes);
// The block may be handed out again at once on a pending stream, elsewhere after the events.
void free_memory(Memory memory, std::span<const Event> pending);
MemoryControl& memory_control();

}  // namespace mlx::core::cpu
