// Copies of a task's operands on the host, its run by the CPU backend, and the comparison.
#include "backend/cuda/verify.h"

#include <cmath>
#include <cstring>
#include <mutex>

#include "backend/cuda/check.h"
#include "backend/cuda/transfer.h"
#include "mlx/dispatch.h"
#include "mlx/graph/scheduler.h"
#include "mlx/layout.h"
#include "mlx/scalar_value.h"

namespace mlx::core::cuda {

namespace {

// The stream of all twins; one at a time.
struct CpuSide {
  std::mutex mutex;
  Backend& backend = backend_of(Device::cpu);
  Stream stream = new_stream(Device::cpu);
};
CpuSide& cpu_side() {
  static CpuSide& side = *new CpuSide();
  return side;
}

// First and last element that a layout reaches, relative to its first.
std::pair<int64_t, int64_t> reach(const Operand& o) {
  int64_t low = 0, high = 0;
  for (size_t d = 0; d < o.shape.size(); ++d) {
    int64_t end = (o.shape[d] - 1) * o.strides[d];
    (end < 0 ? low : high) += end;
  }
  return {low, high};
}

// Ops that move bits, or whose arithmetic is one text on all devices.
bool gives_same_bits(PrimitiveId id) {
  switch (id) {
    case PrimitiveId::Elementwise:
    case PrimitiveId::Fused:
    case PrimitiveId::Reshape:
    case PrimitiveId::Transpose:
    case PrimitiveId::Broadcast:
    case PrimitiveId::Slice:
    case PrimitiveId::SliceUpdate:
    case PrimitiveId::Concatenate:
    case PrimitiveId::AsStrided:
    case PrimitiveId::View:
    case PrimitiveId::Copy:
    case PrimitiveId::Contiguous:
    case PrimitiveId::StopGradient:
    case PrimitiveId::Arange:
    case PrimitiveId::Gather:
    case PrimitiveId::GatherAxis:
    case PrimitiveId::MaskedSelect:
    case PrimitiveId::DynamicSlice:
    case PrimitiveId::DynamicSliceUpdate:
    case PrimitiveId::Sort:
    case PrimitiveId::RandomBits:
    case PrimitiveId::RandomIntegers:
      return true;
    default:
      return false;
  }
}

// Rounding of one operation, with room for sums that are taken in another order.
double tolerance_of(Dtype t) {
  if (t == float64) {
    return 64 * 0x1p-52;
  }
  return t == float16 ? 4 * 0x1p-10 : t == bfloat16 ? 4 * 0x1p-7 : 64 * 0x1p-23;
}

// The real numbers that an array consists of: complex ones are two.
template <typename F>
void each_real(const Operand& o, F&& f) {
  dispatch(AllTypes{}, o.dtype, "check", [&]<typename T>() {
    for (int64_t i = 0; i < o.size; ++i) {
      T v;
      std::memcpy(&v, static_cast<const char*>(o.data) + i * int64_t(sizeof v), sizeof v);
      if constexpr (std::is_same_v<T, complex64_t>) {
        f(i, double(v.re));
        f(i, double(v.im));
      } else {
        f(i, double(widen(v)));
      }
    }
  });
}

double largest(const Operand& dense) {
  double m = 0;
  each_real(dense, [&](int64_t, double v) { m = std::isfinite(v) ? std::max(m, std::abs(v)) : m; });
  return m;
}

// Of an input: elements that its layout skips count too.
double largest_input(const Operand& o) {
  if (!o.dtype.is_inexact() || o.size == 0) {
    return 0;
  }
  auto [low, high] = o.is_scalar ? std::pair<int64_t, int64_t>{0, 0} : reach(o);
  Operand all;
  all.dtype = o.dtype;
  all.data = static_cast<char*>(o.data) + low * o.dtype.size();
  all.size = high - low + 1;
  return largest(all);
}

// The number of the first element whose bits differ, NaNs being one value; -1 if none does.
int64_t first_other_bits(const Operand& a, const Operand& b) {
  int64_t n = a.dtype.size();
  const char *x = static_cast<const char*>(a.data), *y = static_cast<const char*>(b.data);
  if (std::memcmp(x, y, size_t(a.nbytes())) == 0) {
    return -1;
  }
  int64_t found = -1;
  dispatch(AllTypes{}, a.dtype, "check", [&]<typename T>() {
    auto same = [](double v, double w) {
      return std::memcmp(&v, &w, sizeof v) == 0 || (std::isnan(v) && std::isnan(w));
    };
    for (int64_t i = 0; i < a.size && found < 0; ++i) {
      if (std::memcmp(x + i * n, y + i * n, size_t(n)) == 0) {
        continue;
      }
      T v, w;
      std::memcpy(&v, x + i * n, sizeof v);
      std::memcpy(&w, y + i * n, sizeof w);
      if constexpr (std::is_same_v<T, complex64_t>) {
        found = same(v.re, w.re) && same(v.im, w.im) ? -1 : i;
      } else if constexpr (std::is_floating_point_v<T> || is_half_type<T>) {
        found = same(double(widen(v)), double(widen(w))) ? -1 : i;
      } else {
        found = i;
      }
    }
  });
  return found;
}

// The same for values that may differ by rounding of numbers as large as `scale`.
int64_t first_beyond(const Operand& a, const Operand& b, double scale) {
  double tolerance = tolerance_of(a.dtype);
  std::vector<double> want;
  want.reserve(size_t(b.size));
  each_real(b, [&](int64_t, double v) { want.push_back(v); });
  int64_t found = -1;
  size_t k = 0;
  each_real(a, [&](int64_t i, double v) {
    double w = want[k++];
    bool same = v == w || (std::isnan(v) && std::isnan(w)) ||
                std::abs(v - w) <= tolerance * (std::abs(w) + scale);
    found = found < 0 && !same ? i : found;
  });
  return found;
}

std::string value_text(const Operand& o, int64_t i) {
  return dispatch(AllTypes{}, o.dtype, "check", [&]<typename T>() -> std::string {
    T v;
    std::memcpy(&v, static_cast<const char*>(o.data) + i * int64_t(sizeof v), sizeof v);
    if constexpr (std::is_same_v<T, complex64_t>) {
      return format("{}{}{}j", v.re, v.im < 0 ? "" : "+", v.im);
    } else {
      return format("{}", widen(v));
    }
  });
}

Shape index_of(int64_t i, const Shape& shape) {
  Shape index = shape;
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = i % shape[d];
    i /= shape[d];
  }
  return index;
}

void copy_to_host(const void* from, void* to, size_t bytes, int device) {
  if (bytes) {
    download(from, to, bytes, device);
  }
}

}  // namespace

Verification::Verification(const Task& task, int device, cudaStream_t queue)
    : task_(task), device_(device) {
  check(cudaStreamSynchronize(queue), "cudaStreamSynchronize");
  skipped_ = task.primitive->id() == PrimitiveId::custom;
  for (const BufferWatch& w : task.input_buffers) {
    skipped_ = skipped_ || (w.get() && w.get()->has_failed());
  }
  if (skipped_) {
    return;
  }
  twin_.primitive = task.primitive;
  for (const Operand& o : task.inputs) {
    twin_.inputs.push_back(o);
    if (!o.is_scalar && o.size > 0) {
      auto [low, high] = reach(o);
      int64_t item = o.dtype.size();
      memory_.push_back(Buffer::allocate_for_host(size_t((high - low + 1) * item)));
      char* copy = static_cast<char*>(memory_.back()->host());
      copy_to_host(static_cast<const char*>(o.data) + low * item, copy,
                   size_t((high - low + 1) * item), device);
      twin_.inputs.back().data = copy - low * item;
    }
  }
  twin_.bind_scalars();
}

void Verification::run_on_cpu() {
  for (const Operand& o : task_.outputs) {
    memory_.push_back(Buffer::allocate_for_host(size_t(o.nbytes())));
    twin_.outputs.push_back(o);
    twin_.outputs.back().data = memory_.back()->host();
    twin_.output_buffers.push_back(BufferWatch(memory_.back().get()));
  }
  Ref<Buffer> outcome = memory_.back();  // all outputs fail together
  SmallVector<Operand, 1> outputs = twin_.outputs;
  SmallVector<Operand, 3> inputs = twin_.inputs;
  CpuSide& cpu = cpu_side();
  {
    std::lock_guard lock(cpu.mutex);
    twin_.sequence = timeline(cpu.stream.index).claimed.fetch_add(1) + 1;
    uint64_t last = twin_.sequence;
    cpu.backend.begin(cpu.stream, Mode::sync);
    cpu.backend.encode(cpu.stream, twin_);
    cpu.backend.commit(cpu.stream, last);
    cpu.backend.synchronize(cpu.stream);
    wait_for({cpu.stream.index, last});
  }
  twin_.outputs = std::move(outputs);  // the backend may have taken them
  twin_.inputs = std::move(inputs);
  twin_.bind_scalars();
  if (outcome->has_failed()) {
    std::rethrow_exception(outcome->error());
  }
}

void Verification::compare(cudaStream_t queue) {
  if (skipped_ || task_.outputs.empty()) {
    return;
  }
  check(cudaStreamSynchronize(queue), "cudaStreamSynchronize");
  run_on_cpu();
  double input_scale = 0;
  bool exact = gives_same_bits(task_.primitive->id());
  int64_t input_size = 0;
  if (!exact) {
    for (const Operand& o : twin_.inputs) {
      input_scale = std::max(input_scale, largest_input(o));
      input_size = std::max(input_size, o.size);
    }
  }
  for (size_t k = 0; k < task_.outputs.size(); ++k) {
    const Operand& want = twin_.outputs[k];
    if (want.size == 0) {
      continue;
    }
    Ref<Buffer> memory = Buffer::allocate_for_host(size_t(want.nbytes()));
    Operand got = want;
    got.data = memory->host();
    copy_to_host(task_.outputs[k].data, got.data, size_t(got.nbytes()), device_);
    int64_t at;
    if (exact || !want.dtype.is_inexact()) {
      at = first_other_bits(got, want);
    } else {
      double terms = std::sqrt(std::max(1.0, double(input_size) / double(want.size)));
      at = first_beyond(got, want, std::max(largest(want), input_scale * terms));
    }
    if (at >= 0) {
      std::string details = task_.primitive->describe();
      fail<RuntimeError>(
          "[MLX_CHECK] {}{} gives {} on the GPU where the CPU gives {}: output {} at {}",
          task_.primitive->name(), details.empty() ? "" : " {" + details + "}", value_text(got, at),
          value_text(want, at), int64_t(k), index_of(at, want.shape));
    }
  }
}

}  // namespace mlx::core::cuda
