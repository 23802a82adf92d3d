// The CUDA backend: evaluator table, devices, streams, addresses, and the plugin's entry.
#include <pthread.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <new>

#include "backend/cuda/check.h"
#include "backend/cuda/device.h"
#include "backend/cuda/evaluators.h"
#include "backend/cuda/jit/kernel_compiler.h"
#include "backend/cuda/memory.h"
#include "backend/cuda/stream.h"
#include "backend/cuda/transfer.h"
#include "mlx/graph/plugin.h"
#include "mlx/graph/scheduler.h"

namespace mlx::core {

namespace cuda {

namespace {

struct Native {
  Evaluator evaluate = nullptr;
  bool (*supports)(const Primitive&, std::span<const array>) = nullptr;
};

struct Table {
  Native rows[primitive_count] = {};

  template <typename P>
  void add(PrimitiveId id) {
    if constexpr (!missing<P>) {
      rows[int(id)] = {[](const Primitive& p, Inputs in, Outputs out, Encoder& e) {
                         eval_gpu(static_cast<const P&>(p), in, out, e);
                       },
                       [](const Primitive& p, std::span<const array> inputs) {
                         return supports_gpu(static_cast<const P&>(p), inputs);
                       }};
    }
  }

  Table() {
#define PRIMITIVE(Name, ...) add<Name>(PrimitiveId::Name);
#include "mlx/ops/primitives.def"
#undef PRIMITIVE
  }
};

const Native& native(PrimitiveId id) {
  static const Table table;
  return table.rows[int(id)];
}

void call_custom(const Primitive& p, Inputs in, Outputs out, Encoder& e) { p.eval_gpu(in, out, e); }

CudaStream* streams[max_streams];  // filled by open(), read without a lock
std::atomic<int> opened{0};

CudaStream& stream_of(Stream s) { return *streams[s.index]; }

class CudaBackend final : public Backend {
 public:
  int device_count() override { return int(devices().size()); }

  DeviceInfo info(int device) override {
    const DeviceProperties& d = devices()[size_t(device)];
    return {{"device_name", d.name},
            {"architecture", format("sm_{}{}", d.major, d.minor)},
            {"memory_size", int64_t(d.total_memory)},
            {"multiprocessors", int64_t(d.multiprocessors)}};
  }

  Evaluator evaluator(PrimitiveId id) override {
    return id == PrimitiveId::custom ? call_custom : evaluator_of(id);
  }
  bool supports(const Primitive& p, std::span<const array> inputs) override {
    return p.id() == PrimitiveId::custom || native(p.id()).supports(p, inputs);
  }

  Memory allocate(size_t bytes, Stream s) override {
    refuse_in_forked_child();
    return device_memory(s.device.index).allocate(bytes, s.index);
  }
  void release(Memory memory, std::span<const Event> pending) override {
    if (in_forked_child()) {
      return;  // it is the parent's
    }
    int device;
    try {
      device = device_of(memory);
    } catch (const Error&) {
      return;  // the device is lost, and its memory with it
    }
    device_memory(device).release(memory, pending);
  }
  MemoryControl& memory() override { return all_devices_memory(); }
  int device_of(const Memory& memory) override {
    if (devices().size() == 1) {
      return 0;
    }
    cudaPointerAttributes a{};
    check(cudaPointerGetAttributes(&a, memory.device), "cudaPointerGetAttributes");
    return a.device;
  }
  void await_foreign_work(int device) override {
    refuse_if_lost();
    use_device(device);
    check(cudaStreamSynchronize(cudaStreamLegacy), "cudaStreamSynchronize");
  }

  void read(const Memory& memory, size_t offset, void* to, size_t bytes) override {
    refuse_if_lost();
    download(static_cast<const char*>(memory.device) + offset, to, bytes, device_of(memory));
  }
  void prepare_for_host(const Memory&) override { refuse_if_lost(); }

  void* address(Buffer& buffer, Event at) override {
    refuse_in_forked_child();
    if (buffer.backend() == this) {
      return buffer.device();
    }
    CudaStream& s = *streams[at.stream];
    if (buffer.writable_by_others()) {
      wait_for_host_work(buffer);
      return s.upload_once(buffer);
    }
    Buffer::Copy copy = buffer.copy();
    if (!copy.backend) {
      wait_for_host_work(buffer);
      copy = {this, s.upload(buffer), at};
      if (!buffer.set_copy(copy)) {
        release(copy.memory, std::span(&at, 1));  // another stream was faster
      }
    } else if (copy.made.stream != at.stream && !reached(copy.made)) {
      s.wait_for_device(copy.made, *streams[copy.made.stream]);
    }
    return copy.memory.device;
  }

  void open(Stream s) override {
    refuse_in_forked_child();
    streams[s.index] = new CudaStream(s);
    ++opened;
    timeline(s.index).polled = true;
  }
  void close(Stream s) override { synchronize(s); }
  bool begin(Stream, Mode) override { return false; }
  void encode(Stream s, Task& task) override {
    refuse_in_forked_child();
    stream_of(s).encode(task);
  }
  void commit(Stream s, uint64_t last) override {
    if (in_forked_child()) {
      complete(s.index, last);  // it has failed
      return;
    }
    stream_of(s).commit(last);
  }
  void wait(Stream s, Event event) override {
    refuse_in_forked_child();
    if (CudaStream* other = streams[event.stream]) {
      stream_of(s).wait_for_device(event, *other);
    } else {
      // What the host made is uploaded at encoding, and whether it failed has to be known. No lock
      // is held: the host may itself wait for work of this stream.
      stream_of(s).close();
      wait_for(event);
    }
  }
  void synchronize(Stream s) override {
    if (!in_forked_child()) {
      stream_of(s).synchronize();
    }
  }
  void stop() override { stop_compiling(); }
  void poll(Stream s, uint64_t sequence, bool awaited) override {
    if (in_forked_child()) {
      complete(s.index, sequence);  // nobody here will; who reads the value is refused
      return;
    }
    stream_of(s).poll(sequence, awaited);
  }

  static void watch_for_forks() {
    static const int registered = pthread_atfork(nullptr, nullptr, [] {
      enter_forked_child();
      for (size_t i = 0; i < devices().size(); ++i) {
        new (&device_memory(int(i)).mutex()) std::mutex();  // who held it is gone
      }
    });
    static_cast<void>(registered);
  }

 private:
  // Uploads read host memory at once: what writes it has to be through. What that work waits for is
  // sent first.
  static void wait_for_host_work(const Buffer& buffer) {
    bool sent = false;
    for (const Event& e : buffer.pending_uses()) {
      if (streams[e.stream]) {
        continue;
      }
      if (!sent) {
        each_stream([](CudaStream& s) { s.close(); });
        sent = true;
      }
      wait_for(e);
    }
  }
  static void refuse_if_lost() {
    refuse_in_forked_child();
    each_stream([](CudaStream& s) {
      if (s.lost()) {
        fail<RuntimeError>(
            "[gpu] the device is lost to this process and with it this value; start the process "
            "again to use it");
      }
    });
  }
  template <typename F>
  static void each_stream(F f) {
    int seen = opened.load();
    for (int i = 0; i < max_streams && seen > 0; ++i) {
      if (CudaStream* s = streams[i]) {
        f(*s);
        --seen;
      }
    }
  }
};

}  // namespace

Evaluator evaluator_of(PrimitiveId id) { return native(id).evaluate; }

}  // namespace cuda

extern "C" __attribute__((visibility("default"))) Backend* mlx_gpu_plugin(uint64_t mark,
                                                                          std::string* why) {
  if (mark != plugin_mark()) {
    *why = "the GPU plugin belongs to another build of the library; reinstall mlx";
    return nullptr;
  }
  try {
    int version = 0;
    cuda::check(cudaDriverGetVersion(&version), "cudaDriverGetVersion");
    if (version < CUDART_VERSION / 1000 * 1000) {
      *why = format(
          "the NVIDIA driver is for CUDA {}.{}, older than the CUDA {} this plugin was built for",
          version / 1000, version % 1000 / 10, CUDART_VERSION / 1000);
      return nullptr;
    }
    if (cuda::devices().empty()) {
      *why = "the NVIDIA driver shows no device";
      return nullptr;
    }
    cuda::CudaBackend::watch_for_forks();
    static auto& backend = *new cuda::CudaBackend();
    return &backend;
  } catch (const std::exception& e) {
    *why = e.what();
    return nullptr;
  }
}

}  // namespace mlx::core
