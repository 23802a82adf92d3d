// The monoids of reductions and scans: an identity and an associative combine, one text for all
// devices. C++14 subset, no host headers; bring a dialect and scalar.h first. A is the accumulator:
// a scalar or, for the arithmetic ones, a SIMD vector.
#pragma once

namespace mlx {
namespace core {
namespace monoid {

namespace impl {

template <typename A>
MLX_SCALAR_FN A constant(m::literal c, m::Real) {
  return m::lit<A>(c);
}
template <typename A>
MLX_SCALAR_FN A constant(m::literal c, m::Integer) {
  return A(c);
}
template <typename A>
MLX_SCALAR_FN A constant(m::literal c, m::Boolean) {
  return A(c);
}
template <typename A>
MLX_SCALAR_FN A constant(m::literal c, m::Complex) {
  return m::make<A>(m::lit<m::real_of<A>>(c), m::lit<m::real_of<A>>(0));
}

// The least and the greatest value of a type in its order; complex values are ordered by real part
// first.
template <typename A>
MLX_SCALAR_FN A least(m::Real) {
  return m::lit<A>(-1) / m::lit<A>(0);
}
template <typename A>
MLX_SCALAR_FN A least(m::Integer) {
  return scalar::impl::lowest<A>();
}
template <typename A>
MLX_SCALAR_FN A least(m::Boolean) {
  return A(0);
}
template <typename A>
MLX_SCALAR_FN A least(m::Complex) {
  m::real_of<A> x = least<m::real_of<A>>(m::Real());
  return m::make<A>(x, x);
}
template <typename A>
MLX_SCALAR_FN A greatest(m::Real) {
  return m::lit<A>(1) / m::lit<A>(0);
}
template <typename A>
MLX_SCALAR_FN A greatest(m::Integer) {
  return scalar::impl::highest<A>();
}
template <typename A>
MLX_SCALAR_FN A greatest(m::Boolean) {
  return A(1);
}
template <typename A>
MLX_SCALAR_FN A greatest(m::Complex) {
  m::real_of<A> x = greatest<m::real_of<A>>(m::Real());
  return m::make<A>(x, x);
}

}  // namespace impl

struct Sum {
  template <typename A>
  MLX_SCALAR_FN A identity() {
    return impl::constant<A>(0, m::kind<A>());
  }
  template <typename A>
  MLX_SCALAR_FN A combine(A a, A b) {
    return scalar::Add(a, b);
  }
};

struct Prod {
  template <typename A>
  MLX_SCALAR_FN A identity() {
    return impl::constant<A>(1, m::kind<A>());
  }
  template <typename A>
  MLX_SCALAR_FN A combine(A a, A b) {
    return scalar::Multiply(a, b);
  }
};

// NaN wins in both.
struct Max {
  template <typename A>
  MLX_SCALAR_FN A identity() {
    return impl::least<A>(m::kind<A>());
  }
  template <typename A>
  MLX_SCALAR_FN A combine(A a, A b) {
    return scalar::Maximum(a, b);
  }
};

struct Min {
  template <typename A>
  MLX_SCALAR_FN A identity() {
    return impl::greatest<A>(m::kind<A>());
  }
  template <typename A>
  MLX_SCALAR_FN A combine(A a, A b) {
    return scalar::Minimum(a, b);
  }
};

struct All {
  template <typename A>
  MLX_SCALAR_FN A identity() {
    return A(1);
  }
  template <typename A>
  MLX_SCALAR_FN A combine(A a, A b) {
    return A(a & b);
  }
};

struct Any {
  template <typename A>
  MLX_SCALAR_FN A identity() {
    return A(0);
  }
  template <typename A>
  MLX_SCALAR_FN A combine(A a, A b) {
    return A(a | b);
  }
};

// Count, mean and sum of squared deviations of a set of values; combined by the update of Chan,
// Golub and LeVeque (1979), which loses nothing to cancellation.
template <typename R>
struct MomentsOf {
  R count;
  R mean;
  R squares;
};

struct Moments {
  template <typename A>
  MLX_SCALAR_FN A identity() {
    A a = {0, 0, 0};
    return a;
  }
  template <typename R>
  MLX_SCALAR_FN MomentsOf<R> combine(MomentsOf<R> a, MomentsOf<R> b) {
    R n = a.count + b.count;
    R delta = b.mean - a.mean;
    R share = b.count / (n > R(0) ? n : R(1));
    MomentsOf<R> c = {n, a.mean + delta * share,
                      a.squares + b.squares + delta * delta * a.count * share};
    return c;
  }
};

// A sum of exponentials as exp(high)·sum, high being the greatest exponent.
template <typename R>
struct LogSumOf {
  R high;
  R sum;
};

struct LogSum {
  template <typename R>
  MLX_SCALAR_FN LogSumOf<R> identity() {
    LogSumOf<R> a = {impl::least<R>(m::kind<R>()), m::lit<R>(0)};
    return a;
  }
  template <typename R>
  MLX_SCALAR_FN LogSumOf<R> lift(R x) {
    LogSumOf<R> a = {x, m::lit<R>(1)};
    return a;
  }
  // Equal exponents, infinite ones too, are no distance apart.
  template <typename R>
  MLX_SCALAR_FN LogSumOf<R> combine(LogSumOf<R> a, LogSumOf<R> b) {
    R zero = m::lit<R>(0), distance = m::select(a.high == b.high, zero, m::abs(a.high - b.high));
    R less = scalar::Exp(zero - distance);
    R sum = m::select(b.high > a.high, a.sum * less + b.sum, a.sum + b.sum * less);
    LogSumOf<R> c = {scalar::Maximum(a.high, b.high), sum};
    return c;
  }
  template <typename R>
  MLX_SCALAR_FN R lower(LogSumOf<R> a) {
    return a.high + scalar::Log(a.sum);
  }
};

}  // namespace monoid
}  // namespace core
}  // namespace mlx
