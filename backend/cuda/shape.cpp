// The shape family on the device: copies between layouts, joins, updates of regions, ranges.
#include "backend/common/regions.h"
#include "backend/cuda/copy.h"
#include "backend/cuda/evaluators.h"
#include "backend/cuda/kernels.h"
#include "backend/cuda/rows.h"

namespace mlx::core {

namespace cuda {

namespace {

// Bits are moved, whatever they mean.
Dtype carrier(const Operand& x) {
  constexpr Dtype by_size[] = {uint8, uint16, uint32, uint64};
  return by_size[__builtin_ctz(unsigned(x.dtype.size()))];
}

}  // namespace

void copy_operand(const Operand& from, const Operand& to, Encoder& encoder) {
  Operand source = from, target = to;
  source.dtype = target.dtype = carrier(from);
  if (from.shape.size() >= 2 && transpose_copy(source, target, encoder)) {
    return;
  }
  run_row(EwOp::Cast, std::span(&source, 1), target, encoder);
}

Operand make_dense(const Operand& x, Encoder& encoder) {
  if (x.row_contiguous && !x.is_scalar) {
    return x;
  }
  Operand dense = x;
  dense.strides = row_major(x.shape);
  dense.row_contiguous = true;
  dense.is_scalar = false;
  dense.data = encoder.keep(size_t(x.nbytes()));
  copy_operand(x, dense, encoder);
  return dense;
}

}  // namespace cuda

namespace {

auto copier(Encoder& encoder) {
  return
      [&encoder](const Operand& from, const Operand& to) { cuda::copy_operand(from, to, encoder); };
}

}  // namespace

void eval_gpu(const Reshape&, Inputs in, Outputs out, Encoder& e) {
  regions::copy_in_order(in[0], out[0], copier(e));
}
void eval_gpu(const View&, Inputs in, Outputs out, Encoder& e) {
  regions::copy_in_order(in[0], out[0], copier(e));
}
void eval_gpu(const Transpose& p, Inputs in, Outputs out, Encoder& e) {
  regions::copy_view(p, in[0], out[0], copier(e));
}
void eval_gpu(const Broadcast& p, Inputs in, Outputs out, Encoder& e) {
  regions::copy_view(p, in[0], out[0], copier(e));
}
void eval_gpu(const Slice& p, Inputs in, Outputs out, Encoder& e) {
  regions::copy_view(p, in[0], out[0], copier(e));
}
void eval_gpu(const AsStrided& p, Inputs in, Outputs out, Encoder& e) {
  regions::copy_view(p, in[0], out[0], copier(e));
}
void eval_gpu(const Copy&, Inputs in, Outputs out, Encoder& e) {
  cuda::copy_operand(in[0], out[0], e);
}
void eval_gpu(const Contiguous&, Inputs in, Outputs out, Encoder& e) {
  cuda::copy_operand(in[0], out[0], e);
}
void eval_gpu(const StopGradient&, Inputs in, Outputs out, Encoder& e) {
  cuda::copy_operand(in[0], out[0], e);
}
void eval_gpu(const SliceUpdate& p, Inputs in, Outputs out, Encoder& e) {
  regions::slice_update(p, in[0], in[1], out[0], copier(e));
}
void eval_gpu(const Concatenate& p, Inputs in, Outputs out, Encoder& e) {
  regions::concatenate(p, in, out[0], copier(e));
}
void eval_gpu(const Arange& p, Inputs, Outputs out, Encoder& e) {
  cuda::arange(p.start, p.step, out[0], e);
}

}  // namespace mlx::core
