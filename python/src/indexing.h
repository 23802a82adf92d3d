// x[…] and x[…] = v.
#pragma once

#include "mlx/ops/index/index.h"
#include "python/src/bindings.h"

namespace mlx::core {

array get_item(const array& a, nb::handle key);
// `a` with the elements that the key selects replaced by `value`.
array set_item(const array& a, nb::handle key, nb::handle value);
// The same with the elements combined with a value of the dtype of `a`.
array write_item(ScatterMode mode, const array& a, nb::handle key, const array& value);

// Slots of the class mx.array: __getitem__ and __setitem__.
PyObject* array_subscript(PyObject* self, PyObject* key);
int array_assign_subscript(PyObject* self, PyObject* key, PyObject* value);

}  // namespace mlx::core
