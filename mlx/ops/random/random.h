// The random family: Threefry counters under explicit keys, the distributions made from them, and
// the state of each thread for calls without a key.
#pragma once

#include <optional>

#include "mlx/graph/primitive.h"

namespace mlx::core {

// Words of Threefry-2x32 with 20 rounds, as many as the output has bytes for. The key's last axis
// is the pair; its other axes are a batch, and every key fills its own part of the output.
class RandomBits final : public PrimitiveOf<RandomBits, PrimitiveId::RandomBits> {
 public:
  RandomBits(Shape s, int w) : shape(std::move(s)), width(w) {}
  std::string_view name() const override { return "RandomBits"; }
  bool infers_shapes() const override { return false; }
  std::vector<array> vjp(const std::vector<array>& inputs, const std::vector<array>& cotangents,
                         const std::vector<int>& argnums,
                         const std::vector<array>& outputs) const override;
  std::vector<array> jvp(const std::vector<array>& inputs, const std::vector<array>& tangents,
                         const std::vector<int>& argnums,
                         const std::vector<array>& outputs) const override;
  VmapResult vmap(const std::vector<array>& inputs, const std::vector<int>& axes,
                  Stream stream) const override;
  std::vector<Shape> output_shapes(const std::vector<array>& inputs) const override;
  std::string describe() const override;
  bool same(const RandomBits& o) const { return shape == o.shape && width == o.width; }
  static Dtype unsigned_of(int width);

  const Shape shape;  // drawn for each key
  const int width;    // bytes an element
};

// Integers, every value of [low, high) equally likely: inputs are key, low and high, the bounds as
// the 64-bit type of the result's signedness. Bounds broadcast to the output.
class RandomIntegers final : public PrimitiveOf<RandomIntegers, PrimitiveId::RandomIntegers> {
 public:
  RandomIntegers(Shape s, Dtype t) : shape(std::move(s)), dtype(t) {}
  std::string_view name() const override { return "RandomIntegers"; }
  bool infers_shapes() const override { return false; }
  std::vector<array> vjp(const std::vector<array>& inputs, const std::vector<array>& cotangents,
                         const std::vector<int>& argnums,
                         const std::vector<array>& outputs) const override;
  std::vector<array> jvp(const std::vector<array>& inputs, const std::vector<array>& tangents,
                         const std::vector<int>& argnums,
                         const std::vector<array>& outputs) const override;
  VmapResult vmap(const std::vector<array>& inputs, const std::vector<int>& axes,
                  Stream stream) const override;
  std::vector<Shape> output_shapes(const std::vector<array>& inputs) const override;
  std::string describe() const override;
  bool same(const RandomIntegers& o) const { return shape == o.shape && dtype == o.dtype; }

  const Shape shape;
  const Dtype dtype;  // int64 or uint64
};

// Indices drawn from one discrete distribution by its inverse cumulative sum: inputs are weights
// (…, n) and numbers in [0, 1) of shape (…, drawn); equal leading axes are a batch.
class SampleIndex final : public PrimitiveOf<SampleIndex, PrimitiveId::SampleIndex> {
 public:
  explicit SampleIndex(int b) : batch(b) {}
  std::string_view name() const override { return "SampleIndex"; }
  std::vector<array> vjp(const std::vector<array>& inputs, const std::vector<array>& cotangents,
                         const std::vector<int>& argnums,
                         const std::vector<array>& outputs) const override;
  std::vector<array> jvp(const std::vector<array>& inputs, const std::vector<array>& tangents,
                         const std::vector<int>& argnums,
                         const std::vector<array>& outputs) const override;
  VmapResult vmap(const std::vector<array>& inputs, const std::vector<int>& axes,
                  Stream stream) const override;
  std::vector<Shape> output_shapes(const std::vector<array>& inputs) const override;
  std::string describe() const override;
  bool same(const SampleIndex& o) const { return batch == o.batch; }

  const int batch;  // leading axes shared by weights and numbers
};

namespace random {

using Key = std::optional<array>;  // none: the calling thread's state gives one

// The pair {seed >> 32, seed & 0xffffffff}.
MLX_API array key(uint64_t seed);
// `num` keys as an array of shape (num, 2).
MLX_API array split(const array& key, int64_t num = 2, StreamOrDevice s = {});

// State of the calling thread: the key that the next call without one splits.
MLX_API array state();
MLX_API void set_state(const array& key);
MLX_API void seed(uint64_t seed);
// As a thread starts that never set a seed.
MLX_API void reset_state();

// Uniform bits, `width` (1, 2, 4 or 8) bytes an element, as unsigned integers.
MLX_API array bits(Shape shape, int width = 4, const Key& key = {}, StreamOrDevice s = {});

MLX_API array uniform(const array& low, const array& high, Shape shape, Dtype dtype = float32,
                      const Key& key = {}, StreamOrDevice s = {});
MLX_API array uniform(Shape shape, Dtype dtype = float32, const Key& key = {},
                      StreamOrDevice s = {});
MLX_API array normal(Shape shape, Dtype dtype = float32, const std::optional<array>& loc = {},
                     const std::optional<array>& scale = {}, const Key& key = {},
                     StreamOrDevice s = {});
MLX_API array truncated_normal(const array& lower, const array& upper,
                               const std::optional<Shape>& shape = {}, Dtype dtype = float32,
                               const Key& key = {}, StreamOrDevice s = {});
MLX_API array bernoulli(const array& p, const std::optional<Shape>& shape = {}, const Key& key = {},
                        StreamOrDevice s = {});
MLX_API array randint(const array& low, const array& high, Shape shape, Dtype dtype = int32,
                      const Key& key = {}, StreamOrDevice s = {});
MLX_API array gumbel(Shape shape, Dtype dtype = float32, const Key& key = {},
                     StreamOrDevice s = {});
MLX_API array laplace(Shape shape, Dtype dtype = float32, float loc = 0.0f, float scale = 1.0f,
                      const Key& key = {}, StreamOrDevice s = {});
// The integers [0, n) in random order, uint32; the slices of a along an axis in random order.
MLX_API array permutation(int64_t n, const Key& key = {}, StreamOrDevice s = {});
MLX_API array permutation(const array& a, int axis = 0, const Key& key = {}, StreamOrDevice s = {});
// Vectors with means (…, n) and covariances (…, n, n); `shape`, the leading axes of both and n make
// the result's shape. float32.
MLX_API array multivariate_normal(const array& mean, const array& cov, Shape shape = {},
                                  Dtype dtype = float32, const Key& key = {},
                                  StreamOrDevice s = {});
// One index for every distribution along `axis`, or the shape asked for.
MLX_API array categorical(const array& logits, int axis = -1, const Key& key = {},
                          StreamOrDevice s = {});
MLX_API array categorical(const array& logits, int axis, Shape shape, const Key& key = {},
                          StreamOrDevice s = {});
MLX_API array categorical(const array& logits, int axis, int64_t num_samples, const Key& key = {},
                          StreamOrDevice s = {});

}  // namespace random
}  // namespace mlx::core
