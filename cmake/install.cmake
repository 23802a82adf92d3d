# The C++ library for other CMake projects: `cmake --install BUILD --component cpp` gives headers,
# library and the package config behind find_package(MLX), whose target is MLX::mlx.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(MLX_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/MLX)
install(TARGETS mlx EXPORT MLXTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cpp)
install(EXPORT MLXTargets NAMESPACE MLX:: DESTINATION ${MLX_PACKAGE_DIR} COMPONENT cpp)
install(
  DIRECTORY ${PROJECT_SOURCE_DIR}/mlx
  DESTINATION include
  COMPONENT cpp
  FILES_MATCHING
  PATTERN "*.h"
  PATTERN "*.def"
)
if(MLXBlas_LIBRARY)
  set(MLX_BLAS_FILE libscipy_openblas.so)
  install(FILES ${MLXBlas_LIBRARY} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cpp)
endif()
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/MLXConfig.cmake.in
  ${PROJECT_BINARY_DIR}/MLXConfig.cmake
  INSTALL_DESTINATION ${MLX_PACKAGE_DIR}
)
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/MLXConfigVersion.cmake
  COMPATIBILITY SameMinorVersion
)
install(
  FILES ${PROJECT_BINARY_DIR}/MLXConfig.cmake ${PROJECT_BINARY_DIR}/MLXConfigVersion.cmake
  DESTINATION ${MLX_PACKAGE_DIR}
  COMPONENT cpp
)
