// Building elementwise nodes: dtype rule of the row, casts, broadcast shape. Computes nothing.
#include "mlx/ops/elementwise/elementwise.h"

#include <cmath>

#include "mlx/error.h"
#include "mlx/graph/node.h"

namespace mlx::core {

namespace {

// One immortal instance a row, so that building a node allocates no primitive.
const Ref<Primitive>& instance(EwOp op) {
  static const auto* table = [] {
    auto* t = new std::array<Ref<Primitive>, ew_op_count>();
    for (int i = 0; i < ew_op_count; ++i) {
      (*t)[i] = Ref<Primitive>(new Elementwise(EwOp(i)));
    }
    return t;
  }();
  return (*table)[int(op)];
}

const Ref<Primitive>& cast_instance(Dtype to) {
  static const auto* table = [] {
    auto* t = new std::array<Ref<Primitive>, dtype_count>();
    for (int i = 0; i < dtype_count; ++i) {
      (*t)[i] = Ref<Primitive>(new Elementwise(EwOp::Cast, Dtype::Id(i)));
    }
    return t;
  }();
  return (*table)[to.index()];
}

// The dtype the operands meet in; refuses what the row does not accept.
Dtype operand_dtype(const EwInfo& row, Dtype t) {
  switch (row.accepts) {
    case EwAccepts::any:
      break;
    case EwAccepts::real:
      if (t.is_complex()) {
        fail<ValueError>("[{}] expected a real dtype, got {}", row.python_name, t);
      }
      break;
    case EwAccepts::number:
      if (t.is_bool()) {
        fail<ValueError>("[{}] expected a number dtype, got {}", row.python_name, t);
      }
      break;
    case EwAccepts::integral:
      if (t.is_inexact()) {
        if (row.arity == 1) {
          fail<ValueError>("[{}] expected an integer or bool dtype, got {}", row.python_name, t);
        }
        fail<RuntimeError>("[{}] expected integer or bool dtypes, got {}", row.python_name, t);
      }
      break;
  }
  switch (row.result) {
    case EwResult::floating:
      return at_least_float(t);
    case EwResult::shift:
      return t.is_bool() ? uint8 : t;
    case EwResult::same:
    case EwResult::boolean:
    case EwResult::magnitude:
      return t;
  }
  return t;
}

Dtype result_dtype(const EwInfo& row, Dtype operands) {
  switch (row.result) {
    case EwResult::boolean:
      return bool_;
    case EwResult::magnitude:
      return operands.is_complex() ? float32 : operands;
    case EwResult::same:
    case EwResult::floating:
    case EwResult::shift:
      return operands;
  }
  return operands;
}

// Rows that return some dtypes unchanged.
bool is_identity(EwOp op, Dtype t) {
  switch (op) {
    case EwOp::Floor:
    case EwOp::Ceil:
    case EwOp::Trunc:
    case EwOp::Round:
      return !t.is_inexact();
    case EwOp::Real:
    case EwOp::Conjugate:
      return !t.is_complex();
    default:
      return false;
  }
}

array cast_to(const array& a, Dtype t, Stream s) {
  if (a.dtype() == t) {
    return a;
  }
  return array::make(a.shape(), t, cast_instance(t), std::span<const array>(&a, 1), s);
}

bool same_shape(const Shape& a, const Shape& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}

}  // namespace

array elementwise(EwOp op, std::span<const array> operands, StreamOrDevice where) {
  const EwInfo& row = info(op);
  Stream s = to_stream(where);
  size_t first = op == EwOp::Select ? 1 : 0;
  Dtype t = operands[first].dtype();
  for (size_t k = first + 1; k < operands.size(); ++k) {
    t = promote_types(t, operands[k].dtype());
  }
  t = operand_dtype(row, t);
  if (is_identity(op, t)) {
    return operands[0];
  }
  bool ready = true;
  const Shape* shape = &operands[0].shape();
  bool same_shapes = true;
  for (size_t k = 0; k < operands.size(); ++k) {
    ready = ready && operands[k].dtype() == (k < first ? bool_ : t);
    same_shapes = same_shapes && same_shape(operands[k].shape(), *shape);
  }
  Shape broadcast;
  if (!same_shapes) {
    for (const array& x : operands) {
      broadcast = broadcast_shapes(broadcast, x.shape(), row.python_name);
    }
  }
  Shape result = same_shapes ? *shape : std::move(broadcast);
  if (ready) {
    return array::make(std::move(result), result_dtype(row, t), instance(op), operands, s);
  }
  SmallVector<array, 3> converted;
  for (size_t k = 0; k < operands.size(); ++k) {
    converted.push_back(cast_to(operands[k], k < first ? bool_ : t, s));
  }
  return array::make(std::move(result), result_dtype(row, t), instance(op), converted, s);
}

std::vector<Shape> Elementwise::output_shapes(const std::vector<array>& inputs) const {
  Shape shape;
  for (const array& x : inputs) {
    shape = broadcast_shapes(shape, x.shape(), info(op).python_name);
  }
  return {shape};
}

// The public functions, one a row.
#define MLX_EW_FUNCTION_1(Name, fn) \
  array fn(const array& a, StreamOrDevice s) { return elementwise(EwOp::Name, {a}, s); }
#define MLX_EW_FUNCTION_2(Name, fn)                            \
  array fn(const array& a, const array& b, StreamOrDevice s) { \
    return elementwise(EwOp::Name, {a, b}, s);                 \
  }
#define MLX_EW_BINDING_method(Name, fn, arity) MLX_EW_FUNCTION_##arity(Name, fn)
#define MLX_EW_BINDING_function(Name, fn, arity) MLX_EW_FUNCTION_##arity(Name, fn)
#define MLX_EW_BINDING_internal(Name, fn, arity)
#define OP(Name, fn, arity, result, accepts, binding, ...) MLX_EW_BINDING_##binding(Name, fn, arity)
#include "mlx/ops/elementwise/elementwise.def"
#undef OP
#undef MLX_EW_BINDING_method
#undef MLX_EW_BINDING_function
#undef MLX_EW_BINDING_internal
#undef MLX_EW_FUNCTION_1
#undef MLX_EW_FUNCTION_2

array astype(const array& a, Dtype dtype, StreamOrDevice s) {
  return a.dtype() == dtype ? a : cast_to(a, dtype, to_stream(s));
}

array where(const array& condition, const array& x, const array& y, StreamOrDevice s) {
  return elementwise(EwOp::Select, {condition, x, y}, s);
}

array round(const array& a, int decimals, StreamOrDevice s) {
  if (decimals == 0) {
    return elementwise(EwOp::Round, {a}, s);
  }
  // a·10^d rounded, times 10^-d; but for float64 the powers are formed in float32 as the contract
  // has it.
  Dtype t = at_least_float(a.dtype());
  double power = std::pow(10.0, decimals);
  double narrow = double(std::pow(10.0f, float(decimals)));
  array scale(t == float64 ? power : narrow, t);
  array inverse(t == float64 ? 1.0 / power : double(1.0f / float(narrow)), t);
  array scaled = elementwise(EwOp::Round, {multiply(astype(a, t, s), scale, s)}, s);
  return astype(multiply(scaled, inverse, s), a.dtype(), s);
}

std::vector<array> divmod(const array& a, const array& b, StreamOrDevice s) {
  return {floor_divide(a, b, s), remainder(a, b, s)};
}

array operator+(const array& a, const array& b) { return add(a, b); }
array operator-(const array& a, const array& b) { return subtract(a, b); }
array operator*(const array& a, const array& b) { return multiply(a, b); }
array operator/(const array& a, const array& b) { return divide(a, b); }
array operator-(const array& a) { return negative(a); }

}  // namespace mlx::core
