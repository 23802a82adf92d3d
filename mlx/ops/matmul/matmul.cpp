// Matmul and AddMM: ops, shape rules and transforms.
#include "mlx/ops/matmul/matmul.h"

#include <algorithm>

#include "mlx/error.h"
#include "mlx/graph/node.h"
#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/reduce/reduce.h"
#include "mlx/ops/shape/like.h"
#include "mlx/ops/shape/shape.h"
#include "mlx/ops/shape/transpose.h"

namespace mlx::core {

namespace {

array adjoint(const array& a) { return conjugate(swapaxes(a, -1, -2)); }

Dtype product_dtype(Dtype t, std::string_view op) {
  if (!t.is_inexact()) {
    fail<ValueError>("[{}] expected floating or complex dtypes, got operands that meet in {}", op,
                     t);
  }
  return t;
}

// The shape of a @ b for operands of two or more axes.
Shape product_shape(const Shape& a, const Shape& b, std::string_view op) {
  if (a.back() != b[b.size() - 2]) {
    fail<ValueError>("[{}] inner dimensions differ: {} in {} and {} in {}", op, a.back(), a,
                     b[b.size() - 2], b);
  }
  Shape batch =
      broadcast_shapes(ShapeView(a).first(a.size() - 2), ShapeView(b).first(b.size() - 2), op);
  batch.push_back(a[a.size() - 2]);
  batch.push_back(b.back());
  element_count(batch, op);
  return batch;
}

// Both operands with two or more axes and one dtype.
struct Operands {
  array a, b;
  bool row = false, column = false;  // axes that were added
};

Operands prepare(const array& a, const array& b, Dtype t, std::string_view op, Stream s) {
  if (a.ndim() == 0 || b.ndim() == 0) {
    fail<ValueError>("[{}] expected operands of at least one axis, got shapes {} and {}", op,
                     a.shape(), b.shape());
  }
  Operands o{astype(a, t, s), astype(b, t, s), a.ndim() == 1, b.ndim() == 1};
  if (o.row) {
    o.a = expand_dims(o.a, 0, s);
  }
  if (o.column) {
    o.b = expand_dims(o.b, 1, s);
  }
  return o;
}

array drop_added_axes(const array& product, bool row, bool column, Stream s) {
  Axes axes;
  if (row) {
    axes.push_back(-2);
  }
  if (column) {
    axes.push_back(-1);
  }
  return axes.empty() ? product : squeeze(product, std::span<const int>(axes), s);
}

array product(const array& a, const array& b, StreamOrDevice s = {}) {
  const array inputs[] = {a, b};
  static const auto* instance = new Ref<Primitive>(new Matmul());
  return array::make(product_shape(a.shape(), b.shape(), "matmul"), a.dtype(), *instance, inputs,
                     to_stream(s));
}

array scaled(const array& a, float factor, StreamOrDevice s = {}) {
  return factor == 1.0f ? a : multiply(array(factor, a.dtype()), a, s);
}

// x @ yᴴ summed to the shape of the factor it is the cotangent of. If that is the transpose of
// something, such as a weight, the product is computed transposed: the cotangent of the weight then
// is dense.
array cotangent(const array& x, const array& y, const array& factor) {
  if (!is_transposed(factor)) {
    return sum_like(product(x, adjoint(y)), factor);
  }
  array p = product(conjugate(y), swapaxes(x, -1, -2));
  return swapaxes(sum_like(p, swapaxes(factor, -1, -2)), -1, -2);
}

// Cotangents of the factors of a @ b. Where one factor is a single matrix, the sum over the other's
// batch is part of one product.
array left_cotangent(const array& a, const array& b, const array& g) {
  if (a.ndim() == 2 && g.ndim() > 2 && b.ndim() == g.ndim()) {
    // Σ g_i b_iᴴ: the batch joins the columns.
    return cotangent(flatten(moveaxis(g, -2, 0), 1, -1), flatten(moveaxis(b, -2, 0), 1, -1), a);
  }
  return cotangent(g, b, a);
}

array right_cotangent(const array& a, const array& b, const array& g) {
  if (b.ndim() == 2 && g.ndim() > 2 && a.ndim() == g.ndim()) {
    // Σ a_iᴴ g_i: the batch joins the rows.
    return cotangent(adjoint(flatten(a, 0, -2)), adjoint(flatten(g, 0, -2)), b);
  }
  return cotangent(adjoint(a), adjoint(g), b);
}

array sum_of(const std::vector<array>& terms) {
  array total = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) {
    total = add(total, terms[i]);
  }
  return total;
}

// Mapped operands with their axis first and batch axes of one rank behind it; others unchanged.
std::vector<array> align_lanes(const std::vector<array>& inputs, const std::vector<int>& axes,
                               Stream s) {
  int rank = 0;
  for (size_t k = 0; k < inputs.size(); ++k) {
    rank = std::max(rank, inputs[k].ndim() - (axes[k] >= 0));
  }
  std::vector<array> aligned;
  for (size_t k = 0; k < inputs.size(); ++k) {
    array x = inputs[k];
    if (axes[k] >= 0) {
      x = moveaxis(x, axes[k], 0, s);
      Axes added;
      for (int i = x.ndim(); i < rank + 1; ++i) {
        added.push_back(int(added.size()) + 1);
      }
      if (!added.empty()) {
        x = expand_dims(x, std::span<const int>(added), s);
      }
    }
    aligned.push_back(x);
  }
  return aligned;
}

}  // namespace

bool is_transposed(const array& x) {
  const Node& n = *x.node();
  if (!n.primitive || n.primitive->id() != PrimitiveId::Transpose) {
    return false;
  }
  const Axes& axes = static_cast<const Transpose&>(*n.primitive).axes;
  int last = int(axes.size()) - 1;
  return last > 0 && axes[last - 1] == last;
}

array matmul(const array& a, const array& b, StreamOrDevice where) {
  Stream s = to_stream(where);
  Dtype t = product_dtype(promote_types(a.dtype(), b.dtype()), "matmul");
  Operands o = prepare(a, b, t, "matmul", s);
  return drop_added_axes(product(o.a, o.b, s), o.row, o.column, s);
}

std::vector<Shape> Matmul::output_shapes(const std::vector<array>& inputs) const {
  return {product_shape(inputs[0].shape(), inputs[1].shape(), "matmul")};
}

std::vector<array> Matmul::vjp(const std::vector<array>& inputs,
                               const std::vector<array>& cotangents,
                               const std::vector<int>& argnums, const std::vector<array>&) const {
  const array &a = inputs[0], &b = inputs[1], &g = cotangents[0];
  std::vector<array> result;
  for (int k : argnums) {
    result.push_back(k == 0 ? left_cotangent(a, b, g) : right_cotangent(a, b, g));
  }
  return result;
}

std::vector<array> Matmul::jvp(const std::vector<array>& inputs, const std::vector<array>& tangents,
                               const std::vector<int>& argnums, const std::vector<array>&) const {
  std::vector<array> terms;
  for (size_t i = 0; i < argnums.size(); ++i) {
    terms.push_back(argnums[i] == 0 ? product(tangents[i], inputs[1])
                                    : product(inputs[0], tangents[i]));
  }
  return {sum_of(terms)};
}

VmapResult Matmul::vmap(const std::vector<array>& inputs, const std::vector<int>& axes,
                        Stream stream) const {
  std::vector<array> x = align_lanes(inputs, axes, stream);
  return {{product(x[0], x[1], stream)}, {0}};
}

array addmm(const array& c, const array& a, const array& b, float alpha, float beta,
            StreamOrDevice where) {
  Stream s = to_stream(where);
  Dtype t = product_dtype(promote_types(c.dtype(), promote_types(a.dtype(), b.dtype())), "addmm");
  Operands o = prepare(a, b, t, "addmm", s);
  Shape full = product_shape(o.a.shape(), o.b.shape(), "addmm");
  Shape shape(full.begin(), full.end() - 2);
  if (!o.row) {
    shape.push_back(full[full.size() - 2]);
  }
  if (!o.column) {
    shape.push_back(full.back());
  }
  if (c.ndim() > int(shape.size()) || broadcast_shapes(c.shape(), shape, "addmm") != shape) {
    fail<ValueError>("[addmm] c of shape {} does not broadcast to the product's shape {}",
                     c.shape(), shape);
  }
  array term = astype(c, t, s);
  if (o.column && term.ndim() > 0) {
    term = expand_dims(term, term.ndim(), s);
  }
  if (o.row && term.ndim() > 0) {
    term = expand_dims(term, term.ndim() - 1, s);
  }
  const array inputs[] = {term, o.a, o.b};
  array sum = array::make(full, t, Ref<Primitive>(new AddMM(alpha, beta)), inputs, s);
  return drop_added_axes(sum, o.row, o.column, s);
}

std::vector<Shape> AddMM::output_shapes(const std::vector<array>& inputs) const {
  Shape shape = product_shape(inputs[1].shape(), inputs[2].shape(), "addmm");
  if (broadcast_shapes(inputs[0].shape(), shape, "addmm") != shape) {
    fail<ValueError>("[addmm] c of shape {} does not broadcast to the product's shape {}",
                     inputs[0].shape(), shape);
  }
  return {shape};
}

std::vector<array> AddMM::vjp(const std::vector<array>& inputs,
                              const std::vector<array>& cotangents, const std::vector<int>& argnums,
                              const std::vector<array>&) const {
  const array &a = inputs[1], &b = inputs[2], &g = cotangents[0];
  std::vector<array> result;
  for (int k : argnums) {
    result.push_back(k == 0   ? scaled(sum_like(g, inputs[0]), beta)
                     : k == 1 ? scaled(left_cotangent(a, b, g), alpha)
                              : scaled(right_cotangent(a, b, g), alpha));
  }
  return result;
}

std::vector<array> AddMM::jvp(const std::vector<array>& inputs, const std::vector<array>& tangents,
                              const std::vector<int>& argnums,
                              const std::vector<array>& outputs) const {
  std::vector<array> terms;
  for (size_t i = 0; i < argnums.size(); ++i) {
    const array& t = tangents[i];
    if (argnums[i] == 0) {
      terms.push_back(broadcast_like(scaled(t, beta), outputs[0]));
    } else {
      array p = argnums[i] == 1 ? product(t, inputs[2]) : product(inputs[1], t);
      terms.push_back(scaled(p, alpha));
    }
  }
  return {sum_of(terms)};
}

VmapResult AddMM::vmap(const std::vector<array>& inputs, const std::vector<int>& axes,
                       Stream stream) const {
  std::vector<array> x = align_lanes(inputs, axes, stream);
  if (axes[1] < 0 && axes[2] < 0) {
    // Lanes of c alone: the product is one, the sums are many.
    array p = scaled(product(x[1], x[2], stream), alpha, stream);
    return {{add(scaled(x[0], beta, stream), p, stream)}, {0}};
  }
  Shape shape = product_shape(x[1].shape(), x[2].shape(), "addmm");
  return {{array::make(shape, x[1].dtype(), Ref<Primitive>(new AddMM(alpha, beta)), x, stream)},
          {0}};
}

std::string AddMM::describe() const { return format("alpha={}, beta={}", alpha, beta); }

}  // namespace mlx::core
