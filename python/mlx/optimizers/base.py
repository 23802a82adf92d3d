"""The optimizer base class, several optimizers in one, and gradient clipping.

Parameters and gradients in half precision are updated in float32, with the state kept in float32,
and rounded once at the end; a small epsilon would vanish otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeAlias

import mlx.core as mx
from mlx.nn import Module
from mlx.utils import tree_flatten, tree_map, tree_map_with_path, tree_merge

LearningRate: TypeAlias = float | mx.array | Callable[[mx.array], mx.array]

_HALF_TYPES = (mx.float16, mx.bfloat16)


def wide(x: mx.array) -> mx.array:
    return x.astype(mx.float32) if x.dtype in _HALF_TYPES else x


def zeros_for(parameter: mx.array) -> mx.array:
    """A state of zeros for a parameter."""
    return mx.zeros_like(wide(parameter))


def in_float32(apply_single: Callable) -> Callable:
    """Wraps an ``apply_single``: half precision goes in as float32; the dtype stays."""

    @wraps(apply_single)
    def wrapped(self: Optimizer, gradient: mx.array, parameter: mx.array, state: dict) -> mx.array:
        new = apply_single(self, wide(gradient), wide(parameter), state)
        return new.astype(parameter.dtype)

    return wrapped


class Optimizer:
    """Base class of optimizers.

    The state is a dictionary with the entries ``step`` (the number of updates, uint64),
    ``learning_rate`` and, in the structure of the parameters, a dictionary for each of them.

    A subclass defines :meth:`init_single`, which fills the dictionary of a parameter, and
    :meth:`apply_single`, which computes the new parameter.

    Args:
        schedulers: functions of the step by name; their values are entries of the state, computed
            anew before every update.

    Example:
        >>> class SignSGD(optim.Optimizer):
        ...     def __init__(self, learning_rate):
        ...         super().__init__()
        ...         self._maybe_schedule("learning_rate", learning_rate)
        ...
        ...     def init_single(self, parameter, state):
        ...         pass
        ...
        ...     def apply_single(self, gradient, parameter, state):
        ...         return parameter - self.learning_rate * mx.sign(gradient)
        >>> SignSGD(0.5).apply_gradients({"w": mx.array([3.0])}, {"w": mx.array([1.0])})
        {'w': array([0.5], dtype=float32)}
    """

    def __init__(self, schedulers: dict[str, Callable] | None = None) -> None:
        self._initialized = False
        self._state: dict[str, Any] = {"step": mx.array(0, mx.uint64)}
        self._schedulers = dict(schedulers or {})

    @property
    def state(self) -> dict[str, Any]:
        """The state; entries that are missing in a state that is set are created on first use."""
        return self._state

    @state.setter
    def state(self, state: dict[str, Any]) -> None:
        self._initialized = False
        self._state = state

    @property
    def step(self) -> mx.array:
        """The number of updates so far, a uint64 scalar."""
        return self.state["step"]

    @property
    def learning_rate(self) -> mx.array:
        """The learning rate of the last or the next update, a scalar."""
        return self.state["learning_rate"]

    @learning_rate.setter
    def learning_rate(self, learning_rate: float | mx.array) -> None:
        self.state["learning_rate"] = mx.array(learning_rate)

    def _maybe_schedule(self, name: str, value: LearningRate) -> None:
        """Makes ``value`` the entry ``name`` of the state; a function becomes its schedule."""
        if callable(value):
            self._schedulers[name] = value
            value = value(self.step)
        self.state[name] = mx.array(value)

    def _cast_rate(self, gradient: mx.array) -> mx.array:
        return self.learning_rate.astype(gradient.dtype)

    def init(self, parameters: dict) -> None:
        """Create what the state lacks for a tree of parameters; what is there stays.

        Called by the first update with the tree of gradients.

        Args:
            parameters: the parameters, for instance ``model.trainable_parameters()``.

        Raises:
            ValueError: a parameter has the name of an entry of the state.

        Example:
            >>> opt = optim.SGD(0.1, momentum=0.9)
            >>> opt.init({"w": mx.ones((2,))})
            >>> opt.state["w"]
            {'v': array([0, 0], dtype=float32)}
        """
        if isinstance(parameters, dict):
            for name in parameters:
                if isinstance(self._state.get(name), mx.array):
                    raise ValueError(
                        f"[{type(self).__name__}] got a parameter named {name!r}, which is an "
                        "entry of the state of the optimizer; expected another name"
                    )
        self._state = self._filled(parameters, self._state)
        self._initialized = True

    def _filled(self, parameters: Any, state: Any) -> Any:
        """``state`` with all entries that ``parameters`` needs."""
        if isinstance(parameters, dict):
            state = {} if state is None else state
            for key, value in parameters.items():
                state[key] = self._filled(value, state.get(key))
            return state
        if isinstance(parameters, (list, tuple)):
            old = list(state or [])
            old += [None] * (len(parameters) - len(old))
            old[: len(parameters)] = [self._filled(p, s) for p, s in zip(parameters, old)]
            return old
        state = {} if state is None else state
        if not state:
            self.init_single(parameters, state)
        return state

    def init_single(self, parameter: mx.array, state: dict) -> None:
        """Fill the empty dictionary ``state`` for one parameter.

        Args:
            parameter: an array of the shape and the dtype of the parameter.
            state: the dictionary to fill.
        """
        raise NotImplementedError(f"{type(self).__name__} doesn't define init_single")

    def apply_single(self, gradient: mx.array, parameter: mx.array, state: dict) -> mx.array:
        """Compute one new parameter.

        Args:
            gradient: the gradient.
            parameter: the parameter, of the same shape.
            state: the dictionary of the parameter, whose entries are replaced.

        Returns:
            The new parameter.
        """
        raise NotImplementedError(f"{type(self).__name__} doesn't define apply_single")

    def apply_gradients(self, gradients: dict, parameters: dict) -> dict:
        """Compute new parameters.

        Args:
            gradients: a tree of gradients.
            parameters: the parameters; may have more entries than the gradients.

        Returns:
            The new parameters, a tree like ``gradients``.

        Example:
            >>> opt = optim.SGD(0.5)
            >>> opt.apply_gradients({"w": mx.array([1.0])}, {"w": mx.array([2.0])})
            {'w': array([1.5], dtype=float32)}
        """
        if not self._initialized:
            self.init(gradients)
        for name, schedule in self._schedulers.items():
            self.state[name] = mx.array(schedule(self.step))
        self.state["step"] = self.step + 1
        return tree_map(self.apply_single, gradients, parameters, self.state)

    def update(self, model: Module, gradients: dict) -> None:
        """Update the parameters of a model.

        Args:
            model: the model.
            gradients: a tree of gradients, as from :func:`mlx.nn.value_and_grad`.

        Example:
            >>> model = nn.Linear(1, 1)
            >>> opt = optim.SGD(0.1)
            >>> opt.update(model, {"bias": mx.array([1.0])})
            >>> mx.eval(model.parameters(), opt.state)
        """
        model.update(self.apply_gradients(gradients, model))


class MultiOptimizer(Optimizer):
    """Several optimizers, each for a part of the parameters.

    The state is ``{"states": [...]}`` with the states of the optimizers.

    Args:
        optimizers: the optimizers.
        filters: functions of the dotted path and the gradient, one fewer than optimizers. A
            parameter goes to the optimizer of the first that is true for it, or to the last.

    Raises:
        ValueError: there is not one filter fewer than optimizers.

    Example:
        >>> opt = optim.MultiOptimizer(
        ...     [optim.Muon(0.02), optim.AdamW(0.001)], [lambda path, g: g.ndim >= 2]
        ... )
    """

    def __init__(
        self,
        optimizers: Sequence[Optimizer],
        filters: Sequence[Callable[[str, mx.array], bool]] = (),
    ) -> None:
        super().__init__()
        if len(filters) != len(optimizers) - 1:
            raise ValueError(
                f"[MultiOptimizer] got {len(filters)} filters for {len(optimizers)} optimizers, "
                f"expected {len(optimizers) - 1}"
            )
        self.optimizers = list(optimizers)
        self.filters = [*filters, lambda path, gradient: True]

    def _parts(self, tree: dict) -> list[dict]:
        """The parts of ``tree`` for the optimizers; ``{}`` stands for a leaf of another part."""
        owner = tree_map_with_path(
            lambda path, leaf: next(i for i, f in enumerate(self.filters) if f(path, leaf)), tree
        )
        return [
            _without_nothing(tree_map(lambda leaf, own, i=i: leaf if own == i else {}, tree, owner))
            for i in range(len(self.optimizers))
        ]

    def init(self, parameters: dict) -> None:
        """Create what the states lack; see :meth:`Optimizer.init`."""
        for optimizer, part in zip(self.optimizers, self._parts(parameters)):
            optimizer.init(part)

    def apply_gradients(self, gradients: dict, parameters: dict) -> dict:
        """Compute new parameters; see :meth:`Optimizer.apply_gradients`."""
        new: Any = {}
        for optimizer, part in zip(self.optimizers, self._parts(gradients)):
            new = tree_merge(new, optimizer.apply_gradients(part, parameters))
        return new

    @property
    def step(self) -> mx.array:
        """The number of updates so far."""
        return self.optimizers[0].step

    @property
    def state(self) -> dict[str, Any]:
        """The states of the optimizers, as ``{"states": [...]}``."""
        return {"states": [optimizer.state for optimizer in self.optimizers]}

    @state.setter
    def state(self, state: dict[str, Any]) -> None:
        states = state.get("states")
        if not isinstance(states, (list, tuple)) or len(states) != len(self.optimizers):
            raise ValueError(
                f"[MultiOptimizer] got a state with the entries {list(state)}, expected 'states', "
                f"a list of {len(self.optimizers)} states"
            )
        for optimizer, own in zip(self.optimizers, states):
            optimizer.state = own

    @property
    def learning_rate(self) -> mx.array:
        """The learning rate of the first optimizer; setting it sets that of all."""
        return self.optimizers[0].learning_rate

    @learning_rate.setter
    def learning_rate(self, learning_rate: float | mx.array) -> None:
        for optimizer in self.optimizers:
            optimizer.learning_rate = learning_rate


def _without_nothing(tree: Any) -> Any:
    """Drops the empty containers from dictionaries; lists keep them as placeholders."""
    if isinstance(tree, dict):
        kept = ((key, _without_nothing(value)) for key, value in tree.items())
        return {key: value for key, value in kept if not _is_nothing(value)}
    if isinstance(tree, (list, tuple)):
        items = [_without_nothing(value) for value in tree]
        return {} if all(map(_is_nothing, items)) else items
    return tree


def _is_nothing(tree: Any) -> bool:
    return isinstance(tree, (dict, list, tuple)) and len(tree) == 0


def clip_grad_norm(grads: Any, max_norm: float) -> tuple[Any, mx.array]:
    """Scale gradients down so that their common norm is at most ``max_norm``.

    Args:
        grads: a tree of gradients.
        max_norm: the largest norm.

    Returns:
        The scaled tree, in which floating gradients keep their dtype, and the norm before it.

    Raises:
        ValueError: ``max_norm`` is negative.

    Example:
        >>> clipped, norm = optim.clip_grad_norm({"w": mx.array([3.0, 4.0])}, 1.0)
        >>> norm
        array(5, dtype=float32)
    """
    if not max_norm >= 0:
        raise ValueError(f"[clip_grad_norm] got max_norm {max_norm}, expected a number >= 0")
    squares = [mx.sum(mx.square(wide(g))) for _, g in tree_flatten(grads)]
    norm = mx.sqrt(sum(squares, mx.array(0.0)))
    factor = mx.minimum(max_norm / (norm + 1e-6), 1.0)

    def clip(g: mx.array) -> mx.array:
        clipped = wide(g) * factor
        return clipped.astype(g.dtype) if mx.issubdtype(g.dtype, mx.floating) else clipped

    return tree_map(clip, grads), norm
