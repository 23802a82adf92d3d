// Random bits, unbiased integers and discrete draws on the CPU. Every word is a function of key and
// position, so pieces run in any order on any number of threads.
#include "mlx/ops/random/random.h"

#include <algorithm>
#include <cstring>

#include "backend/cpu/evaluators.h"
#include "backend/cpu/tile.h"
#include "mlx/ops/random/draws.h"

namespace mlx::core {

namespace {

using random::bounded;
using random::counter;
using random::threefry;
using random::word_plan;
using random::WordPair;
using random::WordPlan;

constexpr int64_t chunk = 1 << 13;  // pairs; divides 2^32, so high bits are constant in a chunk

struct Keys {
  const char* data;
  Shape shape;
  Strides strides;
  int64_t word_stride;

  explicit Keys(const Operand& o)
      : data(static_cast<const char*>(o.data)),
        shape(o.shape.begin(), o.shape.end() - 1),
        strides(o.strides.begin(), o.strides.end() - 1),
        word_stride(o.strides.back()) {}

  WordPair<uint32_t> at(int64_t i) const {
    int64_t offset = 0;
    for (size_t d = shape.size(); d-- > 0;) {
      offset += i % shape[d] * strides[d];
      i /= shape[d];
    }
    const uint32_t* p = reinterpret_cast<const uint32_t*>(data) + offset;
    return {p[0], p[word_stride]};
  }
};

// The pairs [begin, end) of a part of `bytes` bytes; only its last word may be cut.
void fill_pairs(WordPair<uint32_t> key, WordPlan plan, char* out, int64_t bytes, int64_t begin,
                int64_t end) {
  int64_t whole = std::min(end, bytes / 4 - plan.second);  // pairs with both words complete
  if (whole > begin) {
    WordPair<uint32_t> c = counter(plan, begin);
    cpu::tile_table().threefry(key.x0, key.x1, c.x0, c.x1, whole - begin, out + 4 * begin,
                               out + 4 * (begin + plan.second));
  }
  for (int64_t i = std::max(begin, whole); i < end; ++i) {
    WordPair<uint32_t> w = threefry(key.x0, key.x1, counter(plan, i));
    int64_t second = 4 * (i + plan.second);
    std::memcpy(out + 4 * i, &w.x0, 4);
    std::memcpy(out + second, &w.x1, size_t(std::min<int64_t>(4, bytes - second)));
  }
}

void fill_middle(WordPair<uint32_t> key, WordPlan plan, char* out, int64_t bytes) {
  if (plan.second != plan.half) {
    WordPair<uint32_t> w = threefry(key.x0, key.x1, WordPair<uint32_t>{uint32_t(plan.half), 0});
    std::memcpy(out + 4 * plan.half, &w.x0, size_t(std::min<int64_t>(4, bytes - 4 * plan.half)));
  }
}

void fill_bits(const Keys& keys, int64_t key_count, char* out, int64_t bytes) {
  WordPlan plan = word_plan((bytes + 3) / 4);
  int64_t chunks = std::max<int64_t>(1, (plan.half + chunk - 1) / chunk);
  int64_t grain = std::max<int64_t>(1, chunk / std::max<int64_t>(plan.half, 1));
  cpu::parallel_for(key_count * chunks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      int64_t k = t / chunks, c = t % chunks;
      WordPair<uint32_t> key = keys.at(k);
      char* part = out + k * bytes;
      fill_pairs(key, plan, part, bytes, c * chunk, std::min(plan.half, (c + 1) * chunk));
      if (c == 0) {
        fill_middle(key, plan, part, bytes);
      }
    }
  });
}

template <typename T>
void fill_integers(const Keys& keys, int64_t each, const Operand& low, const Operand& high,
                   const Operand& out) {
  Strides low_strides = broadcast_strides(low.shape, low.strides, out.shape);
  Strides high_strides = broadcast_strides(high.shape, high.strides, out.shape);
  Plan walk = plan(out.shape, std::vector<Strides>{low_strides, high_strides});
  T* o = out.ptr<T>();
  cpu::parallel_for(out.size, chunk, [&](int64_t begin, int64_t end) {
    Odometer at(walk, 0);
    at.seek(begin);
    int64_t k = -1;
    WordPair<uint32_t> key = {};
    for (int64_t i = begin; i < end; ++i, at.next()) {
      if (i / each != k) {
        k = i / each;
        key = keys.at(k);
      }
      uint64_t from = uint64_t(low.ptr<T>()[at.offset(0)]);
      uint64_t to = uint64_t(high.ptr<T>()[at.offset(1)]);
      uint64_t word;
      std::memcpy(&word, &o[i], sizeof word);
      bool none = T(to) <= T(from);
      o[i] = T(none ? from : from + bounded(key, i % each, word, to - from));
    }
  });
}

}  // namespace

void eval_cpu(const RandomBits& p, Inputs in, Outputs out, Encoder&) {
  int64_t key_count = in[0].size / 2;
  fill_bits(Keys(in[0]), key_count, out[0].ptr<char>(), out[0].size / key_count * p.width);
}

void eval_cpu(const RandomIntegers& p, Inputs in, Outputs out, Encoder&) {
  Keys keys(in[0]);
  int64_t key_count = in[0].size / 2, each = out[0].size / key_count;
  fill_bits(keys, key_count, out[0].ptr<char>(), each * 8);
  if (p.dtype == int64) {
    fill_integers<int64_t>(keys, each, in[1], in[2], out[0]);
  } else {
    fill_integers<uint64_t>(keys, each, in[1], in[2], out[0]);
  }
}

// The index i with sum(w[0..i)) ≤ u·sum(w) < sum(w[0..i]); never one of weight zero.
void eval_cpu(const SampleIndex& p, Inputs in, Outputs out, Encoder& e) {
  const Operand &w = in[0], &u = in[1];
  int64_t n = w.shape.back(), batches = 1;
  for (int d = 0; d < p.batch; ++d) {
    batches *= w.shape[d];
  }
  int64_t draws = out[0].size / batches;
  Plan weights = plan(w.shape, std::vector<Strides>{w.strides});
  Plan numbers = plan(u.shape, std::vector<Strides>{u.strides});
  Scratch scratch = e.scratch(size_t(n) * sizeof(double));
  double* sums = scratch.as<double>();
  for (int64_t b = 0; b < batches; ++b) {
    Odometer at(weights, 0);
    at.seek(b * n);
    double before = 0, within = 0;
    for (int64_t i = 0; i < n; ++i, at.next()) {
      if (i % random::weight_block == 0) {
        before += within;
        within = 0;
      }
      sums[i] = before + within;
      within += w.ptr<float>()[at.offset(0)];
    }
    double total = before + within;
    cpu::parallel_for(draws, 1024, [&](int64_t begin, int64_t end) {
      Odometer from(numbers, 0);
      from.seek(b * draws + begin);
      for (int64_t i = begin; i < end; ++i, from.next()) {
        double target = u.ptr<float>()[from.offset(0)] * total;
        int64_t k = std::max<int64_t>(1, std::upper_bound(sums, sums + n, target) - sums) - 1;
        while (k > 0 && !((k + 1 < n ? sums[k + 1] : total) > sums[k])) {
          --k;
        }
        out[0].ptr<uint32_t>()[b * draws + i] = uint32_t(k);
      }
    });
  }
}

}  // namespace mlx::core
