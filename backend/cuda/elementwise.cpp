// Elementwise rows and fused tapes on the device: choice of the kernel, walks, launches.
#include "backend/cuda/elementwise.h"

#include "backend/cuda/evaluators.h"
#include "backend/cuda/rows.h"
#include "backend/cuda/tapes.h"
#include "backend/cuda/walks.h"
#include "mlx/error.h"

namespace mlx::core {

namespace cuda {

namespace {

const KernelTable& kernel_table() {
  static const KernelTable& table = *[] {
    auto* t = new KernelTable{};
    fill_floats(*t);
    fill_double(*t);
    fill_small_integers(*t);
    fill_large_integers(*t);
    fill_complex(*t);
    fill_casts(*t);
    return t;
  }();
  return table;
}

const RowKernels& kernels_of(EwOp op, std::span<const Operand> in, const Operand& out) {
  const KernelTable& t = kernel_table();
  const RowKernels* k;
  if (op == EwOp::Cast) {
    k = &t.casts[in[0].dtype.index()][out.dtype.index()];
  } else if (op == EwOp::Select) {
    k = &t.selects[__builtin_ctz(unsigned(out.dtype.size()))];
  } else {
    k = &t.rows[int(op)][in.back().dtype.index()];
  }
  if (!k->packs) {
    fail<RuntimeError>("[{}] has no kernel for {}", info(op).python_name, in.back().dtype);
  }
  return *k;
}

}  // namespace

void run_row(EwOp op, std::span<const Operand> in, const Operand& out, Encoder& encoder) {
  const RowKernels& k = kernels_of(op, in, out);
  const char* name = info(op).name.data();
  each_piece({&out, 1}, in, k.width, [&](const Piece& p) {
    encoder.begin_launch(name, encoder.function(p.packs ? k.packs : k.single),
                         grid_for(p.walk.count));
    encoder.add_bytes(&p.walk, sizeof(Walk), alignof(Walk));
    encoder.add(static_cast<char*>(out.data) + p.offsets[0]);
    for (size_t i = 0; i < in.size(); ++i) {
      encoder.add(source_of(in[i], p.offsets[i + 1]));
    }
    if (op != EwOp::Cast && op != EwOp::Select && in.size() == 1) {
      encoder.add(Source{});  // the kernels of rows take two operands
    }
    encoder.end_launch();
  });
}

}  // namespace cuda

void eval_gpu(const Elementwise& p, Inputs in, Outputs out, Encoder& encoder) {
  cuda::run_row(p.op, in, out[0], encoder);
}

namespace {

// With the values in between in scratch memory.
void run_step_by_step(const Fused& p, Inputs in, Outputs out, Encoder& encoder) {
  std::vector<Operand> values(in.begin(), in.end());
  std::vector<Scratch> memory;
  for (size_t i = 0; i < p.steps.size(); ++i) {
    const TapeStep& step = p.steps[i];
    std::vector<Operand> from;
    for (int k = 0; k < info(step.op).arity; ++k) {
      from.push_back(values[size_t(step.source[k])]);
    }
    Operand to = out[0];
    auto result = std::find(p.outputs.begin(), p.outputs.end(), int16_t(in.size() + i));
    if (result != p.outputs.end()) {
      to = out[size_t(result - p.outputs.begin())];
    } else {
      memory.push_back(encoder.scratch(size_t(to.size * step.dtype.size())));
      to.data = memory.back().as<void>();
    }
    to.dtype = step.dtype;
    cuda::run_row(step.op, from, to, encoder);
    values.push_back(to);
  }
}

}  // namespace

void eval_gpu(const Fused& p, Inputs in, Outputs out, Encoder& encoder) {
  if (!cuda::run_tape(p, in, out, encoder)) {
    run_step_by_step(p, in, out, encoder);
  }
}

}  // namespace mlx::core
