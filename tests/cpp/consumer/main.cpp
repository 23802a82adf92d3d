// Uses the installed headers and library the way a C++ user does.
#include <mlx/mlx.h>

#include <cmath>
#include <cstdio>

namespace mx = mlx::core;

int main() {
  mx::array x({1.0f, 2.0f});
  mx::array y = mx::sum(mx::exp(x));
  mx::eval(y);
  float got = y.item<float>();
  float wanted = std::exp(1.0f) + std::exp(2.0f);
  std::printf("sum(exp([1, 2])) = %g\n", got);
  if (std::abs(got - wanted) > 1e-5f) return 1;

  try {
    mx::eval(mx::matmul(mx::zeros({2, 3}), mx::zeros({2, 3})));
  } catch (const mx::ValueError& e) {
    std::printf("refused: %s\n", e.what());
    return 0;
  }
  return 1;
}
