// Masks: how many true elements come before each, and the elements under them.
#include <cstring>

#include "backend/cpu/index_table.h"
#include "backend/cpu/positions.h"

namespace mlx::core {

using namespace cpu;

void eval_cpu(const MaskRank& p, Inputs in, Outputs out, Encoder&) {
  std::optional<Scratch> memory;
  Operand mask = cpu::make_dense(in[0], memory);
  ShapeView shape = mask.shape;
  int64_t lanes = element_count(shape.first(size_t(p.lane_axes)));
  int64_t length = mask.size / lanes;
  cpu::parallel_for(
      lanes, std::max<int64_t>(1, unit_elements / length), [&](int64_t begin, int64_t end) {
        for (int64_t lane = begin; lane < end; ++lane) {
          const bool* m = mask.ptr<bool>() + lane * length;
          int64_t* rank = out[0].ptr<int64_t>() + lane * length;
          int64_t count = 0, last = std::max<int64_t>(p.limit - 1, 0);
          for (int64_t i = 0; i < length; ++i) {
            rank[i] = std::min(count, last);
            count += m[i];
          }
          if (count > p.limit) {
            fail<RuntimeError>("[masked_scatter] {} places are chosen, but there are {} values",
                               count, p.limit);
          }
        }
      });
}

namespace {

constexpr int64_t mask_chunk = 1 << 15;  // elements of a mask that one thread takes at a time

// Bytes are added eight at a time, for as long as none of the eight sums can overflow.
int64_t count_true(const uint8_t* mask, int64_t n) {
  int64_t count = 0, i = 0;
  while (i + 8 <= n) {
    uint64_t sums = 0;
    for (int64_t stop = std::min(n - 7, i + 8 * 255); i < stop; i += 8) {
      uint64_t eight;
      std::memcpy(&eight, mask + i, 8);
      sums += eight;
    }
    constexpr uint64_t even = 0x00ff00ff00ff00ff;
    sums = (sums & even) + (sums >> 8 & even);
    count += int64_t(sums * 0x0001000100010001 >> 48);
  }
  for (; i < n; ++i) {
    count += mask[i];
  }
  return count;
}

// Elements that are rows of `bytes`, under the true ones; neighbours are copied together.
char* pack_rows(const char* from, const uint8_t* mask, int64_t n, int64_t bytes, char* to) {
  for (int64_t i = 0; i < n;) {
    int64_t first = i;
    while (i < n && mask[i]) {
      ++i;
    }
    std::memcpy(to, from + first * bytes, size_t((i - first) * bytes));
    to += (i - first) * bytes;
    i += i < n;
  }
  return to;
}

}  // namespace

void eval_cpu(const MaskedSelect& p, Inputs in, Outputs out, Encoder&) {
  std::optional<Scratch> memory[2];
  Operand a = make_dense(in[0], memory[0]), mask = make_dense(in[1], memory[1]);
  int64_t n = mask.size, bytes = a.nbytes() / n, itemsize = a.dtype.size();
  int64_t chunk = std::clamp<int64_t>(mask_chunk * itemsize / bytes, 1, mask_chunk);
  int64_t chunks = (n + chunk - 1) / chunk;
  const uint8_t* m = mask.ptr<uint8_t>();
  std::vector<int64_t> place(size_t(chunks) + 1);
  parallel_for(chunks, std::max<int64_t>(1, mask_chunk / chunk), [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      place[size_t(c) + 1] = count_true(m + c * chunk, std::min(chunk, n - c * chunk));
    }
  });
  for (int64_t c = 0; c < chunks; ++c) {
    place[size_t(c) + 1] += place[size_t(c)];
  }
  if (place.back() != p.count) {  // memory shared with another library may change
    fail<RuntimeError>("[masked_select] the mask had {} true elements and now has {}", p.count,
                       place.back());
  }
  auto pack = index_table().pack[index_kernel(itemsize)];
  parallel_for(chunks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      int64_t first = c * chunk, count = std::min(chunk, n - first);
      char* to = out[0].ptr<char>() + place[size_t(c)] * bytes;
      const char* from = a.ptr<char>() + first * bytes;
      if (bytes > itemsize) {
        pack_rows(from, m + first, count, bytes, to);
      } else {
        pack(from, m + first, count, place[size_t(c) + 1] - place[size_t(c)], to);
      }
    }
  });
}

}  // namespace mlx::core
