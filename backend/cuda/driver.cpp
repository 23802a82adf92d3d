// Looking up the functions of the driver, each in the version that its type here describes.
#include "backend/cuda/driver.h"

#include <cuda_runtime_api.h>

#include "mlx/error.h"

namespace mlx::core::cuda {

namespace {

template <typename F>
void find(F& f, const char* name, unsigned version) {
  void* address = nullptr;
  cudaDriverEntryPointQueryResult found{};
  cudaError_t error =
      cudaGetDriverEntryPointByVersion(name, &address, version, cudaEnableDefault, &found);
  if (error != cudaSuccess || found != cudaDriverEntryPointSuccess || !address) {
    fail<RuntimeError>("[gpu] the NVIDIA driver lacks {}: a driver for CUDA 12 or newer is needed",
                       name);
  }
  f = reinterpret_cast<F>(address);
}

Driver load() {
  Driver d{};
  find(d.get_error_name, "cuGetErrorName", 6000);
  find(d.get_error_string, "cuGetErrorString", 6000);
  find(d.launch_kernel, "cuLaunchKernel", 4000);
  find(d.func_set_attribute, "cuFuncSetAttribute", 9000);
  find(d.module_load_data, "cuModuleLoadData", 2000);
  find(d.module_get_function, "cuModuleGetFunction", 2000);
  find(d.graph_create, "cuGraphCreate", 10000);
  find(d.graph_destroy, "cuGraphDestroy", 10000);
  find(d.graph_add_kernel_node, "cuGraphAddKernelNode", 12000);
  find(d.graph_instantiate, "cuGraphInstantiateWithFlags", 11040);
  find(d.graph_exec_destroy, "cuGraphExecDestroy", 10000);
  find(d.graph_exec_kernel_node_set_params, "cuGraphExecKernelNodeSetParams", 12000);
  find(d.graph_launch, "cuGraphLaunch", 10000);
  return d;
}

}  // namespace

const Driver& driver() {
  static const Driver d = load();
  return d;
}

}  // namespace mlx::core::cuda
