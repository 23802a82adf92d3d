"""The layers, one file a family."""

from . import (
    activations,
    base,
    containers,
    dropout,
    embedding,
    linear,
    normalization,
    pooling,
    positional_encoding,
    recurrent,
    transformer,
    upsample,
)
from .activations import *  # noqa: F403
from .base import Module
from .containers import Sequential
from .dropout import Dropout, Dropout2d, Dropout3d
from .embedding import Embedding
from .linear import Bilinear, Identity, Linear
from .normalization import BatchNorm, GroupNorm, InstanceNorm, LayerNorm, RMSNorm
from .pooling import AvgPool1d, AvgPool2d, AvgPool3d, MaxPool1d, MaxPool2d, MaxPool3d
from .positional_encoding import ALiBi, RoPE, SinusoidalPositionalEncoding
from .recurrent import GRU, LSTM, RNN
from .transformer import (
    MultiHeadAttention,
    Transformer,
    TransformerDecoder,
    TransformerDecoderLayer,
    TransformerEncoder,
    TransformerEncoderLayer,
)
from .upsample import Upsample

__all__ = [
    *activations.__all__,
    "ALiBi",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "BatchNorm",
    "Bilinear",
    "Dropout",
    "Dropout2d",
    "Dropout3d",
    "Embedding",
    "GRU",
    "GroupNorm",
    "Identity",
    "InstanceNorm",
    "LSTM",
    "LayerNorm",
    "Linear",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "Module",
    "MultiHeadAttention",
    "RMSNorm",
    "RNN",
    "RoPE",
    "Sequential",
    "SinusoidalPositionalEncoding",
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
    "Upsample",
    "activations",
    "base",
    "containers",
    "dropout",
    "embedding",
    "linear",
    "normalization",
    "pooling",
    "positional_encoding",
    "recurrent",
    "transformer",
    "upsample",
]
