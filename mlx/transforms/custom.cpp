// custom_function, checkpoint and depends.
#include "mlx/transforms/custom.h"

#include <algorithm>

#include "mlx/error.h"
#include "mlx/ops/elementwise/elementwise.h"
#include "mlx/ops/reduce/reduce.h"
#include "mlx/ops/shape/shape.h"

namespace mlx::core {

namespace {

std::vector<array> range(const std::vector<array>& a, size_t begin, size_t end) {
  return {a.begin() + long(begin), a.begin() + long(end)};
}

// What a rule returned, one of the shape and dtype of each value it belongs to.
std::vector<array> checked(std::vector<array> results, const std::vector<array>& values,
                           std::string_view rule) {
  if (results.size() != values.size()) {
    fail<ValueError>("[custom_function] the {} rule returned {} arrays, expected {}", rule,
                     results.size(), values.size());
  }
  for (size_t k = 0; k < results.size(); ++k) {
    if (!(results[k].shape() == values[k].shape())) {
      fail<ValueError>("[custom_function] the {} rule returned shape {} for array {}, expected {}",
                       rule, results[k].shape(), k, values[k].shape());
    }
    results[k] = astype(results[k], values[k].dtype());
  }
  return results;
}

// `inputs` as nodes of a primitive that hands its first inputs (or others) on.
std::vector<array> pass(Ref<Primitive> p, const std::vector<array>& inputs,
                        const std::vector<array>& passed, Stream s) {
  std::vector<Shape> shapes;
  std::vector<Dtype> dtypes;
  for (const array& x : passed) {
    shapes.push_back(x.shape());
    dtypes.push_back(x.dtype());
  }
  if (passed.size() == 1) {
    return {array::make(shapes[0], dtypes[0], std::move(p), inputs, s)};
  }
  return array::make_many(std::move(shapes), std::move(dtypes), std::move(p), inputs, s);
}

int lane_axis(int axis) { return axis < 0 ? not_mapped : axis; }

// Rules of a mapped function: the given ones mapped. Outputs have the lanes first; arguments have
// them along `axes`.
CustomRules mapped_rules(const CustomRules& rules, std::vector<int> axes, size_t outputs) {
  std::vector<int> argument_axes;
  for (int a : axes) {
    argument_axes.push_back(lane_axis(a));
  }
  auto stacked_first = [](size_t n) { return std::vector<int>(n, 0); };
  CustomRules mapped;
  mapped.together = rules.together;
  if (rules.vjp) {
    mapped.vjp = [=, rule = rules.vjp](const std::vector<array>& x, const std::vector<array>& g,
                                       const std::vector<array>& y) {
      std::vector<array> all = x;
      all.insert(all.end(), g.begin(), g.end());
      all.insert(all.end(), y.begin(), y.end());
      std::vector<int> in_axes = argument_axes;
      in_axes.resize(x.size() + 2 * outputs, 0);
      auto lane = [&](const std::vector<array>& v) {
        return rule(range(v, 0, x.size()), range(v, x.size(), x.size() + outputs),
                    range(v, x.size() + outputs, v.size()));
      };
      std::vector<array> result = vmap(lane, all, in_axes, stacked_first);
      for (size_t k = 0; k < result.size() && k < axes.size(); ++k) {
        // An argument that all lanes share collects from all of them.
        const int lanes[] = {0};
        result[k] = axes[k] < 0 ? astype(sum(result[k], lanes), result[k].dtype())
                                : moveaxis(result[k], 0, axes[k]);
      }
      return result;
    };
  }
  if (rules.jvp) {
    mapped.jvp = [=, rule = rules.jvp](const std::vector<array>& x,
                                       const std::vector<std::optional<array>>& tangents) {
      std::vector<array> all = x;
      std::vector<int> in_axes = argument_axes;
      for (size_t k = 0; k < x.size(); ++k) {
        if (tangents[k]) {
          all.push_back(*tangents[k]);
          in_axes.push_back(argument_axes[k]);
        }
      }
      auto lane = [&](const std::vector<array>& v) {
        std::vector<std::optional<array>> t(x.size());
        size_t next = x.size();
        for (size_t k = 0; k < x.size(); ++k) {
          if (tangents[k]) {
            t[k] = v[next++];
          }
        }
        return rule(range(v, 0, x.size()), t);
      };
      return vmap(lane, all, in_axes, stacked_first);
    };
  }
  return mapped;
}

}  // namespace

// ---- CustomFunction ----

IndexRange CustomFunction::traced_inputs(TraceFor purpose, size_t count) const {
  IndexRange arguments{0, arguments_}, outputs{arguments_, count}, all{0, count};
  switch (purpose) {
    case TraceFor::vjp:
      return rules_.vjp ? arguments : outputs;
    case TraceFor::jvp:
      return rules_.jvp ? arguments : outputs;
    case TraceFor::vmap:
      return rules_.vmap ? arguments : all;
    case TraceFor::compile:
      return all;
  }
  return all;
}

std::vector<array> CustomFunction::vjp(const std::vector<array>& inputs,
                                       const std::vector<array>& cotangents,
                                       const std::vector<int>& argnums,
                                       const std::vector<array>& outputs) const {
  std::vector<array> result;
  if (!rules_.vjp) {
    for (int k : argnums) {
      result.push_back(cotangents[size_t(k) - arguments_]);
    }
    return result;
  }
  std::vector<array> primals = range(inputs, 0, arguments_);
  std::vector<array> all = checked(rules_.vjp(primals, cotangents, outputs), primals, "vjp");
  for (int k : argnums) {
    result.push_back(all[size_t(k)]);
  }
  if (rules_.together && result.size() > 1) {
    Ref<Primitive> joined(new Depends(result.size()));
    result = pass(std::move(joined), result, result, to_stream(StreamOrDevice{}));
  }
  return result;
}

std::vector<array> CustomFunction::jvp(const std::vector<array>& inputs,
                                       const std::vector<array>& tangents,
                                       const std::vector<int>& argnums,
                                       const std::vector<array>& outputs) const {
  if (!rules_.jvp) {
    std::vector<array> result;
    for (const array& y : outputs) {
      result.push_back(zeros_like(y));
    }
    for (size_t i = 0; i < argnums.size(); ++i) {
      result[size_t(argnums[i]) - arguments_] = tangents[i];
    }
    return result;
  }
  std::vector<std::optional<array>> all(arguments_);
  for (size_t i = 0; i < argnums.size(); ++i) {
    all[size_t(argnums[i])] = tangents[i];
  }
  return checked(rules_.jvp(range(inputs, 0, arguments_), all), outputs, "jvp");
}

VmapResult CustomFunction::vmap(const std::vector<array>& inputs, const std::vector<int>& axes,
                                Stream stream) const {
  size_t outputs = inputs.size() - arguments_;
  std::vector<int> argument_axes(axes.begin(), axes.begin() + long(arguments_));
  if (rules_.vmap) {
    VmapResult r = rules_.vmap(range(inputs, 0, arguments_), argument_axes);
    if (r.outputs.size() != outputs) {
      fail<ValueError>("[custom_function] the vmap rule returned {} arrays, expected {}",
                       r.outputs.size(), outputs);
    }
    return r;
  }
  int64_t lanes = 0;
  for (size_t k = 0; k < inputs.size(); ++k) {
    lanes = axes[k] >= 0 ? inputs[k].shape(axes[k]) : lanes;
  }
  std::vector<array> all = range(inputs, 0, arguments_), values;
  for (size_t k = arguments_; k < inputs.size(); ++k) {
    Shape shape{lanes};
    shape.append(inputs[k].shape().begin(), inputs[k].shape().end());
    values.push_back(axes[k] >= 0 ? moveaxis(inputs[k], axes[k], 0, stream)
                                  : broadcast_to(inputs[k], std::move(shape), stream));
  }
  all.insert(all.end(), values.begin(), values.end());
  Ref<Primitive> p(
      new CustomFunction(mapped_rules(rules_, std::move(argument_axes), outputs), arguments_));
  return {pass(std::move(p), all, values, stream), std::vector<int>(outputs, 0)};
}

std::vector<Shape> CustomFunction::output_shapes(const std::vector<array>& inputs) const {
  std::vector<Shape> shapes;
  for (size_t k = arguments_; k < inputs.size(); ++k) {
    shapes.push_back(inputs[k].shape());
  }
  return shapes;
}

std::vector<array> custom_function(const ArrayFunction& fun, CustomRules rules,
                                   const std::vector<array>& inputs) {
  std::vector<array> outputs = fun(inputs);
  auto traced = [](const array& a) { return a.tracer() > 0; };
  if (outputs.empty() || (std::none_of(outputs.begin(), outputs.end(), traced) &&
                          std::none_of(inputs.begin(), inputs.end(), traced))) {
    return outputs;  // no transform will ever ask
  }
  std::vector<array> all = inputs;
  all.insert(all.end(), outputs.begin(), outputs.end());
  return pass(Ref<Primitive>(new CustomFunction(std::move(rules), inputs.size())), all, outputs,
              to_stream(StreamOrDevice{}));
}

std::vector<array> checkpoint(const ArrayFunction& fun, const std::vector<array>& inputs) {
  CustomRules rules;
  rules.vjp = [fun](const std::vector<array>& primals, const std::vector<array>& cotangents,
                    const std::vector<array>&) {
    // Not before the backward pass has come here: until then nothing of it takes memory.
    return vjp(fun, depends(primals, cotangents), cotangents).derivatives;
  };
  // What was recomputed goes once all that reads it is done: not only what leads further back.
  rules.together = true;
  return custom_function(fun, std::move(rules), inputs);
}

// ---- Depends ----

IndexRange Depends::traced_inputs(TraceFor purpose, size_t count) const {
  bool derives = purpose == TraceFor::vjp || purpose == TraceFor::jvp;
  return {0, derives ? values_ : count};
}

std::vector<array> Depends::vjp(const std::vector<array>&, const std::vector<array>& cotangents,
                                const std::vector<int>& argnums, const std::vector<array>&) const {
  std::vector<array> result;
  for (int k : argnums) {
    result.push_back(cotangents[size_t(k)]);
  }
  return result;
}

std::vector<array> Depends::jvp(const std::vector<array>&, const std::vector<array>& tangents,
                                const std::vector<int>& argnums,
                                const std::vector<array>& outputs) const {
  std::vector<array> result;
  for (const array& y : outputs) {
    result.push_back(zeros_like(y));
  }
  for (size_t i = 0; i < argnums.size(); ++i) {
    result[size_t(argnums[i])] = tangents[i];
  }
  return result;
}

VmapResult Depends::vmap(const std::vector<array>& inputs, const std::vector<int>& axes,
                         Stream stream) const {
  return {pass(Ref<Primitive>(new Depends(values_)), inputs, range(inputs, 0, values_), stream),
          std::vector<int>(axes.begin(), axes.begin() + long(values_))};
}

std::vector<Shape> Depends::output_shapes(const std::vector<array>& inputs) const {
  std::vector<Shape> shapes;
  for (size_t k = 0; k < values_; ++k) {
    shapes.push_back(inputs[k].shape());
  }
  return shapes;
}

std::string Depends::describe() const { return format("values={}", values_); }

std::vector<array> depends(const std::vector<array>& inputs,
                           const std::vector<array>& dependencies) {
  if (inputs.empty() || dependencies.empty()) {
    return inputs;
  }
  std::vector<array> all = inputs;
  all.insert(all.end(), dependencies.begin(), dependencies.end());
  return pass(Ref<Primitive>(new Depends(inputs.size())), all, inputs, to_stream(StreamOrDevice{}));
}

}  // namespace mlx::core
