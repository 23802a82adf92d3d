// sort, argsort, partition, argpartition, topk, median, searchsorted, unique.
#include "mlx/error.h"
#include "mlx/ops/sort/sort.h"
#include "python/src/bindings.h"

namespace mlx::core {

namespace {

using Axis = std::optional<int>;

void bind_sorts(nb::module_& m) {
  define(
      m, "sort", [](const array& a, Axis axis, const StreamArg& s) { return sort(a, axis, s); },
      nb::arg(), "axis"_a.none() = -1, nb::kw_only(), "stream"_a = nb::none(),
      nb::sig(signature("sort(a: array, /, axis: None | int = -1").c_str()),
      "Elements in ascending order along an axis.\n\n"
      "Equal elements keep their order; NaN comes last, complex numbers are ordered by their real\n"
      "part first.\n\n"
      "Args:\n    axis: default the last; None sorts the flattened array.\n\n"
      "Returns:\n    The shape and dtype of ``a``.\n\n"
      "Raises:\n    AxisError: the axis is out of range.\n\n"
      "Example:\n    >>> mx.sort(mx.array([3, 1, 2]))\n    array([1, 2, 3], dtype=int32)");
  define(
      m, "argsort",
      [](const array& a, Axis axis, const StreamArg& s) { return argsort(a, axis, s); }, nb::arg(),
      "axis"_a.none() = -1, nb::kw_only(), "stream"_a = nb::none(),
      nb::sig(signature("argsort(a: array, /, axis: None | int = -1").c_str()),
      "Positions (uint32) that bring the elements into the order of :func:`sort`.\n\n"
      "Args:\n    axis: default the last; None sorts the flattened array.\n\n"
      "Raises:\n    AxisError: the axis is out of range.\n"
      "    OverflowError: positions do not fit uint32.\n\n"
      "Example:\n    >>> mx.argsort(mx.array([30, 10, 20]))\n    array([1, 2, 0], dtype=uint32)");
  define(
      m, "partition",
      [](const array& a, int64_t kth, Axis axis, const StreamArg& s) {
        return partition(a, kth, axis, s);
      },
      nb::arg(), "kth"_a, "axis"_a.none() = -1, nb::kw_only(), "stream"_a = nb::none(),
      nb::sig(signature("partition(a: array, /, kth: int, axis: None | int = -1").c_str()),
      "Elements rearranged so that position ``kth`` holds what :func:`sort` would put there, with\n"
      "nothing greater before it and nothing less behind it.\n\n"
      "Args:\n    kth: a position along the axis; negative ones count from the end.\n"
      "    axis: default the last; None partitions the flattened array.\n\n"
      "Returns:\n    The shape and dtype of ``a``.\n\n"
      "Raises:\n    ValueError: kth is out of range.\n    AxisError: the axis is out of range.\n\n"
      "Example:\n    >>> mx.partition(mx.array([3, 1, 2]), 1)\n    array([1, 2, 3], dtype=int32)");
  define(
      m, "argpartition",
      [](const array& a, int64_t kth, Axis axis, const StreamArg& s) {
        return argpartition(a, kth, axis, s);
      },
      nb::arg(), "kth"_a, "axis"_a.none() = -1, nb::kw_only(), "stream"_a = nb::none(),
      nb::sig(signature("argpartition(a: array, /, kth: int, axis: None | int = -1").c_str()),
      "Positions (uint32) that rearrange the elements as :func:`partition` does.\n\n"
      "Args:\n    kth: a position along the axis; negative ones count from the end.\n"
      "    axis: default the last; None partitions the flattened array.\n\n"
      "Raises:\n    ValueError: kth is out of range.\n    AxisError: the axis is out of range.\n"
      "    OverflowError: positions do not fit uint32.\n\n"
      "Example:\n    >>> mx.argpartition(mx.array([30, 10, 20]), 0)\n"
      "    array([1, 2, 0], dtype=uint32)");
  define(
      m, "topk",
      [](const array& a, int64_t k, Axis axis, const StreamArg& s) { return topk(a, k, axis, s); },
      nb::arg(), "k"_a, "axis"_a.none() = -1, nb::kw_only(), "stream"_a = nb::none(),
      nb::sig(signature("topk(a: array, /, k: int, axis: None | int = -1").c_str()),
      "The ``k`` largest elements along an axis; NaN counts as largest.\n\n"
      "They are in ascending order, but if all elements are wanted the array is returned as it "
      "is.\n\n"
      "Args:\n    k: from 0 to the size of the axis.\n"
      "    axis: default the last; None takes the flattened array.\n\n"
      "Returns:\n    The shape of ``a`` with size ``k`` along the axis.\n\n"
      "Raises:\n    ValueError: k is out of range.\n    AxisError: the axis is out of range.\n\n"
      "Example:\n    >>> mx.topk(mx.array([5, 1, 4, 2]), 2)\n    array([4, 5], dtype=int32)");
}

void bind_median(nb::module_& m) {
  define(
      m, "median",
      [](const array& a, const AxisArg& axis, bool keepdims, const StreamArg& s) {
        return median(a, axis, keepdims, s);
      },
      nb::arg(), "axis"_a = nb::none(), "keepdims"_a = false, nb::kw_only(),
      "stream"_a = nb::none(),
      nb::sig(signature("median(a: array, /, axis: None | int | Sequence[int] = None, "
                        "keepdims: bool = False")
                  .c_str()),
      "Middle element in sorted order over axes, or the average of the two middle ones.\n\n"
      "Args:\n    axis: axis or axes to reduce over; None means all, () none.\n"
      "    keepdims: keep the reduced axes with size 1.\n\n"
      "Integer and bool inputs give float32. A NaN among the elements gives NaN.\n\n"
      "Raises:\n    AxisError: an axis is out of range.\n"
      "    ValueError: an axis is given twice or a reduced axis is empty.\n\n"
      "Example:\n    >>> mx.median(mx.array([4, 1, 3, 2]))\n    array(2.5, dtype=float32)");
}

void bind_searches(nb::module_& m) {
  define(
      m, "searchsorted",
      [](const array& sorted, const array& values, const std::string& side, const StreamArg& s) {
        if (side != "left" && side != "right") {
          fail<ValueError>("[searchsorted] side is '{}', expected 'left' or 'right'", side);
        }
        return searchsorted(sorted, values, side == "left" ? SearchSide::left : SearchSide::right,
                            s);
      },
      nb::arg(), nb::arg(), "side"_a = "left", nb::kw_only(), "stream"_a = nb::none(),
      nb::sig(signature("searchsorted(sorted_sequence: array, values: array, /, side: str = 'left'")
                  .c_str()),
      "Where values have to be inserted to keep a sequence sorted, by binary search.\n\n"
      "Both are converted to their common dtype; the order is that of :func:`sort`.\n\n"
      "Args:\n    sorted_sequence: one-dimensional, in ascending order.\n"
      "    values: any shape.\n"
      "    side: ``'left'`` gives the first such position, ``'right'`` the last.\n\n"
      "Returns:\n    uint32 positions with the shape of ``values``.\n\n"
      "Raises:\n    ValueError: a sequence that is not one-dimensional, or an unknown side.\n"
      "    OverflowError: positions do not fit uint32.\n\n"
      "Example:\n    >>> mx.searchsorted(mx.array([1, 2, 2, 3]), mx.array([2, 0, 9]))\n"
      "    array([1, 0, 4], dtype=uint32)");
  define(
      m, "unique",
      [](const array& a, int64_t size, bool with_index, bool with_inverse, bool with_counts,
         const std::optional<ArrayArg>& fill_value, const StreamArg& s) -> nb::object {
        std::optional<array> fill;
        if (fill_value) fill = to_array(*fill_value, a.dtype());
        UniqueResult r =
            unique(a, size, fill, with_inverse ? Inverse::wanted : Inverse::omitted, s);
        if (!with_index && !with_inverse && !with_counts) return wrap(r.values);
        nb::list parts;
        parts.append(wrap(r.values));
        if (with_index) parts.append(wrap(r.indices));
        if (with_inverse) parts.append(wrap(*r.inverse));
        if (with_counts) parts.append(wrap(r.counts));
        return nb::tuple(parts);
      },
      nb::arg(), "size"_a, "return_index"_a = false, "return_inverse"_a = false,
      "return_counts"_a = false, "fill_value"_a = nb::none(), nb::kw_only(),
      "stream"_a = nb::none(),
      nb::sig(signature("unique(a: array, /, size: int, return_index: bool = False, "
                        "return_inverse: bool = False, return_counts: bool = False, "
                        "fill_value: scalar | array | None = None",
                        "array | tuple[array, ...]")
                  .c_str()),
      "The distinct elements of the flattened array in ascending order, as many as ``size`` "
      "says.\n\n"
      "The size of the result may not depend on values, so it has to be given: further values are\n"
      "left out, missing ones filled in. Every NaN is distinct.\n\n"
      "Args:\n    size: how many values to return.\n"
      "    return_index: also return where each value occurs first (uint32).\n"
      "    return_inverse: also return for each element of ``a`` the position of its value, the\n"
      "        last one for values that are left out (uint32, the shape of ``a``).\n"
      "    return_counts: also return how often each value occurs (int32), 0 where filled.\n"
      "    fill_value: for missing values; default the smallest value.\n\n"
      "Returns:\n    The values, or a tuple of them and what else was asked for, in this order.\n\n"
      "Raises:\n    ValueError: a negative size, a fill_value of several elements, or none for an\n"
      "        empty array.\n"
      "    OverflowError: counts do not fit int32.\n\n"
      "Example:\n    >>> mx.unique(mx.array([3, 1, 3, 2]), size=3)\n"
      "    array([1, 2, 3], dtype=int32)");
}

}  // namespace

void bind_sort(nb::module_& m) {
  bind_sorts(m);
  bind_median(m);
  bind_searches(m);
}

}  // namespace mlx::core
