// Values read from files at evaluation; their bounds are checked when the node is made.
#include "mlx/io/load.h"

#include <algorithm>
#include <limits>

#include "mlx/error.h"
#include "mlx/ops/elementwise/elementwise.h"

namespace mlx::core {

std::string Load::describe() const { return format("{} at {}", reader->name(), offset); }

array load_at(std::shared_ptr<Reader> reader, uint64_t offset, Shape shape, Dtype dtype,
              bool big_endian) {
  if (dtype.is_bool()) {  // one byte of 0 or 1, whatever the file says
    return astype(load_at(std::move(reader), offset, std::move(shape), uint8), bool_);
  }
  // Sizes out of a corrupt file may be anything: none of this may overflow.
  uint64_t bytes = uint64_t(dtype.size());
  bool overflow = false;
  bool empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  for (int64_t d : shape) {
    overflow |= d < 0 || __builtin_mul_overflow(bytes, uint64_t(std::max<int64_t>(d, 1)), &bytes);
  }
  overflow |= bytes > uint64_t(std::numeric_limits<int64_t>::max());
  uint64_t needed = empty ? 0 : bytes;
  if (overflow || offset > reader->size() || needed > reader->size() - offset) {
    fail<RuntimeError>("[load] {} has no room for an array of shape {}, {} at byte {}",
                       reader->name(), shape, dtype, offset);
  }
  int unit = int(dtype.is_complex() ? dtype.size() / 2 : dtype.size());
  Ref<Primitive> load(
      new Load(std::move(reader), offset, big_endian && unit > 1 ? unit : 0, shape));
  return array::make(std::move(shape), dtype, std::move(load), {}, default_stream(Device::cpu));
}

}  // namespace mlx::core
