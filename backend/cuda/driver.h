// The functions of the driver that are used, taken from it at run time: the plugin links no
// libcuda.
#pragma once

#include <cuda.h>

namespace mlx::core::cuda {

struct Driver {
  CUresult (*get_error_name)(CUresult, const char**);
  CUresult (*get_error_string)(CUresult, const char**);
  CUresult (*launch_kernel)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                            unsigned, CUstream, void**, void**);
  CUresult (*func_set_attribute)(CUfunction, CUfunction_attribute, int);
  CUresult (*module_load_data)(CUmodule*, const void*);
  CUresult (*module_get_function)(CUfunction*, CUmodule, const char*);
  CUresult (*graph_create)(CUgraph*, unsigned);
  CUresult (*graph_destroy)(CUgraph);
  CUresult (*graph_add_kernel_node)(CUgraphNode*, CUgraph, const CUgraphNode*, size_t,
                                    const CUDA_KERNEL_NODE_PARAMS*);
  CUresult (*graph_instantiate)(CUgraphExec*, CUgraph, unsigned long long);
  CUresult (*graph_exec_destroy)(CUgraphExec);
  CUresult (*graph_exec_kernel_node_set_params)(CUgraphExec, CUgraphNode,
                                                const CUDA_KERNEL_NODE_PARAMS*);
  CUresult (*graph_launch)(CUgraphExec, CUstream);
};

// RuntimeError if the driver lacks one of them: it is too old.
const Driver& driver();

}  // namespace mlx::core::cuda
