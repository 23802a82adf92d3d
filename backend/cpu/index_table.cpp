// The choice of the index kernels.
#include "backend/cpu/index_table.h"

#include <string_view>

#include "backend/cpu/level_table.h"
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

constexpr Level<IndexTable> levels[] = {
#define LEVEL(name) {#name, name::fill_index},
#include "backend/cpu/tile_levels.def"
#undef LEVEL
};

}  // namespace

const IndexTable& index_table(const char* wanted) { return table_of_level(levels, wanted); }

const IndexTable& index_table() {
  static const IndexTable& table = index_table(tile_table().isa);
  return table;
}

}  // namespace mlx::core::cpu
