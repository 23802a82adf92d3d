// Calls of cuBLASLt. It stores matrices by columns: what it sees of a row-major matrix is the
// transposed one, so it is asked for outᵀ = bᵀ aᵀ and its operand A is our b. Its BIAS epilogue
// adds one number to each of its rows, which are our columns: the vector of a linear layer.
#include "backend/cuda/blas_lt.h"

#include <cublasLt.h>

#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "backend/cuda/check.h"
#include "backend/cuda/device.h"
#include "mlx/env.h"
#include "mlx/graph/scheduler.h"

namespace mlx::core::cuda {

namespace {

constexpr size_t workspace_limit = size_t(32) << 20;
constexpr size_t workspace_alignment = 256;
constexpr size_t max_known = 4096;  // problems remembered for a stream

void check_blas(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) [[likely]] {
    return;
  }
  if (status == CUBLAS_STATUS_ALLOC_FAILED) {
    fail<MemoryError>("[{}] cuBLASLt found no memory", what);
  }
  fail<RuntimeError>("[{}] {}", what, cublasLtGetStatusString(status));
}

// One handle a device, shared by its streams; it lives as long as the process.
cublasLtHandle_t handle_of(int device) {
  static std::mutex mutex;
  static auto& handles = *new std::unordered_map<int, cublasLtHandle_t>();
  std::lock_guard lock(mutex);
  cublasLtHandle_t& h = handles[device];
  if (!h) {
    use_device(device);
    check_blas(cublasLtCreate(&h), "cublasLtCreate");
  }
  return h;
}

struct Types {
  cudaDataType_t data, scale;
  cublasComputeType_t compute;
};

Types types_of(Dtype t) {
  cublasComputeType_t single =
      env().enable_tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  if (t == float16) {
    return {CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F};
  }
  if (t == bfloat16) {
    return {CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F};
  }
  if (t == float64) {
    return {CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F};
  }
  if (t == complex64) {
    return {CUDA_C_32F, CUDA_C_32F, single};
  }
  return {CUDA_R_32F, CUDA_R_32F, single};
}

// The largest power of two, up to 256, that divides the address and the way to the next matrix.
int64_t alignment_of(const void* data, int64_t batch_stride, Dtype t) {
  uint64_t bits =
      uint64_t(reinterpret_cast<uintptr_t>(data)) | uint64_t(batch_stride * t.size()) | 256;
  return int64_t(bits & (~bits + 1));
}

// All that the choice of an algorithm depends on.
struct Key {
  int64_t dtype, transposed, m, n, k, batch;
  int64_t lda, ldb, ldc;
  int64_t stride_a, stride_b, stride_c, stride_out;
  int64_t align_a, align_b, align_c, align_out, align_bias;
  bool operator==(const Key&) const = default;
};
struct KeyHash {
  size_t operator()(const Key& k) const {
    static_assert(std::has_unique_object_representations_v<Key>);
    return std::hash<std::string_view>()({reinterpret_cast<const char*>(&k), sizeof k});
  }
};

Key key_of(const Gemm& g) {
  return {int64_t(g.dtype.index()),
          g.a.transposed * 2 + g.b.transposed,
          g.m,
          g.n,
          g.k,
          g.batch,
          g.a.ld,
          g.b.ld,
          g.c.ld,
          g.a.batch_stride,
          g.b.batch_stride,
          g.c.batch_stride,
          g.out_batch_stride,
          alignment_of(g.a.data, g.a.batch_stride, g.dtype),
          alignment_of(g.b.data, g.b.batch_stride, g.dtype),
          alignment_of(g.c.data, g.c.batch_stride, g.dtype),
          alignment_of(g.out, g.out_batch_stride, g.dtype),
          g.bias ? alignment_of(g.bias, 0, g.dtype) : 0};
}

// Descriptors and algorithm of one problem. The descriptors hold no memory of their own.
struct Known {
  cublasLtMatmulDescOpaque_t operation;
  cublasLtMatrixLayoutOpaque_t a, b, c, out;
  cublasLtMatmulAlgo_t algorithm;
  size_t workspace = 0;
  bool possible = false;
};

void set(cublasLtMatmulDesc_t d, cublasLtMatmulDescAttributes_t attribute, const auto& value) {
  check_blas(cublasLtMatmulDescSetAttribute(d, attribute, &value, sizeof value),
             "cublasLtMatmulDescSetAttribute");
}

// `rows` and `columns` as they lie in memory, column by column.
void init_layout(cublasLtMatrixLayout_t l, cudaDataType_t type, int64_t rows, int64_t columns,
                 int64_t ld, int64_t batch, int64_t stride) {
  check_blas(cublasLtMatrixLayoutInit(l, type, uint64_t(rows), uint64_t(columns), ld),
             "cublasLtMatrixLayoutInit");
  if (batch > 1) {
    int32_t count = int32_t(batch);
    check_blas(cublasLtMatrixLayoutSetAttribute(l, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
                                                sizeof count),
               "cublasLtMatrixLayoutSetAttribute");
    check_blas(cublasLtMatrixLayoutSetAttribute(l, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                                &stride, sizeof stride),
               "cublasLtMatrixLayoutSetAttribute");
  }
}

void describe(const Gemm& g, Known& k) {
  Types t = types_of(g.dtype);
  check_blas(cublasLtMatmulDescInit(&k.operation, t.compute, t.scale), "cublasLtMatmulDescInit");
  cublasOperation_t op_a = g.b.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  cublasOperation_t op_b = g.a.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  set(&k.operation, CUBLASLT_MATMUL_DESC_TRANSA, op_a);
  set(&k.operation, CUBLASLT_MATMUL_DESC_TRANSB, op_b);
  if (g.bias) {
    cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_BIAS;
    set(&k.operation, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
    set(&k.operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, g.bias);
  }
  // Our b (k, n) by rows is (n, k) by columns; transposed it is (k, n) by columns. a likewise.
  init_layout(&k.a, t.data, g.b.transposed ? g.k : g.n, g.b.transposed ? g.n : g.k, g.b.ld, g.batch,
              g.b.batch_stride);
  init_layout(&k.b, t.data, g.a.transposed ? g.m : g.k, g.a.transposed ? g.k : g.m, g.a.ld, g.batch,
              g.a.batch_stride);
  init_layout(&k.c, t.data, g.n, g.m, g.c.ld, g.batch, g.c.batch_stride);
  init_layout(&k.out, t.data, g.n, g.m, g.n, g.batch, g.out_batch_stride);
}

void choose(const Gemm& g, const Key& key, cublasLtHandle_t handle, Known& k) {
  cublasLtMatmulPreferenceOpaque_t preference;
  check_blas(cublasLtMatmulPreferenceInit(&preference), "cublasLtMatmulPreferenceInit");
  auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute, auto value) {
    check_blas(cublasLtMatmulPreferenceSetAttribute(&preference, attribute, &value, sizeof value),
               "cublasLtMatmulPreferenceSetAttribute");
  };
  prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint64_t(workspace_limit));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, uint32_t(key.align_b));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, uint32_t(key.align_a));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, uint32_t(key.align_c));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, uint32_t(key.align_out));
  if (g.dtype.size() == 2) {
    // Parts of a sum meet in float32: results are rounded once.
    prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
           uint32_t(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
  }
  cublasLtMatmulHeuristicResult_t result{};
  int found = 0;
  cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(handle, &k.operation, &k.a, &k.b, &k.c,
                                                         &k.out, &preference, 1, &result, &found);
  if (status != CUBLAS_STATUS_NOT_SUPPORTED && status != CUBLAS_STATUS_INVALID_VALUE) {
    check_blas(status, "cublasLtMatmulAlgoGetHeuristic");
    k.possible = found > 0 && result.state == CUBLAS_STATUS_SUCCESS;
  }
  k.algorithm = result.algo;
  k.workspace = result.workspaceSize;
}

// What a stream has computed before. Only the thread that encodes the stream's work comes here.
struct History {
  cublasLtHandle_t handle;
  std::unordered_map<Key, Known, KeyHash> known;
};
History* histories[max_streams];  // by stream; never destroyed

History& history_of(Stream s) {
  History*& h = histories[s.index];
  if (!h) {
    h = new History{handle_of(s.device.index), {}};
  }
  return *h;
}

}  // namespace

bool gemm(const Gemm& given, Encoder& encoder) {
  Gemm g = given;
  if (g.beta == 0) {
    g.c = {g.out, false, g.n, g.out_batch_stride};
  }
  History& history = history_of(encoder.stream);
  Key key = key_of(g);
  auto at = history.known.find(key);
  if (at == history.known.end()) {
    if (history.known.size() >= max_known) {
      history.known.clear();
    }
    Known fresh;
    describe(g, fresh);
    choose(g, key, history.handle, fresh);
    at = history.known.emplace(key, fresh).first;
  } else if (g.bias) {
    set(&at->second.operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, g.bias);
  }
  Known& k = at->second;
  if (!k.possible) {
    return false;
  }
  // Factors in the type that sums are kept in; complex ones have no imaginary part.
  float single[2][2] = {{g.alpha, 0}, {g.beta, 0}};
  double wide[2] = {g.alpha, g.beta};
  bool is_double = g.dtype == float64;
  const void* alpha = is_double ? static_cast<const void*>(&wide[0]) : single[0];
  const void* beta = is_double ? static_cast<const void*>(&wide[1]) : single[1];
  // Only what the algorithm asks for, from the memory of the stream and back to it.
  std::optional<Scratch> workspace;
  void* place = nullptr;
  if (k.workspace) {
    workspace.emplace(encoder.scratch(k.workspace + workspace_alignment));
    uintptr_t start = reinterpret_cast<uintptr_t>(workspace->as<void>()) + workspace_alignment - 1;
    place = reinterpret_cast<void*>(start / workspace_alignment * workspace_alignment);
  }
  check_blas(cublasLtMatmul(history.handle, &k.operation, alpha, g.b.data, &k.a, g.a.data, &k.b,
                            beta, g.c.data, &k.c, g.out, &k.out, &k.algorithm, place, k.workspace,
                            encoder.queue()),
             "cublasLtMatmul");
  return true;
}

}  // namespace mlx::core::cuda
