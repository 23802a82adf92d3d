// The square root of a symmetric matrix. Its derivative X solves R·X + X·R = dA, which has a
// derivative of the same kind: no difference of eigenvalues occurs, so equal ones do no harm.
#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/linalg/linalg.h"
#include "mlx/ops/matmul/matmul.h"
#include "mlx/ops/shape/shape.h"
#include "mlx/transforms/custom.h"

namespace mlx::core {

namespace {

array transposed(const array& x) { return swapaxes(x, -1, -2); }

array symmetric_part(const array& x) {
  return multiply(add(x, transposed(x)), array(0.5, x.dtype()));
}

// X with R·X + X·R = D, R symmetric and positive semidefinite. Where both eigenvalues are 0 there
// is no solution, and 0 is taken.
array solve(const array& r, const array& d) {
  std::vector<array> usv = linalg::svd(r);
  const array& u = usv[0];
  array sums = add(expand_dims(usv[1], -1), expand_dims(usv[1], -2));
  array zero = array(0.0, sums.dtype()), one = array(1.0, sums.dtype());
  array flat = equal(sums, zero);
  array inner = matmul(matmul(transposed(u), d), u);
  inner = where(flat, zero, divide(inner, where(flat, one, sums)));
  return matmul(matmul(u, inner), transposed(u));
}

array sylvester(const array& r, const array& d) {
  CustomRules rules;
  rules.together = true;
  rules.vjp = [](const std::vector<array>& primals, const std::vector<array>& cotangents,
                 const std::vector<array>& outputs) -> std::vector<array> {
    const array& x = outputs[0];
    array y = sylvester(primals[0], cotangents[0]);
    return {negative(add(matmul(y, transposed(x)), matmul(transposed(x), y))), y};
  };
  rules.jvp = [](const std::vector<array>& primals,
                 const std::vector<std::optional<array>>& tangents) -> std::vector<array> {
    const array& r = primals[0];
    std::optional<array> d = tangents[1];
    if (const std::optional<array>& t = tangents[0]) {
      array x = sylvester(r, primals[1]);
      array turned = negative(add(matmul(*t, x), matmul(x, *t)));
      d = d ? add(*d, turned) : turned;
    }
    return {d ? sylvester(r, *d) : zeros_like(primals[1])};
  };
  auto value = [](const std::vector<array>& x) { return std::vector<array>{solve(x[0], x[1])}; };
  return custom_function(value, std::move(rules), {r, d})[0];
}

array root_of(const array& a, StreamOrDevice s) {
  std::vector<array> usv = linalg::svd(a, true, s);
  return matmul(multiply(usv[0], expand_dims(sqrt(usv[1], s), -2, s), s), usv[2], s);
}

}  // namespace

namespace linalg {

array symmetric_root(const array& a, StreamOrDevice s) {
  CustomRules rules;
  rules.vjp = [](const std::vector<array>&, const std::vector<array>& cotangents,
                 const std::vector<array>& outputs) -> std::vector<array> {
    return {sylvester(outputs[0], symmetric_part(cotangents[0]))};
  };
  rules.jvp = [s](const std::vector<array>& primals,
                  const std::vector<std::optional<array>>& tangents) -> std::vector<array> {
    return {tangents[0] ? sylvester(symmetric_root(primals[0], s), symmetric_part(*tangents[0]))
                        : zeros_like(primals[0])};
  };
  auto value = [s](const std::vector<array>& x) { return std::vector<array>{root_of(x[0], s)}; };
  return custom_function(value, std::move(rules), {a})[0];
}

}  // namespace linalg

}  // namespace mlx::core
