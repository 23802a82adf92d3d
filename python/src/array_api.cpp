// What the Python array API standard asks a namespace to say about itself.
#include "mlx/numeric_limits.h"
#include "python/src/bindings.h"

namespace mlx::core {

namespace {

struct ArrayNamespaceInfo {};

bool is_kind(Dtype t, nb::handle kind) {
  if (kind.is_none()) {
    return true;
  }
  if (!nb::isinstance<nb::tuple>(kind)) {
    return is_dtype(t, nb::cast<std::string>(kind));
  }
  bool any = false;
  for (nb::handle k : nb::borrow<nb::tuple>(kind)) {
    any |= is_kind(t, k);
  }
  return any;
}

// The 16-bit floats are not part of the standard.
nb::dict dtypes(const ArrayNamespaceInfo&, nb::handle, nb::handle kind) {
  nb::dict result;
  for (int i = 0; i < dtype_count; ++i) {
    Dtype t{Dtype::Id(i)};
    if (!t.is_half() && is_kind(t, kind)) {
      std::string name(t.name());
      result[name.c_str()] = t;
    }
  }
  return result;
}

}  // namespace

void bind_array_api(nb::module_& m) {
  nb::class_<ArrayNamespaceInfo>(m, "ArrayNamespaceInfo", "Properties of this array namespace.")
      .def("capabilities",
           [](const ArrayNamespaceInfo&) {
             nb::dict d;
             d["boolean indexing"] = true;
             d["data-dependent shapes"] = true;
             d["max dimensions"] = 10;
             return d;
           })
      .def("default_device", [](const ArrayNamespaceInfo&) { return default_device(); })
      .def(
          "default_dtypes",
          [](const ArrayNamespaceInfo&, nb::handle) {
            nb::dict d;
            d["real floating"] = float32;
            d["complex floating"] = complex64;
            d["integral"] = int32;
            d["indexing"] = int32;
            return d;
          },
          nb::kw_only(), "device"_a = nb::none())
      .def("devices",
           [](const ArrayNamespaceInfo&) {
             nb::list devices;
             for (Device::Type type : {Device::cpu, Device::gpu}) {
               for (int i = 0; i < device_count(type); ++i) {
                 devices.append(Device(type, i));
               }
             }
             return nb::tuple(devices);
           })
      .def("dtypes", &dtypes, nb::kw_only(), "device"_a = nb::none(), "kind"_a = nb::none());
  define(
      m, "__array_namespace_info__", [] { return ArrayNamespaceInfo{}; },
      "Properties of this array namespace, as the array API standard has it.");
}

}  // namespace mlx::core
