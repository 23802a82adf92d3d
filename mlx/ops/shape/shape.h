// The shape family: views wherever strides allow, joins, splits, and arrays made from nothing.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "mlx/graph/array.h"

namespace mlx::core {

// Views (computed only if the layout does not allow one).
MLX_API array reshape(const array& a, Shape shape, StreamOrDevice s = {});  // one -1 allowed
MLX_API array flatten(const array& a, int start_axis = 0, int end_axis = -1, StreamOrDevice s = {});
MLX_API array unflatten(const array& a, int axis, Shape shape, StreamOrDevice s = {});
MLX_API array squeeze(const array& a, std::span<const int> axes, StreamOrDevice s = {});
MLX_API array squeeze(const array& a, StreamOrDevice s = {});
MLX_API array expand_dims(const array& a, std::span<const int> axes, StreamOrDevice s = {});
MLX_API array expand_dims(const array& a, int axis, StreamOrDevice s = {});
MLX_API array at_least_1d(const array& a, StreamOrDevice s = {});
MLX_API array at_least_2d(const array& a, StreamOrDevice s = {});
MLX_API array at_least_3d(const array& a, StreamOrDevice s = {});
MLX_API array transpose(const array& a, std::span<const int> axes, StreamOrDevice s = {});
MLX_API array transpose(const array& a, StreamOrDevice s = {});         // reverses the axes
MLX_API array matrix_transpose(const array& a, StreamOrDevice s = {});  // the last two
MLX_API array swapaxes(const array& a, int axis1, int axis2, StreamOrDevice s = {});
MLX_API array moveaxis(const array& a, int source, int destination, StreamOrDevice s = {});
MLX_API array broadcast_to(const array& a, Shape shape, StreamOrDevice s = {});
MLX_API std::vector<array> broadcast_arrays(std::span<const array> arrays, StreamOrDevice s = {});
// a[start:stop:step] on every axis; bounds follow NumPy, a negative step walks backwards.
MLX_API array slice(const array& a, Shape start, Shape stop, Shape strides, StreamOrDevice s = {});
// One axis of a slice brought into its bounds: element i lies at start + i·step.
struct AxisSlice {
  int64_t start, step, count;
};
// Bounds by NumPy's rules, none: the whole way; ValueError if the step is 0.
MLX_API AxisSlice normalize_slice(std::optional<int64_t> start, std::optional<int64_t> stop,
                                  int64_t step, int64_t n, std::string_view op = "slice");
// Elements [start, start + count·step) of every axis, already normalised: 0 ≤ start < n.
MLX_API array strided_slice(const array& a, Shape start, Shape step, Shape count,
                            StreamOrDevice s = {});
MLX_API array as_strided(const array& a, Shape shape, Strides strides, int64_t offset,
                         StreamOrDevice s = {});
MLX_API array view(const array& a, Dtype dtype, StreamOrDevice s = {});
MLX_API array flip(const array& a, std::span<const int> axes, StreamOrDevice s = {});
MLX_API array stop_gradient(const array& a, StreamOrDevice s = {});
MLX_API array contiguous(const array& a, bool allow_col_major = false, StreamOrDevice s = {});
// A new node with the same value.
MLX_API array copy(const array& a, StreamOrDevice s = {});

// a with `update` written over strided_slice(a, start, step, update.shape).
MLX_API array slice_update(const array& a, const array& update, Shape start, Shape step,
                           StreamOrDevice s = {});

MLX_API array concatenate(std::span<const array> arrays, int axis = 0, StreamOrDevice s = {});
MLX_API array stack(std::span<const array> arrays, int axis = 0, StreamOrDevice s = {});
MLX_API std::vector<array> split(const array& a, int64_t sections, int axis = 0,
                                 StreamOrDevice s = {});
MLX_API std::vector<array> split(const array& a, ShapeView indices, int axis = 0,
                                 StreamOrDevice s = {});
MLX_API std::vector<array> unstack(const array& a, int axis = 0, StreamOrDevice s = {});
MLX_API array repeat(const array& a, int64_t repeats, int axis, StreamOrDevice s = {});
MLX_API array tile(const array& a, Shape reps, StreamOrDevice s = {});
MLX_API array roll(const array& a, ShapeView shifts, std::span<const int> axes,
                   StreamOrDevice s = {});

enum class Grid : uint8_t { dense, sparse };
enum class GridOrder : uint8_t { xy, ij };
MLX_API std::vector<array> meshgrid(std::span<const array> arrays, Grid grid, GridOrder order,
                                    StreamOrDevice s = {});

enum class PadMode : uint8_t { constant, edge, reflect, symmetric };
MLX_API array pad(const array& a, std::span<const int> axes, ShapeView low, ShapeView high,
                  const array& value, PadMode mode = PadMode::constant, StreamOrDevice s = {});

// Creation.
MLX_API array full(Shape shape, const array& value, Dtype dtype, StreamOrDevice s = {});
MLX_API array zeros(Shape shape, Dtype dtype = float32, StreamOrDevice s = {});
MLX_API array ones(Shape shape, Dtype dtype = float32, StreamOrDevice s = {});
MLX_API array zeros_like(const array& a, StreamOrDevice s = {});
MLX_API array ones_like(const array& a, StreamOrDevice s = {});
MLX_API array arange(double start, double stop, double step, Dtype dtype, StreamOrDevice s = {});
// count values start, start + step, …; start and step are scalars of the result's dtype.
MLX_API array arange(const array& start, const array& step, int64_t count, StreamOrDevice s = {});
MLX_API array linspace(double start, double stop, int64_t num = 50, bool endpoint = true,
                       Dtype dtype = float32, StreamOrDevice s = {});
// Windows of m samples, float32: no elements for m < 1, a single 1 for m = 1.
MLX_API array bartlett(int64_t m, StreamOrDevice s = {});
MLX_API array hanning(int64_t m, StreamOrDevice s = {});
MLX_API array hamming(int64_t m, StreamOrDevice s = {});
MLX_API array blackman(int64_t m, StreamOrDevice s = {});
MLX_API array eye(int64_t n, int64_t m, int64_t k = 0, Dtype dtype = float32,
                  StreamOrDevice s = {});
MLX_API array tri(int64_t n, int64_t m, int64_t k = 0, Dtype dtype = float32,
                  StreamOrDevice s = {});
MLX_API array tril(const array& a, int64_t k = 0, StreamOrDevice s = {});
MLX_API array triu(const array& a, int64_t k = 0, StreamOrDevice s = {});
MLX_API array diag(const array& a, int64_t k = 0, StreamOrDevice s = {});
MLX_API array diagonal(const array& a, int64_t offset = 0, int axis1 = 0, int axis2 = 1,
                       StreamOrDevice s = {});
MLX_API array trace(const array& a, int64_t offset = 0, int axis1 = 0, int axis2 = 1,
                    std::optional<Dtype> dtype = {}, StreamOrDevice s = {});

}  // namespace mlx::core
