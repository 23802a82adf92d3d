// Bindings of mlx.core.random.
#include "mlx/error.h"
#include "mlx/ops/random/random.h"
#include "python/src/random_state.h"

namespace mlx::core {

namespace {

using OptionalKey = std::optional<array>;
using OptionalDtype = std::optional<Dtype>;

Dtype or_float32(const OptionalDtype& t) { return t.value_or(float32); }

std::optional<array> optional_array(const std::optional<ArrayArg>& a, Dtype like) {
  return a ? std::optional(to_array(*a, like)) : std::nullopt;
}

void check_state_index(int64_t i) {
  if (i != 0 && i != -1) {
    fail<IndexError>("[random.state] index {} is out of range: there is one key", i);
  }
}

void bind_state(nb::module_& m) {
  nb::class_<RandomState>(m, "_RandomState",
                          "The random state of the calling thread, as a list of one key.")
      .def("__len__", [](const RandomState&) { return 1; })
      .def("__getitem__",
           [](const RandomState&, int64_t i) {
             check_state_index(i);
             return random::state();
           })
      .def("__setitem__",
           [](const RandomState&, int64_t i, const array& key) {
             check_state_index(i);
             random::set_state(key);
           })
      .def("__iter__", [](const RandomState&) {
        nb::list keys;
        keys.append(wrap(random::state()));
        return nb::iter(keys);
      });
  m.attr("state") = nb::cast(RandomState{});
}

void bind_keys(nb::module_& m) {
  define(
      m, "key", [](uint64_t seed) { return random::key(seed); }, "seed"_a,
      R"doc(
      The key of a seed.

      Args:
          seed (int): from 0 to 2**64 - 1.

      Returns:
          array: shape ``(2,)``, dtype uint32.

      Example:
          >>> mx.random.key(0)
          array([0, 0], dtype=uint32)
      )doc");
  define(
      m, "seed", [](uint64_t seed) { random::seed(seed); }, "seed"_a,
      "Set the random state of the calling thread to the key of ``seed``.");
  define(
      m, "split",
      [](const array& key, int64_t num, const StreamArg& s) {
        return random::split(key, num, s.value);
      },
      "key"_a, "num"_a = 2, "stream"_a = nb::none(),
      R"doc(
      Independent keys made from one.

      Args:
          key (array): the key to split.
          num (int): how many to make.

      Returns:
          array: shape ``(num, 2)``, dtype uint32.

      Raises:
          ValueError: something that is not a key, or a negative number.

      Example:
          >>> a, b = mx.random.split(mx.random.key(0))
      )doc");
}

void bind_uniform(nb::module_& m) {
  define(
      m, "uniform",
      [](const ArrayArg& low, const ArrayArg& high, Shape shape, const OptionalDtype& dtype,
         const OptionalKey& key, const StreamArg& s) {
        Dtype t = or_float32(dtype);
        return random::uniform(to_array(low, t), to_array(high, t), std::move(shape), t, key,
                               s.value);
      },
      "low"_a = 0, "high"_a = 1, "shape"_a = Shape{}, "dtype"_a.none() = float32,
      "key"_a = nb::none(), "stream"_a = nb::none(),
      R"doc(
      Uniform numbers in ``[low, high)``.

      Args:
          low (scalar or array): lower bound; broadcasts to ``shape``.
          high (scalar or array): upper bound; broadcasts to ``shape``.
          shape (Sequence[int]): shape of the result.
          dtype (Dtype): float32, float16 or bfloat16.
          key (array): a key; without one the thread's state gives it.

      Raises:
          ValueError: bounds that do not broadcast to the shape, a bad key, or a
            dtype that is not floating.
          RuntimeError: float64.

      Example:
          >>> mx.random.uniform(-1, 1, (2, 3)).shape
          (2, 3)
      )doc");
}

void bind_normal(nb::module_& m) {
  define(
      m, "normal",
      [](Shape shape, const OptionalDtype& dtype, const std::optional<ArrayArg>& loc,
         const std::optional<ArrayArg>& scale, const OptionalKey& key, const StreamArg& s) {
        Dtype t = or_float32(dtype);
        return random::normal(std::move(shape), t, optional_array(loc, t), optional_array(scale, t),
                              key, s.value);
      },
      "shape"_a = Shape{}, "dtype"_a.none() = float32, "loc"_a = nb::none(), "scale"_a = nb::none(),
      "key"_a = nb::none(), "stream"_a = nb::none(),
      R"doc(
      Normally distributed numbers.

      Args:
          shape (Sequence[int]): shape of the draws; loc and scale broadcast with it.
          dtype (Dtype): a floating dtype, or complex64: parts of variance 1/2 each.
          loc (scalar or array): mean, 0 by default.
          scale (scalar or array): standard deviation, 1 by default.
          key (array): a key; without one the thread's state gives it.

      Raises:
          ValueError: a dtype that is neither floating nor complex, or a bad key.

      Example:
          >>> mx.random.normal((2, 3), loc=1.0, scale=0.1).shape
          (2, 3)
      )doc");
  define(
      m, "truncated_normal",
      [](const ArrayArg& lower, const ArrayArg& upper, const std::optional<Shape>& shape,
         const OptionalDtype& dtype, const OptionalKey& key, const StreamArg& s) {
        Dtype t = or_float32(dtype);
        return random::truncated_normal(to_array(lower, t), to_array(upper, t), shape, t, key,
                                        s.value);
      },
      "lower"_a, "upper"_a, "shape"_a = nb::none(), "dtype"_a.none() = float32,
      "key"_a = nb::none(), "stream"_a = nb::none(),
      R"doc(
      Numbers of the standard normal distribution cut to ``[lower, upper]``.

      Args:
          lower (scalar or array): lower bound.
          upper (scalar or array): upper bound.
          shape (Sequence[int]): shape of the result; the bounds' by default.
          dtype (Dtype): float32, float16 or bfloat16.
          key (array): a key; without one the thread's state gives it.

      Raises:
          ValueError: bounds that do not broadcast to the shape, or a dtype that is
            not floating.

      Example:
          >>> mx.random.truncated_normal(-2, 2, (5,)).shape
          (5,)
      )doc");
}

void bind_discrete(nb::module_& m) {
  define(
      m, "bernoulli",
      [](const ArrayArg& p, const std::optional<Shape>& shape, const OptionalKey& key,
         const StreamArg& s) { return random::bernoulli(to_array(p), shape, key, s.value); },
      "p"_a = 0.5, "shape"_a = nb::none(), "key"_a = nb::none(), "stream"_a = nb::none(),
      R"doc(
      Booleans that are true with probability p.

      Args:
          p (float or array): probability; broadcasts to ``shape``.
          shape (Sequence[int]): shape of the result; that of p by default.
          key (array): a key; without one the thread's state gives it.

      Raises:
          ValueError: a p that is not floating or does not broadcast to the shape.

      Example:
          >>> mx.random.bernoulli(0.3, (4,)).dtype
          mlx.core.bool
      )doc");
  define(
      m, "randint",
      [](const ArrayArg& low, const ArrayArg& high, Shape shape, const OptionalDtype& dtype,
         const OptionalKey& key, const StreamArg& s) {
        Dtype t = dtype.value_or(int32);
        Dtype wide = t == uint64 ? uint64 : int64;
        return random::randint(to_array(low, wide), to_array(high, wide), std::move(shape), t, key,
                               s.value);
      },
      "low"_a, "high"_a, "shape"_a = Shape{}, "dtype"_a.none() = int32, "key"_a = nb::none(),
      "stream"_a = nb::none(),
      R"doc(
      Integers of ``[low, high)``, each equally likely; low where the interval is empty.

      Args:
          low (scalar or array): lower bound; broadcasts to ``shape``.
          high (scalar or array): upper bound, not drawn; broadcasts to ``shape``.
          shape (Sequence[int]): shape of the result.
          dtype (Dtype): an integer dtype or bool.
          key (array): a key; without one the thread's state gives it.

      Raises:
          ValueError: bounds that do not broadcast to the shape, or a floating or
            complex dtype.

      Example:
          >>> mx.random.randint(0, 10, (3,)).shape
          (3,)
      )doc");
}

void bind_continuous(nb::module_& m) {
  define(
      m, "gumbel",
      [](Shape shape, const OptionalDtype& dtype, const OptionalKey& key, const StreamArg& s) {
        return random::gumbel(std::move(shape), or_float32(dtype), key, s.value);
      },
      "shape"_a = Shape{}, "dtype"_a.none() = float32, "key"_a = nb::none(),
      "stream"_a = nb::none(),
      R"doc(
      Numbers of the standard Gumbel distribution.

      Args:
          shape (Sequence[int]): shape of the result.
          dtype (Dtype): float32, float16 or bfloat16.
          key (array): a key; without one the thread's state gives it.

      Example:
          >>> mx.random.gumbel((2,)).shape
          (2,)
      )doc");
  define(
      m, "laplace",
      [](Shape shape, const OptionalDtype& dtype, float loc, float scale, const OptionalKey& key,
         const StreamArg& s) {
        return random::laplace(std::move(shape), or_float32(dtype), loc, scale, key, s.value);
      },
      "shape"_a = Shape{}, "dtype"_a.none() = float32, "loc"_a = 0.0f, "scale"_a = 1.0f,
      "key"_a = nb::none(), "stream"_a = nb::none(),
      R"doc(
      Numbers of the Laplace distribution.

      Args:
          shape (Sequence[int]): shape of the result.
          dtype (Dtype): a floating dtype.
          loc (float): mean.
          scale (float): mean distance from it.
          key (array): a key; without one the thread's state gives it.

      Raises:
          ValueError: a dtype that is not floating.

      Example:
          >>> mx.random.laplace((2,), scale=2.0).shape
          (2,)
      )doc");
}

array bound_categorical(const array& logits, int axis, const std::optional<Shape>& shape,
                        const std::optional<int64_t>& num_samples, const OptionalKey& key,
                        const StreamArg& s) {
  if (shape && num_samples) {
    fail<ValueError>("[random.categorical] expected shape or num_samples, got both");
  }
  if (num_samples) {
    return random::categorical(logits, axis, *num_samples, key, s.value);
  }
  return shape ? random::categorical(logits, axis, *shape, key, s.value)
               : random::categorical(logits, axis, key, s.value);
}

void bind_categorical(nb::module_& m) {
  define(m, "categorical", bound_categorical, "logits"_a, "axis"_a = -1, "shape"_a = nb::none(),
         "num_samples"_a = nb::none(), "key"_a = nb::none(), "stream"_a = nb::none(),
         R"doc(
        Indices drawn with probabilities proportional to ``exp(logits)``.

        Args:
            logits (array): unnormalised log-probabilities.
            axis (int): the axis of the categories.
            shape (Sequence[int]): shape of the result: that of logits without the
              axis, which is also the default, must broadcast to it.
            num_samples (int): draws of each distribution, as a last axis.
            key (array): a key; without one the thread's state gives it.

        Returns:
            array: uint32 indices along the axis.

        Raises:
            ValueError: shape and num_samples together, a shape that does not hold
              one draw of each distribution, or no categories.

        Example:
            >>> mx.random.categorical(mx.zeros((5, 3)), num_samples=2).shape
            (5, 2)
        )doc");
}

void bind_permutation(nb::module_& m) {
  define(
      m, "permutation",
      [](const array& x, int axis, const OptionalKey& key, const StreamArg& s) {
        return random::permutation(x, axis, key, s.value);
      },
      "x"_a, "axis"_a = 0, "key"_a = nb::none(), "stream"_a = nb::none(),
      R"doc(
      The slices of an array along an axis in random order.

      Args:
          x (int or array): an int stands for the integers from 0 to ``x - 1``.
          axis (int): the axis that is shuffled; only for an array.
          key (array): a key; without one the thread's state gives it.

      Returns:
          array: of the shape and dtype of x; uint32 of shape ``(x,)`` for an int.

      Raises:
          AxisError: the axis is out of range.
          ValueError: a negative int, or a bad key.

      Example:
          >>> mx.random.permutation(4, key=mx.random.key(0)).shape
          (4,)
      )doc");
  define(
      m, "permutation",
      [](int64_t x, int, const OptionalKey& key, const StreamArg& s) {
        return random::permutation(x, key, s.value);
      },
      "x"_a, "axis"_a = 0, "key"_a = nb::none(), "stream"_a = nb::none());
}

void bind_multivariate_normal(nb::module_& m) {
  define(
      m, "multivariate_normal",
      [](const array& mean, const array& cov, Shape shape, const OptionalDtype& dtype,
         const OptionalKey& key, const StreamArg& s) {
        return random::multivariate_normal(mean, cov, std::move(shape), or_float32(dtype), key,
                                           s.value);
      },
      "mean"_a, "cov"_a, "shape"_a = Shape{}, "dtype"_a.none() = float32, "key"_a = nb::none(),
      "stream"_a = nb::none(),
      R"doc(
      Vectors of jointly normal numbers.

      The square root of the covariance comes from its singular value decomposition.

      Args:
          mean (array): shape ``(..., n)``.
          cov (array): shape ``(..., n, n)``, symmetric and positive semidefinite.
          shape (Sequence[int]): axes before the last of the result; broadcasts with
            those of mean and cov.
          dtype (Dtype): float32.
          key (array): a key; without one the thread's state gives it.

      Raises:
          ValueError: shapes that do not fit, or another dtype.

      Example:
          >>> mx.random.multivariate_normal(mx.zeros((2,)), mx.eye(2), (5,)).shape
          (5, 2)
      )doc");
}

}  // namespace

void bind_random(nb::module_& parent) {
  nb::module_ m = parent.def_submodule("random", "Random numbers from explicit or thread keys.");
  bind_state(m);
  bind_keys(m);
  bind_uniform(m);
  bind_normal(m);
  bind_discrete(m);
  bind_continuous(m);
  bind_categorical(m);
  bind_permutation(m);
  bind_multivariate_normal(m);
}

}  // namespace mlx::core
