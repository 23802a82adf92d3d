// The singular value decomposition: function, shape rule, vjp, jvp, vmap. The derivatives are in
// terms of K = Uᴴ dA V: dS is its diagonal, and U and V turn by skew matrices made of the rest.
#include <algorithm>
#include <optional>

#include "mlx/error.h"
#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/linalg/linalg.h"
#include "mlx/ops/matmul/matmul.h"
#include "mlx/ops/shape/shape.h"

namespace mlx::core {

namespace {

array hermitian(const array& x) { return conjugate(swapaxes(x, -1, -2)); }

// Rows [r, r + m) and columns [c, c + n) of the matrices in x.
array block(const array& x, int64_t r, int64_t m, int64_t c, int64_t n) {
  Shape start(x.ndim(), 0), step(x.ndim(), 1), count = x.shape();
  int row = x.ndim() - 2, column = x.ndim() - 1;
  start[row] = r, start[column] = c;
  count[row] = m, count[column] = n;
  return strided_slice(x, start, step, count);
}

array join(const array& a, const array& b, int axis) {
  array both[] = {a, b};
  return concatenate(both, axis);
}

array zero_matrix(const array& like, int64_t rows, int64_t columns) {
  Shape shape = like.shape();
  shape[shape.size() - 2] = rows;
  shape.back() = columns;
  return zeros(shape, like.dtype());
}

// 1/x, and 0 where x is.
array guarded_reciprocal(const array& x) {
  array zero = array(0.0, x.dtype()), one = array(1.0, x.dtype());
  array flat = equal(x, zero);
  return where(flat, zero, divide(one, where(flat, one, x)));
}

// What both derivatives need of a decomposition of m × n matrices.
struct Parts {
  array u, vh;         // (…, m, m), (…, n, n)
  array row, column;   // singular values along the last axis, along the one before
  array gaps;          // 1/(s_j² - s_i²)
  array over;          // 1/s_j
  array diagonal_one;  // identity of k × k
  int64_t m, n, k;
  bool is_complex;

  explicit Parts(const std::vector<array>& usv)
      : u(usv[0]),
        vh(usv[2]),
        row(expand_dims(usv[1], -2)),
        column(expand_dims(usv[1], -1)),
        gaps(guarded_reciprocal(multiply(subtract(row, column), add(row, column)))),
        over(guarded_reciprocal(row)),
        diagonal_one(eye(row.shape(-1), row.shape(-1), 0, row.dtype())),
        m(u.shape(-1)),
        n(vh.shape(-1)),
        k(row.shape(-1)),
        is_complex(u.dtype().is_complex()) {}

  // The diagonal of x - xᴴ over 2s: the turn of phases, which falls to U.
  array phases(const array& x) const {
    array turn = multiply(subtract(x, hermitian(x)), multiply(over, array(0.5, over.dtype())));
    return multiply(diagonal_one, turn);
  }
};

struct Derivative {
  array u, s, vh;
};

Derivative forward(const Parts& p, const array& da) {
  array kk = matmul(matmul(hermitian(p.u), da), hermitian(p.vh));
  array k1 = block(kk, 0, p.k, 0, p.k), k1h = hermitian(k1);
  array ds = real(diagonal(k1, 0, -2, -1));
  array turn_u = multiply(p.gaps, add(multiply(k1, p.row), multiply(p.column, k1h)));
  array turn_v = multiply(p.gaps, add(multiply(p.column, k1), multiply(k1h, p.row)));
  if (p.is_complex) {
    turn_u = add(turn_u, p.phases(k1));
  }
  // The vectors beyond k only turn against the first ones.
  auto extended = [](const array& turn, const array& lower, int64_t rest) {
    array left = join(turn, lower, -2);
    array right = join(negative(hermitian(lower)), zero_matrix(lower, rest, rest), -2);
    return join(left, right, -1);
  };
  if (p.m > p.k) {
    array lower = multiply(block(kk, p.k, p.m - p.k, 0, p.k), p.over);
    turn_u = extended(turn_u, lower, p.m - p.k);
  }
  if (p.n > p.k) {
    array lower = multiply(hermitian(block(kk, 0, p.k, p.k, p.n - p.k)), p.over);
    turn_v = extended(turn_v, lower, p.n - p.k);
  }
  return {matmul(p.u, turn_u), ds, matmul(hermitian(turn_v), p.vh)};
}

// The transpose of forward().
array backward(const Parts& p, const Derivative& g) {
  array gu = matmul(hermitian(p.u), g.u), gv = matmul(p.vh, hermitian(g.vh));
  auto folded = [&](const array& x) {
    array n = multiply(p.gaps, block(x, 0, p.k, 0, p.k));
    return add(n, hermitian(n));
  };
  array k1 = multiply(p.diagonal_one, expand_dims(g.s, -2));
  k1 = add(k1, add(multiply(folded(gu), p.row), multiply(p.column, folded(gv))));
  if (p.is_complex) {
    k1 = add(k1, p.phases(block(gu, 0, p.k, 0, p.k)));
  }
  auto lower = [&](const array& x, int64_t rest) {
    array below = block(x, p.k, rest, 0, p.k), beside = block(x, 0, p.k, p.k, rest);
    return multiply(subtract(below, hermitian(beside)), p.over);
  };
  if (p.m > p.k) {
    k1 = join(k1, lower(gu, p.m - p.k), -2);
  }
  if (p.n > p.k) {
    k1 = join(k1, hermitian(lower(gv, p.n - p.k)), -1);
  }
  return matmul(matmul(p.u, k1), p.vh);
}

std::vector<Dtype> svd_dtypes(Dtype t, bool vectors) {
  Dtype values = t.is_complex() ? float32 : t;
  return vectors ? std::vector<Dtype>{t, values, t} : std::vector<Dtype>{values};
}

std::vector<array> make_svd(const array& a, bool vectors, Stream s) {
  Ref<Primitive> primitive(new SVD(vectors));
  std::vector<Shape> shapes = primitive->output_shapes({a});
  return array::make_many(std::move(shapes), svd_dtypes(a.dtype(), vectors), std::move(primitive),
                          std::span<const array>(&a, 1), s);
}

// Without rows or columns: no values, and any unitary matrices.
std::vector<array> empty_svd(const array& a, bool vectors, Stream s) {
  Shape batch(a.shape().begin(), a.shape().end() - 2), values = batch;
  values.push_back(0);
  array none = zeros(values, svd_dtypes(a.dtype(), false)[0], s);
  if (!vectors) {
    return {none};
  }
  auto identity = [&](int64_t n) {
    Shape shape = batch;
    shape.push_back(n);
    shape.push_back(n);
    return broadcast_to(eye(n, n, 0, a.dtype(), s), shape, s);
  };
  return {identity(a.shape(-2)), none, identity(a.shape(-1))};
}

}  // namespace

namespace linalg {

std::vector<array> svd(const array& a, bool vectors, StreamOrDevice where) {
  Stream s = to_stream(where);
  if (a.ndim() < 2) {
    fail<ValueError>("[linalg.svd] expected at least 2 dimensions, got shape {}", a.shape());
  }
  if (a.dtype() != float32 && a.dtype() != float64 && a.dtype() != complex64) {
    fail<ValueError>("[linalg.svd] expected float32, float64 or complex64, got {}", a.dtype());
  }
  bool empty = a.shape(-1) == 0 || a.shape(-2) == 0;
  return empty ? empty_svd(a, vectors, s) : make_svd(a, vectors, s);
}

}  // namespace linalg

std::vector<Shape> SVD::output_shapes(const std::vector<array>& inputs) const {
  const array& a = inputs[0];
  Shape batch(a.shape().begin(), a.shape().end() - 2);
  auto with = [&](std::initializer_list<int64_t> sizes) {
    Shape shape = batch;
    shape.append(sizes.begin(), sizes.end());
    return shape;
  };
  int64_t m = a.shape(-2), n = a.shape(-1), k = std::min(m, n);
  return vectors ? std::vector<Shape>{with({m, m}), with({k}), with({n, n})}
                 : std::vector<Shape>{with({k})};
}

std::vector<array> SVD::vjp(const std::vector<array>& inputs, const std::vector<array>& cotangents,
                            const std::vector<int>&, const std::vector<array>& outputs) const {
  if (vectors) {
    return {backward(Parts(outputs), {cotangents[0], cotangents[1], cotangents[2]})};
  }
  std::vector<array> usv = linalg::svd(inputs[0], true);
  int64_t k = usv[1].shape(-1);
  array u = block(usv[0], 0, usv[0].shape(-1), 0, k), vh = block(usv[2], 0, k, 0, usv[2].shape(-1));
  return {matmul(multiply(u, expand_dims(cotangents[0], -2)), vh)};
}

std::vector<array> SVD::jvp(const std::vector<array>& inputs, const std::vector<array>& tangents,
                            const std::vector<int>&, const std::vector<array>& outputs) const {
  Derivative d = forward(Parts(vectors ? outputs : linalg::svd(inputs[0], true)), tangents[0]);
  return vectors ? std::vector<array>{d.u, d.s, d.vh} : std::vector<array>{d.s};
}

VmapResult SVD::vmap(const std::vector<array>& inputs, const std::vector<int>& axes,
                     Stream stream) const {
  std::vector<array> outputs = make_svd(moveaxis(inputs[0], axes[0], 0, stream), vectors, stream);
  std::vector<int> out_axes(outputs.size(), 0);
  return {std::move(outputs), std::move(out_axes)};
}

}  // namespace mlx::core
