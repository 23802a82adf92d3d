"""Products with 4-bit weights. PyTorch and JAX multiply by the dequantized weights, dense."""

import numpy as np

from .workload import Family, normal

family = Family("quantize")
GROUP, BITS, SIZE = 64, 4, 4096


def packed(inputs):
    """(x, w) -> (x, codes packed into words, scales, biases), groups along the last axis."""
    codes, scales, biases = quantized(inputs[1])
    words = np.zeros((SIZE, SIZE * BITS // 32), np.uint32)
    for i in range(32 // BITS):
        words |= codes[:, i :: 32 // BITS].astype(np.uint32) << np.uint32(BITS * i)
    return [inputs[0], words, scales, biases]


def dequantized(inputs):
    codes, scales, biases = quantized(inputs[1])
    groups = codes.reshape(SIZE, -1, GROUP) * scales[..., None] + biases[..., None]
    return [inputs[0], groups.astype(np.float32).reshape(SIZE, SIZE)]


def dequantized_in_by_out(inputs):
    x, w = dequantized(inputs)
    return [x, np.ascontiguousarray(w.T)]


def quantized(w):
    """Codes, and for each group a scale and a bias that bfloat16 holds exactly."""
    groups = w.reshape(len(w), -1, GROUP)
    low = groups.min(-1)
    scales = upper_half((groups.max(-1) - low) / (2**BITS - 1))
    biases = upper_half(low)
    codes = np.rint((groups - biases[..., None]) / scales[..., None])
    return np.clip(codes, 0, 2**BITS - 1).astype(np.uint8).reshape(w.shape), scales, biases


def upper_half(x):
    bits = x.astype(np.float32).view(np.uint32) & np.uint32(0xFFFF0000)
    return bits.view(np.float32)


def product_mlx(xp):
    return lambda x, w, scales, biases: xp.quantized_matmul(
        x, w, scales, biases, transpose=True, group_size=GROUP, bits=BITS
    )


for m, dtype, short in (
    (1, "float32", "f32"),
    (1, "bfloat16", "bf16"),
    (16, "bfloat16", "bf16"),
    (128, "float32", "f32"),
):
    family.add(
        f"q4_gs64_M{m}_4k_{short}",
        normal(m, SIZE),
        normal(SIZE, SIZE, scale=SIZE**-0.5),
        mlx=product_mlx,
        torch=lambda xp: xp.nn.functional.linear,
        jax=lambda xp: xp.matmul,
        layout={"mlx": packed, "torch": dequantized, "jax": dequantized_in_by_out},
        dtype=dtype,
        flops=2 * m * SIZE * SIZE,
        quick=m == 1,
    )
