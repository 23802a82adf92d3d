// Collecting launches and sending them as chains: a launch of its own costs the CPU several times
// what a node of an executable graph costs whose parameters are set anew.
#include "backend/cuda/encoder.h"

#include <cstdio>
#include <mutex>
#include <unordered_map>

#include "backend/cuda/check.h"
#include "backend/cuda/device.h"
#include "backend/cuda/driver.h"
#include "backend/cuda/kernels.h"
#include "backend/cuda/memory.h"

namespace mlx::core {

using cuda::check;

namespace {

// Sizes of the chains that launches are cut into, largest first; fewer are launched one by one.
constexpr size_t chain_sizes[] = {512, 128, 32, 8};
constexpr size_t flush_at = 1024;  // launches that are sent without waiting for more

struct KernelKey {
  const void* kernel;
  int device;
  bool operator==(const KernelKey&) const = default;
};
struct KernelHash {
  size_t operator()(const KernelKey& k) const {
    return std::hash<const void*>()(k.kernel) ^ size_t(k.device) << 56;
  }
};
struct KernelEntry {
  CUfunction function;
  unsigned shared_bytes;  // what it was allowed to use
};

std::mutex kernels_mutex;
std::unordered_map<KernelKey, KernelEntry, KernelHash>& kernels() {
  static auto& k = *new std::unordered_map<KernelKey, KernelEntry, KernelHash>();
  return k;
}

constexpr unsigned default_shared_bytes = 48 * 1024;

}  // namespace

Scratch::Scratch(size_t bytes, Stream stream) : stream_(stream) {
  CachingAllocator& allocator = cuda::device_memory(stream.device.index);
  memory_ = allocator.allocate(bytes, stream.index);
  if (!memory_.size) {
    allocator.clear_cache();
    memory_ = allocator.allocate(bytes, stream.index);
  }
  if (!memory_.size) {
    fail<MemoryError>("[scratch] wanted {} bytes: {} are in use and {} cached of a limit of {}",
                      bytes, allocator.active(), allocator.cached(), allocator.limit());
  }
}

Scratch::~Scratch() {
  if (memory_.size) {
    Event until{stream_.index, sequence_};
    cuda::device_memory(stream_.device.index).release(memory_, std::span(&until, 1));
  }
}

Encoder::Encoder(Stream s) : stream(s) {
  cuda::use_device(s.device.index);
  cuda::reach_other_devices(s.device.index);
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
}

Encoder::~Encoder() {
  for (Chain& c : chains_) {
    cuda::driver().graph_exec_destroy(c.executable);
    cuda::driver().graph_destroy(c.graph);
  }
  cudaStreamDestroy(stream_);
}

Scratch Encoder::scratch(size_t bytes) {
  Scratch s(bytes, stream);
  s.sequence_ = sequence;
  return s;
}

void* Encoder::keep(size_t bytes) {
  held_.push_back(scratch(bytes));
  return held_.back().as<void>();
}

const void* Encoder::address(const Operand& operand) {
  if (!operand.is_scalar) {
    return operand.data;
  }
  void* place = keep(sizeof operand.scalar);
  uint64_t bits;
  std::memcpy(&bits, operand.scalar, sizeof bits);
  cuda::store_scalar(*this, place, bits);
  return place;
}

CUfunction Encoder::function(const void* kernel, unsigned shared_bytes) {
  std::lock_guard lock(kernels_mutex);
  KernelEntry& entry = kernels()[{kernel, stream.device.index}];
  if (!entry.function) {
    cudaFunction_t f;
    check(cudaGetFuncBySymbol(&f, kernel), "cudaGetFuncBySymbol");
    entry = {f, default_shared_bytes};
  }
  if (shared_bytes > entry.shared_bytes) {
    check(cuda::driver().func_set_attribute(
              entry.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, int(shared_bytes)),
          "cuFuncSetAttribute");
    entry.shared_bytes = shared_bytes;
  }
  return entry.function;
}

void Encoder::begin_launch(const char* name, CUfunction function, const cuda::Grid& grid) {
  launches_.push_back({function, grid, name, uint32_t(offsets_.size()), 0});
}

void Encoder::add_argument(const void* value, size_t bytes, size_t alignment) {
  size_t at = (arena_used_ + alignment - 1) / alignment * alignment;
  arena_used_ = at + bytes;
  if (arena_used_ > arena_.size() * sizeof(std::max_align_t)) {
    arena_.resize(std::max<size_t>(4096, arena_.size() * 2 + bytes));
  }
  std::memcpy(reinterpret_cast<char*>(arena_.data()) + at, value, bytes);
  offsets_.push_back(at);
  ++launches_.back().argument_count;
}

void Encoder::end_launch() {
  if (launches_.size() >= flush_at) {
    flush();
  }
}

void** Encoder::arguments_of(const cuda::Launch& l) {
  pointers_.clear();
  char* base = reinterpret_cast<char*>(arena_.data());
  for (uint32_t i = 0; i < l.argument_count; ++i) {
    pointers_.push_back(base + offsets_[l.first_argument + i]);
  }
  return pointers_.data();
}

void Encoder::launch_one(const cuda::Launch& l) {
  const cuda::Grid& g = l.grid;
  check(cuda::driver().launch_kernel(l.function, g.blocks.x, g.blocks.y, g.blocks.z, g.threads.x,
                                     g.threads.y, g.threads.z, g.shared_bytes, stream_,
                                     arguments_of(l), nullptr),
        l.name);
}

namespace {

CUDA_KERNEL_NODE_PARAMS parameters(const cuda::Launch& l, void** arguments) {
  CUDA_KERNEL_NODE_PARAMS p{};
  p.func = l.function;
  p.gridDimX = l.grid.blocks.x;
  p.gridDimY = l.grid.blocks.y;
  p.gridDimZ = l.grid.blocks.z;
  p.blockDimX = l.grid.threads.x;
  p.blockDimY = l.grid.threads.y;
  p.blockDimZ = l.grid.threads.z;
  p.sharedMemBytes = l.grid.shared_bytes;
  p.kernelParams = arguments;
  return p;
}

}  // namespace

Encoder::Chain Encoder::make_chain(size_t first, size_t count) {
  const cuda::Driver& d = cuda::driver();
  Chain c{count, nullptr, nullptr, {}};
  check(d.graph_create(&c.graph, 0), "cuGraphCreate");
  for (size_t i = 0; i < count; ++i) {
    const cuda::Launch& l = launches_[first + i];
    CUDA_KERNEL_NODE_PARAMS p = parameters(l, arguments_of(l));
    CUgraphNode node;
    const CUgraphNode* before = i ? &c.nodes.back() : nullptr;
    check(d.graph_add_kernel_node(&node, c.graph, before, i ? 1 : 0, &p), l.name);
    c.nodes.push_back(node);
  }
  check(d.graph_instantiate(&c.executable, c.graph, 0), "cuGraphInstantiate");
  return c;
}

void Encoder::launch_chain(size_t first, size_t count) {
  const cuda::Driver& d = cuda::driver();
  auto found =
      std::find_if(chains_.begin(), chains_.end(), [&](const Chain& c) { return c.size == count; });
  if (found == chains_.end()) {
    chains_.push_back(make_chain(first, count));
    found = chains_.end() - 1;
  } else {
    for (size_t i = 0; i < count; ++i) {
      const cuda::Launch& l = launches_[first + i];
      CUDA_KERNEL_NODE_PARAMS p = parameters(l, arguments_of(l));
      if (d.graph_exec_kernel_node_set_params(found->executable, found->nodes[i], &p) !=
          CUDA_SUCCESS) {
        Chain fresh = make_chain(first, count);  // or says what is wrong with the launch
        d.graph_exec_destroy(found->executable);
        d.graph_destroy(found->graph);
        *found = std::move(fresh);
        break;
      }
    }
  }
  check(d.graph_launch(found->executable, stream_), "cuGraphLaunch");
}

void Encoder::flush() {
  if (launches_.empty()) {
    return;
  }
  cuda::use_device(stream.device.index);
  size_t i = 0;
  try {
    while (i < launches_.size()) {
      size_t left = launches_.size() - i;
      auto size = std::find_if(std::begin(chain_sizes), std::end(chain_sizes),
                               [&](size_t s) { return s <= left; });
      if (size != std::end(chain_sizes)) {
        launch_chain(i, *size);
        i += *size;
      } else {
        launch_one(launches_[i++]);
      }
    }
  } catch (...) {
    launches_.clear();
    offsets_.clear();
    arena_used_ = 0;
    throw;
  }
  launches_.clear();
  offsets_.clear();
  arena_used_ = 0;
}

}  // namespace mlx::core
