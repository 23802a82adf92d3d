// Devices and streams, and the defaults of the calling thread.
#include "mlx/device.h"

#include <nanobind/stl/variant.h>

#include "mlx/backend.h"
#include "mlx/ops/random/random.h"
#include "python/src/convert.h"
#include "python/src/gil.h"

namespace mlx::core {

namespace {

using DeviceArg = std::variant<Device, Device::Type>;

Device to_device(const DeviceArg& a) {
  return std::holds_alternative<Device>(a) ? std::get<Device>(a)
                                           : Device(std::get<Device::Type>(a));
}

std::string device_text(Device d) {
  return format("Device({}, {})", d.type == Device::cpu ? "cpu" : "gpu", d.index);
}

// Sets device and stream of the thread for a with-block.
struct StreamContext {
  StreamOrDevice wanted;
  Device device;
  std::optional<Stream> stream;  // the default stream of the device that is switched to

  void enter() {
    Stream s = to_stream(wanted);
    device = default_device();
    stream = default_stream(s.device);
    set_default_device(s.device);
    set_default_stream(s);
  }
  void exit() {
    if (stream) {
      set_default_stream(*stream);
      set_default_device(device);
      stream.reset();
    }
  }
};

StreamContext context(const StreamArg& s) {
  if (std::holds_alternative<std::monostate>(s.value)) {
    fail<TypeError>("[stream] expected a stream or a device, got None");
  }
  return {s.value, {}, {}};
}

// True if `other` is the same device, given as Device or DeviceType.
bool same_device(const Device& d, nb::handle other) {
  if (nb::isinstance<Device>(other)) {
    return nb::cast<Device>(other) == d;
  }
  return nb::isinstance<Device::Type>(other) && Device(nb::cast<Device::Type>(other)) == d;
}

void bind_classes(nb::module_& m) {
  nb::enum_<Device::Type>(m, "DeviceType", "A kind of device.")
      .value("cpu", Device::cpu)
      .value("gpu", Device::gpu)
      .export_values();
  nb::class_<Device>(m, "Device", "A device: where operations run.")
      .def(
          "__init__",
          [](Device* self, Device::Type type, int index) { new (self) Device(type, index); },
          "type"_a, "index"_a = 0)
      .def_prop_ro(
          "type", [](const Device& d) { return d.type; }, "The kind of device.")
      .def_prop_ro(
          "index", [](const Device& d) { return d.index; }, "Number among its kind.")
      .def("__eq__", &same_device, nb::arg())
      .def("__hash__", [](const Device& d) { return int(d.type) * 4096 + d.index; })
      .def("__repr__", [](const Device& d) { return device_text(d); });
  nb::class_<Stream>(m, "Stream", "A queue of a device; its operations run in order.")
      .def_ro("device", &Stream::device, "The device of the stream.")
      .def(
          "__eq__",
          [](const Stream& s, nb::handle o) {
            return nb::isinstance<Stream>(o) && nb::cast<Stream>(o) == s;
          },
          nb::arg())
      .def("__hash__", [](const Stream& s) { return s.index; })
      .def("__repr__", [](const Stream& s) {
        return format("Stream({}, {})", device_text(s.device), s.index);
      });
  nb::class_<ThreadLocalStream>(m, "ThreadLocalStream",
                                "Stands for a stream of its own in every thread that uses it.")
      .def_ro("device", &ThreadLocalStream::device, "The device of the streams.")
      .def(
          "__eq__",
          [](const ThreadLocalStream& s, nb::handle o) {
            return nb::isinstance<ThreadLocalStream>(o) && nb::cast<ThreadLocalStream>(o) == s;
          },
          nb::arg())
      .def("__hash__", [](const ThreadLocalStream& s) { return s.index; })
      .def("__repr__", [](const ThreadLocalStream& s) {
        return format("ThreadLocalStream({}, {})", device_text(s.device), s.index);
      });
}

void bind_context(nb::module_& m) {
  nb::class_<StreamContext>(m, "StreamContext",
                            "Sets the default device and stream for a ``with`` block.")
      .def(
          "__init__",
          [](StreamContext* self, const StreamArg& s) { new (self) StreamContext(context(s)); },
          "s"_a)
      .def("__enter__", &StreamContext::enter)
      .def("__exit__", [](StreamContext& c, nb::args) { c.exit(); });
  define(m, "stream", &context, "s"_a,
         "A context manager that sets the default device and stream and restores them on exit.\n\n"
         "Example:\n    >>> with mx.stream(mx.cpu):\n    ...     y = mx.exp(x)");
}

nb::dict device_info_of(std::optional<DeviceArg> d) {
  Device device = d ? to_device(*d) : default_device();
  nb::dict result;
  if (!is_available(device)) {
    return result;
  }
  for (const auto& [key, value] : backend_of(device).info(device.index)) {
    std::visit([&](const auto& v) { result[key.c_str()] = nb::cast(v); }, value);
  }
  return result;
}

void bind_defaults(nb::module_& m) {
  define(m, "default_device", &default_device, "The device operations run on by default.");
  define(
      m, "set_default_device", [](const DeviceArg& d) { set_default_device(to_device(d)); },
      "device"_a,
      "Set the default device of the calling thread.\n\n"
      "Raises:\n    ValueError: the device is not available.");
  define(
      m, "default_stream", [](const DeviceArg& d) { return default_stream(to_device(d)); },
      "device"_a, "The calling thread's default stream on a device.");
  define(m, "set_default_stream", &set_default_stream, "stream"_a,
         "Set the calling thread's default stream on the stream's device.");
  define(
      m, "new_stream", [](const DeviceArg& d) { return new_stream(to_device(d)); }, "device"_a,
      "Make a new stream on a device; it can be used from any thread.");
  define(
      m, "new_thread_unsafe_stream", [](const DeviceArg& d) { return new_stream(to_device(d)); },
      "device"_a, "Make a new stream on a device; the same as :func:`new_stream`.");
  define(
      m, "new_thread_local_stream",
      [](const DeviceArg& d) { return new_thread_local_stream(to_device(d)); }, "device"_a,
      "Make something that stands for a different stream in every thread.");
  define(
      m, "clear_streams",
      [] {
        GilRelease release;
        clear_streams();
        random::reset_state();
      },
      "Finish the work of the calling thread's streams and forget them and its random state.");
  define(
      m, "synchronize",
      [](const StreamArg& s) {
        GilRelease release;
        synchronize(s);
      },
      "stream"_a = nb::none(),
      "Wait until all work of a stream is done (default: the default one).");
  define(
      m, "is_available", [](const DeviceArg& d) { return is_available(to_device(d)); }, "device"_a,
      "Can the device be used?");
  define(m, "device_count", &device_count, "device_type"_a, "Number of devices of a kind.");
  define(m, "device_info", &device_info_of, "d"_a = nb::none(),
         "Name, architecture and other properties of a device; empty if it is not available.");
}

}  // namespace

bool load_stream(nb::handle h, StreamOrDevice& out) noexcept {
  try {
    if (nb::isinstance<Stream>(h)) {
      out = *nb::inst_ptr<Stream>(h);
    } else if (nb::isinstance<Device>(h)) {
      out = *nb::inst_ptr<Device>(h);
    } else if (nb::isinstance<Device::Type>(h)) {
      out = nb::cast<Device::Type>(h);
    } else if (nb::isinstance<ThreadLocalStream>(h)) {
      out = to_stream(*nb::inst_ptr<ThreadLocalStream>(h));
    } else {
      return false;
    }
    return true;
  } catch (...) {
    return false;
  }
}

void bind_device(nb::module_& m) {
  bind_classes(m);
  bind_context(m);
  bind_defaults(m);
}

}  // namespace mlx::core
