// The index family: reading and writing at positions that are values themselves.
// Negative indices count from the end once. Indices outside an axis are clamped when reading and
// ignored when writing; with MLX_CHECK=1 they raise.
#pragma once

#include <optional>
#include <span>

#include "mlx/graph/array.h"

namespace mlx::core {

// a[…, indices[0], …, indices[1], …]: index k walks axis axes[k]; the indices broadcast together.
// Their common shape takes the place of the indexed axes, inserted before axis `position` of
// those that remain.
MLX_API array gather(const array& a, std::span<const array> indices, Axes axes, int position = 0,
                     StreamOrDevice s = {});

// a with the elements that gather(…) would read replaced by updates, or with updates added.
// Where several updates meet, assignment keeps the last one.
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

// a with values where the mask, which has the first dimensions of a, is true: one value that
// broadcasts to each place, or with one dimension more the next row of values for each place.
// RuntimeError at evaluation if there are fewer rows than places.
MLX_API array masked_scatter(const array& a, const array& mask, const array& values,
                             StreamOrDevice s = {});

}  // namespace mlx::core
