// Prints the largest error of each float32 row over all 2^32 floats, on one thread (a minute or two
// a row).
//   ulp_sweep [LEVEL|-] [ROW …]     LEVEL as MLX_CPU_ISA takes it, - for the machine's best
#include <cstdio>
#include <cstring>

#include "tests/cpp/accuracy.h"

int main(int argc, char** argv) {
  using namespace mlx::core::cpu;
  bool best = argc < 2 || std::strcmp(argv[1], "-") == 0;
  const TileTable& table = best ? tile_table() : tile_table(argv[1]);
  std::printf("float32, %s, all floats\n", table.isa);
  for (const accuracy::UnaryRow& row : accuracy::unary_rows) {
    bool wanted = argc < 3;
    for (int i = 2; i < argc; ++i) wanted |= std::strcmp(argv[i], row.name) == 0;
    if (!wanted) continue;
    accuracy::Worst worst = accuracy::sweep(table, row, 0, 1);
    std::printf("%-11s %6.3f ulp at %.9g (bound %g)\n", row.name, worst.error, double(worst.at),
                row.bound);
    std::fflush(stdout);
  }
}
