# Writes a C++ file that holds the texts of FILES (relative to ROOT), each under its name:
# cmake -DROOT=… -DFILES=a;b -DOUTPUT=….cpp -P embed_text.cmake
set(
  body
  "// Written by cmake/embed_text.cmake.\n#include \"backend/cuda/jit/kernel_headers.h\"\n\n"
)
string(APPEND body "namespace mlx::core::cuda {\n\nstatic const KernelHeader headers[] = {\n")
foreach(name IN LISTS FILES)
  file(READ "${ROOT}/${name}" text)
  string(APPEND body "    {\"${name}\", R\"TEXT(${text})TEXT\"},\n")
endforeach()
string(APPEND body "};\n\nstd::span<const KernelHeader> kernel_headers() { return headers; }\n\n")
string(APPEND body "}  // namespace mlx::core::cuda\n")
file(WRITE "${OUTPUT}" "${body}")
