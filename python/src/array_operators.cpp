// The operators of mx.array as type slots: exact types are checked first, nothing is dispatched.
#include "mlx/ops/elementwise/elementwise.h"
#include "python/src/array_slots.h"
#include "python/src/convert.h"
#include "python/src/errors.h"

namespace mlx::core {

namespace {

bool is_bitwise(EwOp op) {
  return op == EwOp::BitwiseAnd || op == EwOp::BitwiseOr || op == EwOp::BitwiseXor ||
         op == EwOp::LeftShift || op == EwOp::RightShift;
}

// The foreign operand of an operator whose other one is an array of dtype `like`.
array foreign_operand(PyObject* p, Dtype like, EwOp op) {
  if (p == Py_None) {
    fail<TypeError>("[{}] expected an array or a number beside an array, got None",
                    info(op).python_name);
  }
  if (!is_array_like(p)) {
    fail<ValueError>("[{}] cannot combine an mlx.core.array and an object of type {}",
                     info(op).python_name, class_name(p));
  }
  return to_array(p, like);
}

array apply(EwOp op, PyObject* left, PyObject* right) {
  array* x = as_array(left);
  array* y = as_array(right);
  if (!x && !y) {
    fail<TypeError>("[{}] expected an array that was initialized", info(op).python_name);
  }
  // Handles are copied: converting an operand may run Python code that rebinds the other one.
  array a = x ? *x : foreign_operand(left, y->dtype(), op);
  array b = y ? *y : foreign_operand(right, a.dtype(), op);
  if (is_bitwise(op) && (a.dtype().is_inexact() || b.dtype().is_inexact())) {
    fail<ValueError>("[{}] expected integer or bool operands, got {} and {}", info(op).python_name,
                     a.dtype(), b.dtype());
  }
  return elementwise(op, {std::move(a), std::move(b)});
}

template <EwOp op>
PyObject* binary(PyObject* left, PyObject* right) {
  return guarded<PyObject*>(nullptr, [&] { return new_array(apply(op, left, right)); });
}

// The object keeps its identity and takes the new value.
template <EwOp op>
PyObject* in_place(PyObject* self, PyObject* other) {
  return guarded<PyObject*>(nullptr, [&] {
    if (op == EwOp::Divide && !self_array(self).dtype().is_inexact()) {
      fail<ValueError>("[divide] in-place division expects a floating or complex array, got {}",
                       self_array(self).dtype());
    }
    array result = apply(op, self, other);
    self_array(self) = std::move(result);
    Py_INCREF(self);
    return self;
  });
}

template <EwOp op>
PyObject* unary(PyObject* self) {
  return guarded<PyObject*>(nullptr,
                            [&] { return new_array(elementwise(op, {self_array(self)})); });
}

template <PyObject* (*f)(PyObject*, PyObject*)>
PyObject* ternary(PyObject* left, PyObject* right, PyObject* modulus) {
  if (modulus != Py_None) {
    PyErr_SetString(PyExc_TypeError, "[power] arrays take no third argument (a modulus)");
    return nullptr;
  }
  return f(left, right);
}

PyObject* compare(PyObject* left, PyObject* right, int how) {
  static constexpr EwOp ops[] = {EwOp::Less,     EwOp::LessEqual, EwOp::Equal,
                                 EwOp::NotEqual, EwOp::Greater,   EwOp::GreaterEqual};
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    if ((how == Py_EQ || how == Py_NE) && right != Py_None && !is_array_like(right)) {
      return PyBool_FromLong(how == Py_NE);
    }
    return new_array(apply(ops[how], left, right));
  });
}

PyObject* positive(PyObject* self) {
  return guarded<PyObject*>(nullptr, [&] { return new_array(self_array(self)); });
}

template <typename F>
constexpr PyType_Slot slot(int id, F* f) {
  return {id, reinterpret_cast<void*>(f)};
}

}  // namespace

void append_operator_slots(std::vector<PyType_Slot>& s) {
  s.insert(s.end(), {slot(Py_nb_add, binary<EwOp::Add>),
                     slot(Py_nb_subtract, binary<EwOp::Subtract>),
                     slot(Py_nb_multiply, binary<EwOp::Multiply>),
                     slot(Py_nb_true_divide, binary<EwOp::Divide>),
                     slot(Py_nb_floor_divide, binary<EwOp::FloorDivide>),
                     slot(Py_nb_remainder, binary<EwOp::Remainder>),
                     slot(Py_nb_power, ternary<binary<EwOp::Power>>),
                     slot(Py_nb_and, binary<EwOp::BitwiseAnd>),
                     slot(Py_nb_or, binary<EwOp::BitwiseOr>),
                     slot(Py_nb_xor, binary<EwOp::BitwiseXor>),
                     slot(Py_nb_lshift, binary<EwOp::LeftShift>),
                     slot(Py_nb_rshift, binary<EwOp::RightShift>),
                     slot(Py_nb_inplace_add, in_place<EwOp::Add>),
                     slot(Py_nb_inplace_subtract, in_place<EwOp::Subtract>),
                     slot(Py_nb_inplace_multiply, in_place<EwOp::Multiply>),
                     slot(Py_nb_inplace_true_divide, in_place<EwOp::Divide>),
                     slot(Py_nb_inplace_floor_divide, in_place<EwOp::FloorDivide>),
                     slot(Py_nb_inplace_remainder, in_place<EwOp::Remainder>),
                     slot(Py_nb_inplace_power, ternary<in_place<EwOp::Power>>),
                     slot(Py_nb_inplace_and, in_place<EwOp::BitwiseAnd>),
                     slot(Py_nb_inplace_or, in_place<EwOp::BitwiseOr>),
                     slot(Py_nb_inplace_xor, in_place<EwOp::BitwiseXor>),
                     slot(Py_nb_inplace_lshift, in_place<EwOp::LeftShift>),
                     slot(Py_nb_inplace_rshift, in_place<EwOp::RightShift>),
                     slot(Py_nb_negative, unary<EwOp::Negative>),
                     slot(Py_nb_absolute, unary<EwOp::Abs>),
                     slot(Py_nb_invert, unary<EwOp::BitwiseInvert>),
                     slot(Py_nb_positive, positive),
                     slot(Py_tp_richcompare, compare)});
}

}  // namespace mlx::core
