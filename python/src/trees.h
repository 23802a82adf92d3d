// Trees: lists, tuples (named ones too) and dicts, nested, with any objects as leaves.
#pragma once

#include <functional>
#include <vector>

#include "python/src/bindings.h"

namespace mlx::core {

// Calls f for each leaf, in order.
void visit_leaves(nb::handle tree, const std::function<void(nb::handle)>& f);
// Calls f for each leaf that is an array.
void visit_arrays(nb::handle tree, const std::function<void(nb::handle)>& f);
// The handles of all arrays.
std::vector<array> arrays_of(nb::handle tree);

// A tree of the same structure with f(leaf) for each leaf.
nb::object map_leaves(nb::handle tree, const std::function<nb::object(nb::handle)>& f);

// The axes of the leaves of `tree`, of which `axes` is a prefix: int, None (not_mapped), or nested
// like the tree.
void flatten_axes(nb::handle axes, nb::handle tree, std::vector<int>& out);

bool is_tree_node(nb::handle h);
bool is_named_tuple(nb::handle tuple);

// Turns nesting that is too deep (or endless) into RecursionError.
class RecursionGuard {
 public:
  RecursionGuard();
  RecursionGuard(const RecursionGuard&) = delete;
  ~RecursionGuard() { Py_LeaveRecursiveCall(); }
};

}  // namespace mlx::core
