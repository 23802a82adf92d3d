// searchsorted and unique: functions, shape rules, vjp, jvp, vmap. Their results are positions and
// counts, which have no derivative; the values of unique are gathered from the input.
#include <limits>

#include "mlx/error.h"
#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/index/common.h"
#include "mlx/ops/index/index.h"
#include "mlx/ops/shape/shape.h"
#include "mlx/ops/sort/sort.h"

namespace mlx::core {

namespace {

void check_positions(std::string_view op, int64_t n, int64_t limit) {
  if (n > limit) {
    fail<OverflowError>("[{}] results for {} elements do not fit 32 bits", op, n);
  }
}

array search(SearchSide side, const array& sorted, const array& values, StreamOrDevice s) {
  Ref<SearchSorted> primitive(new SearchSorted(side));
  const array inputs[] = {sorted, values};
  Shape shape = std::move(primitive->output_shapes({sorted, values})[0]);
  return array::make(std::move(shape), uint32, std::move(primitive), inputs, to_stream(s));
}

std::vector<array> unique_lines(int64_t size, Inverse inverse, const array& a, StreamOrDevice s) {
  Ref<Primitive> primitive(new Unique(size, inverse));
  std::vector<Shape> shapes = primitive->output_shapes({a});
  std::vector<Dtype> dtypes{uint32, int32, uint32};
  dtypes.resize(shapes.size(), uint32);
  return array::make_many(std::move(shapes), std::move(dtypes), std::move(primitive),
                          std::span<const array>(&a, 1), to_stream(s));
}

std::vector<array> zeros_for(const std::vector<array>& like) {
  std::vector<array> result;
  for (const array& a : like) result.push_back(zeros_like(a));
  return result;
}

std::vector<array> zeros_for(const std::vector<array>& like, const std::vector<int>& argnums) {
  std::vector<array> result;
  for (int k : argnums) result.push_back(zeros_like(like[k]));
  return result;
}

}  // namespace

array searchsorted(const array& sorted, const array& values, SearchSide side, StreamOrDevice s) {
  if (sorted.ndim() != 1) {
    fail<ValueError>("[searchsorted] expected a sorted sequence of one dimension, got shape {}",
                     sorted.shape());
  }
  Dtype dtype = promote_types(sorted.dtype(), values.dtype());
  return search(side, astype(sorted, dtype, s), astype(values, dtype, s), s);
}

std::vector<Shape> SearchSorted::output_shapes(const std::vector<array>& inputs) const {
  check_positions("searchsorted", inputs[0].shape(-1), std::numeric_limits<uint32_t>::max());
  ShapeView lines(inputs[0].shape().data(), inputs[0].shape().size() - 1);
  ShapeView values = inputs[1].shape();
  if (values.size() < lines.size() || !std::equal(lines.begin(), lines.end(), values.begin())) {
    fail<ValueError>("[searchsorted] values of shape {} do not fit sorted lines of shape {}",
                     values, inputs[0].shape());
  }
  return {inputs[1].shape()};
}

std::vector<array> SearchSorted::vjp(const std::vector<array>& inputs, const std::vector<array>&,
                                     const std::vector<int>& argnums,
                                     const std::vector<array>&) const {
  return zeros_for(inputs, argnums);
}

std::vector<array> SearchSorted::jvp(const std::vector<array>&, const std::vector<array>&,
                                     const std::vector<int>&,
                                     const std::vector<array>& outputs) const {
  return zeros_for(outputs);
}

VmapResult SearchSorted::vmap(const std::vector<array>& inputs, const std::vector<int>& mapped,
                              Stream stream) const {
  if (mapped[0] < 0 && inputs[0].ndim() == 1) {
    return {{search(side, inputs[0], inputs[1], stream)}, {mapped[1]}};
  }
  int64_t lanes = lane_count(inputs, mapped);
  return {{search(side, lanes_first(inputs[0], mapped[0], lanes, stream),
                  lanes_first(inputs[1], mapped[1], lanes, stream), stream)},
          {0}};
}

UniqueResult unique(const array& a, int64_t size, const std::optional<array>& fill, Inverse inverse,
                    StreamOrDevice s) {
  if (size < 0) {
    fail<ValueError>("[unique] size is {}, expected 0 or more", size);
  }
  if (fill && fill->size() != 1) {
    fail<ValueError>("[unique] expected a fill_value of one element, got shape {}", fill->shape());
  }
  if (a.size() == 0 && size > 0 && !fill) {
    fail<ValueError>("[unique] an array of shape {} has no {} values; give a fill_value", a.shape(),
                     size);
  }
  array filling = fill ? reshape(astype(*fill, a.dtype(), s), {}, s) : array(0, a.dtype());
  if (a.size() == 0 || size == 0) {
    UniqueResult none{
        full({size}, filling, a.dtype(), s), zeros({size}, uint32, s), zeros({size}, int32, s), {}};
    if (inverse == Inverse::wanted) none.inverse = zeros(a.shape(), uint32, s);
    return none;
  }
  array x = reshape(a, {-1}, s);
  std::vector<array> found = unique_lines(size, inverse, x, s);
  array values = take_along_axis(x, found[0], 0, s);
  if (fill) {
    values = where(greater(found[1], array(0, int32), s), values, filling, s);
  }
  UniqueResult result{values, found[0], found[1], {}};
  if (inverse == Inverse::wanted) result.inverse = reshape(found[2], a.shape(), s);
  return result;
}

std::string Unique::describe() const {
  return format("size={}{}", size, inverse == Inverse::wanted ? " inverse" : "");
}

std::vector<Shape> Unique::output_shapes(const std::vector<array>& inputs) const {
  Shape elements = inputs[0].shape(), values = elements;
  check_positions("unique", elements.back(), std::numeric_limits<int32_t>::max());
  values.back() = size;
  std::vector<Shape> shapes{values, values};
  if (inverse == Inverse::wanted) shapes.push_back(elements);
  return shapes;
}

std::vector<array> Unique::vjp(const std::vector<array>& inputs, const std::vector<array>&,
                               const std::vector<int>& argnums, const std::vector<array>&) const {
  return zeros_for(inputs, argnums);
}

std::vector<array> Unique::jvp(const std::vector<array>&, const std::vector<array>&,
                               const std::vector<int>&, const std::vector<array>& outputs) const {
  return zeros_for(outputs);
}

VmapResult Unique::vmap(const std::vector<array>& inputs, const std::vector<int>& mapped,
                        Stream stream) const {
  array lanes = moveaxis(inputs[0], mapped[0], 0, stream);
  std::vector<array> results = unique_lines(size, inverse, lanes, stream);
  std::vector<int> axes(results.size(), 0);
  return {std::move(results), std::move(axes)};
}

}  // namespace mlx::core
