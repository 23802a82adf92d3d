// Load: a value that is read from a file when it is evaluated.
#pragma once

#include <memory>

#include "mlx/graph/primitive.h"
#include "mlx/io/stream.h"

namespace mlx::core {

class Load final : public PrimitiveOf<Load, PrimitiveId::Load> {
 public:
  Load(std::shared_ptr<Reader> reader, uint64_t offset, int swapped, Shape shape)
      : reader(std::move(reader)), offset(offset), swapped(swapped), shape(std::move(shape)) {}
  std::string_view name() const override { return "Load"; }
  std::vector<Shape> output_shapes(const std::vector<array>&) const override { return {shape}; }
  std::string describe() const override;
  bool same(const Load& o) const {
    return reader == o.reader && offset == o.offset && swapped == o.swapped && shape == o.shape;
  }

  const std::shared_ptr<Reader> reader;
  const uint64_t offset;
  const int swapped;  // bytes of the numbers whose order is reversed; 0: none
  const Shape shape;
};

// The row-major value at `offset`; RuntimeError if the source is too short for it.
MLX_API array load_at(std::shared_ptr<Reader> reader, uint64_t offset, Shape shape, Dtype dtype,
                      bool big_endian = false);

}  // namespace mlx::core
