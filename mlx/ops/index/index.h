// The index family: reading and writing at positions that are values themselves.
// Negative indices count from the end once. Indices outside an axis are clamped when reading and
// ignored when writing; with MLX_CHECK=1 they raise.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "mlx/graph/array.h"

namespace mlx::core {

// a[…, indices[0], …, indices[1], …]: index k walks axis axes[k]; the indices broadcast together.
// Their common shape takes the place of the indexed axes, inserted before axis `position` of
// those that remain.
MLX_API array gather(const array& a, std::span<const array> indices, Axes axes, int position = 0,
                     StreamOrDevice s = {});

// What a scatter does with an update and the element it meets.
enum class ScatterMode : uint8_t { assign, add, multiply, maximum, minimum };
MLX_API std::string_view mode_name(ScatterMode mode);

// a with the elements that gather(…) would read combined with updates. Where several updates meet,
// all are applied; assignment keeps the last one.
MLX_API array scatter(ScatterMode mode, const array& a, std::span<const array> indices,
                      const array& updates, Axes axes, int position = 0, StreamOrDevice s = {});
MLX_API array scatter(const array& a, std::span<const array> indices, const array& updates,
                      Axes axes, int position = 0, StreamOrDevice s = {});
MLX_API array scatter_add(const array& a, std::span<const array> indices, const array& updates,
                          Axes axes, int position = 0, StreamOrDevice s = {});

// Slices of a along an axis (none: of the flattened array).
MLX_API array take(const array& a, const array& indices, int axis, StreamOrDevice s = {});
MLX_API array take(const array& a, const array& indices, StreamOrDevice s = {});
MLX_API array take(const array& a, int64_t index, int axis, StreamOrDevice s = {});

// out[…, i, …] = a[…, indices[…, i, …], …] along the axis; other axes broadcast.
MLX_API array take_along_axis(const array& a, const array& indices, int axis,
                              StreamOrDevice s = {});
// a with a[…, indices[…, i, …], …] set to values, or values added there.
MLX_API array put_along_axis(const array& a, const array& indices, const array& values, int axis,
                             StreamOrDevice s = {});
MLX_API array scatter_add_axis(const array& a, const array& indices, const array& values, int axis,
                               StreamOrDevice s = {});

// The element-wise op of a mode; assign gives b.
MLX_API array combine(ScatterMode mode, const array& a, const array& b, StreamOrDevice s = {});

// a with values where the mask, which has the first dimensions of a, is true: one value that
// broadcasts to each place, or with one dimension more the next row of values for each place.
// RuntimeError at evaluation if there are fewer rows than places.
MLX_API array masked_scatter(const array& a, const array& mask, const array& values,
                             StreamOrDevice s = {});
MLX_API array masked_scatter(ScatterMode mode, const array& a, const array& mask,
                             const array& values, StreamOrDevice s = {});

// The three below have sizes that depend on values: they evaluate what they are given. ValueError
// inside a function that vmap or compile is tracing.

// a[mask]: the elements of a, in row-major order, where the mask is true; it has the first
// dimensions of a.
MLX_API array masked_select(const array& a, const array& mask, StreamOrDevice s = {});
// The indices of the elements that are not 0, in row-major order: int32, one array for each axis.
MLX_API std::vector<array> nonzero(const array& a, StreamOrDevice s = {});
// The same as the rows of one array of shape (count, ndim).
MLX_API array argwhere(const array& a, StreamOrDevice s = {});

// The window of `size` whose first element lies at start[k] on axis axes[k] and at 0 on the others.
// Negative starts count from the end; then all are moved so that the window fits.
MLX_API array slice(const array& a, const array& start, std::span<const int> axes, Shape size,
                    StreamOrDevice s = {});
// a with `update` written over that window. Missing leading axes of the update broadcast: to the
// whole axis, or to one element of an axis that has a start.
MLX_API array slice_update(const array& a, const array& update, const array& start,
                           std::span<const int> axes, StreamOrDevice s = {});

}  // namespace mlx::core
