// fail<Error>("[op] …{}…", …): the one way to refuse something, and the exception classes it
// throws.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include "mlx/api.h"
#include "mlx/dtype.h"

namespace mlx::core {

// Base of everything the library throws; the Python class of the same name is raised.
struct MLX_API Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct MLX_API ValueError : Error {
  using Error::Error;
};
struct MLX_API TypeError : Error {
  using Error::Error;
};
struct MLX_API IndexError : Error {
  using Error::Error;
};
// An axis outside [-ndim, ndim): both a ValueError and an IndexError in Python.
struct MLX_API AxisError : Error {
  using Error::Error;
};
struct MLX_API OverflowError : Error {
  using Error::Error;
};
// Memory could not be had even after caches were dropped.
struct MLX_API MemoryError : Error {
  using Error::Error;
};
// A fault found while evaluating.
struct MLX_API RuntimeError : Error {
  using Error::Error;
};

namespace detail {

MLX_API std::string to_text(std::string_view s);
MLX_API std::string to_text(int64_t v);
MLX_API std::string to_text(uint64_t v);
MLX_API std::string to_text(double v);
MLX_API std::string to_text(std::span<const int64_t> shape);  // "(2, 3)"
inline std::string to_text(Dtype t) { return to_text(t.name()); }

// Values that convert to text; a range of int64 prints as a shape.
template <typename T>
std::string text(const T& v) {
  if constexpr (std::is_same_v<T, bool>) {
    return to_text(std::string_view(v ? "True" : "False"));
  } else if constexpr (std::is_floating_point_v<T>) {
    return to_text(double(v));
  } else if constexpr (std::is_unsigned_v<T>) {
    return to_text(uint64_t(v));
  } else if constexpr (std::is_integral_v<T>) {
    return to_text(int64_t(v));
  } else if constexpr (std::is_convertible_v<T, std::string_view>) {
    return to_text(std::string_view(v));
  } else if constexpr (std::is_convertible_v<T, std::span<const int64_t>>) {
    return to_text(std::span<const int64_t>(v));
  } else {
    return to_text(v);
  }
}

MLX_API std::string fill(std::string_view pattern, std::span<const std::string> values);

}  // namespace detail

// Replaces each {} of the pattern by the next value.
template <typename... Args>
std::string format(std::string_view pattern, const Args&... args) {
  const std::string values[sizeof...(Args) + 1] = {detail::text(args)...};
  return detail::fill(pattern, std::span(values, sizeof...(Args)));
}

template <typename E, typename... Args>
[[noreturn, gnu::cold, gnu::noinline]] void fail(std::string_view pattern, const Args&... args) {
  throw E(format(pattern, args...));
}

}  // namespace mlx::core

// A condition that only a fault of our own can break.
#ifdef NDEBUG
#define MLX_ASSERT(condition) ((void)0)
#else
#define MLX_ASSERT(condition)                                                               \
  ((condition) ? (void)0                                                                    \
               : ::mlx::core::fail<::mlx::core::RuntimeError>("internal fault: {} ({}:{})", \
                                                              #condition, __FILE__, __LINE__))
#endif
