// The random family on the device: the same words, integers and indices as on the CPU.
#include "mlx/ops/random/random.h"

#include "backend/cuda/copy.h"
#include "backend/cuda/evaluators.h"
#include "backend/cuda/random_kernels.h"
#include "mlx/layout.h"

namespace mlx::core {

namespace {

// A bound for every element of the output, where the two have too many axes between them.
Operand spread(const Operand& bound, const Operand& out, Encoder& encoder) {
  Operand view = bound;
  view.strides = broadcast_strides(bound.shape, bound.strides, out.shape);
  view.shape = out.shape;
  view.size = out.size;
  view.row_contiguous = false;
  return cuda::make_dense(view, encoder);
}

Operand in_memory(const Operand& x, Encoder& encoder) {
  Operand y = x;
  y.data = const_cast<void*>(encoder.address(x));
  y.is_scalar = false;
  return y;
}

}  // namespace

void eval_gpu(const RandomBits& p, Inputs in, Outputs out, Encoder& encoder) {
  Operand keys = cuda::make_dense(in[0], encoder);
  int64_t key_count = in[0].size / 2;
  cuda::random_bits(keys.data, key_count, out[0].data, out[0].size / key_count * p.width, encoder);
}

void eval_gpu(const RandomIntegers& p, Inputs in, Outputs out, Encoder& encoder) {
  Operand keys = cuda::make_dense(in[0], encoder);
  int64_t key_count = in[0].size / 2;
  cuda::random_bits(keys.data, key_count, out[0].data, out[0].size / key_count * 8, encoder);
  Operand low = in_memory(in[1], encoder), high = in_memory(in[2], encoder);
  auto walk = [&] {
    return plan(out[0].shape,
                std::vector<Strides>{broadcast_strides(low.shape, low.strides, out[0].shape),
                                     broadcast_strides(high.shape, high.strides, out[0].shape)});
  };
  Plan axes = walk();
  if (axes.shape.size() > size_t(cuda::Bounds::max_axes)) {
    low = spread(low, out[0], encoder);
    high = spread(high, out[0], encoder);
    axes = walk();
  }
  cuda::Bounds bounds{};
  bounds.low = low.data;
  bounds.high = high.data;
  bounds.axes = int(axes.shape.size());
  for (size_t i = 0; i < axes.shape.size(); ++i) {
    bounds.extent[i] = axes.shape[i];
    bounds.low_stride[i] = axes.strides[0][i];
    bounds.high_stride[i] = axes.strides[1][i];
  }
  cuda::bound_integers(p.dtype, keys.data, key_count, bounds, out[0], encoder);
}

void eval_gpu(const SampleIndex& p, Inputs in, Outputs out, Encoder& encoder) {
  Operand weights = cuda::make_dense(in[0], encoder), numbers = cuda::make_dense(in[1], encoder);
  int64_t batches = 1;
  for (int d = 0; d < p.batch; ++d) {
    batches *= weights.shape[size_t(d)];
  }
  cuda::sample_indices(weights.ptr<const float>(), weights.shape.back(), numbers.ptr<const float>(),
                       out[0].size / batches, batches, out[0].ptr<uint32_t>(), encoder);
}

}  // namespace mlx::core
