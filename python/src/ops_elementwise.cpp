// The elementwise functions: one binding a row of the table, the irregular ones by hand.
#include "mlx/ops/elementwise/compose.h"
#include "mlx/ops/elementwise/elementwise.h"
#include "python/src/convert.h"

namespace mlx::core {

namespace {

constexpr const char* stream_signature =
    "stream: Stream | ThreadLocalStream | Device | DeviceType | None = None";
constexpr const char* operand_signature = "bool | int | float | complex | array | ArrayLike";

std::string document(const EwInfo& row) {
  std::string text(row.doc);
  text += "\n\nArgs:\n    a: input array or scalar.\n";
  if (row.arity == 2) {
    text += "    b: input array or scalar; broadcasts with ``a``.\n";
  }
  switch (row.result) {
    case EwResult::same:
      text += "\nThe result has the dtype of the input (two inputs: the one they promote to).\n";
      break;
    case EwResult::floating:
      text += "\nThe result is floating or complex: integers and bools become float32.\n";
      break;
    case EwResult::boolean:
      text += "\nThe result is bool.\n";
      break;
    case EwResult::magnitude:
      text += "\nThe result has the dtype of the input, float32 for complex64.\n";
      break;
    case EwResult::shift:
      text += "\nThe result has the dtype the inputs promote to, uint8 for two bools.\n";
      break;
  }
  switch (row.accepts) {
    case EwAccepts::any:
      break;
    case EwAccepts::real:
      text += "\nRaises:\n    ValueError: the input is complex.\n";
      break;
    case EwAccepts::integral:
      text += row.arity == 1 ? "\nRaises:\n    ValueError: the input is not an integer or bool.\n"
                             : "\nRaises:\n    RuntimeError: an input is not an integer or bool.\n";
      break;
    case EwAccepts::number:
      text += "\nRaises:\n    ValueError: the input is bool.\n";
      break;
  }
  return text + "\nExample:\n    >>> " + std::string(row.example);
}

void bind_unary(nb::module_& m, EwOp op) {
  const EwInfo& row = info(op);
  std::string name(row.python_name), doc = document(row);
  std::string signature =
      format("def {}(a: {}, /, *, {}) -> array", name, operand_signature, stream_signature);
  define(
      m, name.c_str(),
      [op](const ArrayArg& a, const StreamArg& s) { return elementwise(op, {to_array(a)}, s); },
      nb::arg(), nb::kw_only(), "stream"_a = nb::none(), nb::sig(signature.c_str()), doc.c_str());
  if (row.binding == EwBinding::method) {
    signature = format("def {}(self, *, {}) -> array", name, stream_signature);
    doc = format("See :func:`mlx.core.{}`.", name);
    array_class().def(
        name.c_str(), [op](const array& a, const StreamArg& s) { return elementwise(op, {a}, s); },
        nb::kw_only(), "stream"_a = nb::none(), nb::sig(signature.c_str()), doc.c_str());
  }
}

void bind_binary(nb::module_& m, EwOp op) {
  const EwInfo& row = info(op);
  std::string name(row.python_name), doc = document(row);
  std::string signature = format("def {}(a: {}, b: {}, /, *, {}) -> array", name, operand_signature,
                                 operand_signature, stream_signature);
  define(
      m, name.c_str(),
      [op](const ArrayArg& a, const ArrayArg& b, const StreamArg& s) {
        auto [x, y] = to_arrays(a, b);
        return elementwise(op, {x, y}, s);
      },
      nb::arg(), nb::arg(), nb::kw_only(), "stream"_a = nb::none(), nb::sig(signature.c_str()),
      doc.c_str());
}

void bind_table(nb::module_& m) {
  for (int i = 0; i < ew_op_count; ++i) {
    const EwInfo& row = ew_table[i];
    if (row.binding == EwBinding::internal) {
      continue;
    }
    if (row.arity == 1) {
      bind_unary(m, EwOp(i));
    } else {
      bind_binary(m, EwOp(i));
    }
  }
}

void bind_aliases(nb::module_& m) {
  static constexpr std::pair<const char*, const char*> aliases[] = {
      {"acos", "arccos"},
      {"acosh", "arccosh"},
      {"asin", "arcsin"},
      {"asinh", "arcsinh"},
      {"atan", "arctan"},
      {"atanh", "arctanh"},
      {"atan2", "arctan2"},
      {"pow", "power"},
      {"conj", "conjugate"},
      {"bitwise_left_shift", "left_shift"},
      {"bitwise_right_shift", "right_shift"}};
  for (auto [alias, name] : aliases) {
    m.attr(alias) = m.attr(name);
  }
}

void bind_methods() {
  array_class()
      .def(
          "conj", [](const array& a, const StreamArg& s) { return conjugate(a, s); }, nb::kw_only(),
          "stream"_a = nb::none(), "See :func:`mlx.core.conjugate`.")
      .def(
          "round",
          [](const array& a, int decimals, const StreamArg& s) { return round(a, decimals, s); },
          "decimals"_a = 0, nb::kw_only(), "stream"_a = nb::none(), "See :func:`mlx.core.round`.")
      .def(
          "astype", [](const array& a, Dtype t, const StreamArg& s) { return astype(a, t, s); },
          "dtype"_a, "stream"_a = nb::none(), "See :func:`mlx.core.astype`.");
}

void bind_comparisons(nb::module_& m) {
  define(
      m, "isclose",
      [](const array& a, const array& b, double rtol, double atol, bool equal_nan,
         const StreamArg& s) { return isclose(a, b, rtol, atol, equal_nan, s); },
      nb::arg(), nb::arg(), "rtol"_a = 1e-5, "atol"_a = 1e-8, nb::kw_only(), "equal_nan"_a = false,
      "stream"_a = nb::none(),
      "Element-wise ``|a - b| <= atol + rtol * |b|``; equal infinities are close, NaN to NaN only\n"
      "with ``equal_nan``. The result is bool.\n\n"
      "Example:\n    >>> mx.isclose(mx.array([1.0, 2.0]), mx.array([1.0, 2.1]))\n"
      "    array([True, False], dtype=bool)");
  define(
      m, "allclose",
      [](const array& a, const array& b, double rtol, double atol, bool equal_nan,
         const StreamArg& s) { return allclose(a, b, rtol, atol, equal_nan, s); },
      nb::arg(), nb::arg(), "rtol"_a = 1e-5, "atol"_a = 1e-8, nb::kw_only(), "equal_nan"_a = false,
      "stream"_a = nb::none(),
      "Are all elements close in the sense of :func:`isclose`? A bool array with 0 dimensions.\n\n"
      "Example:\n    >>> mx.allclose(mx.array([1.0]), mx.array([1.0 + 1e-7]))\n"
      "    array(True, dtype=bool)");
  define(
      m, "array_equal",
      [](const ArrayArg& a, const ArrayArg& b, bool equal_nan, const StreamArg& s) {
        auto [x, y] = to_arrays(a, b);
        return array_equal(x, y, equal_nan, s);
      },
      nb::arg(), nb::arg(), nb::kw_only(), "equal_nan"_a = false, "stream"_a = nb::none(),
      "Do both have the same shape and, after promotion, the same values? A bool array with 0\n"
      "dimensions.\n\nExample:\n    >>> mx.array_equal(mx.array([1, 2]), mx.array([1.0, 2.0]))\n"
      "    array(True, dtype=bool)");
  define(
      m, "logical_xor",
      [](const ArrayArg& a, const ArrayArg& b, const StreamArg& s) {
        auto [x, y] = to_arrays(a, b);
        return logical_xor(x, y, s);
      },
      nb::arg(), nb::arg(), nb::kw_only(), "stream"_a = nb::none(),
      "Element-wise logical exclusive or. The result is bool.\n\n"
      "Example:\n    >>> mx.logical_xor(mx.array([True, False]), True)\n"
      "    array([False, True], dtype=bool)");
}

std::optional<array> bound(const std::optional<ArrayArg>& b, const array& a) {
  return b ? std::optional(to_array(*b, a.dtype())) : std::nullopt;
}

void bind_irregular(nb::module_& m) {
  define(
      m, "where",
      [](const ArrayArg& condition, const ArrayArg& x, const ArrayArg& y, const StreamArg& s) {
        auto [a, b] = to_arrays(x, y);
        return where(to_array(condition), a, b, s);
      },
      nb::arg(), nb::arg(), nb::arg(), nb::kw_only(), "stream"_a = nb::none(),
      "Elements of the second argument where the first one is true (NaN is), else of the third.\n\n"
      "All three broadcast; the result has the dtype the last two promote to.\n\n"
      "Example:\n    >>> mx.where(mx.array([True, False]), 1, 2)\n    array([1, 2], dtype=int32)");
  define(
      m, "clip",
      [](const ArrayArg& a, const std::optional<ArrayArg>& low, const std::optional<ArrayArg>& high,
         const StreamArg& s) {
        array x = to_array(a);
        return clip(x, bound(low, x), bound(high, x), s);
      },
      nb::arg(), "a_min"_a.none(), "a_max"_a.none(), nb::kw_only(), "stream"_a = nb::none(),
      "Values below ``a_min`` or above ``a_max`` become the bound; NaN stays.\n\n"
      "Bounds broadcast with ``a`` and promote with it; one of them may be ``None``.\n\n"
      "Raises:\n    ValueError: both bounds are ``None``.\n\n"
      "Example:\n    >>> mx.clip(mx.array([1, 5, 9]), 2, 8)\n    array([2, 5, 8], dtype=int32)");
  define(
      m, "round",
      [](const ArrayArg& a, int decimals, const StreamArg& s) {
        return round(to_array(a), decimals, s);
      },
      nb::arg(), "decimals"_a = 0, nb::kw_only(), "stream"_a = nb::none(),
      "Round to a number of decimals, ties to even; the dtype stays.\n\n"
      "Example:\n    >>> mx.round(mx.array([0.5, 1.5, 2.5]))\n    array([0, 2, 2], dtype=float32)");
  define(
      m, "divmod",
      [](const ArrayArg& a, const ArrayArg& b, const StreamArg& s) {
        auto [x, y] = to_arrays(a, b);
        return divmod(x, y, s);
      },
      nb::arg(), nb::arg(), nb::kw_only(), "stream"_a = nb::none(),
      "Quotient rounded towards minus infinity, and remainder, as a list of two arrays.\n\n"
      "Example:\n    >>> mx.divmod(mx.array(7), 3)\n"
      "    [array(2, dtype=int32), array(1, dtype=int32)]");
  define(
      m, "nan_to_num",
      [](const ArrayArg& a, double nan, std::optional<double> posinf, std::optional<double> neginf,
         const StreamArg& s) { return nan_to_num(to_array(a), nan, posinf, neginf, s); },
      nb::arg(), "nan"_a = 0.0, "posinf"_a = nb::none(), "neginf"_a = nb::none(), nb::kw_only(),
      "stream"_a = nb::none(),
      "Replace NaN and infinities by numbers; infinities by default by the largest finite ones.\n\n"
      "Raises:\n    ValueError: the input is float64 or complex.");
  define(
      m, "astype",
      [](const array& a, Dtype dtype, const StreamArg& s) { return astype(a, dtype, s); },
      nb::arg(), "dtype"_a, nb::kw_only(), "stream"_a = nb::none(),
      "Convert to another dtype. Floats are cut towards zero, saturate at the range of an integer\n"
      "dtype, and NaN gives 0; integers wrap; complex numbers lose the imaginary part.\n\n"
      "Example:\n    >>> mx.astype(mx.array([1.7, -1.7]), mx.int32)\n"
      "    array([1, -1], dtype=int32)");
  define(
      m, "positive", [](const ArrayArg& a, const StreamArg&) { return to_array(a); }, nb::arg(),
      nb::kw_only(), "stream"_a = nb::none(), "The array itself, as unary plus gives it.");
}

}  // namespace

void bind_elementwise(nb::module_& m) {
  bind_table(m);
  bind_aliases(m);
  bind_methods();
  bind_comparisons(m);
  bind_irregular(m);
}

}  // namespace mlx::core
