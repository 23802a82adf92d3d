"""Gradients with respect to the parameters of a model."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import mlx.core as mx
from mlx.utils import tree_flatten, tree_map, tree_reduce, tree_unflatten

from .layers.base import Module

__all__ = [
    "Module",
    "checkpoint",
    "tree_flatten",
    "tree_map",
    "tree_reduce",
    "tree_unflatten",
    "value_and_grad",
]


def _with_parameters(module: Module, fn: Callable) -> Callable:
    """``fn`` as a function of the trainable parameters of ``module`` and its own arguments."""

    def call(parameters: dict, *args: Any, **kwargs: Any) -> Any:
        own = module.trainable_parameters()
        module.update(parameters)
        try:
            return fn(*args, **kwargs)
        finally:
            module.update(own)

    return call


def value_and_grad(model: Module, fn: Callable) -> Callable:
    """A function that computes the value of ``fn`` and its gradient for the model's parameters.

    Args:
        model: the model whose trainable parameters are differentiated.
        fn: a function that calls the model; it returns a scalar, or a tuple that starts with one.

    Returns:
        A function with the arguments of ``fn`` that returns ``(value, gradients)``, the gradients
        a tree like ``model.trainable_parameters()``. After a call, also one that raises, the model
        has its own parameters again.

    Example:
        >>> model = nn.Linear(2, 1)
        >>> def loss(x, y):
        ...     return nn.losses.mse_loss(model(x), y)
        >>> value, grads = nn.value_and_grad(model, loss)(mx.ones((4, 2)), mx.zeros((4, 1)))
        >>> sorted(grads)
        ['bias', 'weight']
    """
    value_and_grad_fn: Any = mx.value_and_grad(_with_parameters(model, fn))

    @wraps(fn)
    def wrapped(*args: Any, **kwargs: Any) -> tuple[Any, dict]:
        return value_and_grad_fn(model.trainable_parameters(), *args, **kwargs)

    return wrapped


def checkpoint(module: Module, fn: Callable | None = None) -> Callable:
    """A function that keeps no intermediate results of a module for the gradient.

    They are computed again when the gradient is (Chen et al., https://arxiv.org/abs/1604.06174).

    Args:
        module: the module; gradients reach its trainable parameters and the arguments of the call.
        fn: the function to wrap, ``module`` itself by default.

    Returns:
        A function with the arguments and results of ``fn``.

    Example:
        >>> layer = nn.Linear(2, 2)
        >>> nn.utils.checkpoint(layer)(mx.ones((4, 2))).shape
        (4, 2)
    """
    if fn is None:
        fn = module.__call__
    checkpointed: Any = mx.checkpoint(_with_parameters(module, fn))

    @wraps(fn)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return checkpointed(module.trainable_parameters(), *args, **kwargs)

    return wrapped
