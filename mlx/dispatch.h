// THE switch from a Dtype to its C++ type; every kernel's dtype choice goes through here.
#pragma once

#include <utility>

#include "mlx/dtype.h"
#include "mlx/error.h"

namespace mlx::core {

// Type sets an op may accept.
struct AllTypes {
  static constexpr bool has(Dtype) { return true; }
  static constexpr const char* text = "any dtype";
};
struct RealTypes {
  static constexpr bool has(Dtype t) { return !t.is_complex(); }
  static constexpr const char* text = "a real dtype";
};
struct FloatTypes {
  static constexpr bool has(Dtype t) { return t.is_floating(); }
  static constexpr const char* text = "a floating dtype";
};
struct InexactTypes {
  static constexpr bool has(Dtype t) { return t.is_inexact(); }
  static constexpr const char* text = "a floating or complex dtype";
};
struct IntegerTypes {
  static constexpr bool has(Dtype t) { return t.is_integer(); }
  static constexpr const char* text = "an integer dtype";
};

// Calls f.template operator()<T>() with the C++ type of `t`; types outside the set are never
// instantiated.
template <typename Set, typename F>
decltype(auto) dispatch(Set, Dtype t, std::string_view op, F&& f) {
  switch (t.id) {
#define DTYPE(Name, constant, text, Type, ...)               \
  case Dtype::Id::Name:                                      \
    if constexpr (Set::has(constant)) {                      \
      return std::forward<F>(f).template operator()<Type>(); \
    } else {                                                 \
      break;                                                 \
    }
#include "mlx/dtypes.def"
#undef DTYPE
  }
  if (t.index() >= dtype_count) {
    __builtin_unreachable();
  }
  fail<ValueError>("[{}] expected {}, got {}", op, Set::text, t.name());
}

// Same by element size only, for code that moves bits: T is uint8_t … uint64_t.
template <typename F>
decltype(auto) dispatch_size(int64_t itemsize, F&& f) {
  switch (itemsize) {
    case 1:
      return std::forward<F>(f).template operator()<uint8_t>();
    case 2:
      return std::forward<F>(f).template operator()<uint16_t>();
    case 4:
      return std::forward<F>(f).template operator()<uint32_t>();
    default:
      return std::forward<F>(f).template operator()<uint64_t>();
  }
}

}  // namespace mlx::core
