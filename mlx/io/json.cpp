// JSON by recursive descent, with a limit on the depth.
#include "mlx/io/json.h"

#include <charconv>
#include <cstdio>

#include "mlx/error.h"

namespace mlx::core {

namespace {

constexpr int max_depth = 64;

void append_utf8(std::string& out, uint32_t c) {
  if (c < 0x80) {
    out += char(c);
  } else if (c < 0x800) {
    out += char(0xc0 | c >> 6);
    out += char(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    out += char(0xe0 | c >> 12);
    out += char(0x80 | (c >> 6 & 0x3f));
    out += char(0x80 | (c & 0x3f));
  } else {
    out += char(0xf0 | c >> 18);
    out += char(0x80 | (c >> 12 & 0x3f));
    out += char(0x80 | (c >> 6 & 0x3f));
    out += char(0x80 | (c & 0x3f));
  }
}

// Length of the well-formed UTF-8 sequence at the beginning of s; 0 if there is none.
size_t utf8_length(std::string_view s) {
  auto byte = [&](size_t i) { return i < s.size() ? uint8_t(s[i]) : 0; };
  auto follows = [&](size_t n) {
    for (size_t i = 1; i < n; ++i) {
      if ((byte(i) & 0xc0) != 0x80) {
        return size_t(0);
      }
    }
    return n;
  };
  uint8_t b = byte(0), next = byte(1);
  if (b < 0x80) {
    return 1;
  }
  if (b >= 0xc2 && b < 0xe0) {
    return follows(2);
  }
  if (b >= 0xe0 && b < 0xf0) {
    bool overlong = b == 0xe0 && next < 0xa0, surrogate = b == 0xed && next >= 0xa0;
    return overlong || surrogate ? 0 : follows(3);
  }
  if (b >= 0xf0 && b < 0xf5) {
    bool overlong = b == 0xf0 && next < 0x90, too_large = b == 0xf4 && next >= 0x90;
    return overlong || too_large ? 0 : follows(4);
  }
  return 0;
}

class Parser {
 public:
  Parser(std::string_view text, const std::string& source) : text_(text), source_(source) {}

  Json parse() {
    Json v = value(0);
    skip_spaces();
    if (at_ != text_.size()) {
      bad("more text after the value");
    }
    return v;
  }

 private:
  [[noreturn]] void bad(std::string_view what) {
    fail<RuntimeError>("[load] {}: the JSON header is not valid at byte {}: {}", source_, at_,
                       what);
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_spaces() {
    while (at_ < text_.size() &&
           std::string_view(" \t\n\r").find(text_[at_]) != std::string::npos) {
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

  bool word(std::string_view w) {
    if (text_.substr(at_, w.size()) != w) {
      return false;
    }
    at_ += w.size();
    return true;
  }

  Json value(int depth) {
    if (depth == max_depth) {
      bad("nested too deep");
    }
    skip_spaces();
    Json v;
    switch (peek()) {
      case '{':
        object(v, depth);
        break;
      case '[':
        list(v, depth);
        break;
      case '"':
        v.kind = Json::Kind::string;
        v.string = string();
        break;
      case 't':
      case 'f':
        v.kind = Json::Kind::boolean;
        v.boolean = peek() == 't';
        if (!word(v.boolean ? "true" : "false")) {
          bad("an unknown word");
        }
        break;
      case 'n':
        if (!word("null")) {
          bad("an unknown word");
        }
        break;
      default:
        number(v);
    }
    return v;
  }

  void object(Json& v, int depth) {
    v.kind = Json::Kind::object;
    ++at_;
    if (accept('}')) {
      return;
    }
    do {
      skip_spaces();
      if (peek() != '"') {
        bad("expected a string as key");
      }
      std::string key = string();
      if (!accept(':')) {
        bad("expected a colon");
      }
      v.members.emplace_back(std::move(key), value(depth + 1));
    } while (accept(','));
    if (!accept('}')) {
      bad("expected the end of an object");
    }
  }

  void list(Json& v, int depth) {
    v.kind = Json::Kind::list;
    ++at_;
    if (accept(']')) {
      return;
    }
    do {
      v.list.push_back(value(depth + 1));
    } while (accept(','));
    if (!accept(']')) {
      bad("expected the end of a list");
    }
  }

  bool digits() {
    size_t begin = at_;
    while (peek() >= '0' && peek() <= '9') {
      ++at_;
    }
    return at_ > begin;
  }

  void number(Json& v) {
    size_t begin = at_;
    bool whole = peek() != '-';
    at_ += !whole;
    bool zero = peek() == '0';
    if (!digits() ||
        (zero && text_[begin + size_t(!whole)] == '0' && at_ - begin - size_t(!whole) > 1)) {
      bad("expected a value");
    }
    if (peek() == '.') {
      whole = false;
      ++at_;
      if (!digits()) {
        bad("expected digits");
      }
    }
    if (peek() == 'e' || peek() == 'E') {
      whole = false;
      ++at_;
      at_ += peek() == '+' || peek() == '-';
      if (!digits()) {
        bad("expected digits");
      }
    }
    const char* first = text_.data() + begin;
    const char* last = text_.data() + at_;
    v.kind = Json::Kind::number;
    if (std::from_chars(first, last, v.number).ec == std::errc::invalid_argument) {
      bad("expected a number");
    }
    if (whole && std::from_chars(first, last, v.integer).ec == std::errc()) {
      v.kind = Json::Kind::integer;
    }
  }

  uint32_t hex4() {
    uint32_t v = 0;
    std::string_view h = text_.substr(at_, 4);
    auto r = std::from_chars(h.data(), h.data() + h.size(), v, 16);
    if (h.size() < 4 || r.ptr != h.data() + 4) {
      bad("expected four hexadecimal digits");
    }
    at_ += 4;
    return v;
  }

  void escape(std::string& out) {
    static constexpr std::string_view names = "\"\\/bfnrt", values = "\"\\/\b\f\n\r\t";
    char c = peek();
    ++at_;
    if (size_t i = names.find(c); c != '\0' && i != std::string::npos) {
      out += values[i];
      return;
    }
    if (c != 'u') {
      bad("an unknown escape");
    }
    uint32_t v = hex4();
    if (v >= 0xd800 && v < 0xdc00) {
      if (!word("\\u")) {
        bad("half of a surrogate pair");
      }
      uint32_t low = hex4();
      if (low < 0xdc00 || low > 0xdfff) {
        bad("half of a surrogate pair");
      }
      v = 0x10000 + ((v - 0xd800) << 10) + (low - 0xdc00);
    } else if (v >= 0xdc00 && v < 0xe000) {
      bad("half of a surrogate pair");
    }
    append_utf8(out, v);
  }

  std::string string() {
    std::string out;
    ++at_;
    while (true) {
      if (at_ >= text_.size()) {
        bad("a string without an end");
      }
      char c = text_[at_];
      if (c == '"') {
        ++at_;
        return out;
      }
      if (c == '\\') {
        ++at_;
        escape(out);
        continue;
      }
      size_t n = uint8_t(c) < 0x20 ? 0 : utf8_length(text_.substr(at_, 4));
      if (n == 0) {
        bad("a string with bytes that are not text");
      }
      out.append(text_.substr(at_, n));
      at_ += n;
    }
  }

  std::string_view text_;
  const std::string& source_;
  size_t at_ = 0;
};

}  // namespace

const Json* Json::find(std::string_view key) const {
  for (const auto& [name, value] : members) {
    if (name == key) {
      return &value;
    }
  }
  return nullptr;
}

Json parse_json(std::string_view text, const std::string& source) {
  return Parser(text, source).parse();
}

std::string json_string(std::string_view s) {
  std::string out = "\"";
  for (char c : s) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (uint8_t(c) < 0x20) {
      char text[8];
      std::snprintf(text, sizeof text, "\\u%04x", c);
      out += text;
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace mlx::core
