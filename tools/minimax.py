"""Derive the polynomial coefficients of mlx/ops/elementwise/real_math.h.

Each row of FITS is one polynomial: the function it replaces, the form in which the kernel evaluates it and
the interval. The fit is a weighted Remez exchange in high precision (mpmath); coefficients are then rounded
to float32 one after the other, lowest power first, and the rest is fitted again around each rounded value.

    python tools/minimax.py [name ...]     prints the coefficients, lowest power first, and the error reached
"""

import sys

import mpmath as mp
import numpy as np

mp.mp.prec = 120
LN2 = mp.log(2)


def remez(target, weight, powers, lo, hi, rounds=12):
    """Minimise max |weight * (sum c_i x^powers_i - target)| over [lo, hi]; returns coefficients and the error."""
    n = len(powers)
    given = weight

    def weight(x):
        return max(abs(given(x)), mp.mpf("1e-9"))

    nodes = [(lo + hi) / 2 - (hi - lo) / 2 * mp.cos(mp.pi * k / n) for k in range(n + 1)]
    grid = [(lo + hi) / 2 - (hi - lo) / 2 * mp.cos(mp.pi * k / 400) for k in range(401)]
    grid_target = [target(x) for x in grid]
    grid_weight = [weight(x) for x in grid]
    best = None
    for _ in range(rounds):
        rows = mp.matrix(n + 1, n + 1)
        rhs = mp.matrix(n + 1, 1)
        for i, x in enumerate(nodes):
            for j, p in enumerate(powers):
                rows[i, j] = x**p
            rows[i, n] = (-1) ** i / weight(x)
            rhs[i] = target(x)
        solution = mp.lu_solve(rows, rhs)
        coefficients = list(solution[:n])
        error = [
            w * (sum(c * x**p for c, p in zip(coefficients, powers)) - t)
            for x, t, w in zip(grid, grid_target, grid_weight)
        ]
        worst = max(abs(e) for e in error)
        if best is None or worst < best[1]:
            best = (coefficients, worst)
        # One extremum per run of equal sign.
        extrema = []
        for x, e in zip(grid, error):
            if extrema and mp.sign(extrema[-1][1]) == mp.sign(e):
                if abs(e) > abs(extrema[-1][1]):
                    extrema[-1] = (x, e)
            else:
                extrema.append((x, e))
        while len(extrema) > n + 1:
            extrema.pop(0 if abs(extrema[0][1]) < abs(extrema[-1][1]) else -1)
        if len(extrema) < n + 1:
            break
        moved = max(abs(a - b[0]) for a, b in zip(nodes, extrema))
        nodes = [x for x, _ in extrema]
        if moved < (hi - lo) * mp.mpf("1e-4"):
            break
    return best


def to_float(c):
    return mp.mpf(float(np.float32(float(c))))


def fit(target, weight, powers, lo, hi):
    """Minimax coefficients, each a float32."""
    fixed = []
    error = None
    for k in range(len(powers)):

        def rest(x):
            return target(x) - sum(c * x**p for c, p in zip(fixed, powers))

        coefficients, error = remez(rest, weight, powers[k:], lo, hi)
        fixed.append(to_float(coefficients[0]))
    grid = [lo + (hi - lo) * mp.mpf(k) / 1000 for k in range(1001)]
    error = max(
        abs(weight(x) * (sum(c * x**p for c, p in zip(fixed, powers)) - target(x))) for x in grid
    )
    return fixed, error


def at(x, f, series):
    """f away from zero, the first terms of its series near zero, where f loses all digits."""
    return series(x) if abs(x) < mp.mpf("1e-9") else f(x)


SQRT_HALF = mp.sqrt(mp.mpf(1) / 2)

# name: (target, weight, powers, lo, hi)
FITS = {
    # exp(r) = 1 + r + r^2 q(r), relative to exp(r) - 1 so that expm1 shares it
    "exp": (
        lambda r: at(r, lambda x: (mp.expm1(x) - x) / x**2, lambda x: mp.mpf(1) / 2 + x / 6),
        lambda r: at(r, lambda x: x**2 / mp.expm1(x), lambda x: x),
        range(6),
        -mp.mpf("0.34668"),
        mp.mpf("0.34668"),
    ),
    # log(1 + f) = f - f^2/2 + f^3 p(f)
    "log": (
        lambda f: at(
            f, lambda x: (mp.log1p(x) - x + x**2 / 2) / x**3, lambda x: mp.mpf(1) / 3 - x / 4
        ),
        lambda f: at(f, lambda x: x**3 / mp.log1p(x), lambda x: x**2),
        range(8),
        SQRT_HALF - 1,
        2 * SQRT_HALF - 1,
    ),
    # log((1 + s) / (1 - s)) = 2 s + s^3 p(s^2), for power
    "log_ratio": (
        lambda z: at(
            z,
            lambda x: (2 * mp.atanh(mp.sqrt(x)) / mp.sqrt(x) - 2) / x,
            lambda x: mp.mpf(2) / 3 + 2 * x / 5,
        ),
        lambda z: at(z, lambda x: x * mp.sqrt(x) / (2 * mp.atanh(mp.sqrt(x))), lambda x: x / 2),
        range(4),
        mp.mpf(0),
        mp.mpf("0.029438"),
    ),
    # sin(r) = r + r^3 p(r^2)
    "sin": (
        lambda z: at(
            z,
            lambda x: (mp.sin(mp.sqrt(x)) / mp.sqrt(x) - 1) / x,
            lambda x: -mp.mpf(1) / 6 + x / 120,
        ),
        lambda z: at(z, lambda x: x * mp.sqrt(x) / mp.sin(mp.sqrt(x)), lambda x: x),
        range(3),
        mp.mpf(0),
        mp.mpf("0.6172"),
    ),
    # cos(r) = 1 - r^2/2 + r^4 p(r^2)
    "cos": (
        lambda z: at(
            z, lambda x: (mp.cos(mp.sqrt(x)) - 1 + x / 2) / x**2, lambda x: mp.mpf(1) / 24 - x / 720
        ),
        lambda z: z**2 / mp.cos(mp.sqrt(z)),
        range(3),
        mp.mpf(0),
        mp.mpf("0.6172"),
    ),
    # asin(x) = x + x^3 p(x^2)
    "asin": (
        lambda z: at(
            z,
            lambda x: (mp.asin(mp.sqrt(x)) / mp.sqrt(x) - 1) / x,
            lambda x: mp.mpf(1) / 6 + 3 * x / 40,
        ),
        lambda z: at(z, lambda x: x * mp.sqrt(x) / mp.asin(mp.sqrt(x)), lambda x: x),
        range(5),
        mp.mpf(0),
        mp.mpf("0.25"),
    ),
    # atan(x) = x + x^3 p(x^2)
    "atan": (
        lambda z: at(
            z,
            lambda x: (mp.atan(mp.sqrt(x)) / mp.sqrt(x) - 1) / x,
            lambda x: -mp.mpf(1) / 3 + x / 5,
        ),
        lambda z: at(z, lambda x: x * mp.sqrt(x) / mp.atan(mp.sqrt(x)), lambda x: x),
        range(8),
        mp.mpf(0),
        mp.mpf(1),
    ),
    # erf(x) = x + x p(x^2) up to 0.92
    "erf_small": (
        lambda z: at(
            z,
            lambda x: mp.erf(mp.sqrt(x)) / mp.sqrt(x) - 1,
            lambda x: 2 / mp.sqrt(mp.pi) * (1 - x / 3) - 1,
        ),
        lambda z: at(z, lambda x: mp.sqrt(x) / mp.erf(mp.sqrt(x)), lambda x: mp.sqrt(mp.pi) / 2),
        range(6),
        mp.mpf(0),
        mp.mpf("0.8465"),
    ),
    # erf(x) = 1 - exp(-x - x p(x)) from 0.92 to 4; an error of the exponent counts with 1 - erf
    "erf_large": (
        lambda x: -mp.log(mp.erfc(x)) / x - 1,
        lambda x: x * mp.erfc(x) / mp.erf(x),
        range(8),
        mp.mpf("0.92"),
        mp.mpf(4),
    ),
    # tanh(x) = x + x^3 p(x^2) up to 0.55
    "tanh_small": (
        lambda z: at(
            z,
            lambda x: (mp.tanh(mp.sqrt(x)) / mp.sqrt(x) - 1) / x,
            lambda x: -mp.mpf(1) / 3 + 2 * x / 15,
        ),
        lambda z: at(z, lambda x: x * mp.sqrt(x) / mp.tanh(mp.sqrt(x)), lambda x: x),
        range(5),
        mp.mpf(0),
        mp.mpf("0.3025"),
    ),
}


def main():
    for name in sys.argv[1:] or FITS:
        target, weight, powers, lo, hi = FITS[name]
        coefficients, error = fit(target, weight, list(powers), lo, hi)
        print(f"{name}: weighted error 2^{float(mp.log(error, 2)):.2f}")
        for c in coefficients:
            print(f"    {float(c):.9g}f")


if __name__ == "__main__":
    main()
