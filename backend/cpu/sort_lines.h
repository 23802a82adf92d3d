// Walking the lines of an operand along an axis.
#pragma once

#include <algorithm>

#include "backend/cpu/encoder.h"
#include "backend/cpu/sort_engine.h"
#include "mlx/dispatch.h"
#include "mlx/layout.h"

namespace mlx::core::cpu {

// Lines along `axis` of x and of the row-major y; other axes agree.
struct Lines {
  Lines(const Operand& x, const Operand& y, int axis);

  const Operand &x, &y;
  Plan outer;              // of x and y, without the axis
  int64_t n, m;            // elements of a line of x and of y
  int64_t x_step, y_step;  // strides along the axis
  int64_t x_next, y_next;  // strides from a line to its neighbour
  int64_t neighbours;      // lines beside each other
  int64_t tile;            // lines gathered at a time
  int64_t x_line, y_line;  // distances of gathered lines; no two begin in one set of a cache

  bool gathers() const { return x_step != 1 && n > 1; }
  bool scatters() const { return y_step != 1 && m > 1; }
  void gather(const char* from, int64_t count, char* to) const;
  void scatter(const char* from, int64_t count, char* to) const;
};

// Calls f(line of x, line of y, scratch) for all lines; both are contiguous and apart.
template <typename F>
void for_lines(const Lines& l, int64_t scratch_bytes, Encoder& e, const F& f) {
  int64_t x_size = l.x.dtype.size(), y_size = l.y.dtype.size();
  int64_t x_bytes = l.gathers() ? l.tile * l.x_line * x_size : 0;
  int64_t y_bytes = l.scatters() ? l.tile * l.y_line * y_size : 0;
  int64_t tiles = (l.neighbours + l.tile - 1) / l.tile;
  auto piece = [&](int64_t begin, int64_t end) {
    Scratch memory = e.scratch(size_t(x_bytes + y_bytes + scratch_bytes + 64));
    char *gathered = memory.as<char>(), *results = gathered + x_bytes, *rest = results + y_bytes;
    Odometer o(l.outer, 1);
    for (int64_t t = begin; t < end; ++t) {
      o.seek(t / tiles);
      int64_t first = t % tiles * l.tile, count = std::min(l.tile, l.neighbours - first);
      const char* x = l.x.ptr<const char>() + (o.offset(0) + first * l.x_next) * x_size;
      char* y = l.y.ptr<char>() + (o.offset(1) + first * l.y_next) * y_size;
      if (l.gathers()) l.gather(x, count, gathered);
      for (int64_t i = 0; i < count; ++i) {
        f(l.gathers() ? gathered + i * l.x_line * x_size : x + i * l.x_next * x_size,
          l.scatters() ? results + i * l.y_line * y_size : y + i * l.y_next * y_size, rest);
      }
      if (l.scatters()) l.scatter(results, count, y);
    }
  };
  int64_t lines = l.outer.size, total = lines / l.neighbours * tiles;
  if (lines < 2 * thread_count() && l.n >= sorted_together) {
    piece(0, total);  // each line uses all threads
  } else {
    parallel_for(total, std::max<int64_t>(1, (1 << 12) / std::max<int64_t>(1, l.n * l.tile)),
                 piece);
  }
}

}  // namespace mlx::core::cpu
