// The choice of the index kernels.
#include "backend/cpu/index_table.h"

#include <mutex>
#include <string_view>

#include "backend/cpu/tile.h"

namespace mlx::core::cpu {

// Generated from the option MLX_CPU_ISA_LEVELS: one LEVEL(name) each.
#define LEVEL(name)               \
  namespace name {                \
  void fill_index(IndexTable& t); \
  }
#include "backend/cpu/tile_levels.def"
#undef LEVEL

namespace {

struct Level {
  std::string_view name;
  void (*fill)(IndexTable&);
};
constexpr Level levels[] = {
#define LEVEL(name) {#name, name::fill_index},
#include "backend/cpu/tile_levels.def"
#undef LEVEL
};

}  // namespace

// Tables are filled at first use: the code that fills is compiled for its level.
const IndexTable& index_table(const char* wanted) {
  static IndexTable tables[std::size(levels)];
  static std::once_flag filled[std::size(levels)];
  std::string_view name = tile_table(wanted).isa;
  size_t i = 0;
  while (levels[i].name != name) ++i;
  std::call_once(filled[i], [&] { levels[i].fill(tables[i]); });
  return tables[i];
}

const IndexTable& index_table() {
  static const IndexTable& table = index_table(tile_table().isa);
  return table;
}

}  // namespace mlx::core::cpu
