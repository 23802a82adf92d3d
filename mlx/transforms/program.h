// Program: a graph written down as a list of steps over numbered values, ready to be made again as
// nodes for other inputs.
#pragma once

#include <span>
#include <vector>

#include "mlx/graph/array.h"
#include "mlx/graph/primitive.h"
#include "mlx/transforms/tape.h"

namespace mlx::core {

// One application of a primitive. Its outputs have the numbers from `first_output` on.
struct Step {
  struct Output {
    Shape shape;
    Dtype dtype;
    int64_t size;
  };
  Ref<Primitive> primitive;
  Stream stream;
  SmallVector<int32_t, 3> inputs;
  int32_t first_output = 0;
  SmallVector<Output, 1> outputs;
};

// Whether shapes are those of the recording or follow from the inputs by the primitives' rules.
enum class Shapes : uint8_t { recorded, inferred };

// Values are numbered: the inputs, then the constants, then the outputs of the steps in order.
class Program {
 public:
  // What the tape holds. Values that do not depend on its inputs are constants.
  Program(const Tape& tape, std::span<const array> inputs, std::span<const array> outputs);

  // The outputs as nodes that are not computed yet.
  std::vector<array> run(std::span<const array> inputs, Shapes shapes) const;

  // Without what changes no value: copies, repeated expressions, results nobody reads.
  Program simplified() const;
  // The steps that an evaluation would run: neighbouring element-wise ones joined.
  Program fused() const;

  // True if a value of another trace is among the constants: gradients may flow to it.
  bool captures_tracers() const;

  const std::vector<Step>& steps() const { return steps_; }

 private:
  struct Input {
    Shape shape;
    Dtype dtype;
  };
  class Builder;

  Program() = default;
  int32_t first_step_value() const { return int32_t(inputs_.size() + constants_.size()); }
  void drop_unread();
  // Makes the nodes of all steps, with the values of the inputs and constants before them.
  class Values;
  void make_nodes(Values& values, std::span<const array> inputs, Shapes shapes) const;

  std::vector<Input> inputs_;
  std::vector<array> constants_;
  std::vector<Step> steps_;
  std::vector<int32_t> outputs_;
  int32_t value_count_ = 0;
};

}  // namespace mlx::core
