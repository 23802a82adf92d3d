// Matrix times vector at the speed of memory: 16 bytes a load, several loads in flight. Where rows
// alone give too few blocks, sums are cut into parts that a second kernel adds in their order.
#include <cuda_fp16.h>

#include <limits>

#include "backend/cuda/device.h"
#include "backend/cuda/gemv.h"
#include "mlx/dispatch.h"

namespace mlx::core::cuda {

namespace {

constexpr int threads = 256;
constexpr int unroll = 4;        // loads in flight
constexpr int lanes_across = 8;  // threads side by side that sum columns
constexpr int slices = threads / lanes_across;
constexpr int64_t max_parts = 1024;

template <typename T>
struct Accumulator {
  typedef float type;
};
template <>
struct Accumulator<double> {
  typedef double type;
};
template <typename T>
using Sum = typename Accumulator<T>::type;

__device__ __forceinline__ float widen(float x) { return x; }
__device__ __forceinline__ double widen(double x) { return x; }
__device__ __forceinline__ float widen(bfloat16_t x) { return to_float(x); }
__device__ __forceinline__ float widen(float16_t x) {
  return __half2float(__ushort_as_half(x.bits));
}
__device__ __forceinline__ void narrow(float x, float& y) { y = x; }
__device__ __forceinline__ void narrow(double x, double& y) { y = x; }
__device__ __forceinline__ void narrow(float x, float16_t& y) { y = to_float16(x); }
__device__ __forceinline__ void narrow(float x, bfloat16_t& y) { y = to_bfloat16(x); }
__device__ __forceinline__ float add_product(float a, float b, float c) {
  return __fmaf_rn(a, b, c);
}
__device__ __forceinline__ double add_product(double a, double b, double c) {
  return __fma_rn(a, b, c);
}

template <typename T, int V>
struct alignas(V * sizeof(T)) Pack {
  T at[V];
};

// What a launch covers: `tiles` blocks a matrix, sums cut into pieces of `part` terms.
struct Cut {
  uint32_t tiles;
  int64_t part;
  void* sums;  // null: one part
};

template <typename T>
__device__ __forceinline__ void finish(const Gemv& g, int64_t batch, int64_t row, Sum<T> sum) {
  Sum<T> y = Sum<T>(g.alpha) * sum;
  if (g.c) {
    const T* c = static_cast<const T*>(g.c) + batch * g.c_batch + row * g.c_stride;
    y = add_product(Sum<T>(g.beta), widen(*c), y);
  }
  narrow(y, static_cast<T*>(g.y)[batch * g.y_batch + row]);
}

template <typename T>
__device__ __forceinline__ void deliver(const Gemv& g, const Cut& cut, int64_t batch, int64_t row,
                                        Sum<T> sum) {
  if (cut.sums) {
    static_cast<Sum<T>*>(cut.sums)[(int64_t(blockIdx.y) * g.batch + batch) * g.rows + row] = sum;
  } else {
    finish<T>(g, batch, row, sum);
  }
}

// L threads a row, which is contiguous.
template <typename T, int V, int L>
__global__ void __launch_bounds__(threads) gemv_along(Gemv g, Cut cut) {
  int64_t batch = blockIdx.x / cut.tiles;
  int64_t row = int64_t(blockIdx.x % cut.tiles) * (threads / L) + threadIdx.x / L;
  int lane = threadIdx.x % L;
  bool active = row < g.rows;
  const T* a = static_cast<const T*>(g.matrix) + batch * g.matrix_batch +
               (active ? row : g.rows - 1) * g.row_stride;
  const T* x = static_cast<const T*>(g.x) + batch * g.x_batch;
  int64_t begin = int64_t(blockIdx.y) * cut.part;
  int64_t end = begin + cut.part < g.depth ? begin + cut.part : g.depth;
  int64_t whole = begin + (end - begin) / V * V;
  Sum<T> sum[unroll] = {};
  int64_t k = begin + lane * V;
  for (; k + (unroll - 1) * L * V < whole; k += unroll * L * V) {
    Pack<T, V> p[unroll], q[unroll];
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
      int64_t at = k + u * L * V;
      p[u] = *reinterpret_cast<const Pack<T, V>*>(a + (V == 1 ? at * g.depth_stride : at));
      q[u] = *reinterpret_cast<const Pack<T, V>*>(x + (V == 1 ? at * g.x_stride : at));
    }
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
#pragma unroll
      for (int j = 0; j < V; ++j) {
        sum[u] = add_product(widen(p[u].at[j]), widen(q[u].at[j]), sum[u]);
      }
    }
  }
  for (; k < whole; k += L * V) {
    Pack<T, V> p = *reinterpret_cast<const Pack<T, V>*>(a + (V == 1 ? k * g.depth_stride : k));
    Pack<T, V> q = *reinterpret_cast<const Pack<T, V>*>(x + (V == 1 ? k * g.x_stride : k));
#pragma unroll
    for (int j = 0; j < V; ++j) {
      sum[0] = add_product(widen(p.at[j]), widen(q.at[j]), sum[0]);
    }
  }
  if (whole + lane < end) {  // fewer than V terms are left
    for (k = whole + lane; k < end; k += L) {
      sum[0] = add_product(widen(a[k]), widen(x[k]), sum[0]);
    }
  }
  Sum<T> total = (sum[0] + sum[1]) + (sum[2] + sum[3]);
#pragma unroll
  for (int step = L / 2; step > 0; step /= 2) {
    total += __shfl_xor_sync(0xffffffffu, total, step);
  }
  if (active && lane == 0) {
    deliver<T>(g, cut, batch, row, total);
  }
}

// A block sums 8·V neighbouring columns (rows of the result): 32 slices of the terms side by side.
template <typename T, int V>
__global__ void __launch_bounds__(threads) gemv_across(Gemv g, Cut cut) {
  constexpr int width = lanes_across * V;
  __shared__ Sum<T> shared[slices][width];
  int64_t batch = blockIdx.x / cut.tiles;
  int64_t first = int64_t(blockIdx.x % cut.tiles) * width;
  int lane = threadIdx.x % lanes_across, slice = threadIdx.x / lanes_across;
  int64_t row = first + lane * V;
  const T* a = static_cast<const T*>(g.matrix) + batch * g.matrix_batch;
  const T* x = static_cast<const T*>(g.x) + batch * g.x_batch;
  int64_t begin = int64_t(blockIdx.y) * cut.part;
  int64_t end = begin + cut.part < g.depth ? begin + cut.part : g.depth;
  Sum<T> sum[V] = {};
  int64_t k = begin + slice;
  if (row + V <= g.rows) {
    a += V == 1 ? row * g.row_stride : row;
    for (; k + (unroll - 1) * slices < end; k += unroll * slices) {
      Pack<T, V> p[unroll];
      T q[unroll];
#pragma unroll
      for (int u = 0; u < unroll; ++u) {
        int64_t at = k + u * slices;
        p[u] = *reinterpret_cast<const Pack<T, V>*>(a + at * g.depth_stride);
        q[u] = x[at * g.x_stride];
      }
#pragma unroll
      for (int u = 0; u < unroll; ++u) {
        Sum<T> factor = widen(q[u]);
#pragma unroll
        for (int j = 0; j < V; ++j) {
          sum[j] = add_product(widen(p[u].at[j]), factor, sum[j]);
        }
      }
    }
    for (; k < end; k += slices) {
      Pack<T, V> p = *reinterpret_cast<const Pack<T, V>*>(a + k * g.depth_stride);
      Sum<T> factor = widen(x[k * g.x_stride]);
#pragma unroll
      for (int j = 0; j < V; ++j) {
        sum[j] = add_product(widen(p.at[j]), factor, sum[j]);
      }
    }
  } else if (row < g.rows) {
    for (; k < end; k += slices) {
      Sum<T> factor = widen(x[k * g.x_stride]);
#pragma unroll
      for (int j = 0; j < V; ++j) {
        if (row + j < g.rows) {
          sum[j] =
              add_product(widen(a[(row + j) * g.row_stride + k * g.depth_stride]), factor, sum[j]);
        }
      }
    }
  }
#pragma unroll
  for (int j = 0; j < V; ++j) {
    shared[slice][lane * V + j] = sum[j];
  }
  __syncthreads();
  int column = threadIdx.x;
  if (column < width && first + column < g.rows) {
    Sum<T> total = shared[0][column];
#pragma unroll
    for (int i = 1; i < slices; ++i) {
      total += shared[i][column];
    }
    deliver<T>(g, cut, batch, first + column, total);
  }
}

// The sums of the parts, L threads a result.
template <typename T, int L>
__global__ void __launch_bounds__(threads) gemv_join(Gemv g, const Sum<T>* sums, int parts) {
  int64_t size = g.batch * g.rows;
  int64_t i = (int64_t(blockIdx.x) * threads + threadIdx.x) / L;
  int lane = threadIdx.x % L;
  bool active = i < size;
  Sum<T> total = 0;
  for (int p = lane; active && p < parts; p += L) {
    total += sums[p * size + i];
  }
#pragma unroll
  for (int step = L / 2; step > 0; step /= 2) {
    total += __shfl_xor_sync(0xffffffffu, total, step);
  }
  if (active && lane == 0) {
    finish<T>(g, i / g.rows, i % g.rows, total);
  }
}

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Whether packs of 16 bytes can be read from there and from `stride` elements on.
bool packs_at(const void* data, std::initializer_list<int64_t> strides, int64_t size) {
  uint64_t bits = reinterpret_cast<uintptr_t>(data);
  for (int64_t s : strides) {
    bits |= uint64_t(s * size);
  }
  return bits % 16 == 0;
}

// `step` terms keep all threads busy once; `tiles` blocks do a matrix.
template <typename T, typename Kernel>
void launch(const char* name, Kernel kernel, const Gemv& g, int64_t tiles, int64_t step,
            Encoder& encoder) {
  int64_t wanted = 4 * devices()[size_t(encoder.stream.device.index)].multiprocessors;
  int64_t parts = std::min({wanted / (tiles * g.batch), g.depth / step, max_parts});
  parts = std::max<int64_t>(1, parts);
  Cut cut{uint32_t(tiles), ceil_div(ceil_div(g.depth, parts), step) * step, nullptr};
  parts = ceil_div(g.depth, cut.part);
  Grid grid{dim3(unsigned(tiles * g.batch), unsigned(parts)), dim3(threads)};
  if (parts == 1) {
    encoder.launch(name, kernel, grid, g, cut);
    return;
  }
  Scratch sums = encoder.scratch(size_t(parts * g.batch * g.rows) * sizeof(Sum<T>));
  cut.sums = sums.as<void>();
  encoder.launch(name, kernel, grid, g, cut);
  if (parts <= 32) {
    encoder.launch("gemv_join", gemv_join<T, 1>, grid_for(g.batch * g.rows, 1, threads), g,
                   sums.as<const Sum<T>>(), int(parts));
  } else {
    encoder.launch("gemv_join", gemv_join<T, 32>, grid_for(g.batch * g.rows * 32, 1, threads), g,
                   sums.as<const Sum<T>>(), int(parts));
  }
}

template <typename T, int V>
void launch_along(const Gemv& g, Encoder& encoder) {
  if (g.depth >= 16 * V) {
    launch<T>("gemv_along", gemv_along<T, V, 32>, g, ceil_div(g.rows, threads / 32),
              32 * V * unroll, encoder);
  } else {
    launch<T>("gemv_along", gemv_along<T, V, 8>, g, ceil_div(g.rows, threads / 8), 8 * V * unroll,
              encoder);
  }
}

template <typename T>
void run(const Gemv& g, Encoder& encoder) {
  constexpr int V = 16 / sizeof(T);
  if (g.along()) {
    bool packs = packs_at(g.matrix, {g.row_stride, g.matrix_batch}, sizeof(T)) &&
                 g.depth_stride == 1 && g.x_stride == 1 && packs_at(g.x, {g.x_batch}, sizeof(T));
    packs ? launch_along<T, V>(g, encoder) : launch_along<T, 1>(g, encoder);
    return;
  }
  int64_t step = slices * unroll;
  if (g.row_stride == 1 && packs_at(g.matrix, {g.depth_stride, g.matrix_batch}, sizeof(T))) {
    launch<T>("gemv_across", gemv_across<T, V>, g, ceil_div(g.rows, lanes_across * V), step,
              encoder);
  } else {
    launch<T>("gemv_across", gemv_across<T, 1>, g, ceil_div(g.rows, lanes_across), step, encoder);
  }
}

}  // namespace

void gemv(Dtype dtype, const Gemv& given, Encoder& encoder) {
  constexpr int64_t most_blocks = std::numeric_limits<int32_t>::max();
  dispatch(FloatTypes{}, dtype, "matmul", [&]<typename T>() {
    int64_t tiles = ceil_div(given.rows, lanes_across);  // at most
    int64_t chunk = std::max<int64_t>(1, most_blocks / tiles);
    for (int64_t done = 0; done < given.batch; done += chunk) {
      Gemv g = given;
      auto skip = [&](const void* p, int64_t stride) {
        return static_cast<const T*>(p) + done * stride;
      };
      g.batch = std::min(chunk, given.batch - done);
      g.matrix = skip(given.matrix, given.matrix_batch);
      g.x = skip(given.x, given.x_batch);
      g.c = given.c ? skip(given.c, given.c_batch) : nullptr;
      g.y = const_cast<T*>(skip(given.y, given.y_batch));
      run<T>(g, encoder);
    }
  });
}

}  // namespace mlx::core::cuda
