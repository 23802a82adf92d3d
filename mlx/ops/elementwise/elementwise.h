// The elementwise family: its enum and table, the primitive, and the public functions.
#pragma once

#include <array>
#include <span>

#include "mlx/graph/primitive.h"

namespace mlx::core {

enum class EwOp : uint8_t {
#define OP(Name, ...) Name,
#include "mlx/ops/elementwise/elementwise.def"
#undef OP
};

enum class EwResult : uint8_t { same, floating, boolean, magnitude, shift };
enum class EwAccepts : uint8_t { any, real, integral, number };
enum class EwBinding : uint8_t { method, function, internal };

struct EwInfo {
  std::string_view name;         // "Sinh", as in exported graphs
  std::string_view python_name;  // "sinh"
  int arity;
  EwResult result;
  EwAccepts accepts;
  EwBinding binding;
  std::string_view doc;
  std::string_view example;
};

inline constexpr EwInfo ew_table[] = {
#define OP(Name, python, arity, result, accepts, binding, doc, example) \
  {#Name, #python, arity, EwResult::result, EwAccepts::accepts, EwBinding::binding, doc, example},
#include "mlx/ops/elementwise/elementwise.def"
#undef OP
};
inline constexpr int ew_op_count = int(std::size(ew_table));
constexpr const EwInfo& info(EwOp op) { return ew_table[int(op)]; }

// One op applied element by element to operands that broadcast against each other.
class Elementwise final : public PrimitiveOf<Elementwise, PrimitiveId::Elementwise> {
 public:
  explicit Elementwise(EwOp o, Dtype t = bool_) : op(o), target(t) {}
  std::string_view name() const override { return info(op).name; }
  std::vector<array> vjp(const std::vector<array>& inputs, const std::vector<array>& cotangents,
                         const std::vector<int>& argnums,
                         const std::vector<array>& outputs) const override;
  std::vector<array> jvp(const std::vector<array>& inputs, const std::vector<array>& tangents,
                         const std::vector<int>& argnums,
                         const std::vector<array>& outputs) const override;
  VmapResult vmap(const std::vector<array>& inputs, const std::vector<int>& axes,
                  Stream stream) const override;
  std::vector<Shape> output_shapes(const std::vector<array>& inputs) const override;
  uint32_t overwritable() const override { return ~0u; }
  bool same(const Elementwise& o) const { return op == o.op && target == o.target; }

  const EwOp op;
  const Dtype target;  // of a Cast
};

// Any row applied to arrays: dtype rule, casts, broadcast, node.
MLX_API array elementwise(EwOp op, std::span<const array> operands, StreamOrDevice s = {});
inline array elementwise(EwOp op, std::initializer_list<array> operands, StreamOrDevice s = {}) {
  return elementwise(op, std::span<const array>(operands.begin(), operands.size()), s);
}

// The public functions, one a row: exp(a), add(a, b) …
#define MLX_EW_FUNCTION_1(fn) MLX_API array fn(const array& a, StreamOrDevice s = {});
#define MLX_EW_FUNCTION_2(fn) \
  MLX_API array fn(const array& a, const array& b, StreamOrDevice s = {});
#define MLX_EW_FUNCTION_3(fn) \
  MLX_API array fn(const array& a, const array& b, const array& c, StreamOrDevice s = {});
#define MLX_EW_BINDING_method(fn, arity) MLX_EW_FUNCTION_##arity(fn)
#define MLX_EW_BINDING_function(fn, arity) MLX_EW_FUNCTION_##arity(fn)
#define MLX_EW_BINDING_internal(fn, arity)
#define OP(Name, fn, arity, result, accepts, binding, ...) MLX_EW_BINDING_##binding(fn, arity)
#include "mlx/ops/elementwise/elementwise.def"
#undef OP
#undef MLX_EW_BINDING_method
#undef MLX_EW_BINDING_function
#undef MLX_EW_BINDING_internal
#undef MLX_EW_FUNCTION_1
#undef MLX_EW_FUNCTION_2
#undef MLX_EW_FUNCTION_3

MLX_API array astype(const array& a, Dtype dtype, StreamOrDevice s = {});
MLX_API array where(const array& condition, const array& x, const array& y, StreamOrDevice s = {});
// Rounds to `decimals` places, half to even.
MLX_API array round(const array& a, int decimals = 0, StreamOrDevice s = {});
// Quotient and remainder: {floor_divide(a, b), remainder(a, b)}.
MLX_API std::vector<array> divmod(const array& a, const array& b, StreamOrDevice s = {});

MLX_API array operator+(const array& a, const array& b);
MLX_API array operator-(const array& a, const array& b);
MLX_API array operator*(const array& a, const array& b);
MLX_API array operator/(const array& a, const array& b);
MLX_API array operator-(const array& a);

}  // namespace mlx::core
