// Splitting and packing of walks.
#include "backend/cuda/walks.h"

#include <cstring>

#include "mlx/layout.h"

namespace mlx::core::cuda {

namespace {

constexpr int64_t max_elements = int64_t(1) << 31;  // of one launch

// Multiplier and shift for q = ((n - t) / 2 + t) >> shift with t the high half of n * factor.
Divisor divisor(uint32_t d) {
  uint32_t log = d <= 1 ? 0 : 32 - uint32_t(__builtin_clz(d - 1));
  uint64_t factor = (((uint64_t(1) << 32) * ((uint64_t(1) << log) - d)) / d) + 1;
  return {d, uint32_t(factor), log ? log - 1 : 0};
}

struct Axes {
  Shape shape;  // outermost first
  SmallVector<Strides, 4> strides;
  SmallVector<const Operand*, 4> operands;
  int64_t offsets[max_walk_operands] = {};  // in bytes
};

bool packs_fit(const Axes& a, int width) {
  if (width == 1 || a.shape.empty() || (a.shape.size() > 1 && a.shape.back() % width != 0)) {
    return false;
  }
  for (size_t k = 0; k < a.operands.size(); ++k) {
    const Operand& o = *a.operands[k];
    int64_t inner = a.strides[k].back();
    if (inner == 0 && k > 0) {
      continue;  // repeated
    }
    int64_t alignment = std::min<int64_t>(16, width * o.dtype.size());
    if (inner != 1 ||
        (reinterpret_cast<uintptr_t>(o.data) + uintptr_t(a.offsets[k])) % uintptr_t(alignment) !=
            0) {
      return false;
    }
    for (size_t i = 0; i + 1 < a.shape.size(); ++i) {
      if (a.strides[k][i] * o.dtype.size() % alignment != 0) {
        return false;
      }
    }
  }
  return true;
}

Piece piece_of(const Axes& a, int width) {
  Piece p{};
  p.packs = packs_fit(a, width);
  int64_t v = p.packs ? width : 1;
  int64_t inner = a.shape.empty() ? 1 : a.shape.back();
  p.walk.elements = uint32_t(inner);
  p.walk.count = 1;
  int axes = int(a.shape.size());
  for (int i = 0; i < axes; ++i) {
    int from = axes - 1 - i;
    int64_t extent = i == 0 ? (inner + v - 1) / v : a.shape[size_t(from)];
    if (extent == 1) {
      continue;
    }
    uint32_t to = p.walk.axes++;
    p.walk.extent[to] = divisor(uint32_t(extent));
    p.walk.count *= uint32_t(extent);
    for (size_t k = 0; k < a.operands.size(); ++k) {
      p.walk.strides[k][to] =
          a.strides[k][size_t(from)] * a.operands[k]->dtype.size() * (i == 0 ? v : 1);
    }
  }
  // Only a walk along one axis has a last pack that is cut.
  if (axes > 1) {
    p.walk.elements = 0xffffffff;
  }
  for (size_t k = 0; k < a.operands.size(); ++k) {
    if (v == 1 || a.strides[k].empty() || a.strides[k].back() == 0) {
      p.walk.repeated |= 1u << k;
    }
    p.offsets[k] = a.offsets[k];
  }
  return p;
}

int64_t count_of(const Shape& shape) {
  int64_t n = 1;
  for (int64_t d : shape) {
    n *= d;
  }
  return n;
}

void split(Axes& a, int width, const std::function<void(const Piece&)>& f) {
  bool many_axes = a.shape.size() > size_t(max_walk_axes);
  if (!many_axes && count_of(a.shape) < max_elements) {
    f(piece_of(a, width));
    return;
  }
  // Halves of the outermost axis, or its elements one by one where there are too many axes.
  int64_t extent = a.shape[0];
  int64_t step = many_axes ? 1 : std::max<int64_t>(1, extent / 2 / 16 * 16);
  for (int64_t begin = 0; begin < extent; begin += step) {
    Axes part = a;
    part.shape[0] = std::min(step, extent - begin);
    for (size_t k = 0; k < a.operands.size(); ++k) {
      part.offsets[k] += begin * a.strides[k][0] * a.operands[k]->dtype.size();
    }
    if (part.shape[0] == 1) {
      part.shape = Shape(part.shape.begin() + 1, part.shape.end());
      for (Strides& s : part.strides) {
        s = Strides(s.begin() + 1, s.end());
      }
    }
    split(part, width, f);
  }
}

}  // namespace

void each_piece(std::span<const Operand> out, std::span<const Operand> in, int width,
                const std::function<void(const Piece&)>& f) {
  SmallVector<Strides, 4> strides;
  Axes a;
  for (const Operand& o : out) {
    strides.push_back(o.strides);
    a.operands.push_back(&o);
  }
  for (const Operand& o : in) {
    strides.push_back(broadcast_strides(o.shape, o.strides, out[0].shape));
    a.operands.push_back(&o);
  }
  Plan p = plan(out[0].shape, strides);
  a.shape = p.shape;
  a.strides = p.strides;
  split(a, width, f);
}

Source source_of(const Operand& o, int64_t offset) {
  Source s{};
  if (o.is_scalar) {
    std::memcpy(&s.value, o.scalar, sizeof s.value);
  } else {
    s.data = static_cast<const char*>(o.data) + offset;
  }
  return s;
}

}  // namespace mlx::core::cuda
