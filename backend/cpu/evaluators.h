// The overloads of eval_cpu, one a primitive class: declared from the core's list, defined by
// family.
#pragma once

#include "backend/cpu/encoder.h"
#include "mlx/io/load.h"
#include "mlx/ops/elementwise/fused.h"
#include "mlx/ops/index/dynamic.h"
#include "mlx/ops/index/gather.h"
#include "mlx/ops/index/mask.h"
#include "mlx/ops/linalg/linalg.h"
#include "mlx/ops/matmul/matmul.h"
#include "mlx/ops/random/random.h"
#include "mlx/ops/reduce/arg_reduce.h"
#include "mlx/ops/reduce/fused_rows.h"
#include "mlx/ops/reduce/reduce.h"
#include "mlx/ops/reduce/scan.h"
#include "mlx/ops/reduce/softmax.h"
#include "mlx/ops/shape/as_strided.h"
#include "mlx/ops/shape/broadcast.h"
#include "mlx/ops/shape/concatenate.h"
#include "mlx/ops/shape/create.h"
#include "mlx/ops/shape/identity.h"
#include "mlx/ops/shape/like.h"
#include "mlx/ops/shape/reshape.h"
#include "mlx/ops/shape/slice.h"
#include "mlx/ops/shape/transpose.h"
#include "mlx/ops/sort/sort.h"
#include "mlx/transforms/custom.h"

namespace mlx::core {

#define PRIMITIVE(Name, ...) void eval_cpu(const Name&, Inputs in, Outputs out, Encoder& encoder);
#include "mlx/ops/primitives.def"
#undef PRIMITIVE

}  // namespace mlx::core
