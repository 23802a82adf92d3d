// Reading and writing safetensors files.
#include "mlx/io/safetensors.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

#include "mlx/error.h"
#include "mlx/io/json.h"
#include "mlx/io/load.h"
#include "mlx/ops/shape/shape.h"

namespace mlx::core {

namespace {

constexpr uint64_t max_header = 100'000'000;  // the limit of the format's own library
constexpr size_t max_rank = 64;

// By dtype; float64 can be read, but is not written.
constexpr std::string_view codes[] = {"BOOL", "U8",  "U16", "U32", "U64", "I8",   "I16",
                                      "I32",  "I64", "F16", "F32", "F64", "BF16", "C64"};

std::optional<Dtype> dtype_of_code(std::string_view code) {
  if (code == "F8_E4M3" || code == "F8_E8M0") {
    return uint8;
  }
  for (int i = 0; i < dtype_count; ++i) {
    if (codes[i] == code) {
      return Dtype(Dtype::Id(i));
    }
  }
  return std::nullopt;
}

class Loader {
 public:
  explicit Loader(std::shared_ptr<Reader> in) : in_(std::move(in)) {}

  SafetensorsFile load() {
    unsigned char bytes[8];
    in_->read(bytes, 8, 0);
    uint64_t length = 0;
    for (int i = 7; i >= 0; --i) {
      length = length << 8 | bytes[i];
    }
    if (length > in_->size() - 8 || length > max_header) {
      bad("its header claims {} bytes", length);
    }
    std::string text(length, '\0');
    in_->read(text.data(), length, 8);
    data_ = 8 + length;
    Json header = parse_json(text, in_->name());
    if (header.kind != Json::Kind::object) {
      bad("its header is no JSON object");
    }
    SafetensorsFile file;
    std::set<std::string_view> names;
    for (const auto& [name, entry] : header.members) {
      if (!names.insert(name).second) {
        bad("'{}' appears twice", name);
      }
      if (name == "__metadata__") {
        read_metadata(entry, file.metadata);
      } else {
        file.arrays.emplace_back(name, read_array(name, entry));
      }
    }
    return file;
  }

 private:
  template <typename... Args>
  [[noreturn]] void bad(std::string_view pattern, const Args&... args) {
    fail<RuntimeError>("[load] {} is not a valid safetensors file: {}", in_->name(),
                       format(pattern, args...));
  }

  void read_metadata(const Json& entry, Metadata& metadata) {
    if (entry.kind == Json::Kind::null) {
      return;
    }
    if (entry.kind != Json::Kind::object) {
      bad("its metadata is no JSON object");
    }
    for (const auto& [key, value] : entry.members) {
      if (value.kind != Json::Kind::string) {
        bad("metadata '{}' is no string", key);
      }
      metadata.emplace_back(key, value.string);
    }
  }

  array read_array(const std::string& name, const Json& entry) {
    const Json* dtype = entry.find("dtype");
    const Json* shape = entry.find("shape");
    const Json* offsets = entry.find("data_offsets");
    if (!dtype || dtype->kind != Json::Kind::string || !shape || shape->kind != Json::Kind::list ||
        !offsets || offsets->list.size() != 2) {
      bad("'{}' lacks dtype, shape or data_offsets", name);
    }
    auto t = dtype_of_code(dtype->string);
    if (!t) {
      bad("'{}' has the unsupported dtype {}", name, dtype->string);
    }
    Shape s;
    for (const Json& d : shape->list) {
      if (d.kind != Json::Kind::integer ||
          d.integer > uint64_t(std::numeric_limits<int64_t>::max()) || s.size() == max_rank) {
        bad("'{}' has a bad shape", name);
      }
      s.push_back(int64_t(d.integer));
    }
    for (const Json& o : offsets->list) {
      if (o.kind != Json::Kind::integer) {
        bad("'{}' has bad offsets", name);
      }
    }
    uint64_t begin = offsets->list[0].integer, end = offsets->list[1].integer;
    if (begin > end || end > in_->size() - data_) {
      bad("the offsets {} and {} of '{}' are out of range", begin, end, name);
    }
    array a = load_at(in_, data_ + begin, s, *t);
    if (uint64_t(a.nbytes()) != end - begin) {
      bad("'{}' has {} bytes, its shape {} and dtype need {}", name, end - begin, s, a.nbytes());
    }
    return a;
  }

  std::shared_ptr<Reader> in_;
  uint64_t data_ = 0;
};

array dense(const array& a) { return contiguous(a, false, Device::cpu); }

std::string metadata_text(Metadata metadata) {
  if (metadata.empty()) {
    return "null";
  }
  std::sort(metadata.begin(), metadata.end());
  std::string text;
  for (const auto& [key, value] : metadata) {
    text += (text.empty() ? "{" : ",") + json_string(key) + ":" + json_string(value);
  }
  return text + "}";
}

}  // namespace

SafetensorsFile load_safetensors(std::shared_ptr<Reader> in) {
  return Loader(std::move(in)).load();
}

void save_safetensors(Writer& out, const NamedArrays& arrays, const Metadata& metadata) {
  std::vector<array> values;
  std::vector<std::pair<std::string, std::string>> entries;
  uint64_t offset = 0;
  for (const auto& [name, a] : arrays) {
    if (a.dtype() == float64) {
      fail<RuntimeError>("[save_safetensors] '{}' is float64, which the format does not hold",
                         name);
    }
    values.push_back(dense(a));
    uint64_t end = offset + uint64_t(a.nbytes());
    std::string shape;
    for (int64_t d : a.shape()) {
      shape += (shape.empty() ? "" : ",") + std::to_string(d);
    }
    entries.emplace_back(name, format("{\"data_offsets\":[{},{}],\"dtype\":\"{}\",\"shape\":[{}]}",
                                      offset, end, codes[a.dtype().index()], shape));
    offset = end;
  }
  entries.emplace_back("__metadata__", metadata_text(metadata));
  eval(values);
  std::sort(entries.begin(), entries.end());
  std::string header;
  for (const auto& [name, text] : entries) {
    header += (header.empty() ? "{" : ",") + json_string(name) + ":" + text;
  }
  header += '}';
  unsigned char length[8];
  for (int i = 0; i < 8; ++i) {
    length[i] = uint8_t(uint64_t(header.size()) >> (8 * i));
  }
  out.write(length, 8);
  out.write(header.data(), header.size());
  for (const array& a : values) {
    out.write(a.data(), uint64_t(a.nbytes()));
  }
}

}  // namespace mlx::core
