// Scan and Recurrence: functions, shape rules, vjp, jvp, vmap; diff, which undoes a cumsum.
#include "mlx/ops/reduce/scan.h"

#include "mlx/error.h"
#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/shape/shape.h"

namespace mlx::core {

namespace {

array scan(ScanOp op, const array& x, ScanWay way, StreamOrDevice s) {
  return array::make(x.shape(), x.dtype(), Ref<Primitive>(new Scan(op, way)),
                     std::span<const array>(&x, 1), to_stream(s));
}

array scan(ScanOp op, const array& a, std::optional<int> axis, bool reverse, bool inclusive,
           StreamOrDevice s) {
  int along = axis ? normalize_axis(*axis, a.ndim(), info(op).python_name) : 0;
  array x = axis ? a : reshape(a, {-1}, s);
  if (op == ScanOp::CumSum && x.dtype().is_bool()) {
    x = astype(x, int32, s);
  } else if (op == ScanOp::LogCumSumExp) {
    x = astype(x, at_least_float(x.dtype()), s);
  }
  return scan(op, x, ScanWay{along, reverse, inclusive}, s);
}

array recurrence(const array& a, const array& b, ScanWay way, StreamOrDevice s = {}) {
  array inputs[] = {a, b};
  return array::make(a.shape(), a.dtype(), Ref<Primitive>(new Recurrence(way)), inputs,
                     to_stream(s));
}

array widen_half(const array& x) { return x.dtype().is_half() ? astype(x, float32) : x; }

// In the shape of x, without naming it: the shape may change when a graph is replayed.
array filled_like(const array& x, const array& value) { return where(isnan(x), value, value); }

// Every scan but the sum has a tangent of the form t_i = link_i·t_(i-1) + weight_i·dx_i.
struct Links {
  array link;
  array weight;
  bool indicators = false;  // both are 0 or 1, constants: 0 drops its term, infinite ones too

  array times(const array& factor, const array& v) const {
    return indicators ? where(equal(factor, array(0.0, v.dtype())), array(0.0, v.dtype()), v)
                      : multiply(factor, v);
  }
};

Links product_links(const array& x, ScanWay way) {
  return {x, scan(ScanOp::CumProd, x, way.exclusive(), {})};
}

// An element that beats all before it takes over, the first one in any case.
Links extreme_links(ScanOp op, const array& x, ScanWay way) {
  array before = scan(op, x, way.exclusive(), {});
  array beats = op == ScanOp::CumMax ? greater(x, before) : less(x, before);
  array first_nan = logical_and(isnan(x), logical_not(isnan(before)));
  array no = filled_like(x, array(0.0, bool_));
  array first = scan(ScanOp::CumProd, no, way.exclusive(), {});
  array takes = logical_or(logical_or(beats, first_nan), first);
  return {astype(logical_not(takes), x.dtype()), astype(takes, x.dtype()), true};
}

// exp(y_(i-1) - y_i) and exp(x_i - y_i). Where all exponentials so far are zero there is no slope.
Links log_sum_links(const array& x, ScanWay way) {
  ScanWay inclusive{way.axis, way.reverse, true};
  array y = scan(ScanOp::LogCumSumExp, x, inclusive, {});
  array before = scan(ScanOp::LogCumSumExp, x, way.exclusive(), {});
  array none = isneginf(real(y)), zero = array(0.0, x.dtype());
  array finite = where(none, zero, y);
  return {where(none, zero, exp(subtract(before, finite))),
          where(none, zero, exp(subtract(x, finite)))};
}

Links links_of(ScanOp op, const array& x, ScanWay way) {
  switch (op) {
    case ScanOp::CumMax:
    case ScanOp::CumMin:
      return extreme_links(op, x, way);
    case ScanOp::LogCumSumExp:
      return log_sum_links(x, way);
    case ScanOp::CumSum:
    case ScanOp::CumProd:
      break;
  }
  return product_links(x, way);
}

// The transpose of v → recurrence(link, v): k_i = g_i + link_(i+1)·k_(i+1), one element further on
// for an exclusive output. `linked` is link·g.
array transposed_recurrence(const array& link, const array& g, const array& linked, ScanWay way) {
  ScanWay back = way.turned().exclusive();
  return way.inclusive ? add(g, recurrence(link, linked, back)) : recurrence(link, g, back);
}

VmapResult mapped(int at, ScanWay& way) {
  way.axis += at <= way.axis;
  return {{}, {at}};
}

std::string describe_way(ScanWay way) {
  return "axis=" + std::to_string(way.axis) + (way.reverse ? ", reverse" : "") +
         (way.inclusive ? "" : ", exclusive");
}

}  // namespace

array cumsum(const array& a, std::optional<int> axis, bool reverse, bool inclusive,
             StreamOrDevice s) {
  return scan(ScanOp::CumSum, a, axis, reverse, inclusive, s);
}
array cumprod(const array& a, std::optional<int> axis, bool reverse, bool inclusive,
              StreamOrDevice s) {
  return scan(ScanOp::CumProd, a, axis, reverse, inclusive, s);
}
array cummax(const array& a, std::optional<int> axis, bool reverse, bool inclusive,
             StreamOrDevice s) {
  return scan(ScanOp::CumMax, a, axis, reverse, inclusive, s);
}
array cummin(const array& a, std::optional<int> axis, bool reverse, bool inclusive,
             StreamOrDevice s) {
  return scan(ScanOp::CumMin, a, axis, reverse, inclusive, s);
}
array logcumsumexp(const array& a, std::optional<int> axis, bool reverse, bool inclusive,
                   StreamOrDevice s) {
  return scan(ScanOp::LogCumSumExp, a, axis, reverse, inclusive, s);
}

array diff(const array& a, int64_t n, int axis, StreamOrDevice s) {
  if (n < 0) {
    fail<ValueError>("[diff] expected a number of differences that is not negative, got {}", n);
  }
  int along = normalize_axis(axis, a.ndim(), "diff");
  array x = a;
  Shape start(a.ndim(), 0), step(a.ndim(), 1), count = a.shape();
  for (; n > 0 && count[along] > 0; --n) {
    --count[along];
    start[along] = 0;
    array low = strided_slice(x, start, step, count, s);
    start[along] = count[along] > 0;
    x = subtract(strided_slice(x, start, step, count, s), low, s);
  }
  return x;
}

array linear_recurrence(const array& a, const array& b, int axis, bool reverse, bool inclusive,
                        StreamOrDevice s) {
  int along = normalize_axis(axis, a.ndim(), "linear_recurrence");
  if (a.shape() != b.shape() || a.dtype() != b.dtype() || a.dtype().is_bool()) {
    fail<ValueError>(
        "[linear_recurrence] expected two arrays of one shape and number dtype, got "
        "{} {} and {} {}",
        a.shape(), a.dtype(), b.shape(), b.dtype());
  }
  return recurrence(a, b, ScanWay{along, reverse, inclusive}, s);
}

std::vector<Shape> Scan::output_shapes(const std::vector<array>& inputs) const {
  return {inputs[0].shape()};
}

std::string Scan::describe() const { return describe_way(way); }

std::vector<array> Scan::vjp(const std::vector<array>& inputs, const std::vector<array>& cotangents,
                             const std::vector<int>&, const std::vector<array>&) const {
  const array &x = inputs[0], &g = cotangents[0];
  if (op == ScanOp::CumSum) {
    return {scan(op, g, way.turned(), {})};
  }
  if (x.dtype().is_bool()) {
    return {filled_like(x, array(0.0, bool_))};
  }
  Links links = links_of(op, widen_half(x), way);
  array link = conjugate(links.link), wide = widen_half(g);
  array k = transposed_recurrence(link, wide, links.times(link, wide), way);
  return {astype(links.times(conjugate(links.weight), k), x.dtype())};
}

std::vector<array> Scan::jvp(const std::vector<array>& inputs, const std::vector<array>& tangents,
                             const std::vector<int>&, const std::vector<array>&) const {
  const array &x = inputs[0], &t = tangents[0];
  if (op == ScanOp::CumSum) {
    return {scan(op, t, way, {})};
  }
  if (x.dtype().is_bool()) {
    return {filled_like(x, array(0.0, bool_))};
  }
  Links links = links_of(op, widen_half(x), way);
  array weighted = links.times(links.weight, widen_half(t));
  return {astype(recurrence(links.link, weighted, way), x.dtype())};
}

VmapResult Scan::vmap(const std::vector<array>& inputs, const std::vector<int>& axes,
                      Stream stream) const {
  ScanWay along = way;
  VmapResult result = mapped(axes[0], along);
  result.outputs = {scan(op, inputs[0], along, stream)};
  return result;
}

std::vector<Shape> Recurrence::output_shapes(const std::vector<array>& inputs) const {
  if (inputs[0].shape() != inputs[1].shape()) {
    fail<ValueError>("[{}] shapes {} and {} differ", name(), inputs[0].shape(), inputs[1].shape());
  }
  return {inputs[0].shape()};
}

std::string Recurrence::describe() const { return describe_way(way); }

std::vector<array> Recurrence::vjp(const std::vector<array>& inputs,
                                   const std::vector<array>& cotangents,
                                   const std::vector<int>& argnums,
                                   const std::vector<array>&) const {
  const array &a = inputs[0], &b = inputs[1];
  array link = conjugate(a);
  array k = transposed_recurrence(link, cotangents[0], multiply(link, cotangents[0]), way);
  std::vector<array> result;
  for (int argnum : argnums) {
    result.push_back(argnum == 1 ? k : multiply(k, conjugate(recurrence(a, b, way.exclusive()))));
  }
  return result;
}

std::vector<array> Recurrence::jvp(const std::vector<array>& inputs,
                                   const std::vector<array>& tangents,
                                   const std::vector<int>& argnums,
                                   const std::vector<array>&) const {
  const array &a = inputs[0], &b = inputs[1];
  std::optional<array> total;
  for (size_t i = 0; i < argnums.size(); ++i) {
    array t =
        argnums[i] == 1 ? tangents[i] : multiply(tangents[i], recurrence(a, b, way.exclusive()));
    total = total ? add(*total, t) : t;
  }
  return {recurrence(a, *total, way)};
}

VmapResult Recurrence::vmap(const std::vector<array>& inputs, const std::vector<int>& axes,
                            Stream stream) const {
  // Both operands get the mapped axis in the same place.
  int at = axes[0] >= 0 ? axes[0] : axes[1];
  int64_t count = inputs[axes[0] >= 0 ? 0 : 1].shape(at);
  std::vector<array> x;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (axes[i] >= 0) {
      x.push_back(moveaxis(inputs[i], axes[i], at, stream));
      continue;
    }
    array wide = expand_dims(inputs[i], at, stream);
    Shape shape = wide.shape();
    shape[at] = count;
    x.push_back(broadcast_to(wide, shape, stream));
  }
  ScanWay along = way;
  VmapResult result = mapped(at, along);
  result.outputs = {recurrence(x[0], x[1], along, stream)};
  return result;
}

}  // namespace mlx::core
