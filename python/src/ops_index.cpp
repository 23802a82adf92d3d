// take, take_along_axis, put_along_axis, nonzero, argwhere, and slices at starts that are arrays.
#include "mlx/error.h"
#include "mlx/ops/index/index.h"
#include "mlx/ops/shape/shape.h"
#include "python/src/bindings.h"
#include "python/src/gil.h"

namespace mlx::core {

namespace {

void bind_take(nb::module_& m) {
  define(
      m, "take",
      [](const array& a, const array& indices, std::optional<int> axis, const StreamArg& s) {
        return axis ? take(a, indices, *axis, s) : take(a, indices, s);
      },
      nb::arg(), "indices"_a, "axis"_a = nb::none(), nb::kw_only(), "stream"_a = nb::none(),
      nb::sig(signature("take(a: array, /, indices: array, axis: int | None = None").c_str()),
      "Slices of ``a`` at ``indices`` along an axis, or elements of the flattened array.\n\n"
      "Args:\n    indices: an integer array, or an int that is not negative. Negative entries of\n"
      "        an array count from the end; entries outside the axis are clamped.\n"
      "    axis: default None, the flattened array.\n\n"
      "Returns:\n    The shape of ``a`` with that of ``indices`` in place of the axis.\n\n"
      "Raises:\n    ValueError: indices of no integer dtype, a negative int, or an empty axis.\n"
      "    IndexError: an int beyond the axis.\n    AxisError: the axis is out of range.\n\n"
      "Example:\n    >>> mx.take(mx.array([5, 6, 7]), mx.array([2, 0]))\n"
      "    array([7, 5], dtype=int32)");
  define(
      m, "take",
      [](const array& a, int64_t index, std::optional<int> axis, const StreamArg& s) {
        if (index < 0) {
          fail<ValueError>("[take] expected an int that is not negative, got {}", index);
        }
        return axis ? take(a, index, *axis, s) : take(reshape(a, Shape{a.size()}, s), index, 0, s);
      },
      nb::arg(), "indices"_a, "axis"_a = nb::none(), nb::kw_only(), "stream"_a = nb::none(),
      nb::sig(signature("take(a: array, /, indices: int, axis: int | None = None").c_str()));
  define(
      m, "take_along_axis",
      [](const array& a, const array& indices, std::optional<int> axis, const StreamArg& s) {
        if (axis) {
          return take_along_axis(a, indices, *axis, s);
        }
        return take_along_axis(reshape(a, Shape{a.size()}, s), indices, 0, s);
      },
      nb::arg(), "indices"_a, "axis"_a.none() = -1, nb::kw_only(), "stream"_a = nb::none(),
      nb::sig(
          signature("take_along_axis(a: array, /, indices: array, axis: int | None = -1").c_str()),
      "For each line along the axis the elements at its own indices.\n\n"
      "Args:\n    indices: integers, with as many dimensions as ``a``; all axes but the given one\n"
      "        broadcast. Entries outside the axis are clamped.\n"
      "    axis: default the last; None for the flattened array.\n\n"
      "Raises:\n    ValueError: another number of dimensions, or indices of no integer dtype.\n"
      "    AxisError: the axis is out of range.\n\n"
      "Example:\n    >>> mx.take_along_axis(mx.array([[1, 2], [3, 4]]), mx.array([[1], [0]]))\n"
      "    array([[2],\n           [3]], dtype=int32)");
  define(
      m, "put_along_axis",
      [](const array& a, const array& indices, const array& values, std::optional<int> axis,
         const StreamArg& s) {
        if (axis) {
          return put_along_axis(a, indices, values, *axis, s);
        }
        array flat = reshape(a, Shape{a.size()}, s);
        return reshape(
            put_along_axis(flat, reshape(indices, Shape{indices.size()}, s),
                           values.ndim() > 1 ? reshape(values, Shape{-1}, s) : values, 0, s),
            a.shape(), s);
      },
      nb::arg(), "indices"_a, "values"_a, "axis"_a = nb::none(), nb::kw_only(),
      "stream"_a = nb::none(),
      nb::sig(
          signature(
              "put_along_axis(a: array, /, indices: array, values: array, axis: int | None = None")
              .c_str()),
      "``a`` with the elements at each line's own indices replaced by ``values``.\n\n"
      "Args:\n    indices: as for :func:`take_along_axis`; entries outside the axis are ignored.\n"
      "    values: broadcast to the shape of ``indices`` and converted to the dtype of ``a``.\n"
      "    axis: default None, the flattened array.\n\n"
      "Raises:\n    ValueError: shapes that do not fit, or indices of no integer dtype.\n"
      "    AxisError: the axis is out of range.\n\n"
      "Example:\n    >>> mx.put_along_axis(mx.array([[1, 2]]), mx.array([[1]]), mx.array(9), 1)\n"
      "    array([[1, 9]], dtype=int32)");
}

void bind_windows(nb::module_& m) {
  define(
      m, "slice",
      [](const array& a, const array& start, const std::vector<int>& axes, Shape size,
         const StreamArg& s) { return slice(a, start, axes, std::move(size), s); },
      nb::arg(), "start_indices"_a, "axes"_a, "slice_size"_a, nb::kw_only(),
      "stream"_a = nb::none(),
      nb::sig(signature("slice(a: array, /, start_indices: array, axes: Sequence[int], "
                        "slice_size: Sequence[int]")
                  .c_str()),
      "The window of ``a`` whose place is given by an array.\n\n"
      "Args:\n    start_indices: integers, one for each of ``axes``. Negative ones count from the\n"
      "        end; then all are moved so that the window fits.\n"
      "    axes: axes that have a start; the window starts at 0 on the others.\n"
      "    slice_size: shape of the window.\n\n"
      "Raises:\n    ValueError: a window larger than ``a``, another number of starts than axes, "
      "or\n"
      "        starts of no integer dtype.\n    AxisError: an axis is out of range.\n\n"
      "Example:\n    >>> mx.slice(mx.array([5, 6, 7, 8]), mx.array([1]), [0], [2])\n"
      "    array([6, 7], dtype=int32)");
  define(
      m, "slice_update",
      [](const array& a, const array& update, const array& start, const std::vector<int>& axes,
         const StreamArg& s) { return slice_update(a, update, start, axes, s); },
      nb::arg(), "update"_a, "start_indices"_a, "axes"_a, nb::kw_only(), "stream"_a = nb::none(),
      nb::sig(signature("slice_update(a: array, /, update: array, start_indices: array, "
                        "axes: Sequence[int]")
                  .c_str()),
      "``a`` with a window, whose place is given by an array, replaced by ``update``.\n\n"
      "Args:\n    update: converted to the dtype of ``a``; its shape is that of the window. Along\n"
      "        missing leading axes it broadcasts to the whole axis, or to one element of an\n"
      "        axis that has a start.\n"
      "    start_indices: as for :func:`slice`.\n    axes: axes that have a start.\n\n"
      "Raises:\n    ValueError: an update larger than ``a``, another number of starts than axes,\n"
      "        or starts of no integer dtype.\n    AxisError: an axis is out of range.\n\n"
      "Example:\n    >>> mx.slice_update(mx.array([5, 6, 7]), mx.array([0]), mx.array([1]), [0])\n"
      "    array([5, 0, 7], dtype=int32)");
}

void bind_nonzero(nb::module_& m) {
  define(
      m, "nonzero",
      [](const array& a, const StreamArg& s) {
        std::vector<array> places;
        {
          GilRelease r;
          places = nonzero(a, s);
        }
        nb::list result;
        for (array& x : places) {
          result.append(wrap(std::move(x)));
        }
        return nb::tuple(result);
      },
      nb::arg(), nb::kw_only(), "stream"_a = nb::none(),
      nb::sig(signature("nonzero(a: array, /", "tuple[array, ...]").c_str()),
      "The indices of the elements that are not 0, in row-major order.\n\n"
      "The size of the result depends on values: ``a`` is evaluated.\n\n"
      "Returns:\n    One int32 array for each dimension of ``a``.\n\n"
      "Raises:\n    ValueError: an array without dimensions, or a call inside a function that\n"
      "        vmap or compile is tracing.\n    OverflowError: indices do not fit int32.\n\n"
      "Example:\n    >>> mx.nonzero(mx.array([0, 3, 4]))\n    (array([1, 2], dtype=int32),)");
  define(
      m, "argwhere",
      [](const array& a, const StreamArg& s) {
        GilRelease r;
        return argwhere(a, s);
      },
      nb::arg(), nb::kw_only(), "stream"_a = nb::none(),
      nb::sig(signature("argwhere(a: array, /").c_str()),
      "The indices of the elements that are not 0 as rows, in row-major order.\n\n"
      "The size of the result depends on values: ``a`` is evaluated.\n\n"
      "Returns:\n    An int32 array of shape (count, ndim).\n\n"
      "Raises:\n    ValueError: a call inside a function that vmap or compile is tracing.\n"
      "    OverflowError: indices do not fit int32.\n\n"
      "Example:\n    >>> mx.argwhere(mx.array([[0, 3], [4, 0]]))\n"
      "    array([[0, 1],\n           [1, 0]], dtype=int32)");
}

}  // namespace

void bind_index(nb::module_& m) {
  bind_take(m);
  bind_windows(m);
  bind_nonzero(m);
}

}  // namespace mlx::core
