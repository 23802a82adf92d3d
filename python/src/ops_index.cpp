// take, take_along_axis, put_along_axis.
#include "mlx/error.h"
#include "mlx/ops/index/index.h"
#include "mlx/ops/shape/shape.h"
#include "python/src/bindings.h"

namespace mlx::core {

void bind_index(nb::module_& m) {
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

}  // namespace mlx::core
