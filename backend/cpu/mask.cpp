// Masks: how many true elements come before each, and the elements under them.
#include <cstring>

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
          int64_t count = 0;
          for (int64_t i = 0; i < length; ++i) {
            rank[i] = count;
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
constexpr int64_t tile = 1024;           // of those, what is packed at a time

int64_t count_true(const uint8_t* mask, int64_t n) {
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) {
    count += mask[i];
  }
  return count;
}

// The elements under the true ones, one after the other. Every element is written, and the place
// moves on behind those that stay: no branch depends on the mask.
template <typename T>
T* pack(const T* from, const uint8_t* mask, int64_t n, T* to) {
  T kept[tile];
  for (int64_t first = 0; first < n; first += tile) {
    int64_t count = std::min(tile, n - first), k = 0;
    for (int64_t i = first; i < first + count; ++i) {
      kept[k] = from[i];
      k += mask[i];
    }
    std::memcpy(to, kept, size_t(k) * sizeof(T));
    to += k;
  }
  return to;
}

// The same for elements that are rows of `bytes`; neighbours are copied together.
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

void eval_cpu(const MaskedSelect&, Inputs in, Outputs out, Encoder&) {
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
  parallel_for(chunks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      int64_t first = c * chunk, count = std::min(chunk, n - first);
      char* to = out[0].ptr<char>() + place[size_t(c)] * bytes;
      const char* from = a.ptr<char>() + first * bytes;
      if (bytes > itemsize) {
        pack_rows(from, m + first, count, bytes, to);
        continue;
      }
      dispatch_size(itemsize, [&]<typename T>() {
        pack(reinterpret_cast<const T*>(from), m + first, count, reinterpret_cast<T*>(to));
      });
    }
  });
}

}  // namespace mlx::core
