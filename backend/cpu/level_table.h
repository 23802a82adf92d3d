// Tables of kernels that exist once an instruction set: filled at first use by the code of the
// level.
#pragma once

#include <cstddef>
#include <mutex>
#include <string_view>

#include "backend/cpu/tile.h"

namespace mlx::core::cpu {

// A level's name and what fills a table with its kernels; an array of them per table, from
// tile_levels.def.
template <typename Table>
struct Level {
  std::string_view name;
  void (*fill)(Table&);
};

// The table of one of the levels (tile_levels()).
template <typename Table, size_t n>
const Table& table_of_level(const Level<Table> (&levels)[n], const char* wanted) {
  static Table tables[n];
  static std::once_flag filled[n];
  std::string_view name = tile_table(wanted).isa;
  size_t i = 0;
  while (levels[i].name != name) ++i;
  std::call_once(filled[i], [&] { levels[i].fill(tables[i]); });
  return tables[i];
}

}  // namespace mlx::core::cpu
