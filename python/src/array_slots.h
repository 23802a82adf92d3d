// Between the files of the class mx.array: its slots, fast access, and values as Python objects.
#pragma once

#include <vector>

#include "python/src/bindings.h"

namespace mlx::core {

// The value of an object that is an array, for slots; throws if __init__ did not run.
array& self_array(nb::handle self);

// A new reference to a new mx.array object; throws if there is no memory for it.
PyObject* new_array(array a);

void append_operator_slots(std::vector<PyType_Slot>& slots);

// The value of a one-element array as bool, int, float or complex.
nb::object python_scalar(const array& a);
nb::object python_list(const array& a);

// print.cpp
std::string array_text(const array& a);

}  // namespace mlx::core
