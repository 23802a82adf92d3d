// A key of x[…], read by NumPy's rules: a regular slice of all axes, then at most one gather for
// all its index arrays, then a reshape for what was dropped or added.
#pragma once

#include <optional>
#include <vector>

#include "python/src/bindings.h"

namespace mlx::core {

enum class ItemKind : uint8_t { integer, slice, new_axis, ellipsis, indices, mask };

// One part of a key.
struct KeyItem {
  ItemKind kind;
  int64_t integer = 0;
  nb::handle slice = {};             // none: all of the axis
  std::optional<array> values = {};  // indices, or a mask, which stands for as many axes as it has
  bool on_host = false;              // values that were numbers or NumPy's: they can be checked

  int axes() const;
};

// One item per axis but for new axes and masks; an Ellipsis is replaced by what it stands for.
using KeyItems = SmallVector<KeyItem, 6>;
KeyItems parse_key(const array& a, nb::handle key);

// The mask, if there is nothing else in the key but whole axes behind it.
const array* sole_mask(const KeyItems& items);

// a[mask], waiting for the mask without the GIL.
array selected(const array& a, const array& mask);

struct Selection {
  // The array's shape, with an axis of size 1 for every mask without dimensions.
  Shape source;
  // The slice of every axis of that. Integers take one element, unless they join index arrays.
  Shape start, step, count;
  // The gather from the slice; empty if there are no index arrays.
  std::vector<array> indices;
  Axes axes;
  int position = 0;
  // Shape of the result of both steps without dropped and with new axes.
  Shape shape;
  bool only_integers = true;

  bool sliced() const;  // anything but all of the source
};
// Masks become index arrays here, which evaluates them.
Selection select(const array& a, const KeyItems& items);

}  // namespace mlx::core
