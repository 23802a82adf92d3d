// Products of chosen parts: gather_mm (matrices by index), segmented_mm (stretches of the inner
// axis), block_masked_mm (blocks).
#include <algorithm>

#include "mlx/error.h"
#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/index/common.h"
#include "mlx/ops/index/index.h"
#include "mlx/ops/matmul/matmul.h"
#include "mlx/ops/reduce/reduce.h"
#include "mlx/ops/reduce/scan.h"
#include "mlx/ops/shape/like.h"
#include "mlx/ops/shape/shape.h"
#include "mlx/ops/sort/sort.h"
#include "mlx/transforms/trace.h"

namespace mlx::core {

namespace {

array flipped(const array& a, StreamOrDevice s = {}) { return swapaxes(a, -1, -2, s); }

array integer(int64_t value) { return array::from_int(value, int64); }

// 0, 1, 2 … in the shape that x has without the axes `dropped`, in row-major order.
array counting(const array& x, const Axes& dropped, StreamOrDevice s = {}) {
  Shape shape;
  bool empty = false;
  for (int d = 0; d < x.ndim(); ++d) {
    bool drop = std::find(dropped.begin(), dropped.end(), d) != dropped.end();
    empty = empty || (drop && x.shape(d) == 0);
    if (!drop) {
      shape.push_back(x.shape(d));
    }
  }
  if (!shapes_may_change() || empty) {
    array all = arange(integer(0), integer(1), element_count(shape), s);
    return reshape(all, std::move(shape), s);
  }
  std::vector<array> firsts(dropped.size(), integer(0));
  array like = dropped.empty() ? x : gather(x, firsts, dropped, 0, s);
  array ones = flatten(full_like(like, integer(1), s), 0, -1, s);
  return reshape_like(cumsum(ones, 0, false, false, s), like);
}

// Leading axes as one, the first of three.
array as_batch(const array& a, StreamOrDevice s = {}) {
  if (a.ndim() == 2) {
    return expand_dims(a, 0, s);
  }
  return a.ndim() == 3 ? a : flatten(a, 0, -3, s);
}

void check_inner(std::string_view op, const array& a, const array& b) {
  if (a.shape(-1) != b.shape(-2)) {
    fail<ValueError>("[{}] inner dimensions differ: {} in {} and {} in {}", op, a.shape(-1),
                     a.shape(), b.shape(-2), b.shape());
  }
}

void check_matrices(std::string_view op, const array& a, const array& b) {
  if (a.ndim() < 2 || b.ndim() < 2) {
    fail<ValueError>("[{}] expected operands of at least two axes, got shapes {} and {}", op,
                     a.shape(), b.shape());
  }
  check_inner(op, a, b);
}

// ---- gather_mm

array gathered_product(const array& a, const array& b, const array& left, const array& right,
                       StreamOrDevice s = {}) {
  Shape shape = left.shape();
  shape.push_back(a.shape(1));
  shape.push_back(b.shape(2));
  const array inputs[] = {a, b, left, right};
  return array::make(std::move(shape), a.dtype(), Ref<Primitive>(new GatherMM()), inputs,
                     to_stream(s));
}

// The indices that were given, else one for each matrix of x.
array indices_of(const std::optional<array>& indices, const array& x, StreamOrDevice s) {
  if (indices) {
    check_index_dtype("gather_mm", *indices);
    return *indices;
  }
  return counting(x, Axes{x.ndim() - 2, x.ndim() - 1}, s);
}

// Indices in the shape that they and others broadcast to.
array meet(const array& indices, const array& others, const Shape& shape, Stream s) {
  if (indices.shape() == shape) {
    return indices;
  }
  if (!shapes_may_change()) {
    return broadcast_to(indices, shape, s);
  }
  return add(astype(indices, int64, s), zeros_like(astype(others, int64, s), s), s);
}

array segments_product(const array& a, const array& b, const array& segments,
                       StreamOrDevice s = {}) {
  Shape shape(segments.shape().begin(), segments.shape().end() - 1);
  shape.push_back(a.shape(0));
  shape.push_back(b.shape(1));
  const array inputs[] = {a, b, segments};
  return array::make(std::move(shape), a.dtype(), Ref<Primitive>(new SegmentedMM()), inputs,
                     to_stream(s));
}

// Σ over the i with right[i] = j of a[left[i]]ᵀ @ g[i]: with the terms in the order of `right`, the
// sum for each j is a stretch of one long inner axis.
array sum_by_index(const array& a, const array& b, const array& left, const array& right,
                   const array& g) {
  array wide = astype(flatten(right), int64);
  array index = where(less(wide, integer(0)), add(wide, axis_size(b, 0, int64)), wide);
  array order = argsort(index), sorted = take(index, order, 0), numbers = counting(b, Axes{1, 2});
  array rows = flatten(take(a, take(flatten(left), order, 0), 0), 0, 1);
  array columns = flatten(take(as_batch(g), order, 0), 0, 1);
  array ends[] = {searchsorted(sorted, numbers, SearchSide::left),
                  searchsorted(sorted, numbers, SearchSide::right)};
  array segments = stack(std::vector<array>(std::begin(ends), std::end(ends)), 1);
  segments = multiply(astype(segments, int64), axis_size(a, 1, int64));
  return is_transposed(b) ? flipped(segments_product(flipped(columns), rows, segments))
                          : segments_product(flipped(rows), columns, segments);
}

}  // namespace

array gather_mm(const array& a, const array& b, const std::optional<array>& lhs_indices,
                const std::optional<array>& rhs_indices, bool, StreamOrDevice where) {
  Stream s = to_stream(where);
  if (!lhs_indices && !rhs_indices) {
    return matmul(a, b, s);
  }
  check_matrices("gather_mm", a, b);
  Dtype t = promote_types(a.dtype(), b.dtype());
  if (!t.is_floating()) {
    fail<ValueError>("[gather_mm] expected real floating dtypes, got {} and {}", a.dtype(),
                     b.dtype());
  }
  array left = indices_of(lhs_indices, a, s), right = indices_of(rhs_indices, b, s);
  Shape shape = broadcast_shapes(left.shape(), right.shape(), "gather_mm");
  array x = as_batch(astype(a, t, s), s), y = as_batch(astype(b, t, s), s);
  if (element_count(shape) > 0 && (x.shape(0) == 0 || y.shape(0) == 0)) {
    fail<ValueError>("[gather_mm] cannot choose among no matrices: shapes {} and {}", a.shape(),
                     b.shape());
  }
  return gathered_product(x, y, meet(left, right, shape, s), meet(right, left, shape, s), s);
}

std::vector<Shape> GatherMM::output_shapes(const std::vector<array>& inputs) const {
  check_inner("gather_mm", inputs[0], inputs[1]);
  Shape shape = common_shape("gather_mm", inputs, 2);
  shape.push_back(inputs[0].shape(1));
  shape.push_back(inputs[1].shape(2));
  return {shape};
}

std::vector<array> GatherMM::vjp(const std::vector<array>& inputs,
                                 const std::vector<array>& cotangents,
                                 const std::vector<int>& argnums, const std::vector<array>&) const {
  const array &a = inputs[0], &b = inputs[1], &left = inputs[2], &right = inputs[3];
  const array& g = cotangents[0];
  std::vector<array> result;
  for (int k : argnums) {
    if (k == 0) {
      array own = counting(left, {});
      array terms = gathered_product(as_batch(g), flipped(b), own, right);
      result.push_back(scatter_add(zeros_like(a), std::span(&left, 1), terms, Axes{0}));
    } else if (k == 1) {
      result.push_back(sum_by_index(a, b, left, right, g));
    } else {
      result.push_back(index_cotangent("gather_mm", inputs[size_t(k)]));
    }
  }
  return result;
}

std::vector<array> GatherMM::jvp(const std::vector<array>& inputs,
                                 const std::vector<array>& tangents,
                                 const std::vector<int>& argnums,
                                 const std::vector<array>& outputs) const {
  std::optional<array> total;
  for (size_t i = 0; i < argnums.size(); ++i) {
    if (argnums[i] < 2) {
      array p = gathered_product(argnums[i] == 0 ? tangents[i] : inputs[0],
                                 argnums[i] == 1 ? tangents[i] : inputs[1], inputs[2], inputs[3]);
      total = total ? add(*total, p) : p;
    }
  }
  return {total ? *total : zeros_like(outputs[0])};
}

// The lanes of an operand are more matrices; their indices are moved on by the lanes before.
VmapResult GatherMM::vmap(const std::vector<array>& inputs, const std::vector<int>& mapped,
                          Stream s) const {
  int64_t lanes = lane_count(inputs, mapped);
  std::vector<array> x;
  for (size_t k = 0; k < 2; ++k) {
    const array& operand = inputs[k];
    array index = lanes_first(inputs[k + 2], mapped[k + 2], lanes, s);
    if (mapped[k] < 0) {
      x.insert(x.begin() + long(k), operand);
      x.push_back(index);
      continue;
    }
    array lanes_in_front = moveaxis(operand, mapped[k], 0, s);
    array n = axis_size(lanes_in_front, 1, int64), zero = integer(0),
          last = subtract(n, integer(1), s);
    array wide = astype(index, int64, s);
    wide = where(less(wide, zero, s), add(wide, n, s), wide, s);
    wide = minimum(maximum(wide, zero, s), last, s);
    Axes others;
    for (int d = 1; d < index.ndim(); ++d) {
      others.push_back(d);
    }
    array first = multiply(counting(lanes_in_front, Axes{1, 2, 3}, s), n, s);
    if (!others.empty()) {
      first = expand_dims(first, std::span<const int>(others), s);
    }
    x.insert(x.begin() + long(k), flatten(lanes_in_front, 0, 1, s));
    x.push_back(add(wide, first, s));
  }
  return {{gathered_product(x[0], x[1], x[2], x[3], s)}, {0}};
}

// ---- segmented_mm

namespace {

void check_segments(const array& segments) {
  if (segments.ndim() == 0 || segments.shape(-1) != 2) {
    fail<ValueError>("[segmented_mm] expected segments of shape (…, 2), got {}", segments.shape());
  }
}

}  // namespace

array segmented_mm(const array& a, const array& b, const array& segments, StreamOrDevice where) {
  Stream s = to_stream(where);
  if (a.ndim() != 2 || b.ndim() != 2) {
    fail<ValueError>("[segmented_mm] expected two matrices, got shapes {} and {}", a.shape(),
                     b.shape());
  }
  check_inner("segmented_mm", a, b);
  Dtype t = promote_types(a.dtype(), b.dtype());
  if (!t.is_inexact()) {
    fail<ValueError>("[segmented_mm] expected floating or complex dtypes, got {} and {}", a.dtype(),
                     b.dtype());
  }
  check_segments(segments);
  check_index_dtype("segmented_mm", segments);
  return segments_product(astype(a, t, s), astype(b, t, s), segments, s);
}

std::vector<Shape> SegmentedMM::output_shapes(const std::vector<array>& inputs) const {
  check_inner("segmented_mm", inputs[0], inputs[1]);
  check_segments(inputs[2]);
  Shape shape(inputs[2].shape().begin(), inputs[2].shape().end() - 1);
  shape.push_back(inputs[0].shape(0));
  shape.push_back(inputs[1].shape(1));
  return {shape};
}

std::vector<array> SegmentedMM::vjp(const std::vector<array>& inputs,
                                    const std::vector<array>& cotangents,
                                    const std::vector<int>& argnums,
                                    const std::vector<array>&) const {
  const array &a = inputs[0], &b = inputs[1];
  array g = as_batch(cotangents[0]);
  array segments =
      astype(inputs[2].ndim() == 1 ? expand_dims(inputs[2], 0) : flatten(inputs[2], 0, -2), int64);
  // Which elements of the inner axis are in which segment.
  array position = counting(a, Axes{0});
  const int front[] = {0};
  auto end = [&](int64_t k) { return take(segments, integer(k), 1); };
  array inside = logical_and(greater_equal(position, expand_dims(end(0), 1)),
                             less(position, expand_dims(end(1), 1)));
  array zero(0.0, a.dtype());
  std::vector<array> result;
  for (int k : argnums) {
    if (k == 0) {
      array terms = matmul(g, conjugate(flipped(b)));
      result.push_back(sum(where(expand_dims(inside, 1), terms, zero), front));
    } else if (k == 1) {
      array terms = matmul(conjugate(flipped(a)), g);
      result.push_back(sum(where(expand_dims(inside, 2), terms, zero), front));
    } else {
      result.push_back(index_cotangent("segmented_mm", inputs[size_t(k)]));
    }
  }
  return result;
}

std::vector<array> SegmentedMM::jvp(const std::vector<array>& inputs,
                                    const std::vector<array>& tangents,
                                    const std::vector<int>& argnums,
                                    const std::vector<array>& outputs) const {
  std::optional<array> total;
  for (size_t i = 0; i < argnums.size(); ++i) {
    if (argnums[i] < 2) {
      array p = segments_product(argnums[i] == 0 ? tangents[i] : inputs[0],
                                 argnums[i] == 1 ? tangents[i] : inputs[1], inputs[2]);
      total = total ? add(*total, p) : p;
    }
  }
  return {total ? *total : zeros_like(outputs[0])};
}

// ---- block_masked_mm

namespace {

// The mask of blocks with every value repeated over its block, as the last axes of x.
array mask_of_elements(const array& mask, const array& x, int block, std::string_view name,
                       Stream s) {
  int64_t m = x.shape(-2), n = x.shape(-1);
  int64_t down = (m + block - 1) / block, across = (n + block - 1) / block;
  if (mask.ndim() < 2 || mask.shape(-2) != down || mask.shape(-1) != across) {
    fail<ValueError>("[block_masked_mm] expected {} of shape (…, {}, {}), got {}", name, down,
                     across, mask.shape());
  }
  Shape shape = mask.shape();
  shape.pop_back();
  shape.push_back(block);
  shape.push_back(across);
  shape.push_back(block);
  const int inner[] = {-3, -1};
  array blocks = broadcast_to(expand_dims(mask, std::span<const int>(inner), s), shape, s);
  array whole = flatten(flatten(blocks, -2, -1, s), -3, -2, s);
  Shape start(whole.shape().size(), 0), stop = whole.shape();
  stop[stop.size() - 2] = m;
  stop.back() = n;
  return slice(whole, start, stop, Shape(start.size(), 1), s);
}

array masked(const array& x, const array& mask, int block, bool selects, std::string_view name,
             Stream s) {
  array elements = mask_of_elements(mask, x, block, name, s);
  return selects ? where(elements, x, array(0.0, x.dtype()), s)
                 : multiply(x, astype(elements, x.dtype(), s), s);
}

}  // namespace

array block_masked_mm(const array& a, const array& b, int block_size,
                      const std::optional<array>& mask_out, const std::optional<array>& mask_lhs,
                      const std::optional<array>& mask_rhs, StreamOrDevice where) {
  Stream s = to_stream(where);
  if (!mask_out && !mask_lhs && !mask_rhs) {
    return matmul(a, b, s);
  }
  if (block_size != 32 && block_size != 64) {
    fail<ValueError>("[block_masked_mm] expected a block_size of 32 or 64, got {}", block_size);
  }
  check_matrices("block_masked_mm", a, b);
  Dtype t = promote_types(a.dtype(), b.dtype());
  for (const auto* mask : {&mask_out, &mask_lhs, &mask_rhs}) {
    if (*mask && (*mask)->dtype() != bool_ && !(*mask)->dtype().is_floating()) {
      fail<ValueError>("[block_masked_mm] expected masks of bool or a floating dtype, got {}",
                       (*mask)->dtype());
    }
  }
  auto selects = [](const std::optional<array>& mask) { return mask && mask->dtype() == bool_; };
  // Of two masks for operands, one bool and one of numbers, both scale.
  bool scale = mask_lhs && mask_rhs && selects(mask_lhs) != selects(mask_rhs);
  array x = astype(a, t, s), y = astype(b, t, s);
  if (mask_lhs) {
    x = masked(x, *mask_lhs, block_size, selects(mask_lhs) && !scale, "mask_lhs", s);
  }
  if (mask_rhs) {
    y = masked(y, *mask_rhs, block_size, selects(mask_rhs) && !scale, "mask_rhs", s);
  }
  array product = matmul(x, y, s);
  return mask_out ? masked(product, *mask_out, block_size, selects(mask_out), "mask_out", s)
                  : product;
}

}  // namespace mlx::core
