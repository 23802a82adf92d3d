// Turning operands into walks: axes merged, packs where the layout allows them, and as many
// launches as sizes beyond 32 bits or too many axes need.
#pragma once

#include <functional>
#include <span>

#include "backend/cuda/walk.h"
#include "mlx/graph/primitive.h"

namespace mlx::core::cuda {

// One launch: bytes to add to the address of each operand, and how to walk from there.
struct Piece {
  WalkOf<max_walk_operands> walk;
  bool packs;
  int64_t offsets[max_walk_operands];
};

// Calls f for each piece of a walk over the results, which have one shape, and the inputs, which
// broadcast to it: operands in this order. `width` elements make a pack.
void each_piece(std::span<const Operand> out, std::span<const Operand> in, int width,
                const std::function<void(const Piece&)>& f);

// The bytes of a walk that a kernel of so many operands takes; it is a WalkOf<that many>.
inline size_t walk_bytes(size_t operands) {
  return sizeof(WalkOf<1>) + (operands - 1) * sizeof(WalkOf<1>().strides);
}

Source source_of(const Operand& o, int64_t offset);

}  // namespace mlx::core::cuda
