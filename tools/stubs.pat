# What nanobind.stubgen leaves out of the stubs because of an underscore in the name.

mlx.core.__suffix__:
    \from types import TracebackType
    bool_: Dtype

    class _PrintOptionsContext:
        """Restores the print options when the block ends."""
        def __enter__(self) -> None: ...
        def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None) -> None: ...

    class _TransformedFunction:
        """A function made by a transform."""
        def __call__(self, *args, **kwargs): ...

mlx.core.random.__suffix__:
    \from collections.abc import Iterator
    class _RandomState:
        """The random state of the calling thread, as a list of one key."""
        def __len__(self) -> int: ...
        def __getitem__(self, index: int, /) -> array: ...
        def __setitem__(self, index: int, key: array, /) -> None: ...
        def __iter__(self) -> Iterator[array]: ...

