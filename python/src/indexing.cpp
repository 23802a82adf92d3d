// Indexing by NumPy's rules. A key becomes one regular slice of all axes, then at most one gather
// for all its index arrays, then a reshape for what was dropped or added. Assignment goes the
// same way backwards.
#include "python/src/indexing.h"

#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/index/index.h"
#include "mlx/ops/shape/shape.h"
#include "python/src/array_slots.h"
#include "python/src/convert.h"
#include "python/src/errors.h"

namespace mlx::core {

namespace {

enum class ItemKind : uint8_t { integer, slice, new_axis, ellipsis, indices };

struct Item {
  ItemKind kind;
  int64_t integer = 0;
  nb::handle slice = {};
  std::optional<array> indices = {};

  bool uses_axis() const { return kind != ItemKind::new_axis && kind != ItemKind::ellipsis; }
};

Item index_item(array a) {
  if (!a.dtype().is_integer()) {
    fail<ValueError>("[index] expected integer indices, got an array of {} with shape {}",
                     a.dtype(), a.shape());
  }
  return {ItemKind::indices, 0, {}, std::move(a)};
}

Item parse_item(nb::handle h) {
  PyObject* p = h.ptr();
  int64_t value = 0;
  bool overflow = false;
  if (const array* a = as_array(h)) {
    return index_item(*a);
  }
  if (PySlice_Check(p)) {
    return {ItemKind::slice, 0, h};
  }
  if (p == Py_None) {
    return {ItemKind::new_axis};
  }
  if (p == Py_Ellipsis) {
    return {ItemKind::ellipsis};
  }
  if (PyList_Check(p)) {
    return index_item(make_array(h, {}));
  }
  if (load_index(h, value, overflow)) {
    if (overflow) {
      fail<IndexError>("[index] the index does not fit 64 bits");
    }
    return {ItemKind::integer, value};
  }
  fail<ValueError>(
      "[index] expected integers, slices, None, Ellipsis, integer arrays or lists, got {}",
      class_name(h));
}

// One per axis but for None; the Ellipsis is replaced by what it stands for.
using Items = SmallVector<Item, 6>;

Items parse_key(const array& a, nb::handle key) {
  Items items;
  int used = 0, ellipses = 0;
  auto add = [&](nb::handle h) {
    items.push_back(parse_item(h));
    used += items.back().uses_axis();
    ellipses += items.back().kind == ItemKind::ellipsis;
  };
  if (PyTuple_Check(key.ptr())) {
    for (nb::handle h : nb::borrow<nb::tuple>(key)) {
      add(h);
    }
  } else {
    add(key);
  }
  if (used > a.ndim()) {
    fail<ValueError>("[index] too many indices: {} for an array of shape {}", used, a.shape());
  }
  if (ellipses > 1) {
    fail<ValueError>("[index] at most one Ellipsis can be used, got {}", ellipses);
  }
  Items full;
  auto rest = [&] {
    for (int i = used; i < a.ndim(); ++i) {
      full.push_back({ItemKind::slice});
    }
  };
  for (Item& x : items) {
    if (x.kind == ItemKind::ellipsis) {
      rest();
    } else {
      full.push_back(std::move(x));
    }
  }
  if (ellipses == 0) {
    rest();
  }
  return full;
}

std::optional<int64_t> slice_bound(nb::handle slice, const char* name) {
  nb::object h = slice.attr(name);
  if (h.is_none()) {
    return {};
  }
  int64_t value = 0;
  bool overflow = false;
  if (as_array(h) || !load_index(h, value, overflow)) {
    fail<ValueError>("[index] slice bounds have to be integers or None, got {}", class_name(h));
  }
  if (overflow) {  // as far as one can go, in the direction of its sign
    return PyObject_RichCompareBool(h.ptr(), nb::int_(0).ptr(), Py_LT) == 1 ? INT64_MIN / 2
                                                                            : INT64_MAX / 2;
  }
  return value;
}

AxisSlice parse_slice(nb::handle slice, int64_t n) {
  if (!slice) {
    return {0, 1, n};
  }
  return normalize_slice(slice_bound(slice, "start"), slice_bound(slice, "stop"),
                         slice_bound(slice, "step").value_or(1), n, "index");
}

int64_t parse_integer(int64_t i, int64_t n, int axis, const array& a) {
  if (n == 0) {
    fail<ValueError>("[index] axis {} of shape {} is empty, there is no element {}", axis,
                     a.shape(), i);
  }
  if (i < -n || i >= n) {
    fail<IndexError>("[index] index {} is out of range for axis {} of shape {}", i, axis,
                     a.shape());
  }
  return i < 0 ? i + n : i;
}

// A key in terms of the three steps.
struct Selection {
  // The slice of every axis. Integers take one element, unless they join index arrays.
  Shape start, step, count;
  // The gather from that; empty if there are no index arrays.
  std::vector<array> indices;
  Axes axes;
  int position = 0;
  // Shape of the result of both steps without dropped and with new axes.
  Shape shape;
  bool only_integers = true;

  bool sliced(const array& a) const {
    for (int i = 0; i < a.ndim(); ++i) {
      if (start[i] != 0 || step[i] != 1 || count[i] != a.shape()[i]) {
        return true;
      }
    }
    return false;
  }
};

Selection select(const array& a, const Items& items) {
  Selection s;
  bool gathers = std::any_of(items.begin(), items.end(),
                             [](const Item& x) { return x.kind == ItemKind::indices; });
  Shape index_shape;
  int axis = 0, first = -1, last = -1, place = 0;  // extent of the index arrays in the key
  for (int k = 0; k < int(items.size()); ++k) {
    const Item& x = items[k];
    if (x.kind == ItemKind::new_axis) {
      s.only_integers = false;
      s.shape.push_back(1);
      continue;
    }
    int64_t n = a.shape()[axis];
    AxisSlice part{0, 1, n};
    bool joins = gathers && x.kind != ItemKind::slice;
    if (x.kind == ItemKind::slice) {
      part = parse_slice(x.slice, n);
      s.only_integers = false;
      s.shape.push_back(part.count);
    } else if (x.kind == ItemKind::integer) {
      int64_t i = parse_integer(x.integer, n, axis, a);
      if (joins) {
        s.indices.push_back(array::from_int(i, int64));
      } else {
        part = {i, 1, 1};
      }
    } else {
      s.only_integers = false;
      s.indices.push_back(*x.indices);
      index_shape = broadcast_shapes(index_shape, x.indices->shape(), "index");
    }
    if (joins) {
      s.axes.push_back(axis);
      if (first < 0) {
        first = k;
        place = int(s.shape.size());
        s.position = axis;
      }
      last = k;
    }
    s.start.push_back(part.start);
    s.step.push_back(part.step);
    s.count.push_back(part.count);
    ++axis;
  }
  if (gathers) {
    // Index arrays that stand apart put their shape in front.
    bool apart = last - first + 1 != int(s.axes.size());
    s.position = apart ? 0 : s.position;
    place = apart ? 0 : place;
    Shape shape(s.shape.begin(), s.shape.begin() + place);
    shape.append(index_shape.begin(), index_shape.end());
    shape.append(s.shape.begin() + place, s.shape.end());
    s.shape = std::move(shape);
  }
  return s;
}

// The value as an array that broadcasts to the selection.
array assigned_value(const array& a, nb::handle value, const Selection& s) {
  if (value.is_none()) {
    fail<TypeError>("[setitem] expected an array or a number to assign, got None");
  }
  array v = astype(to_array(value, a.dtype()), a.dtype());
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

bool is_mask(nb::handle key, std::optional<array>& mask) {
  PyObject* p = key.ptr();
  if (const array* a = as_array(key)) {
    mask = *a;
  } else if (PyBool_Check(p)) {
    mask = array(p == Py_True);
  } else if (PyList_Check(p) || (PyObject_CheckBuffer(p) && !PyIndex_Check(p)) ||
             nb::hasattr(key, "__array_interface__")) {
    mask = PyList_Check(p) ? make_array(key, {}) : to_array(key);
  }
  return mask && mask->dtype().is_bool();
}

array set_masked(const array& a, const array& mask, nb::handle value) {
  if (value.is_none()) {
    fail<TypeError>("[setitem] expected an array or a number to assign, got None");
  }
  return masked_scatter(a, mask, to_array(value, a.dtype()));
}

}  // namespace

array get_item(const array& a, nb::handle key) {
  Items items = parse_key(a, key);
  Selection s = select(a, items);
  array x = strided_slice(a, s.start, s.step, s.count);
  if (!s.indices.empty()) {
    x = gather(x, s.indices, s.axes, s.position);
  }
  return reshape(x, std::move(s.shape));
}

array set_item(const array& a, nb::handle key, nb::handle value) {
  std::optional<array> mask;
  if (is_mask(key, mask)) {
    return set_masked(a, *mask, value);
  }
  Items items = parse_key(a, key);
  Selection s = select(a, items);
  array v = assigned_value(a, value, s);
  if (s.indices.empty()) {
    return slice_update(a, reshape(v, s.count), s.start, s.step);
  }
  array part = strided_slice(a, s.start, s.step, s.count);
  // New axes are left out of the updates: a gather of the same selection has their shape.
  Shape shape = gather(part, s.indices, s.axes, s.position).shape();
  array updated = scatter(part, s.indices, reshape(v, std::move(shape)), s.axes, s.position);
  return s.sliced(a) ? slice_update(a, updated, s.start, s.step) : updated;
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
