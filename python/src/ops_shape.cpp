// The shape family: changes of shape and order, joins, splits, padding.
#include <nanobind/stl/variant.h>

#include "mlx/error.h"
#include "mlx/ops/shape/shape.h"
#include "python/src/convert.h"

namespace mlx::core {

namespace {

using Ints = std::variant<int64_t, std::vector<int64_t>>;
using AxisOrAxes = std::variant<int, std::vector<int>>;

std::vector<int> axes_of(const AxisOrAxes& axis) {
  if (const int* one = std::get_if<int>(&axis)) {
    return {*one};
  }
  return std::get<std::vector<int>>(axis);
}

std::vector<int64_t> ints_of(const Ints& values) {
  if (const int64_t* one = std::get_if<int64_t>(&values)) {
    return {*one};
  }
  return std::get<std::vector<int64_t>>(values);
}

std::vector<int> all_axes(const array& a) {
  std::vector<int> axes;
  for (int i = 0; i < a.ndim(); ++i) {
    axes.push_back(i);
  }
  return axes;
}

Shape one_shape(nb::handle items, std::string_view op) {
  Shape shape;
  switch (load_shape(items, shape, false)) {
    case ShapeLoad::ok:
      return shape;
    case ShapeLoad::overflow:
      fail<OverflowError>("[{}] a number does not fit 64 bits", op);
    case ShapeLoad::bad:
      break;
  }
  fail<TypeError>("[{}] expected sequences of integers, got {}", op, class_name(items));
}

// Integers given one by one or as one sequence: reshape(2, 3) and reshape((2, 3)).
std::vector<int64_t> varargs(const nb::args& args, std::string_view op) {
  nb::handle items = args;
  if (args.size() == 1 && PySequence_Check(args[0].ptr())) {
    items = args[0];
  }
  Shape values = one_shape(items, op);
  return {values.begin(), values.end()};
}

array squeeze_any(const array& a, const AxisArg& axis, const StreamArg& s) {
  return axis.value ? squeeze(a, *axis.value, s) : squeeze(a, s);
}

std::vector<array> split_any(const array& a, const Ints& parts, int axis, const StreamArg& s) {
  if (const int64_t* sections = std::get_if<int64_t>(&parts)) {
    return split(a, *sections, axis, s);
  }
  return split(a, ShapeView(std::get<std::vector<int64_t>>(parts)), axis, s);
}

void bind_reshapes(nb::module_& m) {
  define(
      m, "reshape",
      [](const array& a, Shape shape, const StreamArg& s) { return reshape(a, shape, s); },
      nb::arg(), "shape"_a, nb::kw_only(), "stream"_a = nb::none(),
      nb::sig(signature("reshape(a: array, /, shape: collections.abc.Sequence[int]").c_str()),
      "The elements of ``a`` in row-major order under another shape.\n\n"
      "Args:\n    shape: the new sizes; one may be -1 and is then worked out.\n\n"
      "Raises:\n    ValueError: the sizes do not fit the number of elements.\n\n"
      "Example:\n    >>> mx.reshape(mx.arange(4), (2, -1))\n    array([[0, 1],\n           [2, "
      "3]], dtype=int32)");
  define(
      m, "flatten",
      [](const array& a, int start_axis, int end_axis, const StreamArg& s) {
        return flatten(a, start_axis, end_axis, s);
      },
      nb::arg(), "start_axis"_a = 0, "end_axis"_a = -1, nb::kw_only(), "stream"_a = nb::none(),
      nb::sig(signature("flatten(a: array, /, start_axis: int = 0, end_axis: int = -1").c_str()),
      "Merges the axes from ``start_axis`` to ``end_axis``, which are clamped to those there are.\n"
      "\nRaises:\n    ValueError: ``start_axis`` lies behind ``end_axis``.\n\n"
      "Example:\n    >>> mx.flatten(mx.ones((2, 3, 4)), 1).shape\n    (2, 12)");
  define(
      m, "unflatten",
      [](const array& a, int axis, Shape shape, const StreamArg& s) {
        return unflatten(a, axis, shape, s);
      },
      nb::arg(), "axis"_a, "shape"_a, nb::kw_only(), "stream"_a = nb::none(),
      nb::sig(signature("unflatten(a: array, /, axis: int, shape: collections.abc.Sequence[int]")
                  .c_str()),
      "Cuts one axis into several; one of the new sizes may be -1.\n\n"
      "Raises:\n    ValueError: the sizes do not fit the axis or there are none.\n"
      "    AxisError: the axis is out of range.\n\n"
      "Example:\n    >>> mx.unflatten(mx.ones((2, 6)), 1, (3, -1)).shape\n    (2, 3, 2)");
  define(m, "squeeze", &squeeze_any, nb::arg(), "axis"_a = nb::none(), nb::kw_only(),
         "stream"_a = nb::none(),
         nb::sig(signature(
                     "squeeze(a: array, /, axis: int | collections.abc.Sequence[int] | None = None")
                     .c_str()),
         "Drops axes of size 1: all of them, or those given.\n\n"
         "Raises:\n    ValueError: a given axis has another size or is given twice.\n"
         "    AxisError: an axis is out of range.\n\n"
         "Example:\n    >>> mx.squeeze(mx.ones((1, 3, 1)), 0).shape\n    (3, 1)");
  define(
      m, "expand_dims",
      [](const array& a, const AxisOrAxes& axis, const StreamArg& s) {
        return expand_dims(a, axes_of(axis), s);
      },
      nb::arg(), "axis"_a, nb::kw_only(), "stream"_a = nb::none(),
      nb::sig(
          signature("expand_dims(a: array, /, axis: int | collections.abc.Sequence[int]").c_str()),
      "Adds axes of size 1 at the given positions of the result.\n\n"
      "Raises:\n    ValueError: a position is given twice.\n    AxisError: a position is out of "
      "range.\n\n"
      "Example:\n    >>> mx.expand_dims(mx.ones(3), (0, 2)).shape\n    (1, 3, 1)");
  auto at_least = [&](const char* name, array (*f)(const array&, StreamOrDevice), const char* doc) {
    std::string signature = format(
        "def {}(*arys: array, stream: Stream | ThreadLocalStream | Device | DeviceType | "
        "None = None) -> array | list[array]",
        name);
    define(
        m, name,
        [f, op = std::string(name)](const nb::args& args, const StreamArg& s) -> nb::object {
          std::vector<array> out = arrays_of(args, op);
          for (array& a : out) {
            a = f(a, s);
          }
          return out.size() == 1 ? wrap(out[0]) : nb::cast(std::move(out));
        },
        "arys"_a, nb::kw_only(), "stream"_a = nb::none(), nb::sig(signature.c_str()), doc);
  };
  at_least("atleast_1d", &at_least_1d,
           "Arrays with at least one dimension; one array in, one out, else a list.\n\n"
           "Example:\n    >>> mx.atleast_1d(mx.array(3)).shape\n    (1,)");
  at_least("atleast_2d", &at_least_2d,
           "Arrays with at least two dimensions; new ones come first.\n\n"
           "Example:\n    >>> mx.atleast_2d(mx.ones(3)).shape\n    (1, 3)");
  at_least("atleast_3d", &at_least_3d,
           "Arrays with at least three dimensions: (n,) becomes (1, n, 1), (m, n) (m, n, 1).\n\n"
           "Example:\n    >>> mx.atleast_3d(mx.ones(3)).shape\n    (1, 3, 1)");
}

array transpose_any(const array& a, const std::optional<std::vector<int>>& axes,
                    const StreamArg& s) {
  return axes ? transpose(a, *axes, s) : transpose(a, s);
}

void bind_orders(nb::module_& m) {
  define(
      m, "transpose", &transpose_any, nb::arg(), "axes"_a = nb::none(), nb::kw_only(),
      "stream"_a = nb::none(),
      nb::sig(signature("transpose(a: array, /, axes: collections.abc.Sequence[int] | None = None")
                  .c_str()),
      "The axes in another order, by default reversed. A view.\n\n"
      "Args:\n    axes: for each axis of the result the one of ``a`` that it is.\n\n"
      "Raises:\n    ValueError: not every axis is given once.\n    AxisError: an axis is out of "
      "range.\n\n"
      "Example:\n    >>> mx.transpose(mx.ones((2, 3, 4)), (2, 0, 1)).shape\n    (4, 2, 3)");
  m.attr("permute_dims") = m.attr("transpose");
  define(
      m, "matrix_transpose",
      [](const array& a, const StreamArg& s) { return matrix_transpose(a, s); }, nb::arg(),
      nb::kw_only(), "stream"_a = nb::none(),
      nb::sig(signature("matrix_transpose(a: array, /").c_str()),
      "The last two axes swapped.\n\n"
      "Raises:\n    ValueError: fewer than 2 dimensions.\n\n"
      "Example:\n    >>> mx.matrix_transpose(mx.ones((2, 3, 4))).shape\n    (2, 4, 3)");
  define(
      m, "swapaxes",
      [](const array& a, int axis1, int axis2, const StreamArg& s) {
        return swapaxes(a, axis1, axis2, s);
      },
      nb::arg(), "axis1"_a, "axis2"_a, nb::kw_only(), "stream"_a = nb::none(),
      nb::sig(signature("swapaxes(a: array, /, axis1: int, axis2: int").c_str()),
      "Two axes swapped.\n\nRaises:\n    AxisError: an axis is out of range.\n\n"
      "Example:\n    >>> mx.swapaxes(mx.ones((2, 3, 4)), 0, 2).shape\n    (4, 3, 2)");
  define(
      m, "moveaxis",
      [](const array& a, int source, int destination, const StreamArg& s) {
        return moveaxis(a, source, destination, s);
      },
      nb::arg(), "source"_a, "destination"_a, nb::kw_only(), "stream"_a = nb::none(),
      nb::sig(signature("moveaxis(a: array, /, source: int, destination: int").c_str()),
      "One axis moved to another place, the others keep their order.\n\n"
      "Raises:\n    AxisError: an axis is out of range.\n\n"
      "Example:\n    >>> mx.moveaxis(mx.ones((2, 3, 4)), 0, 2).shape\n    (3, 4, 2)");
  define(
      m, "flip",
      [](const array& a, const AxisArg& axis, const StreamArg& s) {
        return flip(a, axis.value ? *axis.value : all_axes(a), s);
      },
      nb::arg(), "axis"_a = nb::none(), nb::kw_only(), "stream"_a = nb::none(),
      nb::sig(signature("flip(a: array, /, axis: int | collections.abc.Sequence[int] | None = None")
                  .c_str()),
      "The elements in reverse order along the given axes, by default all.\n\n"
      "Raises:\n    ValueError: an axis is given twice.\n    AxisError: an axis is out of "
      "range.\n\n"
      "Example:\n    >>> mx.flip(mx.arange(3))\n    array([2, 1, 0], dtype=int32)");
  define(
      m, "roll",
      [](const array& a, const Ints& shift, const AxisArg& axis, const StreamArg& s) {
        std::vector<int64_t> shifts = ints_of(shift);
        if (axis.value) {
          return roll(a, shifts, *axis.value, s);
        }
        int first = 0;
        array flat = reshape(a, Shape{a.size()}, s);
        return reshape(roll(flat, shifts, std::span<const int>(&first, 1), s), a.shape(), s);
      },
      nb::arg(), "shift"_a, "axis"_a = nb::none(), nb::kw_only(), "stream"_a = nb::none(),
      nb::sig(signature("roll(a: array, /, shift: int | collections.abc.Sequence[int], axis: int | "
                        "collections.abc.Sequence[int] | None = None")
                  .c_str()),
      "The elements moved along axes; those that leave at one end enter at the other.\n\n"
      "Args:\n    shift: an int, or a tuple with one for each axis; several for one axis add up.\n"
      "    axis: default None, the flattened array.\n\n"
      "Raises:\n    ValueError: the numbers of shifts and axes differ.\n"
      "    AxisError: an axis is out of range.\n\n"
      "Example:\n    >>> mx.roll(mx.arange(4), 1)\n    array([3, 0, 1, 2], dtype=int32)");
}

void bind_broadcasts(nb::module_& m) {
  define(
      m, "broadcast_to",
      [](const ArrayArg& a, Shape shape, const StreamArg& s) {
        return broadcast_to(to_array(a), shape, s);
      },
      nb::arg(), "shape"_a, nb::kw_only(), "stream"_a = nb::none(),
      nb::sig(signature("broadcast_to(a: bool | int | float | complex | array | ArrayLike, /, "
                        "shape: collections.abc.Sequence[int]")
                  .c_str()),
      "``a`` repeated to ``shape`` by NumPy's rules. A view.\n\n"
      "Raises:\n    ValueError: the shapes are incompatible or a size is negative.\n\n"
      "Example:\n    >>> mx.broadcast_to(mx.arange(2), (2, 2))\n    array([[0, 1],\n           "
      "[0, 1]], dtype=int32)");
  define(
      m, "broadcast_arrays",
      [](const nb::args& args, const StreamArg& s) {
        return broadcast_arrays(arrays_of(args, "broadcast_arrays"), s);
      },
      "arrays"_a, nb::kw_only(), "stream"_a = nb::none(),
      nb::sig("def broadcast_arrays(*arrays: array, stream: Stream | ThreadLocalStream | Device | "
              "DeviceType | None = None) -> list[array]"),
      "All arrays broadcast to their common shape.\n\n"
      "Raises:\n    ValueError: there is none.\n\n"
      "Example:\n    >>> [a.shape for a in mx.broadcast_arrays(mx.ones((2, 1)), mx.ones(3))]\n"
      "    [(2, 3), (2, 3)]");
  define(
      m, "broadcast_shapes",
      [](const nb::args& args) {
        if (args.size() == 0) {
          fail<ValueError>("[broadcast_shapes] expected at least one shape, got none");
        }
        Shape shape;
        for (nb::handle h : args) {
          shape = broadcast_shapes(shape, one_shape(h, "broadcast_shapes"));
        }
        return shape;
      },
      "shapes"_a, nb::sig("def broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]"),
      "The common shape of arrays by NumPy's rules.\n\n"
      "Raises:\n    ValueError: there is none, or no shape is given.\n\n"
      "Example:\n    >>> mx.broadcast_shapes((2, 1), (3,))\n    (2, 3)");
  define(
      m, "repeat",
      [](const array& a, int64_t repeats, std::optional<int> axis, const StreamArg& s) {
        return axis ? repeat(a, repeats, *axis, s)
                    : repeat(reshape(a, Shape{a.size()}, s), repeats, 0, s);
      },
      nb::arg(), "repeats"_a, "axis"_a = nb::none(), nb::kw_only(), "stream"_a = nb::none(),
      nb::sig(signature("repeat(array: array, /, repeats: int, axis: int | None = None").c_str()),
      "Each element ``repeats`` times along an axis, or of the flattened array.\n\n"
      "Raises:\n    ValueError: ``repeats`` is negative.\n    AxisError: the axis is out of "
      "range.\n\n"
      "Example:\n    >>> mx.repeat(mx.arange(2), 2)\n    array([0, 0, 1, 1], dtype=int32)");
  define(
      m, "tile",
      [](const array& a, const ShapeArg& reps, const StreamArg& s) {
        return tile(a, reps.value, s);
      },
      nb::arg(), "reps"_a, nb::kw_only(), "stream"_a = nb::none(),
      nb::sig(signature("tile(a: array, /, reps: int | collections.abc.Sequence[int]").c_str()),
      "The array repeated as a whole ``reps`` times along each axis.\n\n"
      "Args:\n    reps: an int or one for each axis; missing ones, and missing axes, count 1.\n\n"
      "Raises:\n    ValueError: a number is negative.\n\n"
      "Example:\n    >>> mx.tile(mx.arange(2), 2)\n    array([0, 1, 0, 1], dtype=int32)");
}

void bind_joins(nb::module_& m) {
  define(
      m, "concatenate",
      [](const std::vector<array>& arrays, std::optional<int> axis, const StreamArg& s) {
        if (axis) {
          return concatenate(arrays, *axis, s);
        }
        std::vector<array> flat;
        for (const array& a : arrays) {
          flat.push_back(reshape(a, Shape{a.size()}, s));
        }
        return concatenate(flat, 0, s);
      },
      nb::arg(), "axis"_a.none() = 0, nb::kw_only(), "stream"_a = nb::none(),
      nb::sig(
          signature("concatenate(arrays: collections.abc.Sequence[array], /, axis: int | None = 0")
              .c_str()),
      "Arrays joined along an existing axis; their dtypes are promoted.\n\n"
      "Args:\n    axis: default 0; None flattens the arrays first.\n\n"
      "Raises:\n    ValueError: no arrays, or shapes that differ in another axis.\n"
      "    AxisError: the axis is out of range.\n\n"
      "Example:\n    >>> mx.concatenate([mx.arange(2), mx.arange(1)])\n"
      "    array([0, 1, 0], dtype=int32)");
  m.attr("concat") = m.attr("concatenate");
  define(
      m, "stack",
      [](const std::vector<array>& arrays, std::optional<int> axis, const StreamArg& s) {
        return stack(arrays, axis.value_or(0), s);
      },
      nb::arg(), "axis"_a.none() = 0, nb::kw_only(), "stream"_a = nb::none(),
      nb::sig(signature("stack(arrays: collections.abc.Sequence[array], /, axis: int | None = 0")
                  .c_str()),
      "Arrays of one shape joined along a new axis; their dtypes are promoted.\n\n"
      "Raises:\n    ValueError: no arrays, or shapes that differ.\n"
      "    AxisError: the axis is out of range.\n\n"
      "Example:\n    >>> mx.stack([mx.arange(2), mx.arange(2)], axis=1).tolist()\n"
      "    [[0, 0], [1, 1]]");
  define(m, "split", &split_any, nb::arg(), "indices_or_sections"_a, "axis"_a = 0, nb::kw_only(),
         "stream"_a = nb::none(),
         nb::sig(signature("split(a: array, /, indices_or_sections: int | "
                           "collections.abc.Sequence[int], axis: int = 0",
                           "list[array]")
                     .c_str()),
         "Cuts an axis into parts, which are views.\n\n"
         "Args:\n    indices_or_sections: a number of equal parts, or the places to cut at.\n\n"
         "Raises:\n    ValueError: the axis does not divide into that many parts.\n"
         "    AxisError: the axis is out of range.\n\n"
         "Example:\n    >>> [a.tolist() for a in mx.split(mx.arange(4), [1])]\n"
         "    [[0], [1, 2, 3]]");
  define(
      m, "unstack",
      [](const array& x, int axis, const StreamArg& s) {
        return nb::tuple(nb::cast(unstack(x, axis, s)));
      },
      nb::arg(), nb::kw_only(), "axis"_a = 0, "stream"_a = nb::none(),
      nb::sig("def unstack(x: array, /, *, axis: int = 0, stream: Stream | ThreadLocalStream | "
              "Device | DeviceType | None = None) -> tuple[array, ...]"),
      "The slices along an axis, without it.\n\n"
      "Raises:\n    AxisError: the axis is out of range.\n\n"
      "Example:\n    >>> [a.tolist() for a in mx.unstack(mx.array([[1, 2], [3, 4]]))]\n"
      "    [[1, 2], [3, 4]]");
}

// An int, one pair for all axes, or a pair for each axis; (n,) counts as (n, n).
using Widths = std::variant<int64_t, std::vector<int64_t>, std::vector<std::vector<int64_t>>>;

std::pair<int64_t, int64_t> width_pair(const std::vector<int64_t>& w) {
  if (w.size() != 1 && w.size() != 2) {
    fail<ValueError>("[pad] expected widths as one number or a pair, got {} numbers",
                     int64_t(w.size()));
  }
  return {w[0], w.back()};
}

std::vector<std::pair<int64_t, int64_t>> widths_of(const Widths& w, int ndim) {
  if (const auto* n = std::get_if<int64_t>(&w)) {
    return {size_t(ndim), {*n, *n}};
  }
  if (const auto* pair = std::get_if<std::vector<int64_t>>(&w)) {
    return {size_t(ndim), width_pair(*pair)};
  }
  const auto& list = std::get<std::vector<std::vector<int64_t>>>(w);
  if (list.size() == 1) {
    return {size_t(ndim), width_pair(list[0])};
  }
  if (int(list.size()) != ndim) {
    fail<ValueError>("[pad] expected widths for {} axes, got {}", ndim, int64_t(list.size()));
  }
  std::vector<std::pair<int64_t, int64_t>> out;
  for (const auto& pair : list) {
    out.push_back(width_pair(pair));
  }
  return out;
}

PadMode pad_mode(const std::string& mode) {
  static constexpr std::pair<std::string_view, PadMode> modes[] = {
      {"constant", PadMode::constant},
      {"edge", PadMode::edge},
      {"reflect", PadMode::reflect},
      {"symmetric", PadMode::symmetric}};
  for (auto [name, value] : modes) {
    if (name == mode) {
      return value;
    }
  }
  fail<ValueError>("[pad] expected mode constant, edge, reflect or symmetric, got '{}'", mode);
}

void bind_pad(nb::module_& m) {
  define(
      m, "pad",
      [](const array& a, const Widths& pad_width, const std::string& mode,
         const ArrayArg& constant_values, const StreamArg& s) {
        Shape low, high;
        for (auto [before, behind] : widths_of(pad_width, a.ndim())) {
          low.push_back(before);
          high.push_back(behind);
        }
        return pad(a, all_axes(a), low, high, to_array(constant_values, a.dtype()), pad_mode(mode),
                   s);
      },
      nb::arg(), "pad_width"_a, "mode"_a = "constant", "constant_values"_a = 0, nb::kw_only(),
      "stream"_a = nb::none(),
      nb::sig(
          signature(
              "pad(a: array, /, pad_width: int | collections.abc.Sequence[int] | "
              "collections.abc.Sequence[collections.abc.Sequence[int]], mode: str = 'constant', "
              "constant_values: bool | int | float | complex | array | ArrayLike = 0")
              .c_str()),
      "Elements added before and behind each axis.\n\n"
      "Args:\n    pad_width: an int, a pair (before, behind) for all axes, or a pair for each.\n"
      "    mode: 'constant'; 'edge' repeats the border; 'reflect' mirrors without, 'symmetric'\n"
      "        with the border element.\n"
      "    constant_values: what 'constant' adds, converted to the dtype of ``a``.\n\n"
      "Raises:\n    ValueError: a width is negative, the number of pairs or the mode is wrong, or\n"
      "        an empty axis has nothing to pad with.\n\n"
      "Example:\n    >>> mx.pad(mx.array([1, 2]), (1, 0), constant_values=9)\n"
      "    array([9, 1, 2], dtype=int32)");
}

void bind_layouts(nb::module_& m) {
  define(
      m, "as_strided",
      [](const array& a, std::optional<Shape> shape, std::optional<Shape> strides, int64_t offset,
         const StreamArg& s) {
        Shape sizes = shape.value_or(a.shape());
        Strides steps = strides ? *strides : row_major(sizes);
        return as_strided(a, std::move(sizes), std::move(steps), offset, s);
      },
      nb::arg(), "shape"_a = nb::none(), "strides"_a = nb::none(), "offset"_a = 0, nb::kw_only(),
      "stream"_a = nb::none(),
      nb::sig(
          signature("as_strided(a: array, /, shape: collections.abc.Sequence[int] | None = None, "
                    "strides: collections.abc.Sequence[int] | None = None, offset: int = 0")
              .c_str()),
      "The elements of ``a``, flattened in row-major order, read with other strides.\n\n"
      "Args:\n    shape: default that of ``a``.\n"
      "    strides: in elements, default row-major; may be 0 or negative.\n"
      "    offset: of the first element, in elements.\n\n"
      "Raises:\n    ValueError: an element would lie outside the array.\n\n"
      "Example:\n    >>> mx.as_strided(mx.arange(4), (3, 2), (1, 1)).tolist()\n"
      "    [[0, 1], [1, 2], [2, 3]]");
  define(
      m, "contiguous",
      [](const array& a, bool allow_col_major, const StreamArg& s) {
        return contiguous(a, allow_col_major, s);
      },
      nb::arg(), "allow_col_major"_a = false, nb::kw_only(), "stream"_a = nb::none(),
      nb::sig(signature("contiguous(a: array, /, allow_col_major: bool = False").c_str()),
      "The same values in row-major memory; copies only if they are not there yet.\n\n"
      "Args:\n    allow_col_major: leave a column-major array as it is.\n\n"
      "Example:\n    >>> mx.contiguous(mx.ones((2, 3)).T).shape\n    (3, 2)");
  define(
      m, "view",
      [](const ArrayArg& a, Dtype dtype, const StreamArg& s) {
        return view(to_array(a), dtype, s);
      },
      nb::arg(), "dtype"_a, nb::kw_only(), "stream"_a = nb::none(),
      nb::sig(signature("view(a: bool | int | float | complex | array | ArrayLike, /, dtype: Dtype")
                  .c_str()),
      "The bits of ``a`` as elements of another dtype; the last axis scales by the sizes.\n\n"
      "Raises:\n    ValueError: the last axis does not hold whole elements.\n\n"
      "Example:\n    >>> mx.view(mx.array([1.0]), mx.int32)\n    array([1065353216], dtype=int32)");
  define(
      m, "stop_gradient", [](const array& a, const StreamArg& s) { return stop_gradient(a, s); },
      nb::arg(), nb::kw_only(), "stream"_a = nb::none(),
      nb::sig(signature("stop_gradient(a: array, /").c_str()),
      "The same values; no gradient flows through them.\n\n"
      "Example:\n    >>> mx.grad(lambda x: x * mx.stop_gradient(x))(mx.array(3.0))\n"
      "    array(3, dtype=float32)");
}

void bind_shape_methods(nb::class_<array> c) {
  c.def(
       "reshape",
       [](const array& a, const nb::args& shape, const StreamArg& s) {
         std::vector<int64_t> sizes = varargs(shape, "reshape");
         return reshape(a, Shape(sizes.begin(), sizes.end()), s);
       },
       "shape"_a, nb::kw_only(), "stream"_a = nb::none(),
       nb::sig("def reshape(self, *shape, stream: Stream | ThreadLocalStream | Device | DeviceType "
               "| None = None) -> array"),
       "See :func:`mlx.core.reshape`; the sizes may be separate arguments.")
      .def(
          "transpose",
          [](const array& a, const nb::args& axes, const StreamArg& s) {
            if (axes.size() == 0 || (axes.size() == 1 && axes[0].is_none())) {
              return transpose(a, s);
            }
            std::vector<int64_t> order = varargs(axes, "transpose");
            return transpose(a, std::vector<int>(order.begin(), order.end()), s);
          },
          "axes"_a, nb::kw_only(), "stream"_a = nb::none(),
          nb::sig("def transpose(self, *axes, stream: Stream | ThreadLocalStream | Device | "
                  "DeviceType | None = None) -> array"),
          "See :func:`mlx.core.transpose`; the axes may be separate arguments.")
      .def(
          "flatten",
          [](const array& a, int start_axis, int end_axis, const StreamArg& s) {
            return flatten(a, start_axis, end_axis, s);
          },
          "start_axis"_a = 0, "end_axis"_a = -1, nb::kw_only(), "stream"_a = nb::none(),
          "See :func:`mlx.core.flatten`.")
      .def("squeeze", &squeeze_any, "axis"_a = nb::none(), nb::kw_only(), "stream"_a = nb::none(),
           "See :func:`mlx.core.squeeze`.")
      .def(
          "swapaxes",
          [](const array& a, int axis1, int axis2, const StreamArg& s) {
            return swapaxes(a, axis1, axis2, s);
          },
          "axis1"_a, "axis2"_a, nb::kw_only(), "stream"_a = nb::none(),
          "See :func:`mlx.core.swapaxes`.")
      .def(
          "moveaxis",
          [](const array& a, int source, int destination, const StreamArg& s) {
            return moveaxis(a, source, destination, s);
          },
          "source"_a, "destination"_a, nb::kw_only(), "stream"_a = nb::none(),
          "See :func:`mlx.core.moveaxis`.")
      .def("split", &split_any, "indices_or_sections"_a, "axis"_a = 0, nb::kw_only(),
           "stream"_a = nb::none(), "See :func:`mlx.core.split`.")
      .def(
          "view", [](const array& a, Dtype dtype, const StreamArg& s) { return view(a, dtype, s); },
          "dtype"_a, nb::kw_only(), "stream"_a = nb::none(), "See :func:`mlx.core.view`.");
}

}  // namespace

void bind_shape(nb::module_& m) {
  bind_reshapes(m);
  bind_orders(m);
  bind_broadcasts(m);
  bind_joins(m);
  bind_pad(m);
  bind_layouts(m);
  bind_shape_methods(array_class());
}

}  // namespace mlx::core
