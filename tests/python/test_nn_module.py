"""Tests of nn.Module: attributes, filters, updates, freezing, modes and files."""

import copy
import pickle

import mlx.core as mx
import mlx.nn as nn
import numpy as np
import pytest
from mlx.utils import tree_flatten


class Mixed(nn.Module):
    """Arrays and modules as attributes, in a list, in a tuple and in a dictionary."""

    def __init__(self):
        super().__init__()
        self.items_ = [mx.zeros((2,)), nn.Linear(1, 1)]
        self.pair = (mx.ones((1,)), nn.ReLU())
        self.named = {"a": mx.zeros((1,)), "b": nn.ReLU()}
        self.lin = nn.Linear(2, 2, bias=False)
        self.w = mx.zeros((2,))
        self._hidden = mx.zeros((1,))
        self.name = "mixed"
        self.nothing = None


def names(tree):
    return [name for name, _ in tree_flatten(tree)]


PARAMETERS = ["items_.0", "items_.1.weight", "items_.1.bias", "named.a", "lin.weight", "w"]


def test_what_becomes_an_item():
    m = Mixed()
    assert list(m) == ["items_", "pair", "named", "lin", "w", "_hidden"]
    assert m.name == "mixed" and m.nothing is None
    assert m.w is m["w"] and m.lin is m["lin"]
    assert m.state is m and m.training
    assert "bias" not in m.lin and m.lin.get("bias") is None
    with pytest.raises(AttributeError, match="'Linear' object has no attribute 'bias'"):
        _ = m.lin.bias


def test_assignment_changes_the_kind_of_an_attribute():
    m = Mixed()
    m.w = 3
    assert "w" not in m and m.w == 3
    m.w = mx.ones((1,))
    assert "w" in m and "w" not in vars(m) and m.w.item() == 1
    del m.w, m.name
    assert not hasattr(m, "w") and not hasattr(m, "name")
    with pytest.raises(AttributeError):
        del m.name


def test_parameters():
    m = Mixed()
    assert names(m.parameters()) == PARAMETERS
    assert m.parameters()["named"] == {"a": m.named["a"], "b": {}}
    assert type(m.parameters()["lin"]) is dict


def test_children_and_modules():
    m = Mixed()
    children = m.children()
    assert set(children) == {"items_", "named", "lin"}
    assert children["items_"][0] == {} and children["items_"][1] is m.items_[1]
    assert [name for name, _ in m.named_modules()] == ["", "lin", "named.b", "items_.1"]
    assert m.modules()[0] is m and m.modules()[1] is m.lin
    model = nn.Sequential(nn.Sequential(nn.ReLU(), nn.Linear(1, 1)), nn.Tanh())
    leaves = tree_flatten(model.leaf_modules(), is_leaf=nn.Module.is_module)
    assert [name for name, _ in leaves] == ["layers.0.layers.0", "layers.0.layers.1", "layers.1"]
    assert [name for name, _ in model.named_modules()][1:] == [
        "layers.1",
        "layers.0",
        "layers.0.layers.1",
        "layers.0.layers.0",
    ]


def test_filter_and_map():
    m = Mixed()
    seen = []

    def spy(module, key, value):
        seen.append(key)
        return nn.Module.valid_parameter_filter(module, key, value)

    shapes = m.filter_and_map(spy, lambda a: a.shape)
    assert shapes["items_"] == [(2,), {"weight": (1, 1), "bias": (1,)}]
    assert "items_.0" in seen and "named.a" in seen and "weight" in seen
    with pytest.raises(RuntimeError, match="pair"):
        m.filter_and_map(lambda *_: True, is_leaf_fn=lambda m, k, v: isinstance(v, mx.array))


def test_repr():
    assert repr(Mixed()) == (
        "Mixed(\n"
        "  (items_.1): Linear(input_dims=1, output_dims=1, bias=True)\n"
        "  (named.b): ReLU()\n"
        "  (lin): Linear(input_dims=2, output_dims=2, bias=False)\n"
        ")"
    )
    assert repr(nn.Sequential(nn.Sequential(nn.ReLU()))) == (
        "Sequential(\n  (layers.0): Sequential(\n    (layers.0): ReLU()\n  )\n)"
    )


def test_update_of_a_part():
    m = Mixed()
    ones = mx.ones((2,))
    assert m.update({"w": ones, "items_": [{}, {"weight": mx.full((1, 1), 7.0)}]}) is m
    assert m.w is ones
    assert m.items_[1].weight.item() == 7
    assert m.items_[0].tolist() == [0, 0]
    m.update({"items_": [ones], "lin": {}})
    assert m.items_[0] is ones


@pytest.mark.parametrize(
    "parameters",
    [
        {"nope": mx.array(1.0)},
        {"w": 1},
        {"w": {"x": mx.array(1.0)}},
        {"lin": [mx.array(1.0)]},
        {"lin": mx.array(1.0)},
        {"items_": {"0": mx.array(1.0)}},
        {"items_": [{}, {}, mx.array(1.0)]},
        {"pair": (mx.array(1.0),)},
        [mx.array(1.0)],
    ],
)
def test_update_of_what_does_not_fit(parameters):
    m = Mixed()
    with pytest.raises(ValueError, match="update"):
        m.update(parameters)


def test_update_that_is_not_strict():
    m = Mixed()
    m.update({"nope": mx.array(1.0), "w": 3, "items_": [{}, {}, 1], "lin": [1]}, strict=False)
    assert m["w"] == 3 and "nope" not in m and len(m.items_) == 2


def test_apply_and_set_dtype():
    m = Mixed()
    m.lin.ids = mx.array([1, 2])
    assert m.apply(lambda a: a + 1) is m
    assert m.w.tolist() == [1, 1] and m.items_[0].tolist() == [1, 1] and m._hidden.item() == 0
    m.apply(lambda a: a * 0, lambda module, k, v: k == "w")
    assert m.w.tolist() == [0, 0] and m.items_[0].tolist() == [1, 1]
    assert m.set_dtype(mx.float16) is None
    assert m.w.dtype == mx.float16 and m.lin.ids.dtype == mx.int32
    m.set_dtype(mx.float32, None)
    assert m.lin.ids.dtype == mx.float32


def test_update_modules():
    m = Mixed()
    m.update_modules({"lin": nn.Tanh(), "items_": [{}, nn.ReLU()], "named": {"b": nn.Tanh()}})
    assert isinstance(m.lin, nn.Tanh) and isinstance(m.items_[1], nn.ReLU)
    assert isinstance(m.named["b"], nn.Tanh) and m.named["a"].tolist() == [0]
    m.update_modules(m.leaf_modules())
    for wrong in ({"nope": nn.ReLU()}, {"lin": 3}, {"w": nn.ReLU()}, {"items_": [nn.ReLU()]}):
        with pytest.raises(ValueError, match="Module"):
            m.update_modules(wrong)
        m.update_modules(wrong, strict=False)
    assert isinstance(m.lin, nn.Tanh) and isinstance(m.w, mx.array)


def test_freeze_and_unfreeze():
    m = Mixed()
    assert m.freeze() is m
    assert names(m.trainable_parameters()) == []
    assert m.unfreeze() is m
    assert names(m.trainable_parameters()) == PARAMETERS
    m.freeze(recurse=False)
    assert names(m.trainable_parameters()) == ["items_.1.weight", "items_.1.bias", "lin.weight"]
    m.unfreeze(keys=["items_.0", "w"])
    assert "items_.0" in names(m.trainable_parameters())
    assert "named.a" not in names(m.trainable_parameters())
    m.unfreeze().freeze(keys="bias")
    assert names(m.trainable_parameters()) == [n for n in PARAMETERS if not n.endswith("bias")]


def test_freezing_unknown_names():
    model = nn.Sequential(nn.Linear(1, 1), nn.ReLU())
    model.freeze(keys="nope")
    assert len(names(model.trainable_parameters())) == 2
    model.freeze(keys="weight", strict=True)
    assert names(model.trainable_parameters()) == ["layers.0.bias"]
    for call in (model.freeze, model.unfreeze):
        with pytest.raises(KeyError, match="nope"):
            call(keys=["weight", "nope"], strict=True)
        with pytest.raises(KeyError, match="weight"):
            call(keys="weight", strict=True, recurse=False)


def test_modes():
    model = nn.Sequential(nn.Dropout(0.5), nn.Sequential(nn.Dropout(0.5)))
    assert model.eval() is model
    assert not any(m.training for m in model.modules())
    model.train()
    assert all(m.training for m in model.modules())
    x = mx.ones((8,))
    assert model.train(False)(x).tolist() == x.tolist()


def test_apply_to_modules():
    m = Mixed()
    seen = []
    assert m.apply_to_modules(lambda name, module: seen.append((name, type(module)))) is m
    assert seen[0] == ("", Mixed) and ("lin", nn.Linear) in seen


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
def test_files(tmp_path, suffix):
    path = str(tmp_path / ("weights" + suffix))
    a, b = nn.TransformerEncoder(2, 8, 2), nn.TransformerEncoder(2, 8, 2)
    a.save_weights(path)
    assert b.load_weights(path) is b
    for (_, x), (_, y) in zip(tree_flatten(a.parameters()), tree_flatten(b.parameters())):
        assert mx.array_equal(x, y)


def test_files_of_other_kinds(tmp_path):
    layer = nn.Linear(2, 2)
    with pytest.raises(ValueError, match=r"w\.bin"):
        layer.save_weights(str(tmp_path / "w.bin"))
    mx.save(str(tmp_path / "w.npy"), mx.zeros((2,)))
    with pytest.raises(ValueError, match="named arrays"):
        layer.load_weights(str(tmp_path / "w.npy"))


def test_load_weights_from_a_list():
    layer = nn.Linear(2, 3)
    w, b = mx.ones((3, 2), mx.float16), mx.ones((3,))
    layer.load_weights([("weight", w), ("bias", b)])
    assert layer.weight.dtype == mx.float16
    for wrong, message in (
        ([("weight", w)], "missing: bias"),
        ([("weight", w), ("bias", b), ("x", b)], "not in the model: x"),
        ([("weight", w), ("bias", mx.ones((4,)))], r"\(3,\) for bias, got \(4,\)"),
        ([("weight", w), ("bias", 3)], "array for bias, got int"),
        ([], "missing: bias, weight"),
    ):
        with pytest.raises(ValueError, match=message):
            layer.load_weights(wrong)
    layer.load_weights([("bias", mx.zeros((3,))), ("x", b)], strict=False)
    assert layer.bias.tolist() == [0, 0, 0]
    layer.load_weights([], strict=False)


def test_copies_are_independent():
    m = nn.Sequential(nn.Linear(2, 2).freeze(keys="bias"), nn.Dropout(0.5)).eval()
    for twin in (copy.deepcopy(m), pickle.loads(pickle.dumps(m))):
        assert names(twin.parameters()) == names(m.parameters())
        assert names(twin.trainable_parameters()) == ["layers.0.weight"]
        assert not twin.layers[1].training
        before = np.array(m.layers[0].weight)
        twin.layers[0].weight = twin.layers[0].weight + 1
        np.testing.assert_array_equal(np.array(m.layers[0].weight), before)
