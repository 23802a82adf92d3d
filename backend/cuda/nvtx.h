// Named ranges for profilers that listen to NVTX: one around the encoding of every task. With
// MLX_PROFILE a task's kernels are launched within its range; else they may follow later, together.
#pragma once

#include "mlx/backend.h"

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>

#include <string>

namespace mlx::core::cuda {

class NvtxRange {
 public:
  explicit NvtxRange(const Task& task) {
    if (domain()) [[unlikely]] {
      std::string name(task.primitive->name());
      nvtxEventAttributes_t event{};
      event.version = NVTX_VERSION;
      event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
      event.messageType = NVTX_MESSAGE_TYPE_ASCII;
      event.message.ascii = name.c_str();
      nvtxDomainRangePushEx(domain(), &event);
    }
  }
  ~NvtxRange() {
    if (domain()) [[unlikely]] {
      nvtxDomainRangePop(domain());
    }
  }
  NvtxRange(const NvtxRange&) = delete;

 private:
  // Null where no profiler is attached.
  static nvtxDomainHandle_t domain() {
    static const nvtxDomainHandle_t d = nvtxDomainCreateA("mlx");
    return d;
  }
};

}  // namespace mlx::core::cuda
#else
namespace mlx::core::cuda {

struct NvtxRange {
  explicit NvtxRange(const Task&) {}
};

}  // namespace mlx::core::cuda
#endif
