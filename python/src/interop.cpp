// Memory shared with other libraries: the buffer protocol and DLPack, in and out, and NumPy.
#include "python/src/interop.h"

#include <cstring>
#include <limits>

#include "mlx/backend.h"
#include "mlx/graph/node.h"
#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/shape/shape.h"
#include "python/src/array_slots.h"
#include "python/src/convert.h"
#include "python/src/dlpack.h"
#include "python/src/errors.h"
#include "python/src/gil.h"

namespace mlx::core {

namespace {

// ---- in: the buffer protocol ----

bool read_format(const char* format, Py_ssize_t itemsize, ForeignMemory& m) {
  if (!format) {
    m.dtype = uint8;
    return itemsize == 1;
  }
  if (*format == '@' || *format == '=' || *format == '<') {
    ++format;
  }
  bool complex = *format == 'Z';
  format += complex;
  char c = *format;
  if (c == 0 || format[1] != 0) {
    return false;
  }
  auto pick = [&](std::initializer_list<Dtype> types) {
    for (Dtype t : types) {
      if (t.size() == itemsize) {
        m.dtype = t;
        return true;
      }
    }
    return false;
  };
  if (complex) {
    m.dtype = complex64;
    m.wide_complex = c == 'd';
    return (c == 'f' && itemsize == 8) || (c == 'd' && itemsize == 16);
  }
  if (std::strchr("bhilqn", c)) {
    return pick({int8, int16, int32, int64});
  }
  if (std::strchr("BHILQNc", c)) {
    return pick({uint8, uint16, uint32, uint64});
  }
  if (std::strchr("efd", c)) {
    return pick({float16, float32, float64});
  }
  return c == '?' && pick({bool_});
}

// NumPy has no buffer format for the bfloat16 of ml_dtypes: it travels as uint16.
nb::object reinterpreted_bfloat16(nb::handle h) {
  nb::object dtype = nb::getattr(h, "dtype", nb::none());
  nb::object name = nb::getattr(dtype, "name", nb::none());
  if (!nb::isinstance<nb::str>(name) || !name.equal(nb::str("bfloat16")) ||
      !nb::hasattr(h, "__array_interface__")) {
    return {};
  }
  nb::module_ numpy = nb::module_::import_("numpy");
  return numpy.attr("asarray")(h).attr("view")(numpy.attr("uint16"));
}

void measure(ForeignMemory& m, int64_t itemsize) {
  int64_t last = 0;
  for (size_t d = 0; d < m.shape.size(); ++d) {
    if (m.shape[d] == 0) {
      m.span = 0;
      return;
    }
    last += m.strides[d] > 0 ? (m.shape[d] - 1) * m.strides[d] : 0;
  }
  m.span = size_t(last + itemsize);
}

std::optional<ForeignMemory> buffer_memory(nb::handle h) {
  nb::object source = nb::borrow(h);
  bool brain = false;
  if (nb::object bits = reinterpreted_bfloat16(h)) {
    source = std::move(bits);
    brain = true;
  }
  if (!PyObject_CheckBuffer(source.ptr())) {
    return std::nullopt;
  }
  auto* view = new Py_buffer();
  if (PyObject_GetBuffer(source.ptr(), view, PyBUF_FORMAT | PyBUF_STRIDES) != 0) {
    delete view;
    PyErr_Clear();  // what numpy cannot describe as a buffer
    fail<ValueError>("[array] an object of type {} does not give its memory as a plain buffer",
                     class_name(h));
  }
  ForeignMemory m;
  m.release = [view] {
    if (nb::detail::cleanup_guard guard{}) {
      PyBuffer_Release(view);
    }
    delete view;
  };
  if (!read_format(view->format, view->itemsize, m)) {
    fail<ValueError>("[array] elements of buffer format '{}' ({} bytes each) are not supported",
                     view->format ? view->format : "", int64_t(view->itemsize));
  }
  if (brain) {
    m.dtype = bfloat16;
  }
  m.data = static_cast<const char*>(view->buf);
  m.read_only = view->readonly;
  for (int d = 0; d < view->ndim; ++d) {
    m.shape.push_back(view->shape[d]);
    m.strides.push_back(view->strides[d]);
  }
  measure(m, view->itemsize);
  return m;
}

// ---- in: DLPack ----

bool read_type(const dlpack::DataType& t, ForeignMemory& m) {
  auto is = [&](dlpack::TypeCode code, int bits, Dtype dtype) {
    if (t.code != code || t.bits != bits) {
      return false;
    }
    m.dtype = dtype;
    return true;
  };
  m.wide_complex = t.code == dlpack::complex_float && t.bits == 128;
  if (t.lanes != 1) {
    return false;
  }
  return is(dlpack::boolean, 8, bool_) || is(dlpack::unsigned_int, 8, uint8) ||
         is(dlpack::unsigned_int, 16, uint16) || is(dlpack::unsigned_int, 32, uint32) ||
         is(dlpack::unsigned_int, 64, uint64) || is(dlpack::signed_int, 8, int8) ||
         is(dlpack::signed_int, 16, int16) || is(dlpack::signed_int, 32, int32) ||
         is(dlpack::signed_int, 64, int64) || is(dlpack::ieee_float, 16, float16) ||
         is(dlpack::ieee_float, 32, float32) || is(dlpack::ieee_float, 64, float64) ||
         is(dlpack::brain_float, 16, bfloat16) || is(dlpack::complex_float, 64, complex64) ||
         is(dlpack::complex_float, 128, complex64);
}

// ValueError unless the library can use memory of the device.
void check_device(int type, int id) {
  if (type == dlpack::cuda) {
    if (!is_available(Device(Device::gpu, id))) {
      fail<ValueError>(
          "[from_dlpack] memory of DLPack device type {} and number {} cannot be imported: this "
          "process has no such GPU",
          type, id);
    }
  } else if (type != dlpack::cpu && type != dlpack::cuda_host) {
    fail<ValueError>(
        "[from_dlpack] memory of DLPack device type {} cannot be imported, expected that of a CPU "
        "or a CUDA GPU",
        type);
  }
}

void read_tensor(const dlpack::Tensor& t, ForeignMemory& m) {
  check_device(t.device.type, t.device.id);
  if (!read_type(t.dtype, m)) {
    fail<ValueError>("[from_dlpack] elements of DLPack type code {} with {} bits are not supported",
                     int(t.dtype.code), int(t.dtype.bits));
  }
  int64_t itemsize = t.dtype.bits / 8;
  m.data = static_cast<const char*>(t.data) + t.byte_offset;
  for (int d = 0; d < t.ndim; ++d) {
    m.shape.push_back(t.shape[d]);
  }
  Strides dense = row_major(m.shape);
  for (int d = 0; d < t.ndim; ++d) {
    m.strides.push_back((t.strides ? t.strides[d] : dense[d]) * itemsize);
  }
  measure(m, itemsize);
  if (t.device.type == dlpack::cuda) {
    m.device = t.device.id;
    GilRelease release;
    backend_of(Device(Device::gpu, m.device)).await_foreign_work(m.device);
  }
}

// Takes the tensor out of a capsule, which afterwards may not be used again.
template <typename Managed>
ForeignMemory open_capsule(nb::handle capsule, const char* name, const char* used) {
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (!managed) {
    throw nb::python_error();
  }
  ForeignMemory m;
  if constexpr (std::is_same_v<Managed, dlpack::ManagedTensorVersioned>) {
    if (managed->version.major != 1) {
      fail<ValueError>("[from_dlpack] DLPack version {} is not supported, expected 1",
                       managed->version.major);
    }
    m.read_only = managed->flags & dlpack::read_only;
  }
  read_tensor(managed->tensor, m);
  if (PyCapsule_SetName(capsule.ptr(), used) != 0) {
    throw nb::python_error();
  }
  m.release = [managed] {
    if (nb::detail::cleanup_guard guard{}; managed->deleter) {
      managed->deleter(managed);
    }
  };
  return m;
}

// A DLPack version or device.
std::pair<int, int> two_integers(nb::handle pair, std::string_view op) {
  Shape numbers;
  if (load_shape(pair, numbers, false) != ShapeLoad::ok || numbers.size() != 2 ||
      numbers[0] != int(numbers[0]) || numbers[1] != int(numbers[1])) {
    fail<TypeError>("[{}] expected a pair of integers as version or device, got {}", op,
                    class_name(pair));
  }
  return {int(numbers[0]), int(numbers[1])};
}

// Asks for a versioned capsule; producers from before version 1 do not know the keyword. Work on
// the memory of a GPU is to be ordered before its default stream, which is waited for afterwards.
nb::object request_capsule(nb::handle h, dlpack::Device device) {
  nb::dict named;
  if (device.type == dlpack::cuda) {
    named["stream"] = 1;
  }
  nb::object capsule;
  try {
    capsule = h.attr("__dlpack__")("max_version"_a = nb::make_tuple(1, 0), **named);
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_TypeError)) {
      throw;
    }
  }
  if (!capsule) {
    capsule = h.attr("__dlpack__")(**named);
  }
  return capsule;
}

// The producer's device; the CPU for those from before there was the question.
dlpack::Device device_of(nb::handle h) {
  if (!nb::hasattr(h, "__dlpack_device__")) {
    return {dlpack::cpu, 0};
  }
  auto [type, id] = two_integers(h.attr("__dlpack_device__")(), "from_dlpack");
  return {type, id};
}

// ---- out ----

// Keeps the value alive and its memory in place while somebody looks at it.
struct Export {
  array value;
  Buffer* pinned;
  Shape shape;
  Strides strides;

  // In the memory of the host, or of the device where the value lies.
  explicit Export(const array& a, bool on_device = false)
      : value(a), pinned(nullptr), shape(a.shape()) {
    eval_released(a);
    Buffer* b = a.node()->buffer.get();
    data = on_device ? static_cast<char*>(b->device()) + a.node()->offset : a.shared_data();
    strides = a.strides();
    if (b) {
      b->export_begin();
      pinned = b;
    }
  }
  Export(const Export&) = delete;
  ~Export() {
    if (pinned) {
      pinned->export_end();
    }
  }

  void* data;
  bool only_a_copy = false;  // writes would be lost
  bool read_only() const {
    return only_a_copy || (pinned && pinned->access() == Access::read_only);
  }
};

// Where the memory of a computed value lies.
Device place_of(const array& a) {
  const Buffer* b = a.node()->buffer.get();
  if (!b || !b->backend() || b->backend() == &backend_of(Device::cpu)) {
    return Device::cpu;
  }
  return Device(Device::gpu, b->backend()->device_of(b->memory()));
}

// The value of the object, in memory where every element has a place of its own: others may write
// to it. A broadcast value is copied once; the object keeps the copy.
array value_to_export(nb::handle self) {
  const array original = self_array(self);
  array a = original;
  eval_released(a);
  for (int d = 0; d < a.ndim(); ++d) {
    if (a.strides()[d] == 0 && a.shape()[d] > 1) {
      a = contiguous(a, false, place_of(a));
      eval_released(a);
      // Unless another thread has given the object a new value meanwhile.
      if (array& now = self_array(self); now.same_node(original)) {
        now = a;
      }
      break;
    }
  }
  return a;
}

const char* format_of(Dtype t) {
  static constexpr const char* formats[] = {"?", "B", "H", "I", "Q", "b",        "h",
                                            "i", "q", "e", "f", "d", "bfloat16", "Zf"};
  return formats[t.index()];
}

// With ml_dtypes there is a NumPy dtype for bfloat16: then __array__ makes the better copy.
nb::object ml_dtypes_bfloat16() {
  try {
    return nb::module_::import_("ml_dtypes").attr("bfloat16");
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_ImportError)) {
      throw;
    }
    return {};
  }
}

// A new node over memory of its own, on the host.
array copied(const array& a) {
  array c = contiguous(a, false, place_of(a));
  eval_released(c);
  return array(c.data(), c.shape(), c.dtype());
}

void fill_view(nb::handle self, Py_buffer* view, int flags) {
  array a = value_to_export(self);
  if (a.dtype() == bfloat16 && (flags & PyBUF_FORMAT) && ml_dtypes_bfloat16()) {
    throw nb::buffer_error("bfloat16 has no buffer format; use numpy.array(x)");
  }
  // What others see on a GPU cannot be moved to the host: it is copied, for reading only.
  bool pinned = place_of(a).type == Device::gpu && a.node()->buffer->exported();
  if (pinned) {
    a = copied(a);
  }
  auto e = std::make_unique<Export>(a);
  e->only_a_copy = pinned;
  bool strided = (flags & PyBUF_STRIDES) == PyBUF_STRIDES;
  if ((!strided || (flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS) && !a.row_contiguous()) {
    throw nb::buffer_error("the array is not contiguous in row-major order");
  }
  if ((flags & PyBUF_WRITABLE) && e->read_only()) {
    throw nb::buffer_error("the array shares read-only memory");
  }
  for (int64_t& s : e->strides) {
    s *= a.itemsize();
  }
  view->buf = e->data;
  view->obj = self.inc_ref().ptr();
  view->len = a.nbytes();
  view->itemsize = a.itemsize();
  view->readonly = e->read_only();
  view->ndim = (flags & PyBUF_ND) ? a.ndim() : 1;
  view->format = (flags & PyBUF_FORMAT) ? const_cast<char*>(format_of(a.dtype())) : nullptr;
  view->shape = (flags & PyBUF_ND) ? e->shape.data() : nullptr;
  view->strides = strided ? e->strides.data() : nullptr;
  view->suboffsets = nullptr;
  view->internal = e.release();
}

dlpack::DataType type_of(Dtype t) {
  using namespace dlpack;
  uint8_t bits = uint8_t(t.size() * 8);
  uint8_t code = t == bfloat16     ? brain_float
                 : t.is_bool()     ? boolean
                 : t.is_floating() ? ieee_float
                 : t.is_complex()  ? complex_float
                 : t.is_signed()   ? signed_int
                                   : unsigned_int;
  return {code, bits, 1};
}

dlpack::Tensor tensor_of(Export& e, dlpack::Device device) {
  return {
      e.data,           device, int32_t(e.shape.size()), type_of(e.value.dtype()), e.shape.data(),
      e.strides.data(), 0};
}

template <typename Managed>
void delete_managed(Managed* m) {
  delete static_cast<Export*>(m->context);
  delete m;
}

template <typename Managed>
nb::object capsule_of(Managed* m, const char* name) {
  PyObject* capsule = PyCapsule_New(m, name, [](PyObject* c) {
    // A consumer that took the tensor has renamed the capsule.
    const char* current = PyCapsule_GetName(c);
    if (current && std::strncmp(current, "used_", 5) != 0) {
      delete_managed(static_cast<Managed*>(PyCapsule_GetPointer(c, current)));
    }
  });
  if (!capsule) {
    delete_managed(m);
    throw nb::python_error();
  }
  return nb::steal(capsule);
}

// What a consumer may say about the stream on which it will use the memory. The value is computed
// when it is handed out, so that there is nothing to wait for.
void check_consumer_stream(nb::handle stream, Device place) {
  if (stream.is_none()) {
    return;
  }
  if (place.type == Device::cpu) {
    throw nb::buffer_error("[__dlpack__] stream must be None for memory of the CPU");
  }
  int64_t number = 0;
  bool overflow = false;
  if (!load_index(stream, number, overflow)) {
    fail<TypeError>("[__dlpack__] stream must be None or an integer, got {}", class_name(stream));
  }
  if (!overflow && (number == 0 || number < -1)) {
    fail<ValueError>("[__dlpack__] stream must be -1, 1, 2 or the handle of a stream, got {}",
                     number);
  }
}

dlpack::Device dlpack_device(const array& a) {
  Device place = place_of(a);
  return {place.type == Device::gpu ? dlpack::cuda : dlpack::cpu, place.index};
}

// The export that the arguments of __dlpack__ ask for, and its device.
std::unique_ptr<Export> export_for(nb::handle self, nb::handle dl_device, std::optional<bool> copy,
                                   bool versioned, dlpack::Device& device, bool& is_copy) {
  array a = value_to_export(self);
  device = dlpack_device(a);
  is_copy = copy.value_or(false);
  if (!dl_device.is_none()) {
    auto [type, id] = two_integers(dl_device, "__dlpack__");
    bool here = type == device.type && id == device.id;
    if (!here && type != dlpack::cpu) {
      throw nb::buffer_error(
          "[__dlpack__] the array can be exported for its device or the CPU only");
    }
    if (!here && copy && !*copy) {
      throw nb::buffer_error(
          "[__dlpack__] the array lies on a GPU: for the CPU it has to be copied");
    }
    is_copy = is_copy || !here;
    device = here ? device : dlpack::Device{dlpack::cpu, 0};
  }
  // The old protocol cannot say that writing is wrong.
  const Buffer* b = a.node()->buffer.get();
  bool unsafe = !versioned && b && b->access() == Access::read_only;
  if (device.type == dlpack::cuda) {
    if (is_copy || unsafe) {
      a = in_new_memory(a, Device(Device::gpu, device.id));
      eval_released(a);
    }
    return std::make_unique<Export>(a, true);
  }
  return std::make_unique<Export>(is_copy || unsafe ? copied(a) : a);
}

nb::object to_dlpack(nb::handle self, nb::object stream, nb::object max_version,
                     nb::object dl_device, std::optional<bool> copy) {
  bool versioned = !max_version.is_none() && two_integers(max_version, "__dlpack__").first >= 1;
  eval_released(self_array(self));
  check_consumer_stream(stream, place_of(self_array(self)));
  dlpack::Device device;
  bool is_copy;
  auto e = export_for(self, dl_device, copy, versioned, device, is_copy);
  if (versioned) {
    uint64_t flags = (is_copy ? uint64_t(dlpack::is_copied) : 0) |
                     (e->read_only() ? uint64_t(dlpack::read_only) : 0);
    auto* m = new dlpack::ManagedTensorVersioned{{1, 0},
                                                 nullptr,
                                                 delete_managed<dlpack::ManagedTensorVersioned>,
                                                 flags,
                                                 tensor_of(*e, device)};
    m->context = e.release();
    return capsule_of(m, "dltensor_versioned");
  }
  auto* m = new dlpack::ManagedTensor{tensor_of(*e, device), nullptr,
                                      delete_managed<dlpack::ManagedTensor>};
  m->context = e.release();
  return capsule_of(m, "dltensor");
}

nb::object to_numpy(nb::handle self, nb::object dtype, std::optional<bool> copy) {
  array a = self_array(self);
  nb::module_ numpy = nb::module_::import_("numpy");
  nb::object result;
  if (a.dtype() == bfloat16) {
    nb::object type = ml_dtypes_bfloat16();
    if (!type) {
      fail<TypeError>(
          "[__array__] NumPy has no bfloat16 (the package ml_dtypes adds it); use astype(float32)");
    }
    result = numpy.attr("asarray")(wrap(view(a, uint16))).attr("view")(type);
  } else {
    result = numpy.attr("asarray")(nb::steal(PyMemoryView_FromObject(self.ptr())));
  }
  if (!dtype.is_none()) {
    nb::object wanted = numpy.attr("dtype")(dtype);
    if (copy && !*copy && !wanted.equal(result.attr("dtype"))) {
      fail<ValueError>("[__array__] a conversion to another dtype needs a copy");
    }
    result = result.attr("astype")(wanted, "copy"_a = copy.value_or(false));
  } else if (copy.value_or(false)) {
    result = result.attr("copy")();
  }
  return result;
}

nb::object from_dlpack(nb::handle x, const std::optional<bool>& copy) {
  if (array* a = as_array(x)) {
    return wrap(copy.value_or(false) ? core::copy(*a) : *a);
  }
  auto memory = dlpack_memory(x);
  if (!memory) {
    fail<TypeError>("[from_dlpack] expected an object with __dlpack__, got {}", class_name(x));
  }
  Copy how = !copy ? Copy::if_needed : *copy ? Copy::always : Copy::never;
  return wrap(from_foreign(std::move(*memory), {}, how));
}

array as_array_of(nb::handle x, std::optional<Dtype> dtype, std::optional<bool> copy) {
  if (array* a = as_array(x)) {
    if (copy && !*copy) {
      fail<ValueError>("[asarray] an array cannot be made from another one without a copy");
    }
    return dtype ? astype(*a, *dtype) : *a;
  }
  bool number = PyLong_Check(x.ptr()) || PyFloat_Check(x.ptr()) || PyComplex_Check(x.ptr());
  if (!number && !PyList_Check(x.ptr()) && !PyTuple_Check(x.ptr()) &&
      !nb::hasattr(x, "__mlx_array__")) {
    if (auto memory = foreign_memory(x)) {
      Copy how = !copy ? Copy::if_needed : *copy ? Copy::always : Copy::never;
      return from_foreign(std::move(*memory), dtype, how);
    }
  }
  if (copy && !*copy) {
    fail<ValueError>("[asarray] Python data of type {} cannot become an array without a copy",
                     class_name(x));
  }
  return make_array(x, dtype);
}

}  // namespace

std::optional<ForeignMemory> dlpack_memory(nb::handle h) {
  nb::object capsule = nb::borrow(h);
  if (!PyCapsule_CheckExact(h.ptr())) {
    if (!nb::hasattr(h, "__dlpack__") || nb::isinstance<nb::type_object>(h)) {
      return std::nullopt;
    }
    dlpack::Device device = device_of(h);
    check_device(device.type, device.id);
    capsule = request_capsule(h, device);
  }
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned")) {
    return open_capsule<dlpack::ManagedTensorVersioned>(capsule, "dltensor_versioned",
                                                        "used_dltensor_versioned");
  }
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor")) {
    return open_capsule<dlpack::ManagedTensor>(capsule, "dltensor", "used_dltensor");
  }
  if (PyCapsule_CheckExact(capsule.ptr())) {
    fail<ValueError>("[from_dlpack] the capsule holds no DLPack tensor, or it was used before");
  }
  return std::nullopt;
}

std::optional<ForeignMemory> foreign_memory(nb::handle h) {
  if (auto m = buffer_memory(h)) {
    return m;
  }
  return dlpack_memory(h);
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  return guarded(-1, [&] {
    fill_view(self, view, flags);
    return 0;
  });
}

void release_buffer(PyObject*, Py_buffer* view) { delete static_cast<Export*>(view->internal); }

nb::bytes to_bytes(const array& a) {
  array c = contiguous(a);
  eval_released(c);
  return nb::bytes(static_cast<const char*>(c.data()), size_t(c.nbytes()));
}

// bfloat16 travels as its bits.
nb::tuple get_state(nb::handle self) {
  array a = self_array(self);
  nb::object value = a.dtype() == bfloat16 ? wrap(view(a, uint16)) : nb::borrow(self);
  return nb::make_tuple(nb::module_::import_("numpy").attr("array")(value), a.dtype().index());
}

array from_state(nb::tuple state) {
  if (state.size() != 2) {
    fail<ValueError>("[array] a pickled array has 2 items, got {}", int64_t(state.size()));
  }
  int index = nb::cast<int>(nb::object(state[1]));
  if (index < 0 || index >= dtype_count) {
    fail<ValueError>("[array] a pickled array names dtype {}, expected 0 to {}", index,
                     dtype_count - 1);
  }
  Dtype dtype{Dtype::Id(index)};
  if (dtype == bfloat16) {
    return view(make_array(nb::object(state[0]), uint16), bfloat16);
  }
  return make_array(nb::object(state[0]), dtype);
}

void bind_interop(nb::module_& m) {
  array_class()
      .def("__dlpack__", &to_dlpack, nb::kw_only(), "stream"_a = nb::none(),
           "max_version"_a = nb::none(), "dl_device"_a = nb::none(), "copy"_a = nb::none(),
           "A DLPack capsule over the array's memory; versioned if ``max_version`` allows.\n\n"
           "The value is computed when this returns, for whatever ``stream`` it will be used on.")
      .def(
          "__dlpack_device__",
          [](nb::handle self) {
            array a = self_array(self);
            dlpack::Device device{dlpack::cpu, 0};
            if (is_available(Device::gpu)) {
              eval_released(a);
              device = dlpack_device(a);
            }
            return nb::make_tuple(int(device.type), int(device.id));
          },
          "The DLPack device of the array's memory; where there is a GPU it evaluates the array.")
      .def("__array__", &to_numpy, "dtype"_a = nb::none(), "copy"_a = nb::none(),
           "The array as a NumPy array; shares memory unless ``copy`` or ``dtype`` ask otherwise.")
      .def("__bytes__", &to_bytes, "The elements in row-major order.")
      .def("__getstate__", &get_state)
      .def("__setstate__",
           [](array& self, nb::tuple state) { new (&self) array(from_state(state)); });
  define(
      m, "from_dlpack", &from_dlpack, nb::arg(), nb::kw_only(), "copy"_a = nb::none(),
      "Make an array from an object with ``__dlpack__``.\n\n"
      "Args:\n    x: an object whose memory lies on the CPU or a CUDA GPU.\n"
      "    copy: ``None`` shares read-only memory and that of GPUs and copies other, ``True``\n"
      "        always copies, ``False`` raises ``ValueError`` where a copy is needed. Memory that\n"
      "        is shared should not be written by others while the array is used.\n\n"
      "Example:\n    >>> mx.from_dlpack(numpy.arange(3))\n    array([0, 1, 2], dtype=int64)");
  define(
      m, "asarray",
      [](const ArrayArg& a, std::optional<Dtype> dtype, std::optional<bool> copy) {
        return as_array_of(a.value, dtype, copy);
      },
      nb::arg(), "dtype"_a = nb::none(), nb::kw_only(), "copy"_a = nb::none(),
      "Make an array of a scalar, nested lists, another array, or memory of another library.\n\n"
      "Args:\n    a: what to convert.\n    dtype: the dtype of the result, default that of ``a``\n"
      "        (float64 memory becomes float32).\n"
      "    copy: ``None`` shares read-only memory and copies other, ``True`` always copies,\n"
      "        ``False`` raises ``ValueError`` where a copy is needed.");
}

}  // namespace mlx::core
