// Callables that transform a Python function: they keep it and pass attribute access on to it.
#pragma once

#include <concepts>
#include <memory>
#include <utility>

#include "python/src/bindings.h"

namespace mlx::core {

// What a transformed function does when it is called.
class WrappedCall {
 public:
  virtual ~WrappedCall() = default;
  virtual nb::object call(nb::handle fun, nb::args args, nb::kwargs kwargs) = 0;
  // Python objects that it keeps are shown to the garbage collector, and let go when it asks.
  virtual int traverse(visitproc, void*) const { return 0; }
  virtual void clear() {}
};

// A callable object that runs call->call(fun, args, kwargs). Cycles through `fun` are collected.
nb::object wrap_function(nb::callable fun, std::shared_ptr<WrappedCall> call);

// The same for a function that keeps no Python objects that could be part of a cycle.
template <std::invocable<nb::handle, nb::args, nb::kwargs> F>
nb::object wrap_function(nb::callable fun, F f) {
  struct Call final : WrappedCall {
    explicit Call(F f) : f_(std::move(f)) {}
    nb::object call(nb::handle fun, nb::args args, nb::kwargs kwargs) override {
      return f_(fun, std::move(args), std::move(kwargs));
    }
    F f_;
  };
  return wrap_function(std::move(fun), std::make_shared<Call>(std::move(f)));
}

void bind_wrapped(nb::module_& m);

}  // namespace mlx::core
