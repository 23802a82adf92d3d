// Printed tapes: what the text says, and that NVRTC takes it for every row and dtype, for long
// mixed tapes, and for several generations of devices. No GPU is needed.
#include "backend/gpu/tape_source.h"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include "backend/cuda/jit/nvrtc.h"
#include "backend/cuda/jit/tape_language.h"

using namespace mlx::core;

namespace {

constexpr Dtype all_types[] = {
#define DTYPE(Name, constant, ...) constant,
#include "mlx/dtypes.def"
#undef DTYPE
};

struct Program {
  std::vector<Dtype> inputs;
  std::vector<TapeStep> steps;
  std::vector<int16_t> outputs;

  gpu::Tape tape() const { return {inputs, steps, outputs}; }
  std::string text(int width) const { return gpu::print_tape(tape(), width, cuda::tape_language); }
  int16_t add(EwOp op, Dtype t, std::initializer_list<int16_t> sources) {
    TapeStep s{op, t};
    std::copy(sources.begin(), sources.end(), s.source);
    steps.push_back(s);
    return int16_t(inputs.size() + steps.size() - 1);
  }
};

bool have_nvrtc() {
  if (cuda::nvrtc_version().empty()) {
    MESSAGE("skipped: no NVRTC (", cuda::nvrtc_problem(), ")");
    return false;
  }
  return true;
}

// Devices the installed NVRTC knows; CUDA 12 lacks the newest, CUDA 13 the oldest.
bool takes(int sm) {
  try {
    cuda::compile_kernel("", sm);
    return true;
  } catch (const RuntimeError&) {
    return false;
  }
}

void check_compiles(const Program& p, int width, int sm) {
  std::string text = p.text(width);
  try {
    CHECK(cuda::compile_kernel(text, sm).substr(1, 3) == "ELF");
  } catch (const RuntimeError& e) {
    FAIL_CHECK(text, "\n", e.what());
  }
}

bool accepts(const EwInfo& row, Dtype t) {
  bool inexact = t.is_floating() || t.is_complex();
  switch (row.accepts) {
    case EwAccepts::any:
      break;
    case EwAccepts::real:
      if (t.is_complex()) return false;
      break;
    case EwAccepts::integral:
      if (inexact) return false;
      break;
    case EwAccepts::number:
      if (t.is_bool()) return false;
      break;
  }
  if (row.result == EwResult::floating) return inexact;
  return !(row.result == EwResult::shift && t.is_bool());
}

Dtype result_of(const EwInfo& row, Dtype t) {
  if (row.result == EwResult::boolean) return bool_;
  if (row.result == EwResult::magnitude && t.is_complex()) return float32;
  return t;
}

// Every row of a dtype on the same three inputs, a few to a kernel.
std::vector<Program> programs_of(Dtype t, size_t rows_each) {
  std::vector<Program> all;
  auto next = [&]() -> Program& {
    if (all.empty() || all.back().steps.size() >= rows_each) {
      all.push_back({{bool_, t, t}, {}, {}});
    }
    return all.back();
  };
  for (int i = 0; i < ew_op_count; ++i) {
    EwOp op = EwOp(i);
    const EwInfo& row = info(op);
    if (op == EwOp::Cast) {
      for (Dtype to : all_types) {
        Program& p = next();
        p.outputs.push_back(p.add(op, to, {1}));
      }
    } else if (accepts(row, t)) {
      Program& p = next();
      p.outputs.push_back(row.arity == 1   ? p.add(op, result_of(row, t), {1})
                          : row.arity == 2 ? p.add(op, result_of(row, t), {1, 2})
                                           : p.add(op, t, {0, 1, 2}));
    }
  }
  return all;
}

// Steps on any slots, cast to one dtype where they differ.
Program random_program(unsigned seed, int length) {
  std::mt19937 random(seed);
  auto below = [&](size_t n) { return size_t(random() % n); };
  Program p;
  for (size_t n = 1 + below(12); n-- > 0;) {
    p.inputs.push_back(all_types[below(std::size(all_types))]);
  }
  auto slot_as = [&](Dtype t) {
    int16_t slot = int16_t(below(p.inputs.size() + p.steps.size()));
    return p.tape().dtype(slot) == t ? slot : p.add(EwOp::Cast, t, {slot});
  };
  while (int(p.steps.size()) < length) {
    EwOp op = EwOp(below(size_t(ew_op_count)));
    Dtype t = all_types[below(std::size(all_types))];
    const EwInfo& row = info(op);
    if (op == EwOp::Cast || !accepts(row, t)) continue;
    int16_t a = slot_as(t), b = slot_as(t), c = slot_as(bool_);
    row.arity == 1   ? p.add(op, result_of(row, t), {a})
    : row.arity == 2 ? p.add(op, result_of(row, t), {a, b})
                     : p.add(op, t, {c, a, b});
  }
  int16_t last = int16_t(p.inputs.size() + p.steps.size() - 1);
  for (int16_t k = 0; k < 4; ++k) {
    p.outputs.push_back(int16_t(last - k));
  }
  return p;
}

}  // namespace

TEST_CASE("a tape prints calls of the rows, rounded to each step's dtype") {
  Program p{{float16, float16, bool_}, {}, {}};
  int16_t sum = p.add(EwOp::Add, float16, {0, 1});
  int16_t wide = p.add(EwOp::Cast, float32, {sum});
  int16_t chosen = p.add(EwOp::Select, float16, {2, sum, 0});
  p.outputs = {chosen, wide};
  std::string text = p.text(8);
  auto has = [&](const char* part) { return text.find(part) != std::string::npos; };
  CHECK(has("tape(WalkOf<5> w, char* o0, char* o1, Source a0, Source a1, Source a2)"));
  CHECK(has("float16_t v3 = narrow<float16_t>(scalar::Add(widen(x0.at[j]), widen(x1.at[j])));"));
  CHECK(has("float v4 = scalar::convert<float>(v3);"));
  CHECK(has("float16_t v5 = narrow<float16_t>(scalar::Select(x2.at[j], v3, x0.at[j]));"));
  CHECK(has("store_pack<float, 8>(o1 + at[1], y1, n);"));
}

TEST_CASE("tapes differ in their keys where their texts differ") {
  std::vector<std::pair<std::string, std::string>> seen;
  for (unsigned seed = 0; seed < 60; ++seed) {
    Program p = random_program(seed / 2, 5 + int(seed / 20));
    if (seed % 2) {
      p.outputs.pop_back();
    }
    for (int width : {1, gpu::tape_width(p.tape())}) {
      seen.push_back({gpu::tape_key(p.tape(), width), p.text(width)});
    }
  }
  for (const auto& a : seen) {
    for (const auto& b : seen) {
      CHECK((a.first == b.first) == (a.second == b.second));
    }
  }
}

TEST_CASE("packs hold at most 16 bytes of the smallest operand, fewer for long texts") {
  Program p{{float32, float32}, {}, {}};
  p.outputs = {p.add(EwOp::Add, float32, {0, 1})};
  CHECK(gpu::tape_width(p.tape()) == 4);
  p.inputs[1] = bfloat16;
  CHECK(gpu::tape_width(p.tape()) == 8);
  Program heavy{{float32}, {}, {}};
  for (int16_t i = 0; i < 40; ++i) {
    heavy.add(EwOp::Exp, float32, {i});
  }
  heavy.outputs = {40};
  CHECK(gpu::tape_width(heavy.tape()) == 1);
}

TEST_CASE("NVRTC compiles every row of every dtype") {
  if (!have_nvrtc()) return;
  for (Dtype t : all_types) {
    for (const Program& p : programs_of(t, 24)) {
      check_compiles(p, 1, 90);
    }
  }
}

TEST_CASE("NVRTC compiles long mixed tapes for several devices") {
  if (!have_nvrtc()) return;
  unsigned seed = 0;
  for (int sm : {75, 80, 90, 100}) {
    if (!takes(sm)) {
      MESSAGE("this NVRTC knows no sm_", sm);
      continue;
    }
    for (int length : {8, 20, 48}) {
      Program p = random_program(++seed, length);
      check_compiles(p, gpu::tape_width(p.tape()), sm);
      check_compiles(p, 1, sm);
    }
  }
}

TEST_CASE(
    "NVRTC compiles the conversions of 16-bit floats for devices without their instructions") {
  if (!have_nvrtc() || !takes(75)) return;
  for (Dtype t : {float16, bfloat16}) {
    Program p{{t, t}, {}, {}};
    p.outputs = {p.add(EwOp::Multiply, t, {0, 1})};
    check_compiles(p, 8, 75);
  }
}

TEST_CASE("a refused text gives the compiler's words") {
  if (!have_nvrtc()) return;
  CHECK_THROWS_WITH_AS(cuda::compile_kernel("not a kernel", 90), doctest::Contains("kernel.cu(1)"),
                       RuntimeError);
}
