# Finds the CPU BLAS/LAPACK: Accelerate on macOS, else the scipy-openblas32 package of the build
# interpreter, else the system's openblas. Gives MLXBlas::blas, and MLXBlas_LIBRARY where the
# library has to travel with ours.
add_library(MLXBlas::blas INTERFACE IMPORTED)
if(APPLE)
  find_library(accelerate Accelerate REQUIRED)
  target_link_libraries(MLXBlas::blas INTERFACE ${accelerate})
  target_compile_definitions(MLXBlas::blas INTERFACE MLX_BLAS_ACCELERATE ACCELERATE_NEW_LAPACK)
else()
  execute_process(
    COMMAND
      ${Python_EXECUTABLE} -c
      "import scipy_openblas32 as s; print(s.get_include_dir()+';'+s.get_lib_dir())"
    OUTPUT_VARIABLE found
    OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_QUIET
    RESULT_VARIABLE rc
  )
  if(rc EQUAL 0)
    list(GET found 0 include_dir)
    list(GET found 1 library_dir)
    find_library(MLXBlas_LIBRARY NAMES scipy_openblas PATHS ${library_dir} NO_DEFAULT_PATH REQUIRED)
    # An imported library and not a bare path, so that executables find it at link time.
    add_library(MLXBlas::openblas SHARED IMPORTED)
    set_target_properties(MLXBlas::openblas PROPERTIES IMPORTED_LOCATION ${MLXBlas_LIBRARY})
    target_link_libraries(MLXBlas::blas INTERFACE MLXBlas::openblas)
    target_include_directories(MLXBlas::blas INTERFACE ${include_dir})
    target_compile_definitions(MLXBlas::blas INTERFACE BLAS_SYMBOL_PREFIX=scipy_)
  else()
    find_package(PkgConfig REQUIRED)
    pkg_check_modules(OPENBLAS REQUIRED IMPORTED_TARGET openblas)
    target_link_libraries(MLXBlas::blas INTERFACE PkgConfig::OPENBLAS)
  endif()
endif()
set(MLXBlas_FOUND TRUE)
