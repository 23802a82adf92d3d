// The monoids as plain C++14: what does not compile here would not compile for the devices either.
#include "mlx/ops/elementwise/scalar_dialect.h"
//
#include "mlx/ops/elementwise/convert.h"
#include "mlx/ops/reduce/monoid.h"

namespace mlx {
namespace core {

template <typename Mo, typename T>
T folded(const T* x, int n) {
  T total = Mo::template identity<T>();
  for (int i = 0; i < n; ++i) total = Mo::combine(total, x[i]);
  return total;
}

template <typename T>
T all_folded(const T* x, int n) {
  T a = folded<monoid::Sum>(x, n), b = folded<monoid::Prod>(x, n);
  T c = folded<monoid::Max>(x, n), d = folded<monoid::Min>(x, n);
  T y[4] = {a, b, c, d};
  return folded<monoid::Sum>(y, 4);
}

float reduce_float32(const float* x, int n) { return all_folded(x, n); }
double reduce_float64(const double* x, int n) { return all_folded(x, n); }
complex64_t reduce_complex64(const complex64_t* x, int n) { return all_folded(x, n); }
int8_t reduce_int8(const int8_t* x, int n) { return all_folded(x, n); }
uint64_t reduce_uint64(const uint64_t* x, int n) { return all_folded(x, n); }
bool reduce_bool(const bool* x, int n) {
  return folded<monoid::All>(x, n) | folded<monoid::Any>(x, n) | folded<monoid::Max>(x, n);
}
monoid::MomentsOf<float> reduce_moments(const monoid::MomentsOf<float>* x, int n) {
  return folded<monoid::Moments>(x, n);
}
monoid::LogSumOf<float> reduce_log_sums(const float* x, int n) {
  monoid::LogSumOf<float> total = monoid::LogSum::identity<float>();
  for (int i = 0; i < n; ++i) total = monoid::LogSum::combine(total, monoid::LogSum::lift(x[i]));
  return monoid::LogSum::lift(monoid::LogSum::lower(total));
}

}  // namespace core
}  // namespace mlx
