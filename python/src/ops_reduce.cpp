// The reductions: sum, mean, max …, argmax, softmax; functions of the module and methods of arrays.
#include <nanobind/stl/pair.h>

#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/reduce/reduce.h"
#include "mlx/ops/reduce/scan.h"
#include "python/src/bindings.h"

namespace mlx::core {

namespace {

constexpr const char* stream_signature =
    "stream: Stream | ThreadLocalStream | Device | DeviceType | None = None";
constexpr const char* axes_signature = "axis: None | int | Sequence[int] = None";
constexpr const char* common_args =
    "\n\nArgs:\n"
    "    a: input array.\n"
    "    axis: axis or axes to reduce over; None means all, () none.\n"
    "    keepdims: keep the reduced axes with size 1.\n";
constexpr const char* axis_errors =
    "\nRaises:\n"
    "    AxisError: an axis is out of range.\n"
    "    ValueError: an axis is given twice.\n";

// Functions that take (a, axis, keepdims).
struct Row {
  const char* name;
  array (*function)(const array&, AxisSet, bool, StreamOrDevice);
  const char* summary;
  const char* details;
  const char* more_errors;
  const char* example;
};

constexpr const char* widened =
    "\nBool and signed integers up to 32 bits give int32, unsigned ones uint32; other dtypes are "
    "kept.\n";
constexpr const char* same_dtype = "\nThe result has the dtype of the input.\n";
constexpr const char* boolean = "\nThe result is bool.\n";
constexpr const char* floating = "\nInteger and bool inputs give float32.\n";

constexpr Row rows[] = {
    {"sum", sum, "Sum over axes; float16 and bfloat16 are accumulated in float32.", widened, "",
     "mx.sum(mx.array([[1, 2], [3, 4]]), axis=0)\n    array([4, 6], dtype=int32)"},
    {"prod", prod, "Product over axes.", widened, "",
     "mx.prod(mx.array([2.0, 3.0, 4.0]))\n    array(24, dtype=float32)"},
    {"max", max, "Maximum over axes; NaN wins.", same_dtype,
     "    ValueError: a reduced axis is empty.\n",
     "mx.max(mx.array([[1, 5], [7, 2]]), axis=1)\n    array([5, 7], dtype=int32)"},
    {"min", min, "Minimum over axes; NaN wins.", same_dtype,
     "    ValueError: a reduced axis is empty.\n",
     "mx.min(mx.array([[1, 5], [7, 2]]), axis=1)\n    array([1, 2], dtype=int32)"},
    {"all", all, "Whether all elements over axes are nonzero; NaN counts as nonzero.", boolean, "",
     "mx.all(mx.array([[True, False], [True, True]]), axis=1)\n    array([False, True], "
     "dtype=bool)"},
    {"any", any, "Whether any element over axes is nonzero; NaN counts as nonzero.", boolean, "",
     "mx.any(mx.array([[0, 0], [0, 1]]), axis=1)\n    array([False, True], dtype=bool)"},
    {"mean", mean, "Mean over axes; NaN if there is nothing to average.", floating, "",
     "mx.mean(mx.array([[1, 2], [3, 4]]), axis=0)\n    array([2, 3], dtype=float32)"},
    {"logsumexp", logsumexp, "Logarithm of the sum of exponentials over axes, without overflow.",
     floating, "    ValueError: the input is empty.\n",
     "mx.logsumexp(mx.array([1000.0, 1000.0]))\n    array(1000.69, dtype=float32)"},
};

void bind_rows(nb::module_& m) {
  for (const Row& row : rows) {
    auto f = row.function;
    std::string doc = std::string(row.summary) + common_args + row.details + axis_errors +
                      row.more_errors + "\nExample:\n    >>> " + row.example;
    // The first parameter of sum has a name of its own, those of the others are positional.
    bool named = std::string_view(row.name) == "sum";
    std::string signature =
        format("def {}({}, {}, keepdims: bool = False, *, {}) -> array", row.name,
               named ? "array: array" : "a: array, /", axes_signature, stream_signature);
    define(
        m, row.name,
        [f](const array& a, const AxisArg& axis, bool keepdims, const StreamArg& s) {
          return f(a, axis, keepdims, s);
        },
        named ? nb::arg("array") : nb::arg(), "axis"_a = nb::none(), "keepdims"_a = false,
        nb::kw_only(), "stream"_a = nb::none(), nb::sig(signature.c_str()), doc.c_str());
    signature = format("def {}(self, {}, keepdims: bool = False, *, {}) -> array", row.name,
                       axes_signature, stream_signature);
    doc = format("See :func:`mlx.core.{}`.", row.name);
    array_class().def(
        row.name,
        [f](const array& a, const AxisArg& axis, bool keepdims, const StreamArg& s) {
          return f(a, axis, keepdims, s);
        },
        "axis"_a = nb::none(), "keepdims"_a = false, nb::kw_only(), "stream"_a = nb::none(),
        nb::sig(signature.c_str()), doc.c_str());
  }
}

using MomentFunction = array (*)(const array&, AxisSet, bool, int, StreamOrDevice);

void bind_moment(nb::module_& m, const char* name, MomentFunction f, const char* summary,
                 const char* example) {
  std::string doc = std::string(summary) + common_args +
                    "    ddof: the divisor is the number of elements less ``ddof``.\n" +
                    "\nInteger and bool inputs give float32, complex ones the float32 mean of the "
                    "squared distance\nfrom the mean (its root for ``std``).\n" +
                    axis_errors + "\nExample:\n    >>> " + example;
  std::string signature =
      format("def {}(a: array, /, {}, keepdims: bool = False, ddof: int = 0, *, {}) -> array", name,
             axes_signature, stream_signature);
  define(
      m, name,
      [f](const array& a, const AxisArg& axis, bool keepdims, int ddof, const StreamArg& s) {
        return f(a, axis, keepdims, ddof, s);
      },
      nb::arg(), "axis"_a = nb::none(), "keepdims"_a = false, "ddof"_a = 0, nb::kw_only(),
      "stream"_a = nb::none(), nb::sig(signature.c_str()), doc.c_str());
  signature = format(
      "def {}(self, {}, keepdims: bool = False, ddof: int = 0, *, correction: int | None = None, "
      "{}) -> array",
      name, axes_signature, stream_signature);
  doc =
      format("See :func:`mlx.core.{}`; ``correction`` is another name of ``ddof`` and wins.", name);
  array_class().def(
      name,
      [f](const array& a, const AxisArg& axis, bool keepdims, int ddof,
          std::optional<int> correction,
          const StreamArg& s) { return f(a, axis, keepdims, correction.value_or(ddof), s); },
      "axis"_a = nb::none(), "keepdims"_a = false, "ddof"_a = 0, nb::kw_only(),
      "correction"_a = nb::none(), "stream"_a = nb::none(), nb::sig(signature.c_str()),
      doc.c_str());
}

using ArgFunction = array (*)(const array&, std::optional<int>, bool, StreamOrDevice);

void bind_arg(nb::module_& m, const char* name, ArgFunction f, const char* what,
              const char* example) {
  std::string doc = format(
      "Position of the {} along an axis: the first of equals, or the first NaN.\n\n"
      "Args:\n"
      "    a: input array.\n"
      "    axis: axis to search; None searches the flattened array.\n"
      "    keepdims: keep the searched axis (all axes for None) with size 1.\n\n"
      "The result is uint32.\n\n"
      "Raises:\n"
      "    AxisError: the axis is out of range.\n"
      "    ValueError: the input is empty.\n\n"
      "Example:\n    >>> {}",
      what, example);
  std::string signature =
      format("def {}(a: array, /, axis: None | int = None, keepdims: bool = False, *, {}) -> array",
             name, stream_signature);
  define(
      m, name,
      [f](const array& a, std::optional<int> axis, bool keepdims, const StreamArg& s) {
        return f(a, axis, keepdims, s);
      },
      nb::arg(), "axis"_a = nb::none(), "keepdims"_a = false, nb::kw_only(),
      "stream"_a = nb::none(), nb::sig(signature.c_str()), doc.c_str());
  signature =
      format("def {}(self, axis: None | int = None, keepdims: bool = False, *, {}) -> array", name,
             stream_signature);
  doc = format("See :func:`mlx.core.{}`.", name);
  array_class().def(
      name,
      [f](const array& a, std::optional<int> axis, bool keepdims, const StreamArg& s) {
        return f(a, axis, keepdims, s);
      },
      "axis"_a = nb::none(), "keepdims"_a = false, nb::kw_only(), "stream"_a = nb::none(),
      nb::sig(signature.c_str()), doc.c_str());
}

void bind_composed(nb::module_& m) {
  std::string signature =
      format("def softmax(a: array, /, {}, *, precise: bool = False, {}) -> array", axes_signature,
             stream_signature);
  define(
      m, "softmax",
      [](const array& a, const AxisArg& axis, bool precise, const StreamArg& s) {
        return softmax(a, axis, precise, s);
      },
      nb::arg(), "axis"_a = nb::none(), nb::kw_only(), "precise"_a = false, "stream"_a = nb::none(),
      nb::sig(signature.c_str()),
      R"(Exponentials divided by their sum over axes.

Args:
    a: input array.
    axis: axis or axes the result sums to 1 over; None means all.
    precise: accepted for compatibility: sums are always formed in float32 at least.

Integer and bool inputs give float32. An empty input is returned as it is.

Raises:
    AxisError: an axis is out of range.
    ValueError: an axis is given twice.

Example:
    >>> mx.softmax(mx.array([0.0, 0.0]), axis=-1)
    array([0.5, 0.5], dtype=float32))");
  signature =
      format("def minmax(a: array, /, {}, keepdims: bool = False, *, {}) -> tuple[array, array]",
             axes_signature, stream_signature);
  define(
      m, "minmax",
      [](const array& a, const AxisArg& axis, bool keepdims, const StreamArg& s) {
        return std::pair(min(a, axis, keepdims, s), max(a, axis, keepdims, s));
      },
      nb::arg(), "axis"_a = nb::none(), "keepdims"_a = false, nb::kw_only(),
      "stream"_a = nb::none(), nb::sig(signature.c_str()),
      R"(Minimum and maximum over axes, as :func:`min` and :func:`max` give them.

Args:
    a: input array.
    axis: axis or axes to reduce over; None means all, () none.
    keepdims: keep the reduced axes with size 1.

Raises:
    AxisError: an axis is out of range.
    ValueError: an axis is given twice or a reduced axis is empty.

Example:
    >>> mx.minmax(mx.array([3, 1, 2]))
    (array(1, dtype=int32), array(3, dtype=int32)))");
  signature = format(
      "def count_nonzero(a: array, /, axis: None | int | Sequence[int] = None, *, "
      "keepdims: bool = False, {}) -> array",
      stream_signature);
  define(
      m, "count_nonzero",
      [](const array& a, const AxisArg& axis, bool keepdims, const StreamArg& s) {
        return count_nonzero(a, axis, keepdims, s);
      },
      nb::arg(), "axis"_a = nb::none(), nb::kw_only(), "keepdims"_a = false,
      "stream"_a = nb::none(), nb::sig(signature.c_str()),
      R"(Number of nonzero elements over axes, as int32; NaN counts.

Args:
    a: input array.
    axis: axis or axes to reduce over; None means all, () none.
    keepdims: keep the reduced axes with size 1.

Raises:
    AxisError: an axis is out of range.
    ValueError: an axis is given twice.
    OverflowError: a count may not fit int32.

Example:
    >>> mx.count_nonzero(mx.array([[0, 1], [2, 3]]), axis=1)
    array([1, 2], dtype=int32))");
}

using ScanFunction = array (*)(const array&, std::optional<int>, bool, bool, StreamOrDevice);

struct ScanRow {
  const char* name;
  ScanFunction function;
  bool takes_dtype;
  const char* details;
  const char* example;
};
constexpr const char* wide_scan =
    "The result has the dtype of the input; float16 and bfloat16 are accumulated in float32 and "
    "rounded once.";
constexpr ScanRow scan_rows[] = {
    {"cumsum", cumsum, true,
     "The result has the dtype of the input, int32 for bool; integers wrap. float16 and bfloat16 "
     "are\naccumulated in float32 and rounded once.",
     "mx.cumsum(mx.array([1, 2, 3]))\n    array([1, 3, 6], dtype=int32)"},
    {"cumprod", cumprod, true, wide_scan,
     "mx.cumprod(mx.array([1, 2, 3]), inclusive=False)\n    array([1, 1, 2], dtype=int32)"},
    {"cummax", cummax, false, "The result has the dtype of the input.",
     "mx.cummax(mx.array([1, 3, 2]))\n    array([1, 3, 3], dtype=int32)"},
    {"cummin", cummin, false, "The result has the dtype of the input.",
     "mx.cummin(mx.array([1, 3, 2]), reverse=True)\n    array([1, 2, 2], dtype=int32)"},
    {"logcumsumexp", logcumsumexp, false, "Integer and bool inputs give float32.",
     "mx.logcumsumexp(mx.array([1.0, 1.0]))\n    array([1, 1.69315], dtype=float32)"},
};

void bind_scan(nb::module_& m, const ScanRow& row, const ScanInfo& about) {
  const char* name = row.name;
  auto f = row.function;
  constexpr const char* way =
      "axis: int | None = None, *, reverse: bool = False, "
      "inclusive: bool = True, ";
  std::string doc = format(
      "{}.\n\n"
      "Args:\n"
      "    a: input array.\n"
      "    axis: axis to walk along; None flattens the array.\n"
      "    reverse: start at the end of the axis.\n"
      "    inclusive: an output takes in its own element; otherwise only those before it, none\n"
      "        for the first.\n{}"
      "\n{}\n\n"
      "Raises:\n"
      "    AxisError: the axis is out of range.\n\n"
      "Example:\n    >>> {}",
      about.doc, row.takes_dtype ? "    dtype: convert the input to it first.\n" : "", row.details,
      row.example);
  std::string text =
      format("def {}(a: array, /, {}{}{}) -> array", name, way,
             row.takes_dtype ? "dtype: Dtype | None = None, " : "", stream_signature);
  if (row.takes_dtype) {
    define(
        m, name,
        [f](const array& a, std::optional<int> axis, bool reverse, bool inclusive,
            std::optional<Dtype> dtype, const StreamArg& s) {
          return f(dtype ? astype(a, *dtype, s) : a, axis, reverse, inclusive, s);
        },
        nb::arg(), "axis"_a = nb::none(), nb::kw_only(), "reverse"_a = false, "inclusive"_a = true,
        "dtype"_a = nb::none(), "stream"_a = nb::none(), nb::sig(text.c_str()), doc.c_str());
  } else {
    define(
        m, name,
        [f](const array& a, std::optional<int> axis, bool reverse, bool inclusive,
            const StreamArg& s) { return f(a, axis, reverse, inclusive, s); },
        nb::arg(), "axis"_a = nb::none(), nb::kw_only(), "reverse"_a = false, "inclusive"_a = true,
        "stream"_a = nb::none(), nb::sig(text.c_str()), doc.c_str());
  }
  text = format("def {}(self, {}{}) -> array", name, way, stream_signature);
  doc = format("See :func:`mlx.core.{}`.", name);
  array_class().def(
      name,
      [f](const array& a, std::optional<int> axis, bool reverse, bool inclusive,
          const StreamArg& s) { return f(a, axis, reverse, inclusive, s); },
      "axis"_a = nb::none(), nb::kw_only(), "reverse"_a = false, "inclusive"_a = true,
      "stream"_a = nb::none(), nb::sig(text.c_str()), doc.c_str());
}

void bind_diff(nb::module_& m) {
  define(
      m, "diff",
      [](const array& a, int64_t n, int axis, const StreamArg& s) { return diff(a, n, axis, s); },
      nb::arg(), "n"_a = 1, "axis"_a = -1, nb::kw_only(), "stream"_a = nb::none(),
      nb::sig(signature("diff(a: array, /, n: int = 1, axis: int = -1").c_str()),
      R"(Differences of neighbours along an axis.

Args:
    a: input array.
    n: how many times differences are taken; each makes the axis shorter by one.
    axis: default the last.

The result has the dtype of the input: unsigned integers wrap, bools tell where neighbours differ.

Raises:
    AxisError: the axis is out of range.
    ValueError: n is negative.

Example:
    >>> mx.diff(mx.array([1, 4, 9]))
    array([3, 5], dtype=int32))");
}

void bind_scans(nb::module_& m) {
  static_assert(std::size(scan_rows) == scan_op_count);
  for (int i = 0; i < scan_op_count; ++i) {
    bind_scan(m, scan_rows[i], scan_info[i]);
  }
  m.attr("cumulative_sum") = m.attr("cumsum");
  m.attr("cumulative_prod") = m.attr("cumprod");
}

}  // namespace

void bind_reduce(nb::module_& m) {
  bind_rows(m);
  bind_moment(m, "var", var, "Variance over axes.",
              "mx.var(mx.array([1.0, 3.0]))\n    array(1, dtype=float32)");
  bind_moment(m, "std", std, "Standard deviation over axes.",
              "mx.std(mx.array([1.0, 3.0]))\n    array(1, dtype=float32)");
  bind_arg(m, "argmax", argmax, "maximum",
           "mx.argmax(mx.array([1, 5, 5]))\n    array(1, dtype=uint32)");
  bind_arg(m, "argmin", argmin, "minimum",
           "mx.argmin(mx.array([4, 2, 2]))\n    array(1, dtype=uint32)");
  bind_composed(m);
  bind_scans(m);
  bind_diff(m);
}

}  // namespace mlx::core
