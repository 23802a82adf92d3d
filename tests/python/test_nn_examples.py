"""Runs the examples in the docstrings of mlx.nn, mlx.optimizers and mlx.utils."""

import doctest
import importlib
import pkgutil

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optim
import mlx.utils
import pytest

PACKAGES = [nn, optim]
MODULES = ["mlx.utils"] + [
    info.name for p in PACKAGES for info in pkgutil.walk_packages(p.__path__, p.__name__ + ".")
]
NEEDS = {"checkpoint": "checkpoint", "orthogonal": "linalg.qr"}
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def exists(name):
    value = mx
    for part in name.split("."):
        value = getattr(value, part, None)
    return value is not None


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    module = importlib.import_module(name)
    names = {**vars(module), "mx": mx, "nn": nn, "optim": optim}
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    for test in doctest.DocTestFinder().find(module, globs=names):
        needed = NEEDS.get(test.name.rsplit(".", 1)[-1])
        if needed is None or exists(needed):
            runner.run(test)
    assert runner.summarize(verbose=False).failed == 0


@pytest.mark.parametrize("package", [nn, optim, mlx.utils, nn.losses, nn.init, nn.utils])
def test_everything_public_has_an_example(package):
    for name in getattr(package, "__all__", dir(package)):
        value = getattr(package, name)
        public = not name.startswith("_") and callable(value)
        if public and getattr(value, "__module__", "").startswith("mlx."):
            assert value.__doc__ and ">>>" in value.__doc__, name
