// The safetensors format: a JSON header, then the arrays' bytes.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mlx/graph/array.h"
#include "mlx/io/stream.h"

namespace mlx::core {

using NamedArrays = std::vector<std::pair<std::string, array>>;
using Metadata = std::vector<std::pair<std::string, std::string>>;

struct SafetensorsFile {
  NamedArrays arrays;  // read at evaluation
  Metadata metadata;
};

// RuntimeError for anything that is not valid; every offset is checked.
MLX_API SafetensorsFile load_safetensors(std::shared_ptr<Reader> in);

// Evaluates and writes the arrays. RuntimeError for float64, which the format's readers lack.
MLX_API void save_safetensors(Writer& out, const NamedArrays& arrays, const Metadata& metadata);

}  // namespace mlx::core
