// The public C++ API: what this file includes is what the package installs.
#pragma once

#include "mlx/backend.h"
#include "mlx/ops/elementwise/compose.h"
#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/index/index.h"
#include "mlx/ops/linalg/linalg.h"
#include "mlx/ops/matmul/einsum.h"
#include "mlx/ops/matmul/matmul.h"
#include "mlx/ops/random/random.h"
#include "mlx/ops/reduce/reduce.h"
#include "mlx/ops/reduce/scan.h"
#include "mlx/ops/shape/shape.h"
#include "mlx/ops/sort/sort.h"
#include "mlx/transforms/custom.h"
#include "mlx/transforms/transforms.h"
