"""Pytrees: nested lists, tuples (named tuples too) and dictionaries with anything as leaves.

Modules, gradients and optimizer states are such trees; everything that walks them is here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import Any, overload

# A level whose keys are integers becomes a list as long as its largest key; beyond this length the
# key can only come from a damaged or hostile file.
_LONGEST_LIST = 1 << 24

_CONTAINERS = (list, tuple, dict)


def _rebuild(like: list | tuple, items: list) -> list | tuple:
    """A sequence of the type of ``like``; named tuples take their fields one by one."""
    if isinstance(like, tuple) and hasattr(like, "_fields"):
        return type(like)(*items)
    return type(like)(items)


def _children(tree: Any) -> Iterator[tuple[Any, Any]]:
    return iter(tree.items()) if isinstance(tree, dict) else enumerate(tree)


def _join(path: Any, key: Any) -> str:
    return f"{path}.{key}" if path else str(key)


def tree_map(
    fn: Callable, tree: Any, *rest: Any, is_leaf: Callable[[Any], bool] | None = None
) -> Any:
    """Apply ``fn`` to every leaf of ``tree`` and return a tree of the results.

    Args:
        fn: called as ``fn(leaf, *others)``.
        tree: the tree whose structure is followed.
        rest: further trees, indexed with the keys and positions of ``tree``; where ``tree`` has a
            leaf they may hold anything.
        is_leaf: when given, subtrees for which it is true are passed to ``fn`` as they are.

    Returns:
        A tree like ``tree``: lists, tuples and named tuples keep their type, dictionaries (modules
        too) become plain dictionaries.

    Raises:
        KeyError, IndexError: a tree of ``rest`` lacks an entry that ``tree`` has.

    Example:
        >>> tree_map(lambda x, y: x + y, {"a": [1, 2]}, {"a": [10, 20]})
        {'a': [11, 22]}
    """
    if not isinstance(tree, _CONTAINERS) or (is_leaf is not None and is_leaf(tree)):
        return fn(tree, *rest)
    if isinstance(tree, dict):
        return {
            k: tree_map(fn, child, *(r[k] for r in rest), is_leaf=is_leaf)
            for k, child in tree.items()
        }
    items = [
        tree_map(fn, child, *(r[i] for r in rest), is_leaf=is_leaf) for i, child in enumerate(tree)
    ]
    return _rebuild(tree, items)


def tree_map_with_path(
    fn: Callable,
    tree: Any,
    *rest: Any,
    is_leaf: Callable[[Any], bool] | None = None,
    path: Any | None = None,
) -> Any:
    """Like :func:`tree_map`, but ``fn`` also gets the dotted path: ``fn(path, leaf, *others)``.

    Args:
        fn: called for every leaf.
        tree: the tree whose structure is followed.
        rest: further trees, indexed in parallel.
        is_leaf: subtrees for which it is true count as leaves.
        path: the path of ``tree`` itself, put before every path.

    Example:
        >>> tree_map_with_path(lambda path, leaf: path, {"a": [1, 2]})
        {'a': ['a.0', 'a.1']}
    """
    if not isinstance(tree, _CONTAINERS) or (is_leaf is not None and is_leaf(tree)):
        return fn(path, tree, *rest)

    def visit(key: Any, child: Any) -> Any:
        others = (r[key] for r in rest)
        return tree_map_with_path(fn, child, *others, is_leaf=is_leaf, path=_join(path, key))

    if isinstance(tree, dict):
        return {key: visit(key, child) for key, child in tree.items()}
    return _rebuild(tree, [visit(key, child) for key, child in enumerate(tree)])


def _leaves(tree: Any, prefix: str, is_leaf: Callable | None) -> Iterator[tuple[str, Any]]:
    if not isinstance(tree, _CONTAINERS) or (is_leaf is not None and is_leaf(tree)):
        yield prefix, tree
        return
    for key, child in _children(tree):
        yield from _leaves(child, f"{prefix}.{key}", is_leaf)


@overload
def tree_flatten(
    tree: Any,
    prefix: str = "",
    is_leaf: Callable[[Any], bool] | None = None,
    destination: list[tuple[str, Any]] | None = None,
) -> list[tuple[str, Any]]: ...
@overload
def tree_flatten(
    tree: Any,
    prefix: str = "",
    is_leaf: Callable[[Any], bool] | None = None,
    *,
    destination: dict[str, Any],
) -> dict[str, Any]: ...
def tree_flatten(
    tree: Any,
    prefix: str = "",
    is_leaf: Callable[[Any], bool] | None = None,
    destination: list[tuple[str, Any]] | dict[str, Any] | None = None,
) -> list[tuple[str, Any]] | dict[str, Any]:
    """List the leaves of ``tree`` with their dotted paths, depth first.

    Args:
        tree: any tree; a bare leaf has the path ``""``, empty containers leave no trace.
        prefix: put before every path; its first character is dropped (``".p"`` gives ``"p.…"``).
        is_leaf: subtrees for which it is true count as leaves.
        destination: a list or a dictionary to fill and return in place of a new list.

    Returns:
        A list of ``(path, leaf)``, or ``destination``.

    Raises:
        ValueError: ``destination`` is neither a list nor a dictionary.

    Example:
        >>> tree_flatten({"a": [1, {"b": 2}]})
        [('a.0', 1), ('a.1.b', 2)]
    """
    if destination is None:
        destination = []
    pairs = ((path[1:], leaf) for path, leaf in _leaves(tree, prefix, is_leaf))
    if isinstance(destination, list):
        destination.extend(pairs)
    elif isinstance(destination, dict):
        destination.update(pairs)
    else:
        raise ValueError(
            "[tree_flatten] destination should be a list, a dict or None, got "
            f"{type(destination).__name__}"
        )
    return destination


def tree_unflatten(tree: list[tuple[str, Any]] | dict[str, Any]) -> Any:
    """Build the tree that has the given dotted paths: the inverse of :func:`tree_flatten`.

    Args:
        tree: pairs ``(path, leaf)`` or a dictionary from paths to leaves. A level whose keys are
            all distinct integers becomes a list in which missing positions hold ``{}``; any other
            level becomes a dictionary with string keys.

    Raises:
        ValueError: an integer key is too large to be a position in a list.

    Example:
        >>> tree_unflatten([("a.0", 1), ("a.1.b", 2)])
        {'a': [1, {'b': 2}]}
    """
    pairs = list(tree.items()) if isinstance(tree, dict) else list(tree)
    if not pairs:
        return []
    if all(path == "" for path, _ in pairs):
        return pairs[-1][1]

    level: dict[str, list[tuple[str, Any]]] = {}
    for path, leaf in pairs:
        key, _, below = path.partition(".")
        level.setdefault(key, []).append((below, leaf))

    positions = {int(k): k for k in level if k.isascii() and k.isdigit()}
    if len(positions) < len(level):
        return {key: tree_unflatten(below) for key, below in level.items()}
    length = max(positions) + 1
    if length > _LONGEST_LIST:
        raise ValueError(
            f"[tree_unflatten] got the list position {length - 1}, expected at most "
            f"{_LONGEST_LIST - 1}"
        )
    items: list[Any] = [{} for _ in range(length)]
    for position, key in positions.items():
        items[position] = tree_unflatten(level[key])
    return items


def tree_reduce(
    fn: Callable[[Any, Any], Any],
    tree: Any,
    initializer: Any = None,
    is_leaf: Callable[[Any], bool] | None = None,
) -> Any:
    """Fold the leaves of ``tree``, depth first: ``acc = fn(acc, leaf)``.

    Args:
        fn: the function of the accumulator and a leaf.
        tree: the tree to fold.
        initializer: the first accumulator; without it the first leaf is taken.
        is_leaf: subtrees for which it is true count as leaves.

    Returns:
        The last accumulator; ``None`` for a tree without leaves and without an initializer.

    Example:
        >>> tree_reduce(lambda acc, x: acc + x, {"a": [1, 2], "b": 3}, 0)
        6
    """
    accumulator = initializer
    for _, leaf in _leaves(tree, "", is_leaf):
        accumulator = leaf if accumulator is None else fn(accumulator, leaf)
    return accumulator


def _is_empty(tree: Any) -> bool:
    return tree is None or (isinstance(tree, _CONTAINERS) and len(tree) == 0)


def tree_merge(tree_a: Any, tree_b: Any, merge_fn: Callable[[Any, Any], Any] | None = None) -> Any:
    """Unite two trees.

    Where one of them has nothing, an empty container or ``None``, the other's part is taken;
    dictionaries are united by key and sequences by position, up to the longer one.

    Args:
        tree_a: the first tree.
        tree_b: the second tree.
        merge_fn: called as ``merge_fn(a, b)`` where both trees have a leaf, or where a leaf meets
            a container or a list meets a dictionary.

    Raises:
        ValueError: such a place exists and there is no ``merge_fn``, or two empty containers of
            different types meet.

    Example:
        >>> tree_merge({"a": 1}, {"b": 2})
        {'a': 1, 'b': 2}
    """
    if isinstance(tree_a, _CONTAINERS) and isinstance(tree_b, _CONTAINERS):
        if not tree_a and not tree_b and type(tree_a) is not type(tree_b):
            raise ValueError(
                f"[tree_merge] got an empty {type(tree_a).__name__} and an empty "
                f"{type(tree_b).__name__}, expected containers of one type"
            )
    if tree_b is not None and _is_empty(tree_a):
        return tree_b
    if tree_a is not None and _is_empty(tree_b):
        return tree_a

    if isinstance(tree_a, (list, tuple)) and isinstance(tree_b, (list, tuple)):
        pairs = zip_longest(tree_a, tree_b)
        return _rebuild(tree_a, [_merge_optional(a, b, merge_fn) for a, b in pairs])
    if isinstance(tree_a, dict) and isinstance(tree_b, dict):
        keys = dict.fromkeys((*tree_a, *tree_b))
        return {k: _merge_optional(tree_a.get(k), tree_b.get(k), merge_fn) for k in keys}

    if merge_fn is None:
        raise ValueError(
            f"[tree_merge] both trees have an element at the same place "
            f"({type(tree_a).__name__} and {type(tree_b).__name__}) and no merge_fn was given"
        )
    return merge_fn(tree_a, tree_b)


def _merge_optional(a: Any, b: Any, merge_fn: Callable[[Any, Any], Any] | None) -> Any:
    """Merge two entries of containers, where both may be absent."""
    return None if a is None and b is None else tree_merge(a, b, merge_fn)
