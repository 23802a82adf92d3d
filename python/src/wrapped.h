// Callables that transform a Python function: they keep it and pass attribute access on to it.
#pragma once

#include <functional>

#include "python/src/bindings.h"

namespace mlx::core {

using WrappedCall = std::function<nb::object(nb::handle fun, nb::args args, nb::kwargs kwargs)>;

// A callable object that runs call(fun, args, kwargs). Cycles through `fun` are collected.
nb::object wrap_function(nb::callable fun, WrappedCall call);

void bind_wrapped(nb::module_& m);

}  // namespace mlx::core
