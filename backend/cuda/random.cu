// Random bits, unbiased integers and discrete draws on the device. Every word is a function of key
// and position alone, and sums of weights are added in the order that mlx/ops/random/draws.h sets:
// results are the CPU's, bit for bit.
#include "backend/cuda/random_kernels.h"
#include "mlx/dispatch.h"
#include "mlx/ops/random/draws.h"

namespace mlx::core::cuda {

namespace {

using random::counter;
using random::threefry;
using random::weight_block;
using random::WordPair;
using random::WordPlan;

__device__ __forceinline__ int64_t thread_number() {
  return int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ int64_t thread_count() { return int64_t(gridDim.x) * blockDim.x; }

// n / d, by 32 bits where that is enough.
__device__ __forceinline__ int64_t quotient(int64_t n, int64_t d) {
  return (uint64_t(n) | uint64_t(d)) >> 32 ? n / d : int64_t(uint32_t(n) / uint32_t(d));
}

// The bytes of a word that lie within the part.
__device__ __forceinline__ void put(char* part, int64_t at, int64_t bytes, bool aligned,
                                    uint32_t word) {
  if (aligned && at + 4 <= bytes) {
    *reinterpret_cast<uint32_t*>(part + at) = word;
    return;
  }
  for (int i = 0; i < 4 && at + i < bytes; ++i) {
    part[at + i] = char(word >> (8 * i));
  }
}

// One thread a counter: plan.second of them a key, the last alone if the number of words is odd.
__global__ void bits_kernel(const uint32_t* keys, int64_t key_count, char* out, int64_t bytes,
                            WordPlan plan, bool aligned) {
  int64_t total = key_count * plan.second;
  for (int64_t t = thread_number(); t < total; t += thread_count()) {
    int64_t k = key_count == 1 ? 0 : quotient(t, plan.second);
    int64_t i = t - k * plan.second;
    char* part = out + k * bytes;
    bool pair = i < plan.half;
    WordPair<uint32_t> c = pair ? counter(plan, i) : WordPair<uint32_t>{uint32_t(plan.half), 0};
    WordPair<uint32_t> w = threefry(keys[2 * k], keys[2 * k + 1], c);
    put(part, 4 * i, bytes, aligned, w.x0);
    if (pair) {
      put(part, 4 * (i + plan.second), bytes, aligned, w.x1);
    }
  }
}

template <typename T>
__global__ void integers_kernel(const uint32_t* keys, int64_t each, Bounds b, T* out,
                                int64_t size) {
  for (int64_t t = thread_number(); t < size; t += thread_count()) {
    int64_t k = each == size ? 0 : quotient(t, each);
    int64_t low_at = 0, high_at = 0, rest = t;
    for (int a = b.axes; a-- > 0;) {
      int64_t outer = a == 0 ? 0 : quotient(rest, b.extent[a]);
      int64_t index = rest - outer * b.extent[a];
      low_at += index * b.low_stride[a];
      high_at += index * b.high_stride[a];
      rest = outer;
    }
    T low = static_cast<const T*>(b.low)[low_at], high = static_cast<const T*>(b.high)[high_at];
    WordPair<uint32_t> key = {keys[2 * k], keys[2 * k + 1]};
    uint64_t from = uint64_t(low), word = uint64_t(out[t]);
    out[t] = high <= low
                 ? low
                 : T(from + random::bounded(key, t - k * each, word, uint64_t(high) - from));
  }
}

// The sum within each block of weights.
__global__ void block_sums_kernel(const float* weights, int64_t n, int64_t blocks, int64_t batches,
                                  double* sums) {
  for (int64_t t = thread_number(); t < batches * blocks; t += thread_count()) {
    int64_t batch = quotient(t, blocks), block = t - batch * blocks;
    const float* w = weights + batch * n;
    int64_t begin = block * weight_block;
    int64_t end = begin + weight_block < n ? begin + weight_block : n;
    double within = 0;
    for (int64_t i = begin; i < end; ++i) {
      within += w[i];
    }
    sums[t] = within;
  }
}

// The sums before each block, and the total behind them: blocks + 1 numbers a batch.
__global__ void scan_blocks_kernel(const double* __restrict__ sums, int64_t blocks, int64_t batches,
                                   double* __restrict__ before) {
  for (int64_t batch = thread_number(); batch < batches; batch += thread_count()) {
    const double* from = sums + batch * blocks;
    double* to = before + batch * (blocks + 1);
    double total = 0;
#pragma unroll 8
    for (int64_t b = 0; b < blocks; ++b) {
      to[b] = total;
      total += from[b];
    }
    to[blocks] = total;
  }
}

// The last index whose weight is not zero of those with a cumulative sum up to u · total; 0 if
// there is none.
__device__ int64_t find(const float* w, int64_t n, const double* before, int64_t blocks,
                        double target) {
  int64_t first = 0, last = blocks;  // blocks before `first` begin at or below the target
  while (first < last) {
    int64_t middle = (first + last) / 2;
    if (target < before[middle]) {
      last = middle;
    } else {
      first = middle + 1;
    }
  }
  for (int64_t b = first; b-- > 0;) {
    int64_t begin = b * weight_block, found = -1;
    int64_t end = begin + weight_block < n ? begin + weight_block : n;
    double within = 0;
    for (int64_t i = begin; i < end; ++i) {
      double sum = before[b] + within;
      if (target < sum) {
        break;
      }
      within += w[i];
      if (before[b] + within > sum) {
        found = i;
      }
    }
    if (found >= 0) {
      return found;
    }
  }
  return 0;
}

__global__ void sample_kernel(const float* weights, int64_t n, const double* before, int64_t blocks,
                              const float* numbers, int64_t draws, int64_t batches, uint32_t* out) {
  for (int64_t t = thread_number(); t < batches * draws; t += thread_count()) {
    int64_t batch = quotient(t, draws);
    const double* sums = before + batch * (blocks + 1);
    double target = numbers[t] * sums[blocks];
    out[t] = uint32_t(find(weights + batch * n, n, sums, blocks, target));
  }
}

}  // namespace

void random_bits(const void* keys, int64_t key_count, void* out, int64_t bytes, Encoder& encoder) {
  WordPlan plan = random::word_plan((bytes + 3) / 4);
  bool aligned = reinterpret_cast<uintptr_t>(out) % 4 == 0 && (bytes % 4 == 0 || key_count == 1);
  encoder.launch("random_bits", bits_kernel, grid_for(key_count * plan.second),
                 static_cast<const uint32_t*>(keys), key_count, static_cast<char*>(out), bytes,
                 plan, aligned);
}

void bound_integers(Dtype dtype, const void* keys, int64_t key_count, const Bounds& bounds,
                    const Operand& out, Encoder& encoder) {
  auto launch = [&]<typename T>(T*) {
    encoder.launch("random_integers", integers_kernel<T>, grid_for(out.size),
                   static_cast<const uint32_t*>(keys), out.size / key_count, bounds, out.ptr<T>(),
                   out.size);
  };
  if (dtype == int64) {
    launch(static_cast<int64_t*>(nullptr));
  } else {
    launch(static_cast<uint64_t*>(nullptr));
  }
}

void sample_indices(const float* weights, int64_t n, const float* numbers, int64_t draws,
                    int64_t batches, uint32_t* out, Encoder& encoder) {
  int64_t blocks = (n + weight_block - 1) / weight_block;
  Scratch sums = encoder.scratch(size_t(batches * blocks) * sizeof(double));
  Scratch before = encoder.scratch(size_t(batches * (blocks + 1)) * sizeof(double));
  encoder.launch("block_sums", block_sums_kernel, grid_for(batches * blocks, 1, 64), weights, n,
                 blocks, batches, sums.as<double>());
  encoder.launch("scan_blocks", scan_blocks_kernel, grid_for(batches, 1, 64),
                 sums.as<const double>(), blocks, batches, before.as<double>());
  encoder.launch("sample_index", sample_kernel, grid_for(batches * draws, 1, 128), weights, n,
                 before.as<const double>(), blocks, numbers, draws, batches, out);
}

}  // namespace mlx::core::cuda
