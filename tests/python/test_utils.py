"""Tests of mlx.utils: walking, flattening, building, folding and merging trees."""

from collections import namedtuple

import mlx.core as mx
import mlx.nn as nn
import pytest
from mlx.utils import (
    tree_flatten,
    tree_map,
    tree_map_with_path,
    tree_merge,
    tree_reduce,
    tree_unflatten,
)

Pair = namedtuple("Pair", ["a", "b"])


def test_map_keeps_the_structure():
    tree = {"x": [1, (2, Pair(3, {"y": 4}))], "empty": [], "none": None}
    got = tree_map(lambda v: None if v is None else v * 10, tree)
    assert got == {"x": [10, (20, Pair(30, {"y": 40}))], "empty": [], "none": None}
    assert isinstance(got["x"][1], tuple) and isinstance(got["x"][1][1], Pair)
    assert tree_map(lambda v: v + 1, 1) == 2


def test_map_of_a_module_is_a_plain_dictionary():
    got = tree_map(lambda v: v.shape, nn.Linear(2, 3))
    assert type(got) is dict
    assert got == {"weight": (3, 2), "bias": (3,)}


def test_map_indexes_the_other_trees():
    got = tree_map(lambda a, b, c: (a, b, c), {"x": [1, 2]}, {"x": [3, 4], "z": 0}, {"x": (5, [6])})
    assert got == {"x": [(1, 3, 5), (2, 4, [6])]}
    with pytest.raises(KeyError):
        tree_map(lambda a, b: a, {"x": 1}, {})
    with pytest.raises(IndexError):
        tree_map(lambda a, b: a, [1, 2], [1])


def test_map_stops_at_leaves():
    got = tree_map(sum, {"x": [1, 2], "y": {"z": [3, 4]}}, is_leaf=lambda v: isinstance(v, list))
    assert got == {"x": 3, "y": {"z": 7}}


def test_map_with_path():
    got = tree_map_with_path(
        lambda p, v, w: f"{p}={v + w}", {"a": [1, Pair(2, 3)]}, {"a": [1, (1, 1)]}
    )
    assert got == {"a": ["a.0=2", Pair("a.1.0=3", "a.1.1=4")]}
    assert tree_map_with_path(lambda p, v: p, [5], path="x.y") == ["x.y.0"]
    assert tree_map_with_path(lambda p, v: p, [5], path="") == ["0"]
    assert tree_map_with_path(lambda p, v: p, 5) is None


def test_flatten():
    tree = {"a": [1, {"b": 2}], "c": (3,), "d": {}, 5: Pair(6, [7])}
    flat = [("a.0", 1), ("a.1.b", 2), ("c.0", 3), ("5.0", 6), ("5.1.0", 7)]
    assert tree_flatten(tree) == flat
    assert tree_flatten(5) == [("", 5)]
    assert tree_flatten([]) == []
    assert tree_flatten({"a": None}) == [("a", None)]
    assert tree_flatten([1], prefix=".p") == [("p.0", 1)]
    assert tree_flatten({"a": [1, 2]}, is_leaf=lambda v: isinstance(v, list)) == [("a", [1, 2])]


def test_flatten_into_a_destination():
    target = {"x": 0}
    assert tree_flatten({"a": [1]}, destination=target) is target
    assert target == {"x": 0, "a.0": 1}
    assert tree_flatten([1], destination=[("x", 0)]) == [("x", 0), ("0", 1)]
    with pytest.raises(ValueError, match="destination"):
        tree_flatten([1], destination=3)


def test_unflatten():
    pairs = [("a.0", 1), ("a.1.b", 2), ("c.0", 3)]
    want = {"a": [1, {"b": 2}], "c": [3]}
    assert tree_unflatten(pairs) == want
    assert tree_unflatten(dict(pairs)) == want
    assert tree_unflatten([("", 5)]) == 5
    assert tree_unflatten([]) == [] == tree_unflatten({})
    assert tree_unflatten([("a.2", 1)]) == {"a": [{}, {}, 1]}
    assert tree_unflatten([("1", 1), ("0", 2)]) == [2, 1]
    assert tree_unflatten({"0": 1, "x": 2}) == {"0": 1, "x": 2}
    assert tree_unflatten([("0", 1), ("00", 2)]) == {"0": 1, "00": 2}
    assert tree_unflatten([("-1", 1)]) == {"-1": 1}


def test_unflatten_of_odd_paths_ends():
    assert tree_unflatten([("a", 1), ("a.b", 2)]) == {"a": {"": 1, "b": 2}}
    assert tree_unflatten([("a", 1), ("a", 2)]) == {"a": 2}
    with pytest.raises(ValueError, match="99999999999"):
        tree_unflatten([("a.99999999999", 1)])


def test_flatten_and_unflatten_are_inverse():
    tree = nn.TransformerEncoder(2, 8, 2).parameters()
    back = tree_unflatten(tree_flatten(tree))
    assert [k for k, _ in tree_flatten(back)] == [k for k, _ in tree_flatten(tree)]
    assert all(
        mx.array_equal(a, b) for (_, a), (_, b) in zip(tree_flatten(back), tree_flatten(tree))
    )


def test_reduce():
    tree = [1, (2, {"z": 3})]
    assert tree_reduce(lambda a, v: a + v, tree) == 6
    assert tree_reduce(lambda a, v: a + v, tree, 10) == 16
    assert tree_reduce(lambda a, v: a + v, 5) == 5
    assert tree_reduce(lambda a, v: a + v, {}) is None
    assert tree_reduce(lambda a, v: a + v, [], 1) == 1
    leaf = lambda v: v == [2, 3]
    assert tree_reduce(lambda a, v: [*a, v], [1, [2, 3]], [], is_leaf=leaf) == [1, [2, 3]]


@pytest.mark.parametrize(
    "a, b, want",
    [
        ({"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
        ({"a": {"b": 1}}, {"a": {"c": 2}}, {"a": {"b": 1, "c": 2}}),
        ([1, None], [None, 2], [1, 2]),
        ([1], [None, 2, 3], [1, 2, 3]),
        ([None], [None], [None]),
        ((1, None), (None, 2), (1, 2)),
        (Pair(1, None), Pair(None, 2), Pair(1, 2)),
        ([{}, 1], [2, {}], [2, 1]),
        ({}, {}, {}),
        ({}, 5, 5),
        (5, None, 5),
        ([], {"a": 1}, {"a": 1}),
    ],
)
def test_merge(a, b, want):
    got = tree_merge(a, b)
    assert got == want
    assert type(got) is type(want)


@pytest.mark.parametrize(
    "a, b", [({"a": 1}, {"a": 2}), ({"a": 1}, 5), ({"a": 1}, [1]), ({}, []), ([], ())]
)
def test_merge_of_what_does_not_fit(a, b):
    with pytest.raises(ValueError, match="tree_merge"):
        tree_merge(a, b)


def test_merge_with_a_function():
    assert tree_merge({"a": 1, "b": 2}, {"a": 3}, lambda x, y: x + y) == {"a": 4, "b": 2}
    assert tree_merge({"a": 1}, 5, lambda x, y: (x, y)) == ({"a": 1}, 5)
