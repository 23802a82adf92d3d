// vjp, jvp and vmap of the whole elementwise family, from the partial derivatives of partials.h.
#include "mlx/error.h"
#include "mlx/ops/elementwise/partials.h"
#include "mlx/ops/reduce/reduce.h"
#include "mlx/ops/shape/like.h"
#include "mlx/ops/shape/shape.h"

namespace mlx::core {

namespace {

partial::Result partial_of(EwOp op, partial::Args x, const array& y, int k) {
  switch (op) {
#define OP(Name, ...) \
  case EwOp::Name:    \
    return partial::Name(x, y, k);
#include "mlx/ops/elementwise/elementwise.def"
#undef OP
  }
  return {};
}

bool is_one(const array& a) {
  return a.size() == 1 && a.is_available() && !a.dtype().is_complex() && a.item<float>() == 1.0f;
}

array product(const array& a, const array& b) {
  return is_one(b) && a.dtype() == b.dtype() ? a : multiply(a, b);
}

}  // namespace

std::vector<array> Elementwise::vjp(const std::vector<array>& inputs,
                                    const std::vector<array>& cotangents,
                                    const std::vector<int>& argnums,
                                    const std::vector<array>& outputs) const {
  std::vector<array> result;
  for (int k : argnums) {
    const array& x = inputs[k];
    partial::Result d = partial_of(op, inputs, outputs[0], k);
    if (!d) {
      result.push_back(zeros_like(x));
      continue;
    }
    array g = cotangents[0];
    if (op == EwOp::Conjugate) {
      g = conjugate(g);
    } else if (op == EwOp::Select) {
      // Chosen, not multiplied: an infinite cotangent elsewhere must not turn into NaN.
      array zero = array(0.0, g.dtype());
      g = k == 1 ? where(inputs[0], g, zero) : where(inputs[0], zero, g);
    } else {
      g = product(g, d->dtype().is_complex() ? conjugate(*d) : *d);
    }
    g = sum_like(g, x);
    result.push_back(astype(g, x.dtype()));
  }
  return result;
}

std::vector<array> Elementwise::jvp(const std::vector<array>& inputs,
                                    const std::vector<array>& tangents,
                                    const std::vector<int>& argnums,
                                    const std::vector<array>& outputs) const {
  const array& y = outputs[0];
  std::optional<array> total;
  for (size_t i = 0; i < argnums.size(); ++i) {
    int k = argnums[i];
    partial::Result d = partial_of(op, inputs, y, k);
    if (!d) {
      continue;
    }
    array t = tangents[i];
    if (op == EwOp::Conjugate) {
      t = conjugate(t);
    } else if (op == EwOp::Select) {
      array zero = array(0.0, t.dtype());
      t = k == 1 ? where(inputs[0], t, zero) : where(inputs[0], zero, t);
    } else if (op == EwOp::Cast) {
      t = astype(t, y.dtype());
    } else {
      t = product(t, *d);
    }
    if (t.dtype().is_complex() && !y.dtype().is_complex()) {
      t = real(t);
    }
    total = total ? add(*total, t) : t;
  }
  if (!total) {
    return {zeros_like(y)};
  }
  return {astype(broadcast_like(*total, y), y.dtype())};
}

// Mapped axes go first and ranks are evened out behind them; broadcasting does the rest.
VmapResult Elementwise::vmap(const std::vector<array>& inputs, const std::vector<int>& axes,
                             Stream stream) const {
  int ndim = 0;
  for (size_t k = 0; k < inputs.size(); ++k) {
    ndim = std::max(ndim, inputs[k].ndim() - (axes[k] >= 0));
  }
  std::vector<array> aligned;
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (axes[k] < 0) {
      aligned.push_back(inputs[k]);
      continue;
    }
    array x = moveaxis(inputs[k], axes[k], 0, stream);
    Axes added;
    for (int i = x.ndim(); i < ndim + 1; ++i) {
      added.push_back(int(added.size()) + 1);
    }
    aligned.push_back(added.empty() ? x : expand_dims(x, std::span<const int>(added), stream));
  }
  if (op == EwOp::Cast) {
    return {{astype(aligned[0], target, stream)}, {0}};
  }
  return {{elementwise(op, aligned, stream)}, {0}};
}

}  // namespace mlx::core
