"""2-D convolutions, channels last (PyTorch's arrays are in its channels-last format)."""

from .workload import Family, normal

family = Family("conv")


def mlx(stride, padding, groups):
    return lambda xp: lambda x, w: xp.conv2d(x, w, stride=stride, padding=padding, groups=groups)


def torch(stride, padding, groups):
    """In PyTorch a permuted channels-last array is its channels-last memory format: no copy."""

    def function(xp):
        def f(x, w):
            x, w = x.permute(0, 3, 1, 2), w.permute(0, 3, 1, 2)
            y = xp.nn.functional.conv2d(x, w, stride=stride, padding=padding, groups=groups)
            return y.permute(0, 2, 3, 1)

        return f

    return function


def jax(stride, padding, groups):
    def function(xp):
        from jax import lax

        return lambda x, w: lax.conv_general_dilated(
            x,
            w,
            (stride, stride),
            [(padding, padding)] * 2,
            dimension_numbers=("NHWC", "OHWI", "NHWC"),
            feature_group_count=groups,
        )

    return function


def add(name, size, channels, out, kernel, stride=1, padding=0, groups=1, batch=8, quick=False):
    side = (size + 2 * padding - kernel) // stride + 1
    taps = kernel * kernel * channels // groups
    args = stride, padding, groups
    family.add(
        name,
        normal(batch, size, size, channels),
        normal(out, kernel, kernel, channels // groups, scale=taps**-0.5),
        mlx=mlx(*args),
        torch=torch(*args),
        jax=jax(*args),
        flops=2 * batch * side * side * out * taps,
        quick=quick,
    )


add("conv3x3_64_56_N8", 56, 64, 64, 3, padding=1, quick=True)
add("conv7x7s2_3_224_N8", 224, 3, 64, 7, stride=2, padding=3)
add("conv3x3_dw_128_56_N8", 56, 128, 128, 3, padding=1, groups=128)
add("conv1x1_256_28_N8", 28, 256, 256, 1)
