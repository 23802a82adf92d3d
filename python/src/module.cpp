// The module mlx.core: constants and the families in the order in which they need each other.
#include <limits>
#include <numbers>

#include "python/src/bindings.h"
#include "python/src/errors.h"

namespace mlx::core {

namespace {

void bind_constants(nb::module_& m) {
  m.attr("pi") = std::numbers::pi;
  m.attr("e") = std::numbers::e;
  m.attr("euler_gamma") = std::numbers::egamma;
  m.attr("inf") = std::numeric_limits<double>::infinity();
  m.attr("nan") = std::numeric_limits<double>::quiet_NaN();
  m.attr("newaxis") = nb::none();
  m.attr("__version__") = MLX_VERSION;
}

}  // namespace

NB_MODULE(core, m) {
  m.doc() = "Lazy arrays with composable transformations.";
#ifdef NDEBUG
  // Users' arrays may well outlive the module's own teardown, in other modules' globals.
  nb::set_leak_warnings(false);
#endif
  bind_errors(m);
  bind_constants(m);
  bind_dtype(m);
  bind_device(m);
  bind_array(m);
  bind_interop(m);
  bind_array_at(m);
  bind_array_api(m);
  bind_print(m);
  bind_memory(m);
  bind_eval(m);
  bind_elementwise(m);
  bind_reduce(m);
  bind_shape(m);
  bind_creation(m);
  bind_index(m);
  bind_sort(m);
  bind_transforms(m);
  bind_compile(m);
  bind_custom(m);
  bind_io(m);
  bind_matmul(m);
  bind_einsum(m);
  bind_linalg(m);
  bind_random(m);
}

}  // namespace mlx::core
