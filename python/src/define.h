// define(m, "sum", function, …): m.def() of a function whose errors name it, whichever of the ops
// that it is made of raised them.
#pragma once

#include <nanobind/nanobind.h>

#include <utility>

namespace mlx::core {

// Throws the exception being handled once more; one of the library's own whose text does not hold
// the name is thrown as "[name] inner op: text".
[[noreturn]] void rethrow_naming(const char* name);

// The text for as long as the process runs.
const char* interned(const char* name);

namespace detail {

template <typename F, typename C, typename R, typename... A>
auto naming(const char* name, F f, R (C::*)(A...) const) {
  return [name, f = std::move(f)](A... arguments) -> R {
    try {
      return f(std::forward<A>(arguments)...);
    } catch (...) {
      rethrow_naming(name);
    }
  };
}

template <typename R, typename... A>
auto naming(const char* name, R (*f)(A...)) {
  auto call = [f](A... arguments) -> R { return f(std::forward<A>(arguments)...); };
  return naming(name, call, &decltype(call)::operator());
}

template <typename F>
  requires requires { &F::operator(); }
auto naming(const char* name, F f) {
  return naming(name, std::move(f), &F::operator());
}

}  // namespace detail

template <typename F, typename... Extra>
void define(nanobind::module_& m, const char* name, F f, const Extra&... extra) {
  m.def(name, detail::naming(interned(name), std::move(f)), extra...);
}

}  // namespace mlx::core
