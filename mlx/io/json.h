// A small JSON reader and writer for file headers.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mlx/api.h"

namespace mlx::core {

struct Json {
  enum class Kind : uint8_t { null, boolean, integer, number, string, list, object };
  using Members = std::vector<std::pair<std::string, Json>>;

  Kind kind = Kind::null;
  bool boolean = false;
  uint64_t integer = 0;  // whole numbers without sign that fit
  double number = 0;     // every number
  std::string string;
  std::vector<Json> list;
  Members members;  // of an object, in order of appearance

  MLX_API const Json* find(std::string_view key) const;  // null: not there
};

// RuntimeError, naming `source`, unless `text` is one valid JSON value.
MLX_API Json parse_json(std::string_view text, const std::string& source);

// The string with quotes and escapes.
MLX_API std::string json_string(std::string_view s);

}  // namespace mlx::core
