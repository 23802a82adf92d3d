// The table of elementwise kernels, filled by the .cu files, one a group of dtypes. No host headers
// of the core: nvcc reads this text.
#pragma once

namespace mlx {
namespace core {
namespace cuda {

// The same order as EwOp and Dtype::Id.
struct KernelOps {
  enum : int {
#define OP(Name, ...) Name,
#include "mlx/ops/elementwise/elementwise.def"
#undef OP
    count
  };
};
struct KernelTypes {
  enum : int {
#define DTYPE(Name, ...) Name,
#include "mlx/dtypes.def"
#undef DTYPE
    count
  };
};

// Null where a row does not accept the dtype.
struct RowKernels {
  const void* packs;   // `width` elements at a time, aligned
  const void* single;  // any layout
  int width;
};

struct KernelTable {
  RowKernels rows[KernelOps::count][KernelTypes::count];     // by the dtype of the operands
  RowKernels casts[KernelTypes::count][KernelTypes::count];  // [from][to]
  RowKernels selects[4];                                     // by log2 of the element size
};

void fill_floats(KernelTable& t);
void fill_double(KernelTable& t);
void fill_small_integers(KernelTable& t);
void fill_large_integers(KernelTable& t);
void fill_complex(KernelTable& t);
void fill_casts(KernelTable& t);

}  // namespace cuda
}  // namespace core
}  // namespace mlx
