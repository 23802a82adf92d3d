// save, savez, savez_compressed, load, save_safetensors: paths and file objects.
#include <cctype>

#include "mlx/io/npy.h"
#include "mlx/io/safetensors.h"
#include "python/src/convert.h"
#include "python/src/gil.h"

namespace mlx::core {

namespace {

bool is_path(nb::handle file) {
  return nb::isinstance<nb::str>(file) || nb::hasattr(file, "__fspath__");
}

std::string path_text(nb::handle file) {
  return nb::cast<std::string>(nb::module_::import_("os").attr("fsdecode")(file));
}

std::string with_suffix(std::string path, const std::string& suffix) {
  return path.ends_with(suffix) ? path : path + suffix;
}

// ---- writing ----

// A Python file object; holds the GIL while it writes.
class ObjectWriter final : public Writer {
 public:
  explicit ObjectWriter(nb::object file) : write_(file.attr("write")) {}

  void write(const void* from, uint64_t bytes) override {
    char* p = static_cast<char*>(const_cast<void*>(from));
    while (bytes > 0) {
      nb::object view = nb::steal(PyMemoryView_FromMemory(p, Py_ssize_t(bytes), PyBUF_READ));
      if (!view) {
        throw nb::python_error();
      }
      nb::object written = write_(view);
      // Raw files may take less than they are offered; other writers may return nothing.
      uint64_t n = written.is_none() ? bytes : nb::cast<uint64_t>(written);
      if (n == 0 || n > bytes) {
        fail<RuntimeError>("[save] the file object wrote {} of {} bytes", n, bytes);
      }
      p += n;
      bytes -= n;
    }
  }

 private:
  nb::object write_;
};

// Calls f(writer) for a path (suffix added; the GIL is released) or a file object.
template <typename F>
void with_writer(nb::object file, const std::string& suffix, const char* op, F&& f) {
  if (is_path(file)) {
    std::string path = with_suffix(path_text(file), suffix);
    GilRelease release;
    FileWriter out(path);
    f(out);
    out.finish();
    return;
  }
  if (!nb::hasattr(file, "write")) {
    fail<ValueError>("[{}] expected a path or a binary file object, got {}", op, class_name(file));
  }
  ObjectWriter out(file);
  f(out);
}

void save(nb::object file, const ArrayArg& value) {
  array a = to_array(value);
  eval_released(a);
  with_writer(file, ".npy", "save", [&](Writer& out) { save_npy(out, a); });
}

NamedArrays numbered_and_named(nb::args args, nb::kwargs kwargs) {
  NamedArrays arrays;
  for (size_t i = 0; i < args.size(); ++i) {
    std::string name = format("arr_{}", i);
    if (kwargs.contains(name.c_str())) {
      fail<ValueError>("[savez] the keyword '{}' is the name of a positional array", name);
    }
    arrays.emplace_back(name, to_array(nb::object(args[i])));
  }
  for (auto [key, value] : kwargs) {
    arrays.emplace_back(nb::cast<std::string>(key), to_array(value));
  }
  return arrays;
}

void write_zip(nb::object target, const NamedArrays& arrays, const char* compression) {
  nb::module_ zipfile = nb::module_::import_("zipfile");
  nb::object zip = zipfile.attr("ZipFile")(
      target, "mode"_a = "w", "compression"_a = zipfile.attr(compression), "allowZip64"_a = true);
  for (const auto& [name, a] : arrays) {
    nb::object member = zip.attr("open")(name + ".npy", "w", "force_zip64"_a = true);
    ObjectWriter out(member);
    save_npy(out, a);
    member.attr("close")();
  }
  zip.attr("close")();
}

void savez_to(nb::object file, nb::args args, nb::kwargs kwargs, const char* compression) {
  NamedArrays arrays = numbered_and_named(args, kwargs);
  for (auto& [name, a] : arrays) {
    eval_released(a);
  }
  if (!is_path(file)) {
    write_zip(file, arrays, compression);
    return;
  }
  // A file beside the old one first: arrays may still be read from that.
  nb::module_ os = nb::module_::import_("os");
  nb::str path(with_suffix(path_text(file), ".npz").c_str());
  nb::object temporary = path + nb::str(".tmp");
  try {
    write_zip(temporary, arrays, compression);
    os.attr("replace")(temporary, path);
  } catch (...) {
    if (nb::cast<bool>(os.attr("path").attr("exists")(temporary))) {
      os.attr("remove")(temporary);
    }
    throw;
  }
}

void savez(nb::object file, nb::args args, nb::kwargs kwargs) {
  savez_to(file, args, kwargs, "ZIP_STORED");
}

void savez_compressed(nb::object file, nb::args args, nb::kwargs kwargs) {
  savez_to(file, args, kwargs, "ZIP_DEFLATED");
}

void save_safetensors_to(nb::object file, nb::dict arrays, std::optional<nb::dict> metadata) {
  NamedArrays named;
  for (auto [key, value] : arrays) {
    array* a = as_array(value);
    if (!a || !nb::isinstance<nb::str>(key)) {
      fail<ValueError>("[save_safetensors] expected names and arrays, got {} for {}",
                       class_name(value), nb::cast<std::string>(nb::str(key)));
    }
    named.emplace_back(nb::cast<std::string>(key), *a);
  }
  Metadata texts;
  if (metadata) {
    for (auto [key, value] : *metadata) {
      if (!nb::isinstance<nb::str>(key) || !nb::isinstance<nb::str>(value)) {
        fail<ValueError>("[save_safetensors] metadata maps strings to strings, got {} to {}",
                         class_name(key), class_name(value));
      }
      texts.emplace_back(nb::cast<std::string>(key), nb::cast<std::string>(value));
    }
  }
  for (auto& [name, a] : named) {
    eval_released(a);
  }
  with_writer(file, ".safetensors", "save_safetensors",
              [&](Writer& out) { save_safetensors(out, named, texts); });
}

// ---- reading ----

bool is_readable(nb::handle file) {
  return nb::hasattr(file, "readinto") && nb::hasattr(file, "seek") && nb::hasattr(file, "tell") &&
         nb::hasattr(file, "closed");
}

// What is left in a file object from its position on.
std::string rest_of(nb::object file, const std::string& name) {
  if (nb::cast<bool>(file.attr("closed"))) {
    fail<RuntimeError>("[load] the file object {} is closed", name);
  }
  auto begin = nb::cast<uint64_t>(file.attr("tell")());
  file.attr("seek")(0, 2);
  auto end = nb::cast<uint64_t>(file.attr("tell")());
  file.attr("seek")(begin);
  std::string bytes(end > begin ? end - begin : 0, '\0');
  size_t got = 0;
  while (got < bytes.size()) {
    nb::object view = nb::steal(
        PyMemoryView_FromMemory(bytes.data() + got, Py_ssize_t(bytes.size() - got), PyBUF_WRITE));
    nb::object n = file.attr("readinto")(view);
    if (n.is_none() || nb::cast<uint64_t>(n) == 0) {
      break;
    }
    got += nb::cast<uint64_t>(n);
  }
  bytes.resize(got);
  return bytes;
}

std::string extension_of(const std::string& name) {
  size_t dot = name.rfind('.'), slash = name.rfind('/');
  return dot == std::string::npos || (slash != std::string::npos && dot < slash)
             ? std::string()
             : name.substr(dot + 1);
}

nb::object dict_of(const NamedArrays& arrays) {
  nb::dict result;
  for (const auto& [name, a] : arrays) {
    result[nb::str(name.c_str(), name.size())] = wrap(a);
  }
  return result;
}

// Whether the file is a single array: the wrong format, not a damaged archive.
bool is_npy(nb::handle file) {
  bool path = nb::isinstance<nb::str>(file);
  nb::object in = path ? nb::module_::import_("io").attr("open")(file, "rb") : nb::borrow(file);
  in.attr("seek")(0);
  auto head = nb::cast<nb::bytes>(in.attr("read")(6));
  if (path) {
    in.attr("close")();
  }
  return std::string_view(head.c_str(), head.size()) == "\x93NUMPY";
}

// The arrays of a zip file; what zipfile finds wrong in one is a RuntimeError.
nb::object load_npz(nb::object file, const std::string& name) {
  try {
    NamedArrays arrays;
    nb::object zip = nb::module_::import_("zipfile").attr("ZipFile")(file);
    nb::object members = zip.attr("namelist")();
    for (nb::handle member : members) {
      auto key = nb::cast<std::string>(member);
      auto bytes = nb::cast<nb::bytes>(zip.attr("read")(member));
      auto in = memory_reader(std::string(bytes.c_str(), bytes.size()), name + ":" + key);
      array a = load_npy(in).value;
      eval_released(a);
      arrays.emplace_back(key.ends_with(".npy") ? key.substr(0, key.size() - 4) : key, a);
    }
    zip.attr("close")();
    return dict_of(arrays);
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_Exception)) {
      throw;
    }
    std::string what = nb::cast<std::string>(nb::str(e.value()));
    if (e.matches(nb::module_::import_("zipfile").attr("BadZipFile")) && is_npy(file)) {
      fail<ValueError>("[load] {} is an npy file, expected the format npz", name);
    }
    fail<RuntimeError>("[load] {} is not a valid npz file: {}", name, what);
  }
}

nb::object load_tensors(std::shared_ptr<Reader> in, bool lazy, bool return_metadata) {
  SafetensorsFile file = load_safetensors(std::move(in));
  if (!lazy) {
    std::vector<array> arrays;
    for (auto& [name, a] : file.arrays) {
      arrays.push_back(a);
    }
    eval_released(std::span<const array>(arrays));
  }
  nb::object arrays = dict_of(file.arrays);
  if (!return_metadata) {
    return arrays;
  }
  nb::dict metadata;
  for (const auto& [key, value] : file.metadata) {
    metadata[nb::str(key.c_str(), key.size())] = value;
  }
  return nb::make_tuple(arrays, metadata);
}

nb::object load(nb::object file, std::optional<std::string> format, bool return_metadata) {
  bool path = is_path(file);
  if (!path && !is_readable(file)) {
    fail<ValueError>("[load] expected a path or a binary file object, got {}", class_name(file));
  }
  std::string name = path                 ? path_text(file)
                     : format.has_value() ? class_name(file)
                                          : nb::cast<std::string>(nb::str(file.attr("name")));
  std::string kind = format.value_or(extension_of(name));
  if (kind != "npy" && kind != "npz" && kind != "safetensors") {
    fail<ValueError>("[load] {}: expected the format npy, npz or safetensors, got '{}'", name,
                     kind);
  }
  if (return_metadata && kind != "safetensors") {
    fail<ValueError>("[load] files of format {} have no metadata", kind);
  }
  if (kind == "npz") {
    return load_npz(path ? nb::object(nb::str(name.c_str())) : file, name);
  }
  if (kind == "safetensors") {
    return path ? load_tensors(open_file(name), true, return_metadata)
                : load_tensors(memory_reader(rest_of(file, name), name), false, return_metadata);
  }
  if (path) {
    return wrap(load_npy(open_file(name)).value);
  }
  auto begin = nb::cast<uint64_t>(file.attr("tell")());
  NpyArray a = load_npy(memory_reader(rest_of(file, name), name));
  eval_released(a.value);
  file.attr("seek")(begin + a.end);  // more may follow
  return wrap(a.value);
}

}  // namespace

void bind_io(nb::module_& m) {
  define(m, "save", &save, "file"_a, "arr"_a,
         "Write an array to a ``.npy`` file.\n\n"
         "Args:\n    file: a path (``.npy`` is added if it is missing) or a binary file object.\n"
         "    arr: the array. bfloat16 is stored as two opaque bytes.\n\n"
         "Raises:\n    RuntimeError: the file cannot be written.\n\n"
         "Example:\n    >>> mx.save(\"x.npy\", mx.array([1, 2]))");
  define(m, "savez", &savez, "file"_a, "args"_a, "kwargs"_a,
         nb::sig("def savez(file: object, *args, **kwargs) -> None"),
         "Write several arrays to an uncompressed ``.npz`` file.\n\n"
         "Positional arrays are named ``arr_0``, ``arr_1`` …, others by their keywords.\n\n"
         "Raises:\n    ValueError: a keyword is the name of a positional array.");
  define(m, "savez_compressed", &savez_compressed, nb::arg(), "args"_a, "kwargs"_a,
         nb::sig("def savez_compressed(file: object, /, *args, **kwargs) -> None"),
         "Write several arrays to a compressed ``.npz`` file, as :func:`savez` does.");
  define(m, "save_safetensors", &save_safetensors_to, "file"_a, "arrays"_a,
         "metadata"_a = nb::none(),
         "Write a dict of arrays to a ``.safetensors`` file.\n\n"
         "Args:\n    file: a path (the suffix is added if it is missing) or a binary file object.\n"
         "    arrays: arrays by name.\n    metadata: strings by name.\n\n"
         "Raises:\n    RuntimeError: an array is float64, or the file cannot be written.\n"
         "    ValueError: names, arrays or metadata are of other types.");
  define(
      m, "load", &load, "file"_a, "format"_a = nb::none(), "return_metadata"_a = false,
      "Read arrays from a file.\n\n"
      "Args:\n    file: a path, read when the arrays are evaluated, or a binary file object, "
      "read at\n"
      "        once.\n    format: ``npy``, ``npz`` or ``safetensors``; default: the extension.\n"
      "    return_metadata: also return the metadata of a safetensors file.\n\n"
      "Returns:\n    An array (npy), a dict of arrays, or a tuple of a dict and the metadata.\n\n"
      "Raises:\n    RuntimeError: the file is missing, cut short or not valid.\n"
      "    ValueError: the format is not known.");
}

}  // namespace mlx::core
