// Primitive: what a node computes: its parameters and its mathematics, on no particular device.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mlx/device.h"
#include "mlx/dtype.h"
#include "mlx/graph/array.h"
#include "mlx/ref.h"
#include "mlx/small_vector.h"

namespace mlx::core {

enum class PrimitiveId : uint16_t {
#define PRIMITIVE(Name, ...) Name,
#include "mlx/ops/primitives.def"
#undef PRIMITIVE
  custom  // a user's own subclass: it carries its evaluators itself
};
inline constexpr int primitive_count = int(PrimitiveId::custom);

// One array as an evaluator sees it: addresses and layout, no ownership.
struct Operand {
  void* data = nullptr;
  Dtype dtype = float32;
  bool row_contiguous = true;
  bool is_scalar = false;  // the value is in `scalar` itself, `data` points there
  int64_t size = 0;
  Shape shape;
  Strides strides;  // in elements
  alignas(8) unsigned char scalar[8] = {};

  template <typename T>
  T* ptr() const {
    return static_cast<T*>(data);
  }
  int64_t nbytes() const { return size * dtype.size(); }
  int ndim() const { return int(shape.size()); }
};
using Inputs = std::span<const Operand>;
using Outputs = std::span<const Operand>;

class Encoder;  // the stream's services for an evaluator; each backend defines its own

// How the outputs of a primitive come to their memory.
enum class Placement : uint8_t {
  fresh,  // new row-major memory, or that of an input the primitive lets itself overwrite
  view,   // the first input's memory under another layout, if view() agrees; else fresh
};

struct VmapResult {
  std::vector<array> outputs;
  std::vector<int> axes;  // -1: not mapped
};

// What a trace is recorded for.
enum class TraceFor : uint8_t { vjp, jvp, vmap, compile };

struct IndexRange {
  size_t begin, end;
};

class MLX_API Primitive {
 public:
  Primitive() = default;
  Primitive(const Primitive&) = delete;
  virtual ~Primitive() = default;

  virtual PrimitiveId id() const { return PrimitiveId::custom; }
  virtual std::string_view name() const = 0;

  // Cotangents of the inputs `argnums`, in their order.
  virtual std::vector<array> vjp(const std::vector<array>& inputs,
                                 const std::vector<array>& cotangents,
                                 const std::vector<int>& argnums,
                                 const std::vector<array>& outputs) const;
  // Tangents of the outputs; tangents[k] belongs to inputs[argnums[k]].
  virtual std::vector<array> jvp(const std::vector<array>& inputs,
                                 const std::vector<array>& tangents,
                                 const std::vector<int>& argnums,
                                 const std::vector<array>& outputs) const;
  // The op mapped over axes[k] of inputs[k] (-1: not mapped). No outputs: there is no rule, and the
  // op is applied to one slice after the other.
  virtual VmapResult vmap(const std::vector<array>& inputs, const std::vector<int>& axes,
                          Stream stream) const;

  // False: outputs are constants to grad, vjp and jvp, whatever they are computed from.
  virtual bool differentiable() const { return true; }
  // The inputs (of `count`) that a transform looks at; to it the others are constants.
  virtual IndexRange traced_inputs(TraceFor, size_t count) const { return {0, count}; }

  // Shapes of the outputs for these inputs.
  virtual std::vector<Shape> output_shapes(const std::vector<array>& inputs) const = 0;

  // False: they are parameters, and do not follow from the shapes of the inputs.
  virtual bool infers_shapes() const { return true; }

  // Same op with the same parameters.
  virtual bool equivalent(const Primitive& other) const { return this == &other; }

  // Parameters as text, for graphs and messages ("axes=(0, 1)").
  virtual std::string describe() const { return {}; }

  virtual Placement placement() const { return Placement::fresh; }
  // For Placement::view: the layout of the output over the input's memory. False: it has to be
  // computed. `offset` (elements, relative to the input's first) may be set; default 0.
  virtual bool view(const Operand& input, ShapeView shape, Strides& strides, int64_t& offset) const;
  // Not -1: output k is this input as it is, and nothing is computed (then for all outputs).
  virtual int passed_input(size_t) const { return -1; }
  // Bit k: output 0 may be written over input k (same item size, both row-contiguous).
  virtual uint32_t overwritable() const { return 0; }
  // The same for any output.
  virtual uint32_t overwritable_by(size_t output) const { return output == 0 ? overwritable() : 0; }

  // A user's own primitive overrides these; the library's have overloads in the backends.
  virtual void eval_cpu(Inputs in, Outputs out, Encoder& encoder) const;
  virtual void eval_gpu(Inputs in, Outputs out, Encoder& encoder) const;

  void retain() const noexcept { refs_.fetch_add(1, std::memory_order_relaxed); }
  void release() const noexcept {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 private:
  mutable std::atomic<uint32_t> refs_{0};
};

// Binds a class to its row in primitives.def: id, name and a typed equality.
template <typename P, PrimitiveId Id>
class PrimitiveOf : public Primitive {
 public:
  static constexpr PrimitiveId static_id = Id;
  PrimitiveId id() const final { return Id; }
  bool equivalent(const Primitive& other) const final {
    return other.id() == Id && static_cast<const P*>(this)->same(static_cast<const P&>(other));
  }
};

using Evaluator = void (*)(const Primitive&, Inputs, Outputs, Encoder&);

}  // namespace mlx::core
