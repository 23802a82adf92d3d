// x[…], x[…] = v and x.at[…]: a key becomes slices and a gather; writing goes the same way
// backwards.
#include "python/src/indexing.h"

#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/shape/shape.h"
#include "mlx/transforms/trace.h"
#include "python/src/array_slots.h"
#include "python/src/convert.h"
#include "python/src/errors.h"
#include "python/src/index_key.h"

namespace mlx::core {

namespace {

// The value as an array of the dtype of `a`.
array assigned_value(const array& a, nb::handle value) {
  if (value.is_none()) {
    fail<TypeError>("[setitem] expected an array or a number to assign, got None");
  }
  return astype(to_array(value, a.dtype()), a.dtype());
}

// The value broadcast to the selection.
array spread_value(array v, const Selection& s) {
  if (s.only_integers && s.start.size() > 1 && v.ndim() > 0) {
    fail<ValueError>("[setitem] a single element cannot hold a value of shape {}", v.shape());
  }
  int extra = 0;
  while (v.ndim() - extra > int(s.shape.size()) && v.shape()[extra] == 1) {
    ++extra;
  }
  if (extra > 0) {
    v = reshape(v, Shape(v.shape().begin() + extra, v.shape().end()));
  }
  return broadcast_to(v, s.shape);
}

// A slice of all elements says nothing about how many there are.
bool takes_all(const KeyItem& x) {
  if (x.kind == ItemKind::slice && x.slice) {
    for (const char* part : {"start", "stop", "step"}) {
      if (!nb::object(x.slice.attr(part)).is_none()) {
        return false;
      }
    }
  }
  return x.kind == ItemKind::slice || x.kind == ItemKind::ellipsis;
}

// Where the new axes stand in the result, of a key that takes all axes whole.
std::optional<Axes> only_new_axes(const KeyItems& items) {
  Axes added;
  int position = 0;
  for (const KeyItem& x : items) {
    if (x.kind == ItemKind::new_axis) {
      added.push_back(position);
    } else if (!takes_all(x)) {
      return {};
    }
    position += x.kind != ItemKind::ellipsis;
  }
  return added;
}

// Index arrays and axes taken whole: a gather alone, which knows no sizes.
bool only_indices(const KeyItems& items) {
  bool any = false;
  for (const KeyItem& x : items) {
    any = any || x.kind == ItemKind::indices;
    if (x.kind != ItemKind::indices && !takes_all(x)) {
      return false;
    }
  }
  return any;
}

}  // namespace

array get_item(const array& a, nb::handle key) {
  KeyItems items = parse_key(a, key);
  if (const array* mask = sole_mask(items)) {
    return selected(a, *mask);
  }
  if (std::optional<Axes> added; shapes_may_change() && (added = only_new_axes(items))) {
    return expand_dims(a, std::span<const int>(*added));
  }
  Selection s = select(a, items);
  if (shapes_may_change() && only_indices(items)) {
    return gather(a, s.indices, s.axes, s.position);
  }
  array x = strided_slice(reshape(a, s.source), s.start, s.step, s.count);
  if (!s.indices.empty()) {
    x = gather(x, s.indices, s.axes, s.position);
  }
  return reshape(x, std::move(s.shape));
}

array write_item(ScatterMode mode, const array& a, nb::handle key, const array& value) {
  KeyItems items = parse_key(a, key);
  if (const array* mask = sole_mask(items)) {
    return masked_scatter(mode, a, *mask, value);
  }
  Selection s = select(a, items);
  if (shapes_may_change() && only_indices(items)) {
    return scatter(mode, a, s.indices, value, s.axes, s.position);
  }
  array v = spread_value(value, s), base = reshape(a, s.source);
  array part = strided_slice(base, s.start, s.step, s.count);
  if (s.indices.empty()) {
    v = combine(mode, part, reshape(v, s.count));
    return slice_update(base, v, s.start, s.step);
  }
  // New axes are left out of the updates: a gather of the same selection has their shape.
  Shape shape = gather(part, s.indices, s.axes, s.position).shape();
  array updated = scatter(mode, part, s.indices, reshape(v, std::move(shape)), s.axes, s.position);
  return reshape(s.sliced() ? slice_update(base, updated, s.start, s.step) : updated, a.shape());
}

array set_item(const array& a, nb::handle key, nb::handle value) {
  return write_item(ScatterMode::assign, a, key, assigned_value(a, value));
}

PyObject* array_subscript(PyObject* self, PyObject* key) {
  return guarded<PyObject*>(nullptr,
                            [&] { return wrap(get_item(self_array(self), key)).release().ptr(); });
}

int array_assign_subscript(PyObject* self, PyObject* key, PyObject* value) {
  return guarded(-1, [&] {
    if (!value) {
      fail<TypeError>("[delitem] elements of an array cannot be deleted");
    }
    array& a = self_array(self);
    a = set_item(a, key, value);
    return 0;
  });
}

}  // namespace mlx::core
