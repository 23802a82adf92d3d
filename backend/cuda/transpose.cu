// Copies between layouts that run along different axes, by tiles in shared memory: both sides are
// read and written in whole lines.
#include "backend/cuda/kernels.h"
#include "backend/cuda/walk.h"
#include "mlx/dispatch.h"
#include "mlx/layout.h"

namespace mlx::core::cuda {

namespace {

constexpr int tile = 32;
constexpr int rows_of_block = 8;
constexpr int max_batch_axes = 4;

// Axis 0 runs along the source, axis 1 along the target; the others are a batch.
struct Tiles {
  int64_t extent[2];
  int64_t from_stride;  // of axis 1 in the source, in elements
  int64_t to_stride;    // of axis 0 in the target
  uint32_t across;      // tiles along axis 0
  uint32_t down;
  int axes;
  int64_t batch[max_batch_axes];
  int64_t from_batch[max_batch_axes];
  int64_t to_batch[max_batch_axes];
};

// Each thread moves `together` elements of a line at once on the side where they are adjacent.
template <typename T>
__global__ void transpose_kernel(Tiles t, const T* from, T* to) {
  __shared__ T block[tile][tile + 1];
  int64_t id = blockIdx.x;
  int64_t column = id % t.across * tile;
  id /= t.across;
  int64_t row = id % t.down * tile;
  id /= t.down;
  for (int a = 0; a < t.axes; ++a) {
    int64_t r = id % t.batch[a];
    id /= t.batch[a];
    from += r * t.from_batch[a];
    to += r * t.to_batch[a];
  }
#pragma unroll
  for (int j = 0; j < tile; j += rows_of_block) {
    int64_t x = column + threadIdx.x, y = row + threadIdx.y + j;
    if (x < t.extent[0] && y < t.extent[1]) {
      block[threadIdx.y + j][threadIdx.x] = from[x + y * t.from_stride];
    }
  }
  __syncthreads();
#pragma unroll
  for (int j = 0; j < tile; j += rows_of_block) {
    int64_t x = column + threadIdx.y + j, y = row + threadIdx.x;
    if (x < t.extent[0] && y < t.extent[1]) {
      to[y + x * t.to_stride] = block[threadIdx.x][threadIdx.y + j];
    }
  }
}

}  // namespace

bool transpose_copy(const Operand& from, const Operand& to, Encoder& encoder) {
  if (from.is_scalar) {
    return false;
  }
  Strides both[2] = {to.strides, from.strides};
  Plan p = plan(to.shape, both);
  int axes = int(p.shape.size());
  int along_from = -1, along_to = -1;
  for (int i = 0; i < axes; ++i) {
    along_to = p.strides[0][size_t(i)] == 1 ? i : along_to;
    along_from = p.strides[1][size_t(i)] == 1 ? i : along_from;
  }
  if (along_from < 0 || along_to < 0 || along_from == along_to || axes - 2 > max_batch_axes ||
      p.shape[size_t(along_from)] < 8 || p.shape[size_t(along_to)] < 8) {
    return false;
  }
  Tiles t{};
  t.extent[0] = p.shape[size_t(along_from)];
  t.extent[1] = p.shape[size_t(along_to)];
  t.from_stride = p.strides[1][size_t(along_to)];
  t.to_stride = p.strides[0][size_t(along_from)];
  int64_t across = (t.extent[0] + tile - 1) / tile, down = (t.extent[1] + tile - 1) / tile;
  int64_t blocks = across * down;
  for (int i = axes; i-- > 0;) {
    if (i != along_from && i != along_to) {
      t.batch[t.axes] = p.shape[size_t(i)];
      t.to_batch[t.axes] = p.strides[0][size_t(i)];
      t.from_batch[t.axes] = p.strides[1][size_t(i)];
      blocks *= t.batch[t.axes++];
    }
  }
  if (blocks > 0x7fffffff || across > 0x7fffffff || down > 0x7fffffff) {
    return false;
  }
  t.across = uint32_t(across);
  t.down = uint32_t(down);
  dispatch_size(from.dtype.size(), [&]<typename T>() {
    encoder.launch("transpose", transpose_kernel<T>,
                   Grid{dim3(unsigned(blocks)), dim3(tile, rows_of_block)}, t, from.ptr<const T>(),
                   to.ptr<T>());
  });
  return true;
}

}  // namespace mlx::core::cuda
