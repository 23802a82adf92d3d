// The slots and state functions that the class mx.array takes from interop.cpp.
#pragma once

#include "python/src/bindings.h"

namespace mlx::core {

int get_buffer(PyObject* self, Py_buffer* view, int flags);
void release_buffer(PyObject* self, Py_buffer* view);

}  // namespace mlx::core
