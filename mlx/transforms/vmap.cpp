// vmap: trace the function for one slice, then replay the trace with every primitive mapped.
#include "mlx/error.h"
#include "mlx/ops/shape/like.h"
#include "mlx/ops/shape/shape.h"
#include "mlx/transforms/tape.h"
#include "mlx/transforms/trace.h"
#include "mlx/transforms/transforms.h"

namespace mlx::core {

namespace {

struct Mapped {
  array value;
  int axis;  // -1: the same for all slices
};

// Axes of the inputs in [0, ndim) or -1, and the number of slices.
struct InputAxes {
  std::vector<int> axes;
  int64_t slices = -1;

  InputAxes(const std::vector<array>& inputs, const std::vector<int>& in_axes) {
    for (size_t k = 0; k < inputs.size(); ++k) {
      if (in_axes[k] == not_mapped) {
        axes.push_back(-1);
        continue;
      }
      axes.push_back(normalize_axis(in_axes[k], inputs[k].ndim(), "vmap"));
      int64_t n = inputs[k].shape(axes.back());
      if (slices >= 0 && n != slices) {
        fail<ValueError>("[vmap] mapped axes have different sizes: {} and {}", slices, n);
      }
      slices = n;
    }
    if (slices < 0) {
      fail<ValueError>("[vmap] expected at least one mapped input, all of in_axes are None");
    }
  }
};

array slice_stand_in(const array& a, int axis, uint8_t level) {
  Shape shape = a.shape();
  shape.erase(shape.begin() + axis);
  array p = array::placeholder(shape, a.dtype());
  p.set_tracer(level);
  return p;
}

// The op applied to one slice after the other, for primitives that have no rule.
VmapResult slice_by_slice(const TapeEntry& e, const std::vector<array>& inputs,
                          const std::vector<int>& axes) {
  int64_t slices = 0;
  std::vector<std::vector<array>> lanes(inputs.size());
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (axes[k] >= 0) {
      lanes[k] = unstack(inputs[k], axes[k], e.stream);
      slices = int64_t(lanes[k].size());
    }
  }
  if (slices == 0) {
    fail<ValueError>("[vmap] {} cannot be mapped over an axis without elements",
                     e.primitive->name());
  }
  std::vector<Dtype> dtypes;
  for (const array& out : e.outputs) {
    dtypes.push_back(out.dtype());
  }
  std::vector<std::vector<array>> results(e.outputs.size());
  for (int64_t i = 0; i < slices; ++i) {
    std::vector<array> lane = inputs;
    for (size_t k = 0; k < inputs.size(); ++k) {
      if (axes[k] >= 0) {
        lane[k] = lanes[k][size_t(i)];
      }
    }
    std::vector<Shape> shapes = e.primitive->output_shapes(lane);
    std::vector<array> outputs =
        dtypes.size() == 1
            ? std::vector{array::make(shapes[0], dtypes[0], e.primitive, lane, e.stream)}
            : array::make_many(shapes, dtypes, e.primitive, lane, e.stream);
    for (size_t k = 0; k < outputs.size(); ++k) {
      results[k].push_back(outputs[k]);
    }
  }
  VmapResult r;
  for (const std::vector<array>& lane : results) {
    r.outputs.push_back(stack(lane, 0, e.stream));
    r.axes.push_back(0);
  }
  return r;
}

void replay(const TapeEntry& e, std::vector<std::optional<Mapped>>& values) {
  std::vector<array> inputs = e.inputs;
  std::vector<int> axes(inputs.size(), -1);
  for (size_t i = 0; i < e.active.size(); ++i) {
    const Mapped& m = *values[size_t(e.input_slots[i])];
    inputs[size_t(e.active[i])] = m.value;
    axes[size_t(e.active[i])] = m.axis;
  }
  VmapResult r = e.primitive->vmap(inputs, axes, e.stream);
  if (r.outputs.empty()) {
    r = slice_by_slice(e, inputs, axes);
  }
  for (size_t k = 0; k < r.outputs.size(); ++k) {
    values[size_t(e.first_slot) + k] = Mapped{r.outputs[k], r.axes[k]};
  }
}

// Brings the mapped axis to where it is asked for; what all slices share is repeated.
array place_axis(const Mapped& m, int out_axis, int64_t slices) {
  if (out_axis == not_mapped) {
    if (m.axis >= 0) {
      fail<ValueError>("[vmap] an output with out_axes None depends on mapped inputs");
    }
    return m.value;
  }
  int ndim = m.value.ndim() + (m.axis < 0);
  int axis = normalize_axis(out_axis, ndim, "vmap");
  if (m.axis >= 0) {
    return m.axis == axis ? m.value : moveaxis(m.value, m.axis, axis);
  }
  array a = expand_dims(m.value, axis);
  Shape shape = a.shape();
  shape[size_t(axis)] = slices;
  return broadcast_to(a, shape);
}

}  // namespace

std::vector<array> vmap(const ArrayFunction& fun, const std::vector<array>& given,
                        const std::vector<int>& in_axes, const OutAxes& out_axes) {
  InputAxes in(given, in_axes);
  std::vector<array> inputs = given;
  for (size_t k = 0; k < inputs.size(); ++k) {
    inputs[k] = in.axes[k] >= 0 ? pin_size(inputs[k], in.axes[k]) : inputs[k];
  }
  std::vector<array> outputs, mapped_inputs;
  std::vector<std::optional<Mapped>> values;
  std::optional<Tape> tape;
  {
    TraceScope scope(TraceScope::Evaluation::refused);
    std::vector<array> arguments = inputs;
    std::vector<array> stand_ins;
    for (size_t k = 0; k < inputs.size(); ++k) {
      if (in.axes[k] >= 0) {
        arguments[k] = slice_stand_in(inputs[k], in.axes[k], trace_level());
        stand_ins.push_back(arguments[k]);
        values.push_back(Mapped{inputs[k], in.axes[k]});
      }
    }
    outputs = fun(arguments);
    tape.emplace(stand_ins, outputs, trace_level(), TraceFor::vmap);
  }
  values.resize(size_t(tape->slot_count()));
  for (const TapeEntry& e : tape->entries()) {
    replay(e, values);
  }
  std::vector<int> axes = out_axes(outputs.size());
  std::vector<array> results;
  for (size_t k = 0; k < outputs.size(); ++k) {
    int s = tape->slot_of(outputs[k]);
    results.push_back(
        place_axis(s >= 0 ? *values[size_t(s)] : Mapped{outputs[k], -1}, axes[k], in.slices));
  }
  return results;
}

}  // namespace mlx::core
