// Evaluation of trees of arrays, and the graph as Graphviz text.
#include "mlx/graph/dot.h"
#include "python/src/convert.h"
#include "python/src/gil.h"
#include "python/src/trees.h"

namespace mlx::core {

namespace {

void eval_trees(nb::args args) {
  std::vector<array> arrays = arrays_of(args);
  GilRelease release;
  eval(arrays);
}

void async_eval_trees(nb::args args) {
  std::vector<array> arrays = arrays_of(args);
  GilRelease release;
  async_eval(arrays);
}

void export_to_dot(nb::object file, nb::args args, nb::kwargs named) {
  std::vector<array> arrays = arrays_of(args);
  std::vector<std::pair<std::string, array>> names;
  for (auto [key, value] : named) {
    array* a = as_array(value);
    if (!a) {
      fail<ValueError>("[export_to_dot] {} names an object of type {}, expected an array",
                       nb::cast<std::string>(key), class_name(value));
    }
    names.push_back({nb::cast<std::string>(key), *a});
  }
  std::string text = to_dot(arrays, names);
  if (nb::hasattr(file, "write")) {
    file.attr("write")(text);
    return;
  }
  nb::object out = nb::module_::import_("io").attr("open")(file, "w");
  out.attr("write")(text);
  out.attr("close")();
}

// Work that is still queued when the interpreter ends is finished while there is an interpreter.
void finish_at_exit() {
  nb::module_::import_("atexit").attr("register")(nb::cpp_function([] { finish_all_work(); }));
}

}  // namespace

void bind_eval(nb::module_& m) {
  define(m, "eval", &eval_trees, "args"_a, nb::sig("def eval(*args) -> None"),
         "Compute the arrays in the arguments (trees of them) and wait for the values.\n\n"
         "Raises:\n    RuntimeError: something went wrong while computing.\n"
         "    ValueError: inside a function that vmap or compile traces.");
  define(m, "async_eval", &async_eval_trees, "args"_a, nb::sig("def async_eval(*args) -> None"),
         "Start to compute the arrays in the arguments (trees of them) without waiting.\n\n"
         "Raises:\n    ValueError: inside a function that is being transformed.");
  define(m, "export_to_dot", &export_to_dot, "file"_a, "args"_a, "kwargs"_a,
         nb::sig("def export_to_dot(file: object, *args, **kwargs) -> None"),
         "Write what is left to compute for the arrays as a Graphviz graph.\n\n"
         "Args:\n    file: a path or a file object for text.\n"
         "    args: arrays or trees of them.\n    kwargs: names for arrays in the graph.\n\n"
         "Example:\n    >>> x = mx.array(1.0)\n"
         "    >>> mx.export_to_dot(\"graph.dot\", mx.exp(x), x=x)");
  finish_at_exit();
}

}  // namespace mlx::core
