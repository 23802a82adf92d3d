// vjp and jvp: derivatives along the tape, backward and forward.
#include <optional>

#include "mlx/error.h"
#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/shape/shape.h"
#include "mlx/transforms/tape.h"
#include "mlx/transforms/trace.h"
#include "mlx/transforms/transforms.h"

namespace mlx::core {

namespace {

struct Traced {
  std::vector<array> outputs;
  Tape tape;
};

// Calls fun with values that stand for the primals and marks what depends on them.
Traced trace(const ArrayFunction& fun, const std::vector<array>& primals, TraceFor purpose) {
  TraceScope scope(TraceScope::Evaluation::allowed);
  std::vector<array> inputs;
  for (const array& p : primals) {
    inputs.push_back(copy(p));
    inputs.back().set_tracer(trace_level());
  }
  std::vector<array> outputs = fun(inputs);
  Tape tape(inputs, outputs, trace_level(), purpose);
  // From here on new nodes belong to outer transforms only.
  tape.end_trace();
  return {std::move(outputs), std::move(tape)};
}

void check_match(const char* op, const char* what, std::span<const array> values,
                 std::span<const array> derivatives) {
  if (values.size() != derivatives.size()) {
    fail<ValueError>("[{}] got {} {}s, expected {}", op, derivatives.size(), what, values.size());
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (!(values[i].shape() == derivatives[i].shape())) {
      fail<ValueError>("[{}] {} {} has shape {}, expected {}", op, what, i, derivatives[i].shape(),
                       values[i].shape());
    }
  }
}

using Slots = std::vector<std::optional<array>>;

void accumulate(std::optional<array>& sum, const array& a) { sum = sum ? add(*sum, a) : a; }

void pull_back(const TapeEntry& e, Slots& cotangents) {
  std::vector<array> received;
  bool any = false;
  for (size_t k = 0; k < e.outputs.size(); ++k) {
    auto& c = cotangents[size_t(e.first_slot) + k];
    any |= c.has_value();
    received.push_back(c ? *c : zeros_like(e.outputs[k]));
    c.reset();
  }
  if (!any) {
    return;
  }
  std::vector<array> sent = e.primitive->vjp(e.inputs, received, e.active, e.outputs);
  for (size_t i = 0; i < sent.size(); ++i) {
    accumulate(cotangents[size_t(e.input_slots[i])], sent[i]);
  }
}

void push_forward(const TapeEntry& e, Slots& tangents) {
  std::vector<array> known;
  std::vector<int> argnums;
  for (size_t i = 0; i < e.active.size(); ++i) {
    if (auto& t = tangents[size_t(e.input_slots[i])]) {
      known.push_back(*t);
      argnums.push_back(e.active[i]);
    }
  }
  if (known.empty()) {
    return;
  }
  std::vector<array> results = e.primitive->jvp(e.inputs, known, argnums, e.outputs);
  for (size_t k = 0; k < results.size(); ++k) {
    tangents[size_t(e.first_slot) + k] = results[k];
  }
}

}  // namespace

WithDerivatives vjp(const ArrayFunction& fun, const std::vector<array>& primals,
                    const CotangentsOf& cotangents_of) {
  auto [outputs, tape] = trace(fun, primals, TraceFor::vjp);
  std::vector<array> seeds = cotangents_of(outputs);
  check_match("vjp", "cotangent", outputs, seeds);
  Slots cotangents(size_t(tape.slot_count()));
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (int s = tape.slot_of(outputs[i]); s >= 0) {
      accumulate(cotangents[size_t(s)], astype(seeds[i], outputs[i].dtype()));
    }
  }
  for (auto e = tape.entries().rbegin(); e != tape.entries().rend(); ++e) {
    pull_back(*e, cotangents);
  }
  std::vector<array> results;
  for (size_t i = 0; i < primals.size(); ++i) {
    // A gradient has its input's dtype; bool could not hold one.
    Dtype t = primals[i].dtype().is_bool() ? int32 : primals[i].dtype();
    results.push_back(cotangents[i] ? astype(*cotangents[i], t)
                                    : astype(zeros_like(primals[i]), t));
  }
  tape.release_evaluated();
  return {std::move(outputs), std::move(results)};
}

WithDerivatives vjp(const ArrayFunction& fun, const std::vector<array>& primals,
                    const std::vector<array>& cotangents) {
  return vjp(fun, primals, [&](const std::vector<array>&) { return cotangents; });
}

WithDerivatives jvp(const ArrayFunction& fun, const std::vector<array>& primals,
                    const std::vector<array>& seeds) {
  check_match("jvp", "tangent", primals, seeds);
  auto [outputs, tape] = trace(fun, primals, TraceFor::jvp);
  Slots tangents(size_t(tape.slot_count()));
  for (size_t i = 0; i < primals.size(); ++i) {
    tangents[i] = astype(seeds[i], primals[i].dtype());
  }
  for (const TapeEntry& e : tape.entries()) {
    push_forward(e, tangents);
  }
  std::vector<array> results;
  for (const array& out : outputs) {
    int s = tape.slot_of(out);
    results.push_back(s >= 0 && tangents[size_t(s)] ? *tangents[size_t(s)] : zeros_like(out));
  }
  tape.release_evaluated();
  return {std::move(outputs), std::move(results)};
}

}  // namespace mlx::core
