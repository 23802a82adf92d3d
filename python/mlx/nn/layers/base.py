"""Module: the base class of all layers, a dictionary of parameters and child modules."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

import mlx.core as mx
from mlx.utils import tree_flatten, tree_unflatten

# What is kept as an item of the dictionary; every other value is an ordinary attribute.
_ITEM_TYPES = (mx.array, dict, list, tuple)


class Module(dict):
    """Base class of layers and models.

    A module is a dictionary. Arrays, lists, tuples, dictionaries and other modules that are
    assigned to attributes become its items; all other values are ordinary attributes. The arrays
    among the items, also inside lists, dictionaries and child modules, are the *parameters*,
    except those whose name starts with an underscore. Parameters can be frozen; those that are not
    are *trainable*.

    A subclass calls ``super().__init__()`` first and defines ``__call__``.

    Example:
        >>> import mlx.core as mx
        >>> import mlx.nn as nn
        >>> class MLP(nn.Module):
        ...     def __init__(self, dims, hidden):
        ...         super().__init__()
        ...         self.up = nn.Linear(dims, hidden)
        ...         self.down = nn.Linear(hidden, dims)
        ...
        ...     def __call__(self, x):
        ...         return self.down(nn.relu(self.up(x)))
        >>> model = MLP(2, 8)
        >>> model(mx.ones((4, 2))).shape
        (4, 2)
    """

    __call__: Callable

    def __init__(self) -> None:
        self._no_grad: set[str] = set()
        self._training = True

    @property
    def training(self) -> bool:
        """Whether the module is in training mode (see :meth:`train`)."""
        return self._training

    @property
    def state(self) -> Module:
        """The module itself: the dictionary that holds all its arrays, frozen or not.

        Arrays may be read and replaced through it, for instance as ``inputs`` and ``outputs`` of a
        compiled training step.
        """
        return self

    def _extra_repr(self) -> str:
        """What stands between the parentheses in ``repr``, before the children."""
        return ""

    def __repr__(self) -> str:
        children = tree_flatten(self.children(), is_leaf=self.is_module)
        text = f"{type(self).__name__}({self._extra_repr()}"
        for name, child in children:
            text += "\n" + textwrap.indent(f"({name}): {child!r}", "  ")
        return text + ("\n)" if children else ")")

    def __getattr__(self, key: str) -> Any:
        value = self.get(key)
        if value is not None:
            return value
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{key}'")

    def __setattr__(self, key: str, value: Any) -> None:
        if isinstance(value, _ITEM_TYPES):
            self.__dict__.pop(key, None)
            self[key] = value
        else:
            super().__setattr__(key, value)
            self.pop(key, None)

    def __delattr__(self, key: str) -> None:
        if key in self:
            del self[key]
        else:
            super().__delattr__(key)

    # Filters: what of a module is seen by the methods below.

    @staticmethod
    def is_module(value: Any) -> bool:
        """Whether ``value`` is a module."""
        return isinstance(value, Module)

    @staticmethod
    def valid_child_filter(module: Module, key: str, value: Any) -> bool:
        """Keeps modules and the containers that may hold them."""
        return isinstance(value, (dict, list))

    @staticmethod
    def valid_parameter_filter(module: Module, key: str, value: Any) -> bool:
        """Keeps arrays and containers whose key doesn't start with an underscore."""
        return isinstance(value, (dict, list, mx.array)) and not key.startswith("_")

    @staticmethod
    def trainable_parameter_filter(module: Module, key: str, value: Any) -> bool:
        """Keeps parameters that are not frozen."""
        return Module.valid_parameter_filter(module, key, value) and key not in module._no_grad

    def filter_and_map(
        self,
        filter_fn: Callable[[Module, str, Any], bool],
        map_fn: Callable[[Any], Any] | None = None,
        is_leaf_fn: Callable[[Module, str, Any], bool] | None = None,
    ) -> dict[str, Any]:
        """Select items of the module tree and map them, keeping the structure.

        Args:
            filter_fn: called as ``filter_fn(module, key, value)`` with the module that owns the
                value; keys inside containers are dotted (``"layers.0"``). What it rejects is
                dropped from modules and replaced by ``{}`` in lists and dictionaries.
            map_fn: applied to the leaves that are kept; the identity by default.
            is_leaf_fn: called like ``filter_fn``; by default everything but modules, dictionaries
                and lists is a leaf.

        Returns:
            A tree of plain dictionaries and lists.

        Raises:
            RuntimeError: ``is_leaf_fn`` is false for something that has no children.
        """
        map_fn = map_fn or (lambda value: value)
        is_leaf_fn = is_leaf_fn or (lambda module, key, value: not isinstance(value, (dict, list)))

        def visit(module: Module, key: str, value: Any) -> Any:
            if is_leaf_fn(module, key, value):
                return map_fn(value)
            if isinstance(value, Module):
                return items(value)
            if isinstance(value, dict):
                return {k: entry(module, f"{key}.{k}", v) for k, v in value.items()}
            if isinstance(value, list):
                return [entry(module, f"{key}.{i}", v) for i, v in enumerate(value)]
            raise RuntimeError(
                f"[Module.filter_and_map] {key!r} of {type(module).__name__} is a "
                f"{type(value).__name__}, expected a leaf, a module, a dict or a list"
            )

        def entry(module: Module, key: str, value: Any) -> Any:
            return visit(module, key, value) if filter_fn(module, key, value) else {}

        def items(module: Module) -> dict[str, Any]:
            return {k: visit(module, k, v) for k, v in module.items() if filter_fn(module, k, v)}

        return items(self)

    # Views of the tree.

    def parameters(self) -> dict[str, Any]:
        """All parameters as a tree of dictionaries and lists with arrays as leaves."""
        return self.filter_and_map(self.valid_parameter_filter)

    def trainable_parameters(self) -> dict[str, Any]:
        """The parameters that are not frozen, in the same form as :meth:`parameters`."""
        return self.filter_and_map(self.trainable_parameter_filter)

    def children(self) -> dict[str, Any]:
        """The direct child modules; containers of modules are kept as containers."""
        return self.filter_and_map(
            self.valid_child_filter, is_leaf_fn=lambda module, key, value: self.is_module(value)
        )

    def leaf_modules(self) -> dict[str, Any]:
        """The modules of the tree that have no child modules themselves."""

        def is_leaf(module: Module, key: str, value: Any) -> bool:
            return self.is_module(value) and not tree_flatten(
                value.children(), is_leaf=self.is_module
            )

        return self.filter_and_map(self.valid_child_filter, is_leaf_fn=is_leaf)

    def named_modules(self) -> list[tuple[str, Module]]:
        """All modules of the tree with their dotted names.

        The module itself comes first, with the name ``""``; children are walked depth first, the
        last declared child first.
        """
        stack: list[tuple[str, Module]] = [("", self)]
        found = []
        while stack:
            name, module = stack.pop()
            found.append((name, module))
            prefix = f".{name}" if name else ""
            stack.extend(tree_flatten(module.children(), prefix=prefix, is_leaf=self.is_module))
        return found

    def modules(self) -> list[Module]:
        """All modules of the tree, in the order of :meth:`named_modules`."""
        return [module for _, module in self.named_modules()]

    # Changes.

    def update(self, parameters: dict, strict: bool = True) -> Module:  # type: ignore[override]
        """Replace parameters by those of a tree, which may be partial.

        Args:
            parameters: dictionaries and lists shaped like :meth:`parameters`; an empty ``{}`` or
                ``[]`` stands for "nothing to replace here".
            strict: whether unknown names, list positions beyond the end, wrong containers and
                values that are not arrays are errors; otherwise they are skipped, except that
                values that are not arrays are stored. Shapes and dtypes are not checked.

        Returns:
            The module.

        Raises:
            ValueError: see ``strict``.

        Example:
            >>> layer = nn.Linear(2, 2).update({"bias": mx.zeros((2,))})
        """
        _update(self, parameters, "", strict)
        return self

    def apply(
        self,
        map_fn: Callable[[mx.array], mx.array],
        filter_fn: Callable[[Module, str, Any], bool] | None = None,
    ) -> Module:
        """Replace every parameter by ``map_fn(parameter)``.

        Args:
            map_fn: the function to apply.
            filter_fn: selects the parameters (see :meth:`filter_and_map`); all by default.

        Returns:
            The module.

        Example:
            >>> layer = nn.Linear(2, 2).apply(lambda x: x.astype(mx.float16))
        """
        return self.update(self.filter_and_map(filter_fn or self.valid_parameter_filter, map_fn))

    def update_modules(self, modules: dict, strict: bool = True) -> Module:
        """Replace child modules by those of a tree, which may be partial.

        Args:
            modules: dictionaries and lists with modules as leaves, shaped like :meth:`children`
                or :meth:`leaf_modules`; ``{}`` stands for "nothing to replace here".
            strict: whether unknown names and values of a wrong type are errors; otherwise they
                are skipped.

        Returns:
            The module.

        Raises:
            ValueError: see ``strict``.
        """
        _update_modules(self, modules, "", strict)
        return self

    def apply_to_modules(self, apply_fn: Callable[[str, Module], Any]) -> Module:
        """Call ``apply_fn(name, module)`` for every module of the tree and return the module."""
        for name, module in self.named_modules():
            apply_fn(name, module)
        return self

    def set_dtype(
        self,
        dtype: mx.Dtype,
        predicate: Callable[[mx.Dtype], bool] | None = lambda dt: mx.issubdtype(dt, mx.floating),
    ) -> None:
        """Cast the parameters to ``dtype``.

        Args:
            dtype: the new dtype.
            predicate: called with the dtype of a parameter; says whether it is cast. By default
                floating parameters are; ``None`` casts all.
        """
        self.apply(lambda x: x.astype(dtype) if predicate is None or predicate(x.dtype) else x)

    # Frozen parameters and modes.

    def _own_parameter_names(self) -> list[str]:
        """Names of the parameters outside child modules; dotted inside containers."""

        def own(module: Module, key: str, value: Any) -> bool:
            return not self.is_module(value) and self.valid_parameter_filter(module, key, value)

        return [name for name, _ in tree_flatten(self.filter_and_map(own))]

    def _for_frozen_names(
        self,
        change: Callable[[Module, list[str] | None], None],
        recurse: bool,
        keys: str | list[str] | None,
        strict: bool,
    ) -> None:
        """Call ``change(module, keys)`` for the module, or all of its tree, after checking keys."""
        keys = [keys] if isinstance(keys, str) else keys
        modules = self.modules() if recurse else [self]
        if strict and keys:
            known = {name for m in modules for name in (*m, *m._own_parameter_names())}
            for key in keys:
                if key not in known:
                    raise KeyError(f"{type(self).__name__} doesn't contain the member {key!r}")
        for module in modules:
            change(module, keys)

    def freeze(
        self,
        *,
        recurse: bool = True,
        keys: str | list[str] | None = None,
        strict: bool = False,
    ) -> Module:
        """Take parameters out of the trainable ones; gradients are no longer computed for them.

        Args:
            recurse: whether the modules below are frozen too.
            keys: names to freeze in every module (``"bias"``, ``["weight", "layers.0"]``); all
                parameters by default.
            strict: whether a name that no module has is an error.

        Returns:
            The module.

        Raises:
            KeyError: ``strict`` is set and a name is unknown.

        Example:
            >>> sorted(nn.Linear(2, 2).freeze(keys="bias").trainable_parameters())
            ['weight']
        """

        def freeze_names(module: Module, names: list[str] | None) -> None:
            module._no_grad.update(module._own_parameter_names() if names is None else names)

        self._for_frozen_names(freeze_names, recurse, keys, strict)
        return self

    def unfreeze(
        self,
        *,
        recurse: bool = True,
        keys: str | list[str] | None = None,
        strict: bool = False,
    ) -> Module:
        """Make parameters trainable again; the opposite of :meth:`freeze`.

        Args:
            recurse: whether the modules below are unfrozen too.
            keys: names to unfreeze in every module; all by default.
            strict: whether a name that no module has is an error.

        Returns:
            The module.

        Raises:
            KeyError: ``strict`` is set and a name is unknown.
        """

        def unfreeze_one(module: Module, names: list[str] | None) -> None:
            if module is not self:
                # Modules may keep some of their parameters frozen for ever.
                module.unfreeze(recurse=False, keys=names)
            elif names is None:
                module._no_grad.clear()
            else:
                module._no_grad.difference_update(names)

        self._for_frozen_names(unfreeze_one, recurse, keys, strict)
        return self

    def _set_training_mode(self, mode: bool) -> None:
        """Sets the mode of this module alone; modules that change with the mode extend it."""
        self._training = bool(mode)

    def train(self, mode: bool = True) -> Module:
        """Put all modules of the tree into training mode, or into evaluation mode.

        Some layers (dropout, batch normalisation) behave differently in the two.

        Returns:
            The module.
        """
        return self.apply_to_modules(lambda name, module: module._set_training_mode(mode))

    def eval(self) -> Module:
        """Put all modules of the tree into evaluation mode: ``train(False)``."""
        return self.train(False)

    # Files.

    def load_weights(
        self, file_or_weights: str | list[tuple[str, mx.array]], strict: bool = True
    ) -> Module:
        """Replace parameters by those of a file or of a list.

        Args:
            file_or_weights: the path of a file that :func:`mlx.core.load` reads as a dictionary
                (``.npz``, ``.safetensors``), or pairs of dotted names and arrays.
            strict: whether the names have to be exactly those of :meth:`parameters`, with equal
                shapes; otherwise unknown names are skipped and shapes are not checked. Dtypes may
                differ.

        Returns:
            The module.

        Raises:
            ValueError: ``strict`` is set and names or shapes differ, or a value is no array.

        Example:
            >>> layer = nn.Linear(2, 1)
            >>> layer.load_weights([("weight", mx.ones((1, 2))), ("bias", mx.zeros((1,)))])
            Linear(input_dims=2, output_dims=1, bias=True)
        """
        weights = file_or_weights
        if isinstance(weights, str):
            loaded = mx.load(weights)
            if not isinstance(loaded, dict):
                raise ValueError(
                    f"[load_weights] expected {weights!r} to hold named arrays, got a "
                    f"{type(loaded).__name__}"
                )
            weights = list(loaded.items())
        if strict:
            self._check_weights(dict(weights))
        if len(weights) > 0:
            self.update(tree_unflatten(weights), strict=strict)
        return self

    def _check_weights(self, weights: dict[str, Any]) -> None:
        current: dict[str, mx.array] = tree_flatten(self.parameters(), destination={})
        if extra := sorted(weights.keys() - current.keys()):
            raise ValueError(
                f"[load_weights] got {len(extra)} parameters that are not in the model: "
                f"{', '.join(extra)}"
            )
        if missing := sorted(current.keys() - weights.keys()):
            raise ValueError(
                f"[load_weights] {len(missing)} parameters are missing: {', '.join(missing)}"
            )
        for name, value in weights.items():
            if not isinstance(value, mx.array):
                raise ValueError(
                    f"[load_weights] expected an array for {name}, got {type(value).__name__}"
                )
            if value.shape != current[name].shape:
                raise ValueError(
                    f"[load_weights] expected the shape {current[name].shape} for {name}, got "
                    f"{value.shape}"
                )

    def save_weights(self, file: str) -> None:
        """Write all parameters to a file.

        Args:
            file: a path that ends in ``.npz`` or ``.safetensors``, which is the format.

        Raises:
            ValueError: the path ends in something else.
        """
        weights: dict[str, mx.array] = tree_flatten(self.parameters(), destination={})
        if file.endswith(".npz"):
            mx.savez(file, **weights)
        elif file.endswith(".safetensors"):
            mx.save_safetensors(file, weights)
        else:
            raise ValueError(
                f"[save_weights] got the file {file!r}, expected a name that ends in .npz or "
                ".safetensors"
            )


def _is_nothing(value: Any) -> bool:
    """An empty plain container stands for "nothing to replace here" in a partial tree."""
    return isinstance(value, (dict, list)) and not isinstance(value, Module) and not value


def _slots(old: Any, new: Any, path: str, strict: bool) -> list[tuple[Any, Any, str]]:
    """Matches the entries of ``new`` with those of the container ``old``: (key, value, path)."""
    if isinstance(old, dict) and isinstance(new, dict):
        entries = list(new.items())
    elif isinstance(old, list) and isinstance(new, list):
        entries = list(enumerate(new))
    elif strict:
        raise ValueError(
            f"[Module.update] got a {type(new).__name__} for {path or 'the module'!r}, which is a "
            f"{type(old).__name__}"
        )
    else:
        return []

    slots = []
    for key, value in entries:
        where = f"{path}.{key}" if path else str(key)
        if key in old if isinstance(old, dict) else key < len(old):
            slots.append((key, value, where))
        elif strict:
            raise ValueError(f"[Module.update] the module has nothing named {where!r}")
    return slots


def _update(old: Any, new: Any, path: str, strict: bool) -> None:
    for key, value, where in _slots(old, new, path, strict):
        if _is_nothing(value):
            continue
        if not isinstance(old[key], mx.array):
            _update(old[key], value, where, strict)
        elif strict and not isinstance(value, mx.array):
            raise ValueError(
                f"[Module.update] got a {type(value).__name__} for {where!r}, expected an array"
            )
        else:
            old[key] = value


def _update_modules(old: Any, new: Any, path: str, strict: bool) -> None:
    for key, value, where in _slots(old, new, path, strict):
        if _is_nothing(value):
            continue
        if isinstance(old[key], Module) and isinstance(value, Module):
            old[key] = value
        elif isinstance(old[key], (dict, list)) and isinstance(value, (dict, list)):
            _update_modules(old[key], value, where, strict)
        elif strict:
            raise ValueError(
                f"[Module.update_modules] got a {type(value).__name__} for {where!r}, which is a "
                f"{type(old[key]).__name__}; expected a module for a module"
            )
