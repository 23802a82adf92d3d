// From Python keys to slices and index arrays.
#include "python/src/index_key.h"

#include <algorithm>

#include "mlx/dispatch.h"
#include "mlx/error.h"
#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/index/index.h"
#include "mlx/ops/shape/shape.h"
#include "python/src/convert.h"
#include "python/src/gil.h"

namespace mlx::core {

namespace {

KeyItem array_item(array a, bool on_host) {
  ItemKind kind = a.dtype().is_bool() ? ItemKind::mask : ItemKind::indices;
  if (!a.dtype().is_bool() && !a.dtype().is_integer()) {
    fail<ValueError>("[index] expected integer indices or a boolean mask, got {} with shape {}",
                     a.dtype(), a.shape());
  }
  return {kind, 0, {}, std::move(a), on_host};
}

// Lists and tuples of numbers; without any they hold no positions, whatever their dtype would be.
KeyItem list_item(nb::handle h) {
  array a = make_array(h, {});
  bool none = a.size() == 0 && a.dtype() == float32;
  return array_item(none ? zeros(a.shape(), int32) : std::move(a), true);
}

KeyItem parse_item(nb::handle h) {
  PyObject* p = h.ptr();
  if (const array* a = as_array(h)) {
    return array_item(*a, false);
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
  if (PyBool_Check(p)) {
    return array_item(array(p == Py_True), true);
  }
  if (PyList_Check(p) || PyTuple_Check(p)) {
    return list_item(h);
  }
  int64_t value = 0;
  bool overflow = false;
  if (load_index(h, value, overflow)) {
    if (overflow) {
      fail<IndexError>("[index] the index does not fit 64 bits");
    }
    return {ItemKind::integer, value};
  }
  bool number = PyFloat_Check(p) || PyComplex_Check(p) || PyBytes_Check(p) || PyByteArray_Check(p);
  if (!number && is_array_like(h)) {
    return array_item(to_array(h), true);
  }
  fail<ValueError>(
      "[index] expected integers, slices, None, Ellipsis, or arrays or lists of integers or bools, "
      "got {}",
      class_name(h));
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

// Raises for indices outside the axis, as far as they can be read without evaluating anything.
void check_range(const array& index, int64_t n, int axis, const array& a) {
  if (!index.is_available() || index.size() == 0) {
    return;
  }
  Plan p = plan(index.shape(), std::span(&index.strides(), 1));
  dispatch(IntegerTypes{}, index.dtype(), "index", [&]<typename I>() {
    Odometer o(p, 0);
    const I* data = index.data<I>();
    for (int64_t k = 0; k < p.size; ++k, o.next()) {
      I i = data[o.offset(0)];
      if (std::is_signed_v<I> ? int64_t(i) < -n || int64_t(i) >= n : uint64_t(i) >= uint64_t(n)) {
        fail<IndexError>("[index] index {} is out of range for axis {} of shape {}", i, axis,
                         a.shape());
      }
    }
  });
}

// Walks over the items and puts the selection together.
class Selector {
 public:
  Selector(const array& a, const KeyItems& items) : a_(a) {
    gathers_ = std::any_of(items.begin(), items.end(), [](const KeyItem& x) {
      return x.kind == ItemKind::indices || x.kind == ItemKind::mask;
    });
    for (const KeyItem& x : items) {
      add(x);
      ++item_;
    }
  }

  Selection finish() {
    if (gathers_) {
      // Index arrays that stand apart put their shape in front.
      bool apart = last_ - first_ + 1 != joined_;
      s_.position = apart ? 0 : s_.position;
      place_ = apart ? 0 : place_;
      Shape shape(s_.shape.begin(), s_.shape.begin() + place_);
      shape.append(index_shape_.begin(), index_shape_.end());
      shape.append(s_.shape.begin() + place_, s_.shape.end());
      s_.shape = std::move(shape);
    }
    return std::move(s_);
  }

 private:
  void add(const KeyItem& x) {
    s_.only_integers = s_.only_integers && x.kind == ItemKind::integer;
    switch (x.kind) {
      case ItemKind::ellipsis:
        break;
      case ItemKind::new_axis:
        s_.shape.push_back(1);
        break;
      case ItemKind::slice: {
        AxisSlice part = parse_slice(x.slice, a_.shape()[axis_]);
        s_.shape.push_back(part.count);
        add_axis(a_.shape()[axis_++], part);
        break;
      }
      case ItemKind::integer: {
        int64_t n = a_.shape()[axis_], i = parse_integer(x.integer, n, axis_, a_);
        if (gathers_) {
          join();
          add_indices(array::from_int(i, int64), n);
        } else {
          add_axis(n, {i, 1, 1});
        }
        ++axis_;
        break;
      }
      case ItemKind::indices: {
        int64_t n = a_.shape()[axis_];
        if (x.on_host && n > 0) {
          check_range(*x.values, n, axis_, a_);
        }
        join();
        add_indices(*x.values, n);
        ++axis_;
        break;
      }
      case ItemKind::mask:
        join();
        add_mask(*x.values);
        break;
    }
  }

  void add_axis(int64_t n, AxisSlice part) {
    s_.source.push_back(n);
    s_.start.push_back(part.start);
    s_.step.push_back(part.step);
    s_.count.push_back(part.count);
  }

  void add_indices(const array& values, int64_t n) {
    index_shape_ = broadcast_shapes(index_shape_, values.shape(), "index");
    s_.indices.push_back(values);
    s_.axes.push_back(int(s_.source.size()));
    add_axis(n, {0, 1, n});
  }

  void add_mask(const array& mask) {
    if (mask.ndim() == 0) {
      add_indices(selected(array(0, int32), mask), 1);
      return;
    }
    Shape covered(a_.shape().begin() + axis_, a_.shape().begin() + axis_ + mask.ndim());
    if (covered != mask.shape()) {
      fail<ValueError>("[index] a mask of shape {} does not fit the axes of shape {} it stands for",
                       mask.shape(), covered);
    }
    std::vector<array> places;
    {
      GilRelease r;
      places = nonzero(mask);
    }
    for (const array& i : places) {
      add_indices(i, a_.shape()[axis_++]);
    }
  }

  // The item is one of those whose shapes broadcast together.
  void join() {
    if (first_ < 0) {
      first_ = item_;
      place_ = int(s_.shape.size());
      s_.position = int(s_.source.size());
    }
    last_ = item_;
    ++joined_;
  }

  const array& a_;
  Selection s_;
  bool gathers_;
  Shape index_shape_;
  int axis_ = 0, item_ = 0, joined_ = 0;
  int first_ = -1, last_ = -1, place_ = 0;  // extent of the index arrays in the key
};

}  // namespace

int KeyItem::axes() const {
  switch (kind) {
    case ItemKind::new_axis:
    case ItemKind::ellipsis:
      return 0;
    case ItemKind::mask:
      return values->ndim();
    case ItemKind::integer:
    case ItemKind::slice:
    case ItemKind::indices:
      return 1;
  }
  __builtin_unreachable();
}

KeyItems parse_key(const array& a, nb::handle key) {
  KeyItems items;
  int used = 0, ellipses = 0;
  auto add = [&](nb::handle h) {
    items.push_back(parse_item(h));
    used += items.back().axes();
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
  KeyItems full;
  auto rest = [&] {
    for (int i = used; i < a.ndim(); ++i) {
      full.push_back({ItemKind::slice});
    }
  };
  for (KeyItem& x : items) {
    if (x.kind == ItemKind::ellipsis) {
      // It keeps its place: what it stands between is apart, even if it stands for no axis.
      full.push_back({ItemKind::ellipsis});
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

const array* sole_mask(const KeyItems& items) {
  if (items.empty() || items[0].kind != ItemKind::mask) {
    return nullptr;
  }
  bool alone = std::all_of(items.begin() + 1, items.end(), [](const KeyItem& x) {
    return x.kind == ItemKind::ellipsis || (x.kind == ItemKind::slice && !x.slice);
  });
  return alone ? &*items[0].values : nullptr;
}

bool Selection::sliced() const {
  for (size_t i = 0; i < source.size(); ++i) {
    if (start[i] != 0 || step[i] != 1 || count[i] != source[i]) {
      return true;
    }
  }
  return false;
}

array selected(const array& a, const array& mask) {
  GilRelease r;
  return masked_select(a, mask);
}

Selection select(const array& a, const KeyItems& items) { return Selector(a, items).finish(); }

}  // namespace mlx::core
