// The shape family: views that had to be computed after all, joins, updates of regions, ranges.
#include "backend/common/regions.h"
#include "backend/cpu/copy.h"
#include "backend/cpu/evaluators.h"
#include "mlx/scalar_value.h"

namespace mlx::core {

using cpu::copy_operand;

void eval_cpu(const Reshape&, Inputs in, Outputs out, Encoder&) {
  regions::copy_in_order(in[0], out[0], copy_operand);
}
void eval_cpu(const View&, Inputs in, Outputs out, Encoder&) {
  regions::copy_in_order(in[0], out[0], copy_operand);
}
void eval_cpu(const Transpose& p, Inputs in, Outputs out, Encoder&) {
  regions::copy_view(p, in[0], out[0], copy_operand);
}
void eval_cpu(const Broadcast& p, Inputs in, Outputs out, Encoder&) {
  regions::copy_view(p, in[0], out[0], copy_operand);
}
void eval_cpu(const Slice& p, Inputs in, Outputs out, Encoder&) {
  regions::copy_view(p, in[0], out[0], copy_operand);
}
void eval_cpu(const AsStrided& p, Inputs in, Outputs out, Encoder&) {
  regions::copy_view(p, in[0], out[0], copy_operand);
}
void eval_cpu(const Copy&, Inputs in, Outputs out, Encoder&) { copy_operand(in[0], out[0]); }
void eval_cpu(const Contiguous&, Inputs in, Outputs out, Encoder&) { copy_operand(in[0], out[0]); }
void eval_cpu(const StopGradient&, Inputs in, Outputs out, Encoder&) {
  copy_operand(in[0], out[0]);
}
void eval_cpu(const SliceUpdate& p, Inputs in, Outputs out, Encoder&) {
  regions::slice_update(p, in[0], in[1], out[0], copy_operand);
}
void eval_cpu(const Concatenate& p, Inputs in, Outputs out, Encoder&) {
  regions::concatenate(p, in, out[0], copy_operand);
}

void eval_cpu(const Arange& p, Inputs, Outputs out, Encoder&) {
  dispatch(AllTypes{}, p.dtype, "arange", [&]<typename T>() {
    T first, step;
    std::memcpy(&first, p.start, sizeof first);
    std::memcpy(&step, p.step, sizeof step);
    T* to = out[0].ptr<T>();
    cpu::parallel_for(p.count, 1 << 15, [&](int64_t begin, int64_t end) {
      if constexpr (std::is_integral_v<T>) {
        uint64_t x = uint64_t(first), d = uint64_t(step);  // wraps
        for (int64_t i = begin; i < end; ++i) {
          to[i] = T(x + uint64_t(i) * d);
        }
      } else {
        // In double, so that the result is the nearest to the exact value.
        double x = convert_scalar<double>(first), d = convert_scalar<double>(step);
        for (int64_t i = begin; i < end; ++i) {
          to[i] = convert_scalar<T>(x + double(i) * d);
        }
      }
    });
  });
}

}  // namespace mlx::core
