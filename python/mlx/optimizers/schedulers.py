"""Schedules: functions of the step, an integer or an integer array, for a learning rate."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import mlx.core as mx

Schedule = Callable


def _check_positive(op: str, name: str, value: int) -> None:
    if value < 1:
        raise ValueError(f"[{op}] got {name} {value}, expected a positive number")


def exponential_decay(init: float, decay_rate: float) -> Schedule:
    r"""The schedule :math:`\mathrm{init} \cdot \mathrm{decay\_rate}^{\mathrm{step}}`.

    Args:
        init: the first value.
        decay_rate: the factor of each step.

    Example:
        >>> optim.exponential_decay(0.1, 0.5)(2)
        0.025
    """

    def schedule(step: int | mx.array) -> float | mx.array:
        return init * decay_rate**step

    return schedule


def step_decay(init: float, decay_rate: float, step_size: int) -> Schedule:
    """A schedule that multiplies by ``decay_rate`` after every ``step_size`` steps.

    Args:
        init: the first value.
        decay_rate: the factor.
        step_size: the number of steps with the same value.

    Raises:
        ValueError: ``step_size`` isn't positive.

    Example:
        >>> [optim.step_decay(1.0, 0.5, 2)(i) for i in range(4)]
        [1.0, 1.0, 0.5, 0.5]
    """
    _check_positive("step_decay", "step_size", step_size)

    def schedule(step: int | mx.array) -> float | mx.array:
        return init * decay_rate ** (step // step_size)

    return schedule


def cosine_decay(init: float, decay_steps: int, end: float = 0.0) -> Schedule:
    """A schedule that falls along half a cosine and then stays.

    Loshchilov and Hutter, *SGDR*, https://arxiv.org/abs/1608.03983.

    Args:
        init: the first value.
        decay_steps: the number of steps until ``end`` is reached.
        end: the last value.

    Raises:
        ValueError: ``decay_steps`` isn't positive.

    Example:
        >>> optim.cosine_decay(0.5, 10)(mx.array(5))
        array(0.25, dtype=float32)
    """
    _check_positive("cosine_decay", "decay_steps", decay_steps)

    def schedule(step: int | mx.array) -> mx.array:
        s = mx.minimum(step, decay_steps)
        return end + (0.5 * (init - end)) * (1 + mx.cos((math.pi / decay_steps) * s))

    return schedule


def linear_schedule(init: float, end: float, steps: int) -> Schedule:
    """A schedule on a line from ``init`` to ``end``, where it stays.

    Args:
        init: the first value.
        end: the last value.
        steps: the number of steps until ``end`` is reached.

    Raises:
        ValueError: ``steps`` isn't positive.

    Example:
        >>> optim.linear_schedule(0.0, 1.0, 4)(mx.array(1))
        array(0.25, dtype=float32)
    """
    _check_positive("linear_schedule", "steps", steps)

    def schedule(step: int | mx.array) -> mx.array:
        return mx.minimum(step, steps) * ((end - init) / steps) + init

    return schedule


def join_schedules(schedules: Sequence[Schedule], boundaries: Sequence[int]) -> Schedule:
    """Schedules one after the other.

    Args:
        schedules: the schedules; each is called with the steps since it began.
        boundaries: the steps at which the second and the following ones begin.

    Raises:
        ValueError: there are no schedules, or not one boundary fewer than schedules.

    Example:
        >>> warmup = optim.linear_schedule(0.0, 0.5, 10)
        >>> optim.join_schedules([warmup, optim.cosine_decay(0.5, 90)], [10])(mx.array(10))
        array(0.5, dtype=float32)
    """
    if len(schedules) == 0:
        raise ValueError("[join_schedules] got no schedules, expected at least one")
    if len(boundaries) != len(schedules) - 1:
        raise ValueError(
            f"[join_schedules] got {len(boundaries)} boundaries for {len(schedules)} schedules, "
            f"expected {len(schedules) - 1}"
        )

    def schedule(step: int | mx.array) -> float | mx.array:
        value = schedules[0](step)
        for boundary, later in zip(boundaries, schedules[1:]):
            # A step of an unsigned dtype must not wrap below the boundary.
            since = mx.where(step < boundary, 0, mx.maximum(step, boundary) - boundary)
            value = mx.where(step < boundary, value, later(since))
        return value

    return schedule
