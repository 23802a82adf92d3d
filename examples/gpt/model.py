"""A small GPT: a causal transformer over bytes, built from the layers of mlx.nn."""

import mlx.core as mx
import mlx.nn as nn

VOCABULARY = 256  # a token is a byte


class Block(nn.Module):
    """Attention to the bytes before, then a two-layer network; both read normalised input."""

    def __init__(self, dims, heads):
        super().__init__()
        self.attention_norm = nn.LayerNorm(dims)
        self.attention = nn.MultiHeadAttention(dims, heads)
        self.mlp_norm = nn.LayerNorm(dims)
        self.mlp_in = nn.Linear(dims, 4 * dims)
        self.mlp_out = nn.Linear(4 * dims, dims)

    def __call__(self, x, mask):
        y = self.attention_norm(x)
        x = x + self.attention(y, y, y, mask)
        y = nn.gelu_approx(self.mlp_in(self.mlp_norm(x)))
        return x + self.mlp_out(y)


class GPT(nn.Module):
    """Maps (batch, length) bytes to (batch, length, 256) logits of the byte that follows each."""

    def __init__(self, dims, layers, heads, context):
        super().__init__()
        self.context = context
        self.tokens = nn.Embedding(VOCABULARY, dims)
        self.positions = nn.Embedding(context, dims)
        self.blocks = [Block(dims, heads) for _ in range(layers)]
        self.norm = nn.LayerNorm(dims)
        self.head = nn.Linear(dims, VOCABULARY)

    def __call__(self, tokens):
        length = tokens.shape[1]
        mask = nn.MultiHeadAttention.create_additive_causal_mask(length)
        x = self.tokens(tokens) + self.positions(mx.arange(length))
        for block in self.blocks:
            x = block(x, mask)
        return self.head(self.norm(x))


def generate(model, prompt, count, temperature):
    """`prompt` continued by `count` bytes, each drawn from the model's prediction."""
    text = bytearray(prompt)
    for _ in range(count):
        window = mx.array(list(text[-model.context :]))
        logits = model(window[None])[0, -1]
        text.append(mx.random.categorical(logits / temperature).item())
    return bytes(text)
