"""Sequential: layers one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .base import Module


class Sequential(Module):
    """Calls its arguments in order, each with what the one before returned.

    Args:
        modules: modules or functions.

    Example:
        >>> nn.Sequential(nn.Linear(2, 8), nn.relu, nn.Linear(8, 1))(mx.ones((4, 2))).shape
        (4, 1)
    """

    def __init__(self, *modules: Callable) -> None:
        super().__init__()
        self.layers = list(modules)

    def __call__(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return x
