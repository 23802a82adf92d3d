// Walking and rebuilding trees of Python containers.
#include "python/src/trees.h"

#include <limits>

#include "mlx/error.h"
#include "mlx/transforms/transforms.h"
#include "python/src/convert.h"

namespace mlx::core {

RecursionGuard::RecursionGuard() {
  if (Py_EnterRecursiveCall(" while walking a tree of containers")) {
    throw nb::python_error();
  }
}

bool is_named_tuple(nb::handle t) {
  return !PyTuple_CheckExact(t.ptr()) && nb::hasattr(t, "_fields");
}

bool is_tree_node(nb::handle h) {
  return PyList_Check(h.ptr()) || PyTuple_Check(h.ptr()) || PyDict_Check(h.ptr());
}

void visit_leaves(nb::handle tree, const std::function<void(nb::handle)>& f) {
  PyObject* p = tree.ptr();
  if (!is_tree_node(tree)) {
    f(tree);
    return;
  }
  RecursionGuard guard;
  if (PyDict_Check(p)) {
    // A copy: f may run code that changes the dict.
    nb::object values = nb::steal(PyDict_Values(p));
    for (nb::handle v : nb::borrow<nb::list>(values)) {
      visit_leaves(v, f);
    }
  } else if (PyList_Check(p)) {
    for (Py_ssize_t i = 0; i < PyList_Size(p); ++i) {
      nb::object item = nb::borrow(PyList_GetItem(p, i));
      visit_leaves(item, f);
    }
  } else {
    for (Py_ssize_t i = 0; i < PyTuple_Size(p); ++i) {
      visit_leaves(PyTuple_GetItem(p, i), f);
    }
  }
}

void visit_arrays(nb::handle tree, const std::function<void(nb::handle)>& f) {
  visit_leaves(tree, [&](nb::handle leaf) {
    if (as_array(leaf)) {
      f(leaf);
    }
  });
}

std::vector<array> arrays_of(nb::handle tree) {
  std::vector<array> result;
  visit_arrays(tree, [&](nb::handle h) { result.push_back(*as_array(h)); });
  return result;
}

nb::object map_leaves(nb::handle tree, const std::function<nb::object(nb::handle)>& f) {
  PyObject* p = tree.ptr();
  if (!is_tree_node(tree)) {
    return f(tree);
  }
  RecursionGuard guard;
  if (PyDict_Check(p)) {
    nb::dict result;
    for (auto [key, value] : nb::borrow<nb::dict>(tree)) {
      result[key] = map_leaves(value, f);
    }
    return result;
  }
  if (PyList_Check(p)) {
    nb::list result;
    for (Py_ssize_t i = 0; i < PyList_Size(p); ++i) {
      nb::object item = nb::borrow(PyList_GetItem(p, i));
      result.append(map_leaves(item, f));
    }
    return result;
  }
  nb::list items;
  for (Py_ssize_t i = 0; i < PyTuple_Size(p); ++i) {
    items.append(map_leaves(PyTuple_GetItem(p, i), f));
  }
  nb::tuple result(items);
  return is_named_tuple(tree) ? tree.type()(*result) : nb::object(result);
}

namespace {

int axis_number(PyObject* p) {
  int over = 0;
  long n = PyLong_AsLongAndOverflow(p, &over);
  if (over != 0 || n < -std::numeric_limits<int>::max() || n > std::numeric_limits<int>::max()) {
    fail<AxisError>("[vmap] axis {} is out of range", nb::str(nb::handle(p)).c_str());
  }
  return int(n);
}

}  // namespace

void flatten_axes(nb::handle axes, nb::handle tree, std::vector<int>& out) {
  PyObject* a = axes.ptr();
  PyObject* t = tree.ptr();
  auto mismatch = [&] {
    fail<ValueError>("[vmap] axes of type {} do not match an argument or output of type {}",
                     class_name(axes), class_name(tree));
  };
  if (axes.is_none() || (PyLong_Check(a) && !PyBool_Check(a))) {
    int axis = axes.is_none() ? not_mapped : axis_number(a);
    visit_leaves(tree, [&](nb::handle) { out.push_back(axis); });
  } else if (PyDict_Check(a)) {
    if (!PyDict_Check(t) || PyDict_Size(a) != PyDict_Size(t)) {
      mismatch();
    }
    for (auto [key, value] : nb::borrow<nb::dict>(tree)) {
      PyObject* axis = PyDict_GetItemWithError(a, key.ptr());
      if (!axis) {
        mismatch();
      }
      flatten_axes(axis, value, out);
    }
  } else if (PyList_Check(a) || PyTuple_Check(a)) {
    if (!(PyList_Check(t) || PyTuple_Check(t)) || nb::len(axes) != nb::len(tree)) {
      mismatch();
    }
    for (size_t i = 0; i < nb::len(tree); ++i) {
      flatten_axes(nb::object(axes[i]), nb::object(tree[i]), out);
    }
  } else {
    fail<ValueError>("[vmap] an axis is an int or None, got {}", class_name(axes));
  }
}

}  // namespace mlx::core
