// Scans and recurrences of complex64. Built without GCC's vectoriser, as reduce_complex.cpp.
#include "backend/cpu/simd/scan_kernels.h"

namespace mlx::core::cpu::MLX_SIMD_ISA {
namespace {

struct ComplexSum {
  typedef complex64_t Stored;
  typedef WideComplex Carry;
  MLX_SIMD_FN Carry identity() { return {0, 0}; }
  MLX_SIMD_FN Carry lift(complex64_t x) { return {x.re, x.im}; }
  MLX_SIMD_FN Carry combine(Carry a, Carry b) { return {a.re + b.re, a.im + b.im}; }
  MLX_SIMD_FN complex64_t lower(Carry a) { return {float(a.re), float(a.im)}; }
};
struct ComplexLogSum : Step<monoid::Sum, complex64_t> {
  MLX_SIMD_FN complex64_t identity() { return {-__builtin_inff(), 0}; }
  MLX_SIMD_FN complex64_t combine(complex64_t a, complex64_t b) { return scalar::LogAddExp(a, b); }
};

void recurrence_complex(const void* pa, const void* pb, int64_t stride, int64_t rows, int64_t n,
                        bool inclusive, void* carries, void* out) {
  const auto *a = (const complex64_t*)pa, *b = (const complex64_t*)pb;
  auto* y = (complex64_t*)out;
  auto* h = (WideComplex*)carries;
  for (int64_t r = 0; r < rows; ++r, a += stride, b += stride, y += stride) {
    for (int64_t j = 0; j < n; ++j) {
      WideComplex p = h[j], f = {a[j].re, a[j].im}, g = {b[j].re, b[j].im};
      if (f.re != 0 || f.im != 0) {
        g.re += f.re * p.re - f.im * p.im;
        g.im += f.re * p.im + f.im * p.re;
      }
      h[j] = g;
      WideComplex z = inclusive ? g : p;
      y[j] = {float(z.re), float(z.im)};
    }
  }
}

}  // namespace

void fill_complex_scans(ScanTable& t) {
  constexpr int type = TileTypes::Complex64;
  typedef complex64_t Z;
  t.scan[ScanOps::CumSum][type] = plain_scan<ComplexSum>();
  t.scan[ScanOps::CumProd][type] = plain_scan<Step<monoid::Prod, Z>>();
  t.scan[ScanOps::CumMax][type] = plain_scan<Step<monoid::Max, Z>>();
  t.scan[ScanOps::CumMin][type] = plain_scan<Step<monoid::Min, Z>>();
  t.scan[ScanOps::LogCumSumExp][type] = plain_scan<ComplexLogSum>();
  t.recurrence[type] = recurrence_complex;
}

}  // namespace mlx::core::cpu::MLX_SIMD_ISA
