# NVIDIA's libraries for linking and their headers, as SHARED IMPORTED targets MLXCuda::<name>. They
# come from the pip packages of the build's Python (nvidia-*), which hold libX.so.N and no libX.so,
# or from the toolkit. MLX_CUDA_LIBS_ROOT is searched first.
execute_process(
  COMMAND
    ${Python_EXECUTABLE} -c
    "import importlib.util as u; s=u.find_spec('nvidia'); print(';'.join(s.submodule_search_locations) if s else '')"
  OUTPUT_STRIP_TRAILING_WHITESPACE
  OUTPUT_VARIABLE MLXCuda_pip
  ERROR_QUIET
)
set(MLXCuda_roots ${MLX_CUDA_LIBS_ROOT})
foreach(root IN LISTS MLXCuda_pip)
  file(GLOB folders LIST_DIRECTORIES true ${root}/*)
  list(APPEND MLXCuda_roots ${folders})
endforeach()
list(APPEND MLXCuda_roots ${CUDAToolkit_ROOT} /usr/local/cuda /usr)

function(mlx_cuda_library name header)
  find_path(
    MLXCuda_${name}_include
    ${header}
    PATHS ${MLXCuda_roots}
    PATH_SUFFIXES include
    NO_DEFAULT_PATH
    REQUIRED
  )
  foreach(root IN LISTS MLXCuda_roots)
    file(
      GLOB found
      ${root}/lib/lib${name}.so
      ${root}/lib/lib${name}.so.[0-9]*
      ${root}/lib64/lib${name}.so
      ${root}/lib/*-linux-gnu/lib${name}.so*
    )
    if(found)
      list(GET found 0 file)
      add_library(MLXCuda::${name} SHARED IMPORTED GLOBAL)
      set_target_properties(
        MLXCuda::${name}
        PROPERTIES
          IMPORTED_LOCATION ${file}
          INTERFACE_INCLUDE_DIRECTORIES ${MLXCuda_${name}_include}
      )
      return()
    endif()
  endforeach()
  message(
    FATAL_ERROR
    "lib${name} was not found: pip install the nvidia-* packages of pyproject.toml"
  )
endfunction()

mlx_cuda_library(cublasLt cublasLt.h)
# NVRTC is opened when it is first needed; only its header is used here.
find_path(
  MLXCuda_nvrtc_include
  nvrtc.h
  PATHS ${MLXCuda_roots}
  PATH_SUFFIXES include
  NO_DEFAULT_PATH
  REQUIRED
)
set(MLXCuda_FOUND TRUE)
