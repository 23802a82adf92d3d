// Keys, the state of each thread, and the distributions as compositions of uniform bits.
#include "mlx/ops/random/random.h"

#include <chrono>
#include <cmath>

#include "mlx/error.h"
#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/index/index.h"
#include "mlx/ops/linalg/linalg.h"
#include "mlx/ops/matmul/matmul.h"
#include "mlx/ops/random/threefry.h"
#include "mlx/ops/reduce/reduce.h"
#include "mlx/ops/shape/shape.h"
#include "mlx/ops/sort/sort.h"

namespace mlx::core::random {

namespace {

struct Words {
  uint32_t word[2];
};

array to_key(Words w) { return array(w.word, Shape{2}, uint32); }

// The state of a thread: plain words, unless a transform or a lazy computation holds its value.
struct State {
  Words words;
  std::optional<array> computed;
};

Words words_of_seed(uint64_t seed) {
  return {{uint32_t(seed >> 32), uint32_t(seed & 0xffffffffu)}};
}

// Without a seed: the clock, read once in a process.
Words initial_words() {
  static const uint64_t now = uint64_t(std::chrono::duration_cast<std::chrono::milliseconds>(
                                           std::chrono::system_clock::now().time_since_epoch())
                                           .count());
  return words_of_seed(now);
}

State& thread_state() {
  thread_local State state{initial_words(), {}};
  return state;
}

// What split() computes for two keys, on the host.
void split_words(Words key, Words& first, Words& second) {
  WordPlan plan = word_plan(4);
  WordPair<uint32_t> a = threefry(key.word[0], key.word[1], counter(plan, 0));
  WordPair<uint32_t> b = threefry(key.word[0], key.word[1], counter(plan, 1));
  first = {{a.x0, b.x0}};
  second = {{a.x1, b.x1}};
}

array take_key(const array& keys, int64_t i, Stream s) {
  return squeeze(strided_slice(keys, Shape{i, 0}, Shape{1, 1}, Shape{1, 2}, s),
                 std::initializer_list<int>{0}, s);
}

// Advances the thread's state and gives the key for one draw.
array next_key(Stream s) {
  State& state = thread_state();
  if (state.computed && state.computed->is_available() && state.computed->tracer() == 0) {
    const array& a = *state.computed;
    const uint32_t* p = a.data<uint32_t>();
    state.words = {{p[0], p[a.strides()[0]]}};
    state.computed.reset();
  }
  if (state.computed) {
    array both = split(*state.computed, 2, s);
    state.computed = take_key(both, 0, s);
    return take_key(both, 1, s);
  }
  Words draw;
  split_words(state.words, state.words, draw);
  return to_key(draw);
}

void check_key(const array& key, std::string_view op) {
  if (key.dtype() != uint32 || key.shape() != Shape{2}) {
    fail<ValueError>("[{}] expected a key of dtype uint32 and shape (2,), got {} and {}", op,
                     key.dtype(), key.shape());
  }
}

void check_floating(Dtype t, std::string_view op) {
  if (!t.is_floating()) {
    fail<ValueError>("[{}] expected a real floating dtype, got {}", op, t);
  }
}

void check_broadcasts_to(const array& a, const Shape& shape, std::string_view op) {
  if (broadcast_shapes(a.shape(), shape, op) != shape) {
    fail<ValueError>("[{}] a parameter of shape {} does not broadcast to the shape {}", op,
                     a.shape(), shape);
  }
}

// The largest value below 1.
float below_one(Dtype t) {
  int digits = t == float16 ? 11 : t == bfloat16 ? 8 : 24;
  return 1.0f - std::ldexp(1.0f, -digits);
}

// Numbers in [0, 1) of a dtype of at most 32 bits.
array unit_interval(const Shape& shape, Dtype t, const Key& key, Stream s) {
  if (t == float64) {
    fail<RuntimeError>("[uniform] expected float32, float16 or bfloat16, got {}", t);
  }
  array u =
      multiply(astype(bits(shape, 4, key, s), float32, s), array(std::ldexp(1.0, -32), float32), s);
  return astype(minimum(u, array(below_one(t), float32), s), t, s);
}

// Numbers in (-1, 1), symmetric, in float32.
array symmetric_interval(const Shape& shape, const Key& key, Stream s) {
  return uniform(array(-below_one(float32), float32), array(1.0, float32), shape, float32, key, s);
}

array erfinv_of_uniform(const Shape& shape, const Key& key, Stream s) {
  return erfinv(symmetric_interval(shape, key, s), s);
}

}  // namespace

array key(uint64_t seed) { return to_key(words_of_seed(seed)); }

array split(const array& key, int64_t num, StreamOrDevice s) {
  check_key(key, "random.split");
  if (num < 0) {
    fail<ValueError>("[random.split] expected a count of at least 0, got {}", num);
  }
  return bits(Shape{num, 2}, 4, key, s);
}

array state() {
  State& s = thread_state();
  return s.computed ? *s.computed : to_key(s.words);
}

void set_state(const array& key) {
  check_key(key, "random.state");
  thread_state().computed = key;
}

void seed(uint64_t seed) {
  State& s = thread_state();
  s.computed.reset();
  s.words = words_of_seed(seed);
}

void reset_state() { thread_state() = State{initial_words(), {}}; }

array bits(Shape shape, int width, const Key& key, StreamOrDevice where) {
  Stream s = to_stream(where);
  if (width != 1 && width != 2 && width != 4 && width != 8) {
    fail<ValueError>("[random.bits] expected a width of 1, 2, 4 or 8 bytes, got {}", width);
  }
  for (int64_t n : shape) {
    if (n < 0) {
      fail<ValueError>("[random.bits] expected no negative dimension, got the shape {}", shape);
    }
  }
  element_count(shape, "random.bits");
  if (key) {
    check_key(*key, "random.bits");
  }
  array k = key ? *key : next_key(s);
  return array::make(shape, RandomBits::unsigned_of(width),
                     Ref<Primitive>(new RandomBits(shape, width)), std::span<const array>(&k, 1),
                     s);
}

array uniform(const array& low, const array& high, Shape shape, Dtype dtype, const Key& key,
              StreamOrDevice where) {
  Stream s = to_stream(where);
  check_floating(dtype, "random.uniform");
  check_broadcasts_to(low, shape, "random.uniform");
  check_broadcasts_to(high, shape, "random.uniform");
  array from = astype(low, dtype, s), to = astype(high, dtype, s);
  array u = unit_interval(shape, dtype, key, s);
  return add(multiply(subtract(to, from, s), u, s), from, s);
}

array uniform(Shape shape, Dtype dtype, const Key& key, StreamOrDevice where) {
  check_floating(dtype, "random.uniform");
  return unit_interval(shape, dtype, key, to_stream(where));
}

array normal(Shape shape, Dtype dtype, const std::optional<array>& loc,
             const std::optional<array>& scale, const Key& key, StreamOrDevice where) {
  Stream s = to_stream(where);
  std::optional<array> z;
  if (dtype.is_complex()) {
    // Two halves of the variance: the factor sqrt(2) falls away.
    shape.push_back(2);
    array parts = view(erfinv_of_uniform(shape, key, s), complex64, s);
    z = squeeze(parts, std::initializer_list<int>{-1}, s);
    if (scale) {
      z = multiply(*z, astype(*scale, dtype, s), s);
    }
  } else {
    check_floating(dtype, "random.normal");
    array factor = array(std::sqrt(2.0), dtype);
    if (scale) {
      factor = multiply(factor, astype(*scale, dtype, s), s);
    }
    z = multiply(astype(erfinv_of_uniform(shape, key, s), dtype, s), factor, s);
  }
  return loc ? add(*z, astype(*loc, dtype, s), s) : *z;
}

array truncated_normal(const array& lower, const array& upper, const std::optional<Shape>& shape,
                       Dtype dtype, const Key& key, StreamOrDevice where) {
  Stream s = to_stream(where);
  check_floating(dtype, "random.truncated_normal");
  array root = array(std::sqrt(2.0), dtype);
  array low = astype(lower, dtype, s), high = astype(upper, dtype, s);
  Shape drawn =
      shape ? *shape : broadcast_shapes(low.shape(), high.shape(), "random.truncated_normal");
  array u =
      uniform(erf(divide(low, root, s), s), erf(divide(high, root, s), s), drawn, dtype, key, s);
  return maximum(minimum(multiply(root, erfinv(u, s), s), high, s), low, s);
}

array bernoulli(const array& p, const std::optional<Shape>& shape, const Key& key,
                StreamOrDevice where) {
  Stream s = to_stream(where);
  check_floating(p.dtype(), "random.bernoulli");
  Shape drawn = shape ? *shape : p.shape();
  check_broadcasts_to(p, drawn, "random.bernoulli");
  // Just above 2^32: a probability of 1 is always true.
  array bound = multiply(astype(p, float32, s), array(4294967808.0, float32), s);
  return less(astype(bits(drawn, 4, key, s), float32, s), bound, s);
}

array randint(const array& low, const array& high, Shape shape, Dtype dtype, const Key& key,
              StreamOrDevice where) {
  Stream s = to_stream(where);
  if (dtype.is_inexact()) {
    fail<ValueError>("[random.randint] expected an integer or bool dtype, got {}", dtype);
  }
  for (const array* bound : {&low, &high}) {
    if (bound->dtype().is_complex()) {
      fail<ValueError>("[random.randint] expected real bounds, got {}", bound->dtype());
    }
    check_broadcasts_to(*bound, shape, "random.randint");
  }
  Dtype wide = dtype == uint64 ? uint64 : int64;
  array k = key ? *key : next_key(s);
  check_key(k, "random.randint");
  element_count(shape, "random.randint");
  std::vector<array> inputs = {k, astype(low, wide, s), astype(high, wide, s)};
  array drawn =
      array::make(shape, wide, Ref<Primitive>(new RandomIntegers(shape, wide)), inputs, s);
  return astype(drawn, dtype, s);
}

array gumbel(Shape shape, Dtype dtype, const Key& key, StreamOrDevice where) {
  Stream s = to_stream(where);
  return negative(log(negative(log(uniform(shape, dtype, key, s), s), s), s), s);
}

array laplace(Shape shape, Dtype dtype, float loc, float scale, const Key& key,
              StreamOrDevice where) {
  Stream s = to_stream(where);
  check_floating(dtype, "random.laplace");
  array u = symmetric_interval(shape, key, s);
  array x = multiply(sign(u, s), log1p(negative(abs(u, s), s), s), s);
  if (scale != 1.0f) {
    x = multiply(array(scale, float32), x, s);
  }
  return astype(loc != 0.0f ? add(array(loc, float32), x, s) : x, dtype, s);
}

array permutation(int64_t n, const Key& key, StreamOrDevice where) {
  Stream s = to_stream(where);
  if (n < 0) {
    fail<ValueError>("[random.permutation] expected a count that is not negative, got {}", n);
  }
  return argsort(bits(Shape{n}, 4, key, s), 0, s);
}

array permutation(const array& a, int axis, const Key& key, StreamOrDevice where) {
  Stream s = to_stream(where);
  int along = normalize_axis(axis, a.ndim(), "random.permutation");
  array order = permutation(a.shape(along), key, s);
  return a.shape(along) == 0 ? a : take(a, order, along, s);
}

array multivariate_normal(const array& mean, const array& cov, Shape shape, Dtype dtype,
                          const Key& key, StreamOrDevice where) {
  constexpr const char* op = "random.multivariate_normal";
  Stream s = to_stream(where);
  if (dtype != float32) {
    fail<ValueError>("[{}] expected the dtype float32, got {}", op, dtype);
  }
  if (mean.dtype().is_complex() || cov.dtype().is_complex()) {
    fail<ValueError>("[{}] expected real parameters, got {} and {}", op, mean.dtype(), cov.dtype());
  }
  if (mean.ndim() < 1 || cov.ndim() < 2 || cov.shape(-1) != cov.shape(-2) ||
      cov.shape(-1) != mean.shape(-1)) {
    fail<ValueError>("[{}] expected shapes (…, n) and (…, n, n) of mean and cov, got {} and {}", op,
                     mean.shape(), cov.shape());
  }
  auto lead = [](const array& a, int last) {
    return ShapeView(a.shape().data(), size_t(a.ndim() - last));
  };
  shape = broadcast_shapes(shape, lead(mean, 1), op);
  shape = broadcast_shapes(shape, lead(cov, 2), op);
  shape.push_back(mean.shape(-1));
  array z = normal(shape, float32, {}, {}, key, s);
  if (mean.shape(-1) == 0) {
    return z;
  }
  array root = linalg::symmetric_root(astype(cov, float32, s), s);
  array x = squeeze(matmul(expand_dims(z, -2, s), root, s), std::initializer_list<int>{-2}, s);
  return add(x, astype(mean, float32, s), s);
}

namespace {

// Inverse transform: one cumulative sum serves all draws.
array sample_single(const array& logits, const Shape& shape, const Key& key, Stream s) {
  array x = astype(flatten(logits, 0, -1, s), float32, s);
  array weights = exp(subtract(x, max(x, {}, true, s), s), s);
  array u = uniform(shape, float32, key, s);
  std::vector<array> inputs = {weights, u};
  return array::make(shape, uint32, Ref<Primitive>(new SampleIndex(0)), inputs, s);
}

array sample(const array& logits, int axis, const Shape& shape, const Key& key, Stream s) {
  if (logits.shape(axis) == 0) {
    fail<ValueError>("[random.categorical] no categories: axis {} of {} is empty", axis,
                     logits.shape());
  }
  if (logits.size() == logits.shape(axis) && !shape.empty()) {
    return sample_single(logits, shape, key, s);
  }
  // The largest of logits plus Gumbel noise is a draw (Gumbel 1954; Maddison et al. 2014).
  int at = axis + int(shape.size()) - logits.ndim() + 1;
  Shape noise = shape;
  noise.insert(noise.begin() + at, logits.shape(axis));
  return argmax(add(gumbel(noise, float32, key, s), logits, s), at, false, s);
}

int check_axis(const array& logits, int axis) {
  if (logits.dtype().is_complex()) {
    fail<ValueError>("[random.categorical] expected real logits, got {}", logits.dtype());
  }
  return normalize_axis(axis, logits.ndim(), "random.categorical");
}

Shape without_axis(const array& logits, int axis) {
  Shape shape = logits.shape();
  shape.erase(shape.begin() + axis);
  return shape;
}

}  // namespace

array categorical(const array& logits, int axis, const Key& key, StreamOrDevice s) {
  axis = check_axis(logits, axis);
  return sample(logits, axis, without_axis(logits, axis), key, to_stream(s));
}

array categorical(const array& logits, int axis, Shape shape, const Key& key, StreamOrDevice s) {
  axis = check_axis(logits, axis);
  Shape reduced = without_axis(logits, axis);
  if (broadcast_shapes(shape, reduced, "random.categorical") != shape) {
    fail<ValueError>("[random.categorical] the shape {} does not hold one draw of each of {}",
                     shape, reduced);
  }
  return sample(logits, axis, shape, key, to_stream(s));
}

array categorical(const array& logits, int axis, int64_t num_samples, const Key& key,
                  StreamOrDevice where) {
  Stream s = to_stream(where);
  axis = check_axis(logits, axis);
  if (num_samples < 0) {
    fail<ValueError>("[random.categorical] expected a number of samples of at least 0, got {}",
                     num_samples);
  }
  Shape shape = without_axis(logits, axis);
  shape.push_back(num_samples);
  return sample(expand_dims(logits, logits.ndim(), s), axis, shape, key, s);
}

}  // namespace mlx::core::random
