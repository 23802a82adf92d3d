// The printer of tapes.
#include "backend/gpu/tape_source.h"

#include <algorithm>

namespace mlx::core::gpu {

namespace {

constexpr std::string_view type_names[] = {
#define DTYPE(Name, constant, text, Type, ...) #Type,
#include "mlx/dtypes.def"
#undef DTYPE
};

std::string_view type_of(Dtype t) { return type_names[t.index()]; }

// About how many exponentials the text of a step is worth.
int weight(const TapeStep& step) {
  const EwInfo& row = info(step.op);
  bool long_text = row.result == EwResult::floating || step.op == EwOp::Power ||
                   step.op == EwOp::Remainder || step.op == EwOp::FloorDivide;
  if (!long_text || step.op == EwOp::Sqrt) {
    return 0;
  }
  return step.dtype.is_complex() ? 4 : 1;
}

class Printer {
 public:
  Printer(const Tape& tape, int width, const TapeLanguage& language)
      : tape_(tape), width_(width), language_(language) {}

  std::string run() {
    text_ = language_.preamble;
    head();
    loads();
    text_ += format("{}\n  for (int j = 0; j < {}; ++j) {\n", language_.unroll, width_);
    for (size_t i = 0; i < tape_.steps.size(); ++i) {
      step(int(tape_.inputs.size() + i), tape_.steps[i]);
    }
    for (size_t k = 0; k < tape_.outputs.size(); ++k) {
      text_ += format("    y{}.at[j] = v{};\n", k, tape_.outputs[k]);
    }
    text_ += "  }\n";
    for (size_t k = 0; k < tape_.outputs.size(); ++k) {
      text_ +=
          format("  store_pack<{}, {}>(o{} + at[{}], y{}, n);\n", output_type(k), width_, k, k, k);
    }
    return text_ + "}\n";
  }

 private:
  std::string_view output_type(size_t k) const { return type_of(tape_.dtype(tape_.outputs[k])); }

  std::string parameter(std::string_view type, const std::string& name, size_t number) const {
    return format("{} {}", type, name) +
           (language_.attribute.empty() ? "" : " " + format(language_.attribute, number));
  }

  void head() {
    size_t outputs = tape_.outputs.size(), operands = tape_.operands();
    text_ += format("{} {}(", language_.kernel, tape_kernel_name);
    text_ += parameter(format(language_.walk, operands), "w", 0);
    for (size_t k = 0; k < operands; ++k) {
      text_ += ", ";
      text_ += k < outputs ? parameter(language_.output, format("o{}", k), k + 1)
                           : parameter(language_.input, format("a{}", k - outputs), k + 1);
    }
    text_ += format("{}) {\n  uint32_t i = {};\n", language_.last_parameter, language_.position);
    text_ += "  if (i >= w.count) return;\n";
    text_ += format("  int64_t at[{}];\n  locate(w, i, at);\n", operands);
    text_ += format("  int n = elements_of<{}>(w, i);\n", width_);
  }

  void loads() {
    size_t outputs = tape_.outputs.size();
    for (size_t k = 0; k < tape_.inputs.size(); ++k) {
      std::string_view type = type_of(tape_.inputs[k]);
      text_ += format("  Pack<{}, {}> x{} = load_pack<{}, {}>(a{}, at[{}], w.repeated & {}u, n);\n",
                      type, width_, k, type, width_, k, outputs + k, 1u << (outputs + k));
    }
    for (size_t k = 0; k < outputs; ++k) {
      text_ += format("  Pack<{}, {}> y{};\n", output_type(k), width_, k);
    }
  }

  std::string slot(int s) const {
    return s < int(tape_.inputs.size()) ? format("x{}.at[j]", s) : format("v{}", s);
  }

  // Conversions and choices take values as they are; other rows compute 16-bit floats in float.
  void step(int result, const TapeStep& step) {
    std::string_view type = type_of(step.dtype), name = info(step.op).name;
    std::string arguments;
    for (int k = 0; k < info(step.op).arity; ++k) {
      std::string value = slot(step.source[k]);
      bool bits = step.op == EwOp::Cast || step.op == EwOp::Select;
      arguments += (k ? ", " : "") + (bits ? value : format("widen({})", value));
    }
    std::string call = step.op == EwOp::Cast
                           ? format("scalar::convert<{}>({})", type, arguments)
                           : format("narrow<{}>(scalar::{}({}))", type, name, arguments);
    text_ += format("    {} v{} = {};\n", type, result, call);
  }

  const Tape& tape_;
  const int width_;
  const TapeLanguage& language_;
  std::string text_;
};

}  // namespace

int tape_width(const Tape& tape) {
  int64_t smallest = 8;
  for (Dtype t : tape.inputs) {
    smallest = std::min(smallest, t.size());
  }
  for (int16_t slot : tape.outputs) {
    smallest = std::min(smallest, tape.dtype(slot).size());
  }
  int total = 0;
  for (const TapeStep& step : tape.steps) {
    total += weight(step);
  }
  int width = int(std::min<int64_t>(8, 16 / smallest));
  while (width > 1 && width * total > 24) {
    width /= 2;
  }
  return width;
}

std::string print_tape(const Tape& tape, int width, const TapeLanguage& language) {
  return Printer(tape, width, language).run();
}

std::string tape_key(const Tape& tape, int width) {
  std::string key;
  auto add = [&](int value) {
    key += char(value & 0xff);
    key += char(value >> 8 & 0xff);
  };
  add(width);
  add(int(tape.inputs.size()));
  for (Dtype t : tape.inputs) {
    add(t.index());
  }
  for (const TapeStep& s : tape.steps) {
    add(int(s.op) | s.dtype.index() << 8);
    for (int k = 0; k < info(s.op).arity; ++k) {
      add(s.source[k]);
    }
  }
  for (int16_t slot : tape.outputs) {
    add(slot);
  }
  return key;
}

}  // namespace mlx::core::gpu
