"""Loss functions. All take ``reduction``: ``"none"``, ``"mean"`` or ``"sum"`` of the losses."""

from __future__ import annotations

import math
from typing import Literal

import mlx.core as mx

from ._fast import wide

__all__ = [
    "binary_cross_entropy",
    "cosine_similarity_loss",
    "cross_entropy",
    "gaussian_nll_loss",
    "hinge_loss",
    "huber_loss",
    "kl_div_loss",
    "l1_loss",
    "log_cosh_loss",
    "margin_ranking_loss",
    "mse_loss",
    "nll_loss",
    "smooth_l1_loss",
    "triplet_loss",
]

Reduction = Literal["none", "mean", "sum"]


def _reduce(op: str, loss: mx.array, reduction: Reduction) -> mx.array:
    if reduction == "none":
        return loss
    if reduction == "mean":
        return mx.mean(loss)
    if reduction == "sum":
        return mx.sum(loss)
    raise ValueError(f"[{op}] got the reduction {reduction!r}, expected 'none', 'mean' or 'sum'")


def _check_shapes(op: str, **arrays: mx.array) -> None:
    if len({a.shape for a in arrays.values()}) > 1:
        got = ", ".join(f"{name} of shape {a.shape}" for name, a in arrays.items())
        raise ValueError(f"[{op}] got {got}, expected equal shapes")


def _weighted(op: str, loss: mx.array, weights: mx.array | None) -> mx.array:
    if weights is None:
        return loss
    if weights.shape != loss.shape:
        raise ValueError(
            f"[{op}] got weights of shape {weights.shape}, expected the shape of the losses "
            f"{loss.shape}"
        )
    return loss * weights


def _picked(x: mx.array, indices: mx.array, axis: int) -> mx.array:
    """One element of ``x`` along ``axis`` for every index."""
    return mx.take_along_axis(x, mx.expand_dims(indices, axis), axis).squeeze(axis)


def _check_indices(op: str, x: mx.array, targets: mx.array, axis: int) -> None:
    shape = list(x.shape)
    del shape[axis]
    if list(targets.shape) != shape or not mx.issubdtype(targets.dtype, mx.integer):
        raise ValueError(
            f"[{op}] got targets of shape {targets.shape} and dtype {targets.dtype} for inputs of "
            f"shape {x.shape}, expected integers of shape {tuple(shape)}"
        )


def cross_entropy(
    logits: mx.array,
    targets: mx.array,
    weights: mx.array | None = None,
    axis: int = -1,
    label_smoothing: float = 0.0,
    reduction: Reduction = "none",
) -> mx.array:
    r"""Cross entropy between the softmax of ``logits`` and the targets.

    .. math::
        \log \sum_j e^{x_j} - (1 - \epsilon) \sum_j t_j x_j - \frac{\epsilon}{n} \sum_j x_j

    Args:
        logits: the unnormalised log-probabilities :math:`x`.
        targets: class indices, with the shape of ``logits`` without ``axis``, or probabilities
            with the shape of ``logits``.
        weights: factors for the losses, with their shape.
        axis: the axis of the classes.
        label_smoothing: :math:`\epsilon`, the share of the target that is spread over all classes.
        reduction: how the losses are reduced.

    Returns:
        The losses, with the shape of ``logits`` without ``axis``, or their reduction.

    Raises:
        ValueError: shapes that don't fit, ``label_smoothing`` outside [0, 1), an unknown
            ``reduction``.

    Example:
        >>> nn.losses.cross_entropy(mx.array([[0.0, 0.0], [100.0, 0.0]]), mx.array([0, 1]))
        array([0.693147, 100], dtype=float32)
    """
    if not 0 <= label_smoothing < 1:
        raise ValueError(
            f"[cross_entropy] got label_smoothing {label_smoothing}, expected a number in [0, 1)"
        )
    as_probabilities = targets.ndim == logits.ndim
    if as_probabilities:
        _check_shapes("cross_entropy", logits=logits, targets=targets)
    else:
        _check_indices("cross_entropy", logits, targets, axis)

    shifted = logits - mx.stop_gradient(mx.max(logits, axis=axis, keepdims=True))
    if as_probabilities:
        score = mx.sum(shifted * targets, axis=axis)
    else:
        score = _picked(shifted, targets, axis)
    loss = mx.logsumexp(shifted, axis=axis)
    if label_smoothing > 0:
        score = (1 - label_smoothing) * score
        loss = loss - score - label_smoothing * mx.mean(shifted, axis=axis)
    else:
        loss = loss - score
    return _reduce("cross_entropy", _weighted("cross_entropy", loss, weights), reduction)


def _clamped_log(x: mx.array) -> mx.array:
    """max(log x, -100), with the gradient 0 at x = 0 in place of a NaN."""
    zero = x == 0
    return mx.where(zero, -100.0, mx.maximum(mx.log(mx.where(zero, 1.0, x)), -100.0))


def binary_cross_entropy(
    inputs: mx.array,
    targets: mx.array,
    weights: mx.array | None = None,
    with_logits: bool = True,
    reduction: Reduction = "mean",
) -> mx.array:
    r"""Binary cross entropy :math:`-(t \log p + (1 - t) \log(1 - p))`.

    Args:
        inputs: logits of the probabilities :math:`p`, or the probabilities.
        targets: the targets :math:`t`, with the same shape.
        weights: factors for the losses, with their shape.
        with_logits: whether the inputs are logits. For probabilities the logarithms are cut off
            at -100.
        reduction: how the losses are reduced.

    Raises:
        ValueError: shapes that differ or an unknown ``reduction``.

    Example:
        >>> nn.losses.binary_cross_entropy(mx.array([0.0]), mx.array([1.0]))
        array(0.693147, dtype=float32)
    """
    _check_shapes("binary_cross_entropy", inputs=inputs, targets=targets)
    if with_logits:
        loss = mx.logaddexp(0, inputs) - inputs * targets
    else:
        loss = -(targets * _clamped_log(inputs) + (1 - targets) * _clamped_log(1 - inputs))
    loss = _weighted("binary_cross_entropy", loss, weights)
    return _reduce("binary_cross_entropy", loss, reduction)


def l1_loss(predictions: mx.array, targets: mx.array, reduction: Reduction = "mean") -> mx.array:
    r"""Absolute error :math:`|p - t|`.

    Args:
        predictions: the predictions :math:`p`.
        targets: the targets :math:`t`, with the same shape.
        reduction: how the losses are reduced.

    Raises:
        ValueError: shapes that differ or an unknown ``reduction``.

    Example:
        >>> nn.losses.l1_loss(mx.array([1.0, 2.0]), mx.array([2.0, 4.0]))
        array(1.5, dtype=float32)
    """
    _check_shapes("l1_loss", predictions=predictions, targets=targets)
    return _reduce("l1_loss", mx.abs(predictions - targets), reduction)


def mse_loss(predictions: mx.array, targets: mx.array, reduction: Reduction = "mean") -> mx.array:
    r"""Squared error :math:`(p - t)^2`.

    Args:
        predictions: the predictions :math:`p`.
        targets: the targets :math:`t`, with the same shape.
        reduction: how the losses are reduced.

    Raises:
        ValueError: shapes that differ or an unknown ``reduction``.

    Example:
        >>> nn.losses.mse_loss(mx.array([1.0, 2.0]), mx.array([2.0, 4.0]))
        array(2.5, dtype=float32)
    """
    _check_shapes("mse_loss", predictions=predictions, targets=targets)
    return _reduce("mse_loss", mx.square(predictions - targets), reduction)


def nll_loss(
    inputs: mx.array, targets: mx.array, axis: int = -1, reduction: Reduction = "none"
) -> mx.array:
    r"""Negative log likelihood: minus the log-probability of the target.

    Args:
        inputs: log-probabilities.
        targets: class indices, with the shape of ``inputs`` without ``axis``.
        axis: the axis of the classes.
        reduction: how the losses are reduced.

    Raises:
        ValueError: shapes that don't fit or an unknown ``reduction``.

    Example:
        >>> nn.losses.nll_loss(mx.array([[-0.5, -1.0]]), mx.array([1]))
        array([1], dtype=float32)
    """
    _check_indices("nll_loss", inputs, targets, axis)
    return _reduce("nll_loss", -_picked(inputs, targets, axis), reduction)


def gaussian_nll_loss(
    inputs: mx.array,
    targets: mx.array,
    vars: mx.array,
    full: bool = False,
    eps: float = 1e-6,
    reduction: Reduction = "mean",
) -> mx.array:
    r"""Negative log likelihood of normal distributions.

    .. math::
        \frac{1}{2} \left(\log v + \frac{(t - x)^2}{v}\right) + \frac{1}{2} \log 2 \pi,
        \quad v = \max(\mathrm{vars}, \epsilon)

    Args:
        inputs: the means :math:`x`.
        targets: the targets :math:`t`, with the same shape.
        vars: the variances, with the same shape.
        full: whether the constant last term counts.
        eps: the smallest variance :math:`\epsilon`.
        reduction: how the losses are reduced.

    Raises:
        ValueError: shapes that differ or an unknown ``reduction``.

    Example:
        >>> nn.losses.gaussian_nll_loss(mx.array([1.0]), mx.array([3.0]), mx.array([1.0]))
        array(2, dtype=float32)
    """
    _check_shapes("gaussian_nll_loss", inputs=inputs, targets=targets, vars=vars)
    v = mx.maximum(vars, eps)
    loss = 0.5 * (mx.log(v) + mx.square(targets - inputs) / v)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return _reduce("gaussian_nll_loss", loss, reduction)


def kl_div_loss(
    inputs: mx.array, targets: mx.array, axis: int = -1, reduction: Reduction = "none"
) -> mx.array:
    r"""Kullback-Leibler divergence :math:`\sum e^{t} (t - x)`.

    Args:
        inputs: the log-probabilities :math:`x` of the model.
        targets: the log-probabilities :math:`t` of the targets.
        axis: the axis of the classes.
        reduction: how the losses are reduced.

    Raises:
        ValueError: an unknown ``reduction``.

    Example:
        >>> nn.losses.kl_div_loss(mx.log(mx.array([0.5, 0.5])), mx.log(mx.array([0.5, 0.5])))
        array(0, dtype=float32)
    """
    loss = mx.sum(mx.exp(targets) * (targets - inputs), axis=axis)
    return _reduce("kl_div_loss", loss, reduction)


def smooth_l1_loss(
    predictions: mx.array, targets: mx.array, beta: float = 1.0, reduction: Reduction = "mean"
) -> mx.array:
    r"""Absolute error, rounded off near zero.

    With :math:`d = |p - t|` it is :math:`d^2 / (2 \beta)` if :math:`d < \beta`, else
    :math:`d - \beta / 2`. Girshick, https://arxiv.org/abs/1504.08083.

    Args:
        predictions: the predictions :math:`p`.
        targets: the targets :math:`t`, with the same shape.
        beta: where the square ends.
        reduction: how the losses are reduced.

    Raises:
        ValueError: shapes that differ, a negative ``beta`` or an unknown ``reduction``.

    Example:
        >>> nn.losses.smooth_l1_loss(mx.array([1.0, 4.0]), mx.array([0.5, 0.0]), reduction="none")
        array([0.125, 3.5], dtype=float32)
    """
    _check_shapes("smooth_l1_loss", predictions=predictions, targets=targets)
    if beta < 0:
        raise ValueError(f"[smooth_l1_loss] got beta {beta}, expected a number >= 0")
    loss = mx.abs(predictions - targets)
    if beta > 0:
        loss = mx.where(loss < beta, (0.5 / beta) * mx.square(loss), loss - 0.5 * beta)
    return _reduce("smooth_l1_loss", loss, reduction)


def triplet_loss(
    anchors: mx.array,
    positives: mx.array,
    negatives: mx.array,
    axis: int = -1,
    p: int = 2,
    margin: float = 1.0,
    eps: float = 1e-6,
    reduction: Reduction = "none",
) -> mx.array:
    r"""How much nearer the positive should be to the anchor than the negative.

    It is :math:`\max(d(a, p) - d(a, n) + \mathrm{margin}, 0)` with the distance
    :math:`d(x, y) = (\sum |x - y|^p + \epsilon)^{1/p}`. Schroff et al.,
    https://arxiv.org/abs/1503.03832.

    Args:
        anchors: the anchors.
        positives: what should be near them.
        negatives: what should be far from them.
        axis: the axis of the features.
        p: the degree of the distance.
        margin: the margin.
        eps: keeps the gradient finite at distance 0.
        reduction: how the losses are reduced.

    Raises:
        ValueError: an unknown ``reduction``.

    Example:
        >>> a = mx.array([[0.0, 0.0]])
        >>> nn.losses.triplet_loss(a, a + 2.0, a + 1.0, p=1)
        array([3], dtype=float32)
    """

    def distance(others: mx.array) -> mx.array:
        powers = mx.power(mx.abs(anchors - others), p)
        return mx.power(mx.sum(powers, axis=axis) + eps, 1 / p)

    loss = mx.maximum(distance(positives) - distance(negatives) + margin, 0)
    return _reduce("triplet_loss", loss, reduction)


def hinge_loss(inputs: mx.array, targets: mx.array, reduction: Reduction = "none") -> mx.array:
    r"""Hinge loss :math:`\max(1 - x t, 0)`.

    Args:
        inputs: the predictions :math:`x`.
        targets: the targets :math:`t`, -1 or 1.
        reduction: how the losses are reduced.

    Raises:
        ValueError: an unknown ``reduction``.

    Example:
        >>> nn.losses.hinge_loss(mx.array([0.5, 2.0]), mx.array([1, -1]))
        array([0.5, 3], dtype=float32)
    """
    return _reduce("hinge_loss", mx.maximum(1 - inputs * targets, 0), reduction)


def huber_loss(
    inputs: mx.array, targets: mx.array, delta: float = 1.0, reduction: Reduction = "none"
) -> mx.array:
    r"""Squared error near zero, absolute error beyond :math:`\delta`.

    With :math:`q = \min(|x - t|, \delta)` it is :math:`q^2 / 2 + \delta (|x - t| - q)`. Huber,
    Annals of Mathematical Statistics 35(1), 1964.

    Args:
        inputs: the predictions :math:`x`.
        targets: the targets :math:`t`.
        delta: where the square ends.
        reduction: how the losses are reduced.

    Raises:
        ValueError: an unknown ``reduction``.

    Example:
        >>> nn.losses.huber_loss(mx.array([0.5, 3.0]), mx.array([0.0, 0.0]))
        array([0.125, 2.5], dtype=float32)
    """
    error = mx.abs(inputs - targets)
    quadratic = mx.minimum(error, delta)
    loss = 0.5 * mx.square(quadratic) + delta * (error - quadratic)
    return _reduce("huber_loss", loss, reduction)


def log_cosh_loss(inputs: mx.array, targets: mx.array, reduction: Reduction = "none") -> mx.array:
    r"""Logarithm of the hyperbolic cosine of the error, :math:`\log \cosh(x - t)`.

    Args:
        inputs: the predictions :math:`x`.
        targets: the targets :math:`t`.
        reduction: how the losses are reduced.

    Raises:
        ValueError: an unknown ``reduction``.

    Example:
        >>> nn.losses.log_cosh_loss(mx.array([1.0]), mx.array([0.0]))
        array([0.433781], dtype=float32)
    """
    error = inputs - targets
    loss = mx.logaddexp(error, -error) - math.log(2)
    return _reduce("log_cosh_loss", loss, reduction)


def _norm(x: mx.array, axis: int) -> mx.array:
    """Euclidean norm, with the gradient 0 at 0 in place of a NaN."""
    squares = mx.sum(mx.square(x), axis=axis)
    zero = squares == 0
    return mx.where(zero, 0.0, mx.sqrt(mx.where(zero, 1.0, squares)))


def cosine_similarity_loss(
    x1: mx.array,
    x2: mx.array,
    axis: int = 1,
    eps: float = 1e-8,
    reduction: Reduction = "none",
) -> mx.array:
    r"""Cosine of the angle :math:`\sum x_1 x_2 / \max(\|x_1\| \|x_2\|, \epsilon)`.

    This is the similarity itself: it is largest for equal directions.

    Args:
        x1: the first vectors.
        x2: the second vectors.
        axis: the axis of the features.
        eps: the smallest denominator :math:`\epsilon`.
        reduction: how the similarities are reduced.

    Raises:
        ValueError: an unknown ``reduction``.

    Example:
        >>> nn.losses.cosine_similarity_loss(mx.array([[2.0, 0.0]]), mx.array([[1.0, 0.0]]))
        array([1], dtype=float32)
    """
    dtype = mx.result_type(x1, x2)
    x1, x2 = wide(x1), wide(x2)
    norms = mx.maximum(_norm(x1, axis) * _norm(x2, axis), eps)
    loss = mx.sum(x1 * x2, axis=axis) / norms
    if mx.issubdtype(dtype, mx.floating):
        loss = loss.astype(dtype)
    return _reduce("cosine_similarity_loss", loss, reduction)


def margin_ranking_loss(
    inputs1: mx.array,
    inputs2: mx.array,
    targets: mx.array,
    margin: float = 0.0,
    reduction: Reduction = "none",
) -> mx.array:
    r"""Ranking loss :math:`\max(0, -t (x_1 - x_2) + \mathrm{margin})`.

    Args:
        inputs1: the first scores :math:`x_1`.
        inputs2: the second scores :math:`x_2`, with the same shape.
        targets: 1 where the first should be larger, -1 where the second should, with the same
            shape.
        margin: the margin.
        reduction: how the losses are reduced.

    Raises:
        ValueError: shapes that differ or an unknown ``reduction``.

    Example:
        >>> a, b = mx.array([1.0, 2.0]), mx.array([3.0, 1.0])
        >>> nn.losses.margin_ranking_loss(a, b, mx.array([1, 1]))
        array([2, 0], dtype=float32)
    """
    _check_shapes("margin_ranking_loss", inputs1=inputs1, inputs2=inputs2, targets=targets)
    loss = mx.maximum(-targets * (inputs1 - inputs2) + margin, 0)
    return _reduce("margin_ranking_loss", loss, reduction)
