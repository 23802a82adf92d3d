"""Neural networks: layers, losses, initialisers and gradients of models."""

from . import init, layers, losses, utils
from .layers import *  # noqa: F403
from .utils import value_and_grad

__all__ = [*layers.__all__, "init", "layers", "losses", "utils", "value_and_grad"]
