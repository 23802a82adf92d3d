// C++ exceptions become Python ones, also where no nanobind dispatcher is around (type slots).
#pragma once

#include <exception>

#include "python/src/bindings.h"

namespace mlx::core {

// Sets the Python error that belongs to the exception in flight; call it inside a catch block.
void set_python_error() noexcept;

// The classes, the translator, and the interrupt check of long evaluations.
void bind_errors(nb::module_& m);

// Runs f; on an exception sets the Python error and returns `failed`.
template <typename R, typename F>
R guarded(R failed, F&& f) noexcept {
  try {
    return f();
  } catch (...) {
    set_python_error();
    return failed;
  }
}

}  // namespace mlx::core
