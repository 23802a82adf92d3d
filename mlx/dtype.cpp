// Promotion and category tests of dtypes.
#include "mlx/dtype.h"

#include <algorithm>

namespace mlx::core {

namespace {

// Signed integer that holds both an unsigned and a signed type; float32 where none does.
Dtype promote_mixed_sign(Dtype u, Dtype s) {
  switch (u.size()) {
    case 1:
      return s.size() == 1 ? int16 : s;
    case 2:
      return s.size() <= 2 ? int32 : s;
    case 4:
      return int64;
    default:
      return float32;
  }
}

Dtype promote_floating(Dtype a, Dtype b) {
  if (a == b) {
    return a;
  }
  return a == float64 || b == float64 ? float64 : float32;
}

}  // namespace

Dtype promote_types(Dtype a, Dtype b) {
  if (a == b) {
    return a;
  }
  if (a.is_complex() || b.is_complex()) {
    return complex64;
  }
  if (a.is_floating() && b.is_floating()) {
    return promote_floating(a, b);
  }
  if (a.is_floating() || b.is_bool()) {
    return a;
  }
  if (b.is_floating() || a.is_bool()) {
    return b;
  }
  if (a.kind() == b.kind()) {
    return a.size() >= b.size() ? a : b;
  }
  return a.is_signed() ? promote_mixed_sign(b, a) : promote_mixed_sign(a, b);
}

Dtype at_least_float(Dtype t) { return t.is_inexact() ? t : float32; }

bool is_subtype(DtypeCategory a, DtypeCategory b) {
  using C = DtypeCategory;
  auto parent = [](C c) {
    switch (c) {
      case C::complexfloating:
      case C::floating:
        return C::inexact;
      case C::signedinteger:
      case C::unsignedinteger:
        return C::integer;
      case C::inexact:
      case C::integer:
        return C::number;
      case C::number:
      case C::generic:
        return C::generic;
    }
    return C::generic;
  };
  for (;; a = parent(a)) {
    if (a == b) {
      return true;
    }
    if (a == C::generic) {
      return false;
    }
  }
}

bool is_subtype(Dtype a, DtypeCategory b) {
  using C = DtypeCategory;
  switch (a.kind()) {
    case DtypeKind::boolean:
      return b == C::generic;
    case DtypeKind::unsigned_integer:
      return is_subtype(C::unsignedinteger, b);
    case DtypeKind::signed_integer:
      return is_subtype(C::signedinteger, b);
    case DtypeKind::floating:
      return is_subtype(C::floating, b);
    case DtypeKind::complex_floating:
      return is_subtype(C::complexfloating, b);
  }
  return false;
}

}  // namespace mlx::core
