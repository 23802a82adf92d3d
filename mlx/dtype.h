// Dtype: the element type of an array, its categories and the promotion rules.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "mlx/api.h"
#include "mlx/types.h"

namespace mlx::core {

enum class DtypeKind : uint8_t {
  boolean,
  unsigned_integer,
  signed_integer,
  floating,
  complex_floating
};

// Categories as issubdtype() sees them.
enum class DtypeCategory : uint8_t {
  complexfloating,
  floating,
  inexact,
  signedinteger,
  unsignedinteger,
  integer,
  number,
  generic
};

struct DtypeInfo {
  std::string_view name;
  uint8_t size;
  DtypeKind kind;
};

struct Dtype {
  enum class Id : uint8_t {
#define DTYPE(Name, ...) Name,
#include "mlx/dtypes.def"
#undef DTYPE
  };
  Id id;

  constexpr Dtype(Id i) : id(i) {}  // NOLINT: a Dtype is its enumerator
  constexpr bool operator==(const Dtype&) const = default;
  constexpr int index() const { return int(id); }
  constexpr int64_t size() const;
  constexpr DtypeKind kind() const;
  constexpr std::string_view name() const;

  constexpr bool is_bool() const { return kind() == DtypeKind::boolean; }
  constexpr bool is_integer() const {
    return kind() == DtypeKind::unsigned_integer || kind() == DtypeKind::signed_integer;
  }
  constexpr bool is_signed() const { return kind() == DtypeKind::signed_integer; }
  constexpr bool is_floating() const { return kind() == DtypeKind::floating; }
  constexpr bool is_complex() const { return kind() == DtypeKind::complex_floating; }
  constexpr bool is_inexact() const { return is_floating() || is_complex(); }
  constexpr bool is_half() const { return is_floating() && size() == 2; }
};

inline constexpr DtypeInfo dtype_table[] = {
#define DTYPE(Name, constant, text, Type, kind) {text, sizeof(Type), DtypeKind::kind},
#include "mlx/dtypes.def"
#undef DTYPE
};
inline constexpr int dtype_count = int(sizeof(dtype_table) / sizeof(dtype_table[0]));

constexpr int64_t Dtype::size() const { return dtype_table[index()].size; }
constexpr DtypeKind Dtype::kind() const { return dtype_table[index()].kind; }
constexpr std::string_view Dtype::name() const { return dtype_table[index()].name; }

#define DTYPE(Name, constant, ...) inline constexpr Dtype constant{Dtype::Id::Name};
#include "mlx/dtypes.def"
#undef DTYPE

// The dtype of a C++ element type: dtype_of<float> == float32.
template <typename T>
inline constexpr Dtype dtype_of = Dtype::Id(-1);
#define DTYPE(Name, constant, text, Type, ...) \
  template <>                                  \
  inline constexpr Dtype dtype_of<Type> = constant;
#include "mlx/dtypes.def"
#undef DTYPE

// The dtype in which two arrays meet in a binary op.
MLX_API Dtype promote_types(Dtype a, Dtype b);

// `t` if it is inexact, else float32.
MLX_API Dtype at_least_float(Dtype t);

MLX_API bool is_subtype(Dtype a, DtypeCategory b);
MLX_API bool is_subtype(DtypeCategory a, DtypeCategory b);

}  // namespace mlx::core
