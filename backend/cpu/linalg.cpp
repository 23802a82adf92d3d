// Factorisations by LAPACK, one matrix at a time, the batch over the pool. Row-major matrices are
// handed over as their transposes: A = U·S·Vᴴ there reads Aᵀ = V̄·S·Uᵀ, whose factors lie in memory
// as Vᴴ and U.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "backend/cpu/copy.h"
#include "backend/cpu/evaluators.h"
#include "backend/cpu/lapack.h"
#include "mlx/dispatch.h"
#include "mlx/error.h"

namespace mlx::core {

namespace cpu {

namespace {

constexpr int64_t max_dimension = 2147483647;
constexpr int64_t grain_operations = 1 << 16;

template <typename T>
struct RealOf {
  using type = T;
};
template <>
struct RealOf<complex64_t> {
  using type = float;
};

struct SvdTypes {
  static constexpr bool has(Dtype t) { return t == float32 || t == float64 || t.is_complex(); }
  static constexpr const char* text = "float32, float64 or complex64";
};

bool finite(float x) { return std::isfinite(x); }
bool finite(double x) { return std::isfinite(x); }
bool finite(complex64_t z) { return std::isfinite(z.re) && std::isfinite(z.im); }

float not_a_number(float) { return std::numeric_limits<float>::quiet_NaN(); }
double not_a_number(double) { return std::numeric_limits<double>::quiet_NaN(); }
complex64_t not_a_number(complex64_t) { return {not_a_number(0.0f), not_a_number(0.0f)}; }

// The wanted number of elements of `work`, which LAPACK reports as one of them.
int64_t work_size(float x) { return int64_t(std::ceil(x)); }
int64_t work_size(double x) { return int64_t(std::ceil(x)); }
int64_t work_size(complex64_t z) { return work_size(z.re); }

// One decomposition after the other in one piece of scratch memory.
template <typename T>
class SvdRunner {
  using R = typename RealOf<T>::type;

 public:
  SvdRunner(bool vectors, int64_t m, int64_t n, Encoder& e)
      : job_(vectors ? 'A' : 'N'), m_(int(m)), n_(int(n)) {
    int64_t least = std::min(m, n), most = std::max(m, n);
    T wanted{};
    gesdd(job_, n_, m_, nullptr, nullptr, nullptr, nullptr, &wanted, -1, nullptr, nullptr);
    // In float32 the size may have been rounded down.
    int64_t size = std::min(max_dimension, work_size(wanted) + work_size(wanted) / 4194304 + 1);
    work_count_ = int(size);
    // By the documentation of cgesdd.
    int64_t reals = sizeof(T) == sizeof(R) ? 0
                    : vectors              ? std::max(5 * least * least + 5 * least,
                                                      2 * most * least + 2 * least * least + least)
                                           : 7 * least;
    matrix_.emplace(e.scratch(size_t(m * n) * sizeof(T)));
    work_.emplace(e.scratch(size_t(size) * sizeof(T)));
    reals_.emplace(e.scratch(size_t(reals + 1) * sizeof(R)));
    integers_.emplace(e.scratch(size_t(8 * least) * sizeof(int)));
  }

  // A matrix that is not finite has no decomposition: all is NaN.
  void run(const T* a, T* u, R* s, T* vh) {
    int64_t size = int64_t(m_) * n_;
    if (!std::all_of(a, a + size, [](T x) { return finite(x); })) {
      fill_nan(u, s, vh);
      return;
    }
    std::memcpy(matrix_->as<T>(), a, size_t(size) * sizeof(T));
    int info = gesdd(job_, n_, m_, matrix_->as<T>(), s, vh, u, work_->as<T>(), work_count_,
                     reals_->as<R>(), integers_->as<int>());
    if (info != 0) {
      fail<RuntimeError>("[linalg.svd] did not converge for a matrix of {} by {} (info {})", m_, n_,
                         info);
    }
  }

 private:
  void fill_nan(T* u, R* s, T* vh) const {
    std::fill_n(s, std::min(m_, n_), not_a_number(R{}));
    if (u) {
      std::fill_n(u, int64_t(m_) * m_, not_a_number(T{}));
      std::fill_n(vh, int64_t(n_) * n_, not_a_number(T{}));
    }
  }

  char job_;
  int m_, n_, work_count_ = 0;
  std::optional<Scratch> matrix_, work_, reals_, integers_;
};

template <typename T>
void run_svd(bool vectors, const Operand& x, Outputs out, Encoder& e) {
  using R = typename RealOf<T>::type;
  int64_t m = x.shape[x.ndim() - 2], n = x.shape[x.ndim() - 1], k = std::min(m, n);
  if (std::max(m, n) > max_dimension) {
    fail<RuntimeError>("[linalg.svd] matrices of {} by {} are too large", m, n);
  }
  int64_t grain = std::max<int64_t>(1, grain_operations / std::max<int64_t>(1, m * n * k));
  parallel_for(x.size / (m * n), grain, [&](int64_t begin, int64_t end) {
    SvdRunner<T> runner(vectors, m, n, e);
    for (int64_t i = begin; i < end; ++i) {
      T* u = vectors ? out[0].ptr<T>() + i * m * m : nullptr;
      R* s = out[vectors ? 1 : 0].ptr<R>() + i * k;
      T* vh = vectors ? out[2].ptr<T>() + i * n * n : nullptr;
      runner.run(x.ptr<const T>() + i * m * n, u, s, vh);
    }
  });
}

}  // namespace
}  // namespace cpu

void eval_cpu(const SVD& p, Inputs in, Outputs out, Encoder& e) {
  std::optional<Scratch> memory;
  Operand x = cpu::make_dense(in[0], memory);
  dispatch(cpu::SvdTypes{}, x.dtype, "linalg.svd",
           [&]<typename T>() { cpu::run_svd<T>(p.vectors, x, out, e); });
}

}  // namespace mlx::core
