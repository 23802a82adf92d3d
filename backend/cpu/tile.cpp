// The choice of the instruction set at start, and the tile tables of each.
#include "backend/cpu/tile.h"

#include <mutex>
#include <string>

#include "mlx/env.h"
#include "mlx/error.h"
#include "mlx/ops/elementwise/elementwise.h"

namespace mlx::core::cpu {

static_assert(TileOps::count == ew_op_count && TileTypes::count == dtype_count);

// Generated from the option MLX_CPU_ISA_LEVELS: one LEVEL(name) each, worst first.
#define LEVEL(name)        \
  namespace name {         \
  void fill(TileTable& t); \
  }
#include "backend/cpu/tile_levels.def"
#undef LEVEL

namespace {

bool cpu_runs(std::string_view level) {
#if defined(__x86_64__)
  __builtin_cpu_init();
#if defined(__clang__) && __clang_major__ < 18
  if (level == "v2") return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
  bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
            __builtin_cpu_supports("f16c") && __builtin_cpu_supports("bmi2");
  if (level == "v3") return v3;
  return v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
#else
  if (level == "v2") return __builtin_cpu_supports("x86-64-v2");
  if (level == "v3") return __builtin_cpu_supports("x86-64-v3");
  return __builtin_cpu_supports("x86-64-v4");
#endif
#else
  return level == "neon";
#endif
}

struct Level {
  const char* name;
  void (*fill)(TileTable&);
};
constexpr Level levels[] = {
#define LEVEL(name) {#name, name::fill},
#include "backend/cpu/tile_levels.def"
#undef LEVEL
};

// Filled at first use, and only where the CPU runs the level: the code that fills is compiled for
// it too.
const TileTable& table_of(const Level& level) {
  static TileTable tables[std::size(levels)];
  static std::once_flag filled[std::size(levels)];
  size_t i = size_t(&level - levels);
  std::call_once(filled[i], [&] {
    tables[i].isa = level.name;
    level.fill(tables[i]);
  });
  return tables[i];
}

const Level& choose() {
  const std::string& wanted = env().cpu_isa;
  const Level* best = nullptr;
  std::string names;
  for (const Level& level : levels) {
    if (!cpu_runs(level.name)) continue;
    best = &level;
    if (wanted == level.name) return level;
    names += (names.empty() ? "" : ", ") + std::string(level.name);
  }
  if (!wanted.empty())
    fail<ValueError>("[cpu] MLX_CPU_ISA is '{}', expected one of: {}", wanted, names);
  if (!best) fail<RuntimeError>("[cpu] this build needs a CPU with at least {}", levels[0].name);
  return *best;
}

}  // namespace

const TileTable& tile_table() {
  static const TileTable& table = table_of(choose());
  return table;
}

const char* const* tile_levels() {
  static const char* names[std::size(levels) + 1];
  static const bool filled = [] {
    int count = 0;
    for (const Level& level : levels) {
      if (cpu_runs(level.name)) names[count++] = level.name;
    }
    return true;
  }();
  (void)filled;
  return names;
}

const TileTable& tile_table(const char* name) {
  for (const Level& level : levels) {
    if (std::string_view(level.name) == name && cpu_runs(name)) return table_of(level);
  }
  fail<ValueError>("[cpu] no instruction set '{}' in this build or CPU", name);
}

}  // namespace mlx::core::cpu
