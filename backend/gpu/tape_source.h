// Printing a tape of elementwise rows as the text of a kernel. The arithmetic is not printed but
// called: the text names the rows of scalar.h, which the device's compiler reads beside it. What
// differs between the languages of devices is one table.
#pragma once

#include <span>
#include <string>

#include "mlx/ops/elementwise/fused.h"

namespace mlx::core::gpu {

// Slots as in Fused: inputs, then one for each step.
struct Tape {
  std::span<const Dtype> inputs;
  std::span<const TapeStep> steps;
  std::span<const int16_t> outputs;

  Dtype dtype(int slot) const {
    size_t i = size_t(slot);
    return i < inputs.size() ? inputs[i] : steps[i - inputs.size()].dtype;
  }
  size_t operands() const { return outputs.size() + inputs.size(); }
};

// The words of a language. Parameters are a walk, the outputs' and the inputs' places, numbered in
// this order for languages that say so: `attribute` has {} in place of the number.
struct TapeLanguage {
  std::string_view preamble;  // brings Pack, load_pack … and scalar::
  std::string_view kernel;    // what stands before the kernel's name
  std::string_view walk;      // {}: number of operands
  std::string_view output;
  std::string_view input;
  std::string_view attribute;
  std::string_view last_parameter;
  std::string_view position;  // the number of the thread
  std::string_view unroll;
};

inline constexpr std::string_view tape_kernel_name = "tape";

// Elements a thread should take where the layout allows packs: at most 16 bytes of the smallest
// operand, and the fewer the longer the text is, since it is repeated for each of them.
int tape_width(const Tape& tape);

// The kernel for packs of `width` elements; width 1 takes any layout.
std::string print_tape(const Tape& tape, int width, const TapeLanguage& language);

// Equal for tapes whose texts are equal.
std::string tape_key(const Tape& tape, int width);

}  // namespace mlx::core::gpu
