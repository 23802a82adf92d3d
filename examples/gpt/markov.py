"""Byte-level Markov models, the baselines that the neural network has to beat.

The order-k model predicts a byte from the k bytes before it. It is smoothed by interpolation
after Witten and Bell: where a context was seen N times, followed by T different bytes,

    p(byte | context) = (count(context, byte) + T * p(byte | shorter context)) / (N + T)

down to the uniform distribution, so that every byte has a probability above zero.
"""

import numpy as np


class MarkovModel:
    """Counts of bytes after contexts of 0 to `order` bytes (order 6 at most)."""

    def __init__(self, text, order):
        if not 0 <= order <= 6:
            raise ValueError(f"the order is {order}, expected 0 to 6")
        self.order = order
        self.tables = []
        for k in range(order + 1):
            pairs, counts = np.unique(_pair_codes(text, k), return_counts=True)
            contexts, first = np.unique(pairs >> 8, return_index=True)
            totals = np.add.reduceat(counts, first)
            followers = np.diff(np.append(first, len(pairs)))
            self.tables.append((pairs, counts, contexts, totals, followers))

    def probabilities(self, text, start):
        """The probability of each of text[start:], given the bytes before it."""
        if start < self.order:
            raise ValueError(f"order {self.order} needs as many bytes before, got {start}")
        p = np.full(len(text) - start, 1 / 256)
        for k, (pairs, counts, contexts, totals, followers) in enumerate(self.tables):
            codes = _pair_codes(text, k)[start - k :]
            count = _look_up(pairs, counts, codes)
            total = _look_up(contexts, totals, codes >> 8)
            kinds = _look_up(contexts, followers, codes >> 8)
            seen = total > 0
            p[seen] = (count + kinds * p)[seen] / (total + kinds)[seen]
        return p

    def bits_per_byte(self, text, start):
        """The mean cost of text[start:] in bits: its cross-entropy under the model."""
        return float(-np.log2(self.probabilities(text, start)).mean())


def _pair_codes(text, k):
    """For each position from k on: the k bytes before it and its own, as one number."""
    data = np.frombuffer(text, np.uint8).astype(np.int64)
    codes = np.zeros(max(len(data) - k, 0), np.int64)
    for i in range(k + 1):
        codes = codes * 256 + data[i : i + len(codes)]
    return codes


def _look_up(keys, values, wanted):
    """values[i] where keys[i] == wanted, and 0 where there is no such key (keys are sorted)."""
    i = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[i] == wanted, values[i], 0)
