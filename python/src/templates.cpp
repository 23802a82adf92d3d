// Taking templates of trees, filling them, and writing them back.
#include "python/src/templates.h"

#include <optional>

#include "mlx/ops/random/random.h"
#include "python/src/random_state.h"
#include "python/src/trees.h"

namespace mlx::core {

namespace {

bool is_container(nb::handle h) { return PyList_Check(h.ptr()) || PyDict_Check(h.ptr()); }

// Past the container's own methods: a subclass may do more on assignment.
void set_item(nb::handle container, nb::handle key, size_t index, nb::handle value) {
  PyObject* c = container.ptr();
  int failed = 0;
  if (PyDict_Check(c)) {
    failed = PyDict_SetItem(c, key.ptr(), value.ptr());
  } else if (Py_ssize_t(index) < PyList_Size(c)) {
    failed = PyList_SetItem(c, Py_ssize_t(index), value.inc_ref().ptr());
  } else {
    failed = PyList_Append(c, value.ptr());
  }
  if (failed) {
    throw nb::python_error();
  }
}

// What stands at a place of a container, null if nothing does.
nb::object item_of(nb::handle container, nb::handle key, size_t index) {
  PyObject* c = container.ptr();
  if (!c) {
    return {};
  }
  if (PyDict_Check(c)) {
    PyObject* item = key.is_valid() ? PyDict_GetItemWithError(c, key.ptr()) : nullptr;
    if (!item && PyErr_Occurred()) {
      throw nb::python_error();
    }
    return nb::borrow(item);
  }
  if (PyList_Check(c)) {
    return Py_ssize_t(index) < PyList_Size(c) ? nb::borrow(PyList_GetItem(c, Py_ssize_t(index)))
                                              : nb::object();
  }
  if (PyTuple_Check(c)) {
    return Py_ssize_t(index) < PyTuple_Size(c) ? nb::borrow(PyTuple_GetItem(c, Py_ssize_t(index)))
                                               : nb::object();
  }
  return {};
}

// Calls f(key or null, index, item) for each item of a container.
template <typename F>
void for_items(nb::handle tree, F f) {
  RecursionGuard guard;
  PyObject* p = tree.ptr();
  if (PyDict_Check(p)) {
    nb::object keys = nb::steal(PyDict_Keys(p));
    size_t i = 0;
    for (nb::handle key : nb::borrow<nb::list>(keys)) {
      if (nb::object item = item_of(tree, key, 0)) {
        f(key, i++, nb::handle(item));
      }
    }
    return;
  }
  Py_ssize_t n = PyList_Check(p) ? PyList_Size(p) : PyTuple_Size(p);
  for (Py_ssize_t i = 0; i < n; ++i) {
    if (nb::object item = item_of(tree, {}, size_t(i))) {
      f(nb::handle(), size_t(i), nb::handle(item));
    }
  }
}

Template::Kind kind_of(nb::handle tree) {
  if (PyDict_Check(tree.ptr())) {
    return Template::Kind::dict;
  }
  if (PyList_Check(tree.ptr())) {
    return Template::Kind::list;
  }
  return is_named_tuple(tree) ? Template::Kind::named_tuple : Template::Kind::tuple;
}

Template array_leaf(const array& a, std::vector<array>& arrays, Template::Kind kind) {
  Template t;
  t.kind = kind;
  t.slot = int(arrays.size());
  arrays.push_back(a);
  return t;
}

Template container_template(nb::handle tree) {
  Template t;
  t.kind = kind_of(tree);
  if (t.kind == Template::Kind::named_tuple) {
    t.object = nb::borrow(tree.type());
  }
  return t;
}

}  // namespace

int Template::traverse(visitproc visit, void* arg) const {
  Py_VISIT(object.ptr());
  for (const nb::object& k : keys) {
    Py_VISIT(k.ptr());
  }
  for (const Template& t : items) {
    if (int stop = t.traverse(visit, arg)) {
      return stop;
    }
  }
  return 0;
}

Template template_of(nb::handle value, std::vector<array>& arrays) {
  if (array* a = as_array(value)) {
    return array_leaf(*a, arrays, Template::Kind::array);
  }
  if (!is_tree_node(value)) {
    Template t;
    t.object = nb::borrow(value);
    return t;
  }
  Template t = container_template(value);
  for_items(value, [&](nb::handle key, size_t, nb::handle item) {
    if (key) {
      t.keys.push_back(nb::borrow(key));
    }
    t.items.push_back(template_of(item, arrays));
  });
  return t;
}

nb::object fill(const Template& t, const std::vector<array>& arrays) {
  switch (t.kind) {
    case Template::Kind::array:
    case Template::Kind::in_place:
      return wrap(arrays[size_t(t.slot)]);
    case Template::Kind::constant:
    case Template::Kind::kept:
    case Template::Kind::random_state:
      return t.object;
    case Template::Kind::dict: {
      nb::dict d;
      for (size_t i = 0; i < t.items.size(); ++i) {
        d[t.keys[i]] = fill(t.items[i], arrays);
      }
      return d;
    }
    case Template::Kind::list:
    case Template::Kind::tuple:
    case Template::Kind::named_tuple:
      break;
  }
  nb::list items;
  for (const Template& item : t.items) {
    items.append(fill(item, arrays));
  }
  if (t.kind == Template::Kind::list) {
    return items;
  }
  nb::tuple result(items);
  return t.kind == Template::Kind::tuple ? nb::object(result) : t.object(*result);
}

Captured::Captured(nb::handle inputs, nb::handle outputs)
    : inputs_(inputs),
      outputs_(outputs),
      random_state_(random::state()),
      current_random_state_(random_state_) {
  remember(inputs);
  remember(outputs);
}

void Captured::remember(nb::handle tree) {
  if (array* a = as_array(tree)) {
    if (leaf_numbers_.try_emplace(tree.ptr(), leaves_.size()).second) {
      leaves_.push_back({nb::borrow(tree), *a, *a});
    }
    return;
  }
  if (!is_tree_node(tree)) {
    reads_random_state_ |= is_random_state(tree);
    return;
  }
  if (is_container(tree)) {
    if (!container_numbers_.try_emplace(tree.ptr(), containers_.size()).second) {
      return;
    }
    PyObject* p = tree.ptr();
    nb::object content =
        nb::steal(PyDict_Check(p) ? PyDict_Copy(p) : PyList_GetSlice(p, 0, PyList_Size(p)));
    if (!content) {
      throw nb::python_error();
    }
    containers_.push_back({nb::borrow(tree), content});
  }
  for_items(tree, [&](nb::handle, size_t, nb::handle item) { remember(item); });
}

void Captured::substitute(const std::vector<array>& traced, size_t first) {
  substitute(inputs_, traced, first);
}

void Captured::substitute(nb::handle tree, const std::vector<array>& traced, size_t& next) {
  if (array* a = as_array(tree)) {
    Leaf& leaf = leaves_[leaf_numbers_.at(tree.ptr())];
    *a = leaf.current = traced[next++];
  } else if (is_tree_node(tree)) {
    for_items(tree, [&](nb::handle, size_t, nb::handle item) { substitute(item, traced, next); });
  } else if (is_random_state(tree)) {
    current_random_state_ = traced[next++];
    random::set_state(current_random_state_);
  }
}

Template Captured::changes(std::vector<array>& arrays) const {
  return changes(outputs_, outputs_, arrays);
}

// `before` is what stood at the same place when the trace began, null if nothing did.
Template Captured::changes(nb::handle now, nb::handle before, std::vector<array>& arrays) const {
  bool same = now.is(before);
  Template t;
  if (array* a = as_array(now)) {
    if (!same) {
      return array_leaf(*a, arrays, Template::Kind::array);
    }
    const Leaf& leaf = leaves_[leaf_numbers_.at(now.ptr())];
    if (!a->same_node(leaf.current)) {
      return array_leaf(*a, arrays, Template::Kind::in_place);
    }
    t.kind = Template::Kind::kept;
    t.object = nb::borrow(now);
    return t;
  }
  if (is_random_state(now) && same) {
    array state = random::state();
    if (!state.same_node(current_random_state_)) {
      t = array_leaf(state, arrays, Template::Kind::random_state);
    } else {
      t.kind = Template::Kind::kept;
    }
    t.object = nb::borrow(now);
    return t;
  }
  if (!is_tree_node(now)) {
    t.kind = same ? Template::Kind::kept : Template::Kind::constant;
    t.object = nb::borrow(now);
    return t;
  }
  t = container_template(now);
  t.fresh = !same;
  nb::handle content = before;
  if (same && is_container(now)) {
    content = containers_[container_numbers_.at(now.ptr())].content;
  }
  for_items(now, [&](nb::handle key, size_t i, nb::handle item) {
    if (key) {
      t.keys.push_back(nb::borrow(key));
    }
    nb::object old = same ? item_of(content, key, i) : nb::object();
    t.items.push_back(changes(item, old, arrays));
  });
  return t;
}

Captured::~Captured() {
  nb::error_scope keep_error;
  for (Leaf& leaf : leaves_) {
    if (array* a = as_array(leaf.object)) {
      *a = leaf.original;
    }
  }
  for (Container& c : containers_) {
    PyObject* p = c.object.ptr();
    if (PyDict_Check(p)) {
      PyDict_Clear(p);
      PyDict_Update(p, c.content.ptr());
    } else {
      PyList_SetSlice(p, 0, PyList_Size(p), c.content.ptr());
    }
    PyErr_Clear();
  }
  if (reads_random_state_) {
    random::set_state(random_state_);
  }
}

void write_back(const Template& t, nb::handle tree, const std::vector<array>& arrays) {
  auto assign = [&](const Template& leaf, nb::handle object) {
    array* a = object.is_valid() ? as_array(object) : nullptr;
    if (a) {
      *a = arrays[size_t(leaf.slot)];
    }
    return a != nullptr;
  };
  if (t.kind == Template::Kind::random_state) {
    random::set_state(arrays[size_t(t.slot)]);
    return;
  }
  if (t.kind == Template::Kind::in_place) {
    assign(t, tree);
    return;
  }
  for (size_t i = 0; i < t.items.size(); ++i) {
    const Template& item = t.items[i];
    if (item.kind == Template::Kind::kept) {
      continue;
    }
    nb::handle key = t.keys.empty() ? nb::handle() : nb::handle(t.keys[i]);
    nb::object old = item_of(tree, key, i);
    if (item.kind == Template::Kind::random_state) {
      write_back(item, old, arrays);
    } else if (item.kind == Template::Kind::in_place) {
      if (!assign(item, old) && is_container(tree)) {
        set_item(tree, key, i, fill(item, arrays));
      }
    } else if (!item.fresh && old && is_tree_node(old) && kind_of(old) == item.kind) {
      write_back(item, old, arrays);
    } else if (is_container(tree)) {
      set_item(tree, key, i, fill(item, arrays));
    }
  }
}

}  // namespace mlx::core
