// Templates: trees of Python containers written down, with numbers where arrays stand. They are
// filled with other arrays, or written back into the containers they were taken from.
#pragma once

#include <unordered_map>
#include <vector>

#include "python/src/bindings.h"

namespace mlx::core {

struct Template {
  enum class Kind : uint8_t {
    array,     // array number `slot`
    in_place,  // the same, assigned to the array object that stands there
    constant,  // `object`, as it is
    kept,      // what stands there was not touched
    random_state,
    list,
    tuple,
    named_tuple,  // of the class `object`
    dict,
  };
  Kind kind = Kind::constant;
  bool fresh = true;  // a container that is made anew, not one that is written into
  int slot = -1;
  nb::object object;
  std::vector<nb::object> keys;  // of a dict
  std::vector<Template> items;

  int traverse(visitproc visit, void* arg) const;
};

// The template of a value; its arrays are appended to `arrays`.
Template template_of(nb::handle value, std::vector<array>& arrays);

// A new tree with arrays[slot] at the places of arrays.
nb::object fill(const Template& t, const std::vector<array>& arrays);

// The mutable trees that a compiled function reads and writes, while the function is traced.
// Afterwards they are as they were before, whatever the function has done to them.
class Captured {
 public:
  Captured(nb::handle inputs, nb::handle outputs);
  Captured(const Captured&) = delete;
  ~Captured();

  // Lets the arrays of `inputs`, in order, stand for others: traced[first], traced[first + 1] …
  void substitute(const std::vector<array>& traced, size_t first);
  // What the function has done to `outputs`.
  Template changes(std::vector<array>& arrays) const;

 private:
  struct Container {
    nb::object object, content;  // a list or dict and a copy of it
  };
  struct Leaf {
    nb::object object;
    array original, current;
  };
  void remember(nb::handle tree);
  void substitute(nb::handle tree, const std::vector<array>& traced, size_t& next);
  Template changes(nb::handle now, nb::handle before, std::vector<array>& arrays) const;

  nb::handle inputs_, outputs_;
  std::vector<Container> containers_;
  std::unordered_map<PyObject*, size_t> container_numbers_;
  std::vector<Leaf> leaves_;
  std::unordered_map<PyObject*, size_t> leaf_numbers_;
  bool reads_random_state_ = false;
  array random_state_, current_random_state_;
};

// Does to `tree` again what the function has done to it.
void write_back(const Template& t, nb::handle tree, const std::vector<array>& arrays);

}  // namespace mlx::core
