// Header text of .npy files, read strictly and written as NumPy does.
#include "mlx/io/npy.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "mlx/error.h"
#include "mlx/io/load.h"
#include "mlx/ops/shape/shape.h"

namespace mlx::core {

namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr size_t max_rank = 64;

struct Header {
  std::string descr;
  bool fortran_order = false;
  Shape shape;
};

// Reads the Python dict literal of a header: three known keys, nothing else.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  Header parse() {
    Header h;
    int seen = 0;
    expect('{');
    while (!accept('}')) {
      std::string key = string();
      expect(':');
      if (key == "descr") {
        h.descr = string();
        seen |= 1;
      } else if (key == "fortran_order") {
        h.fortran_order = boolean();
        seen |= 2;
      } else if (key == "shape") {
        h.shape = shape();
        seen |= 4;
      } else {
        bad();
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_spaces();
    if (seen != 7 || at_ != text_.size()) {
      bad();
    }
    return h;
  }

 private:
  [[noreturn]] void bad() {
    fail<RuntimeError>("[load] {}: the npy header is not valid near byte {}", name_, at_);
  }

  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) {
      ++at_;
    }
  }

  bool accept(char c) {
    skip_spaces();
    if (at_ < text_.size() && text_[at_] == c) {
      ++at_;
      return true;
    }
    return false;
  }

  void expect(char c) {
    if (!accept(c)) {
      bad();
    }
  }

  std::string string() {
    char quote = accept('\'') ? '\'' : '"';
    if (quote == '"') {
      expect('"');
    }
    size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) {
      bad();
    }
    std::string s(text_.substr(at_, end - at_));
    at_ = end + 1;
    return s;
  }

  bool word(std::string_view w) {
    skip_spaces();
    if (text_.substr(at_, w.size()) != w) {
      return false;
    }
    at_ += w.size();
    return true;
  }

  bool boolean() {
    if (word("True")) {
      return true;
    }
    if (!word("False")) {
      bad();
    }
    return false;
  }

  int64_t number() {
    skip_spaces();
    int64_t v = 0;
    size_t begin = at_;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, text_[at_] - '0', &v)) {
        bad();
      }
    }
    if (at_ == begin) {
      bad();
    }
    accept('L');  // as Python 2 wrote
    return v;
  }

  Shape shape() {
    Shape s;
    expect('(');
    while (!accept(')')) {
      s.push_back(number());
      if (s.size() > max_rank) {
        bad();
      }
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return s;
  }

  std::string_view text_;
  const std::string& name_;
  size_t at_ = 0;
};

// NumPy has no bfloat16: it is stored as two opaque bytes.
constexpr std::string_view codes[] = {"b1", "u1", "u2", "u4", "u8", "i1", "i2",
                                      "i4", "i8", "f2", "f4", "f8", "V2", "c8"};

std::optional<Dtype> dtype_of_code(std::string_view code) {
  for (int i = 0; i < dtype_count; ++i) {
    if (codes[i] == code) {
      return Dtype(Dtype::Id(i));
    }
  }
  return std::nullopt;
}

bool column_contiguous(const array& a) {
  int64_t expected = 1;
  for (int d = 0; d < a.ndim(); ++d) {
    if (a.shape(d) != 1 && a.strides()[size_t(d)] != expected) {
      return false;
    }
    expected *= a.shape(d);
  }
  return a.ndim() > 1;
}

std::string header_of(const array& a, bool fortran_order) {
  char order = a.dtype() == bfloat16 || a.itemsize() == 1   ? '|'
               : std::endian::native == std::endian::little ? '<'
                                                            : '>';
  std::string dict =
      format("{'descr': '{}{}', 'fortran_order': {}, 'shape': {}, }", std::string(1, order),
             codes[a.dtype().index()], fortran_order, a.shape());
  // Version 2 has room for longer headers. The data begin at a multiple of 64.
  bool long_header = dict.size() + 74 > 0xffff;
  size_t prefix = magic.size() + 2 + (long_header ? 4 : 2);
  dict.append((64 - (prefix + dict.size() + 1) % 64) % 64, ' ');
  dict += '\n';
  std::string h(magic);
  h += char(long_header ? 2 : 1);
  h += '\0';
  for (int i = 0; i < (long_header ? 4 : 2); ++i) {
    h += char(dict.size() >> (8 * i) & 0xff);
  }
  return h + dict;
}

}  // namespace

NpyArray load_npy(std::shared_ptr<Reader> in, uint64_t offset) {
  unsigned char prefix[12] = {};
  const std::string& name = in->name();
  in->read(prefix, 10, offset);
  int version = prefix[6];
  if (std::string_view(reinterpret_cast<char*>(prefix), 6) != magic || version < 1 || version > 3) {
    fail<RuntimeError>("[load] {} is not an npy file of version 1, 2 or 3", name);
  }
  uint64_t start = offset + 10, length = prefix[8] | prefix[9] << 8;
  if (version > 1) {
    in->read(prefix + 10, 2, start);
    start += 2;
    length |= uint64_t(prefix[10]) << 16 | uint64_t(prefix[11]) << 24;
  }
  if (length > in->size() - start) {
    fail<RuntimeError>("[load] {} ends within its header", name);
  }
  std::string text(length, '\0');
  in->read(text.data(), length, start);
  Header h = HeaderParser(text, name).parse();
  bool prefixed =
      !h.descr.empty() && std::string_view("<>|=").find(h.descr[0]) != std::string::npos;
  bool big = prefixed && h.descr[0] == '>';
  auto dtype = dtype_of_code(std::string_view(h.descr).substr(prefixed ? 1 : 0));
  if (!dtype) {
    fail<RuntimeError>("[load] {} holds elements of type '{}', which are not supported", name,
                       h.descr);
  }
  Shape stored = h.shape;
  if (h.fortran_order) {
    std::reverse(stored.begin(), stored.end());
  }
  array a = load_at(in, start + length, stored, *dtype, big);
  uint64_t end = start + length + uint64_t(a.nbytes());
  return {h.fortran_order ? transpose(a, Device::cpu) : a, end};
}

void save_npy(Writer& out, const array& input) {
  array a = input;
  a.eval();
  bool columns = !a.row_contiguous() && column_contiguous(a);
  if (!columns && !a.row_contiguous()) {
    a = contiguous(a, false, Device::cpu);
    a.eval();
  }
  std::string header = header_of(a, columns);
  out.write(header.data(), header.size());
  out.write(a.data(), uint64_t(a.nbytes()));
}

}  // namespace mlx::core
