"""Lazy arrays with composable transformations."""

from collections.abc import Callable, Sequence
import enum
from types import TracebackType
from typing import overload

from mlx.core import (
    cuda as cuda,
    linalg as linalg,
    metal as metal,
    random as random
)
from mlx.core.linalg import norm as matrix_norm


class AxisError(ValueError, IndexError):
    """
    An axis lies outside of the array's dimensions; both a ValueError and an IndexError.
    """

pi: float = 3.141592653589793

e: float = 2.718281828459045

euler_gamma: float = 0.5772156649015329

inf: float = float('inf')

nan: float = float('nan')

newaxis: None = None

class DtypeCategory(enum.Enum):
    """A category of dtypes, for :func:`issubdtype`."""

    complexfloating = 0

    floating = 1

    inexact = 2

    signedinteger = 3

    unsignedinteger = 4

    integer = 5

    number = 6

    generic = 7

complexfloating: DtypeCategory = DtypeCategory.complexfloating

floating: DtypeCategory = DtypeCategory.floating

inexact: DtypeCategory = DtypeCategory.inexact

signedinteger: DtypeCategory = DtypeCategory.signedinteger

unsignedinteger: DtypeCategory = DtypeCategory.unsignedinteger

integer: DtypeCategory = DtypeCategory.integer

number: DtypeCategory = DtypeCategory.number

generic: DtypeCategory = DtypeCategory.generic

class Dtype:
    """The type of an array's elements."""

    @property
    def size(self) -> int:
        """Bytes of one element."""

    def __repr__(self) -> str: ...

    def __eq__(self, arg: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __getstate__(self) -> tuple: ...

    def __setstate__(self, arg: tuple, /) -> None: ...

uint8: Dtype = ...

uint16: Dtype = ...

uint32: Dtype = ...

uint64: Dtype = ...

int8: Dtype = ...

int16: Dtype = ...

int32: Dtype = ...

int64: Dtype = ...

float16: Dtype = ...

float32: Dtype = ...

float64: Dtype = ...

bfloat16: Dtype = ...

complex64: Dtype = ...

class finfo:
    """Limits of a floating or complex dtype."""

    def __init__(self, arg: Dtype, /) -> None: ...

    @property
    def dtype(self) -> Dtype:
        """The dtype (of the parts, for complex ones)."""

    @property
    def bits(self) -> int:
        """Bits of one number."""

    @property
    def min(self) -> float:
        """Smallest (most negative) finite value."""

    @property
    def max(self) -> float:
        """Largest finite value."""

    @property
    def eps(self) -> float:
        """Distance from 1 to the next larger value."""

    @property
    def smallest_normal(self) -> float:
        """Smallest positive normal value."""

    def __repr__(self) -> str: ...

class iinfo:
    """Limits of an integer dtype."""

    def __init__(self, arg: Dtype, /) -> None: ...

    @property
    def dtype(self) -> Dtype:
        """The dtype."""

    @property
    def min(self) -> int:
        """Smallest value."""

    @property
    def max(self) -> int:
        """Largest value."""

    def __repr__(self) -> str: ...

def issubdtype(arg1: Dtype | DtypeCategory, arg2: Dtype | DtypeCategory, /) -> bool:
    """
    Is the first dtype or category below or equal to the second?

    Example:
        >>> mx.issubdtype(mx.float16, mx.floating)
        True
    """

def isdtype(dtype: Dtype, kind: Dtype | str | tuple[Dtype | str, ...]) -> bool:
    """
    Is the dtype of a kind: a dtype, ``'bool'``, ``'signed integer'``, ``'unsigned integer'``,
    ``'integral'``, ``'real floating'``, ``'complex floating'``, ``'numeric'``, or any of a
    tuple of those?

    Raises:
        ValueError: there is no such kind.
    """

def result_type(*arrays_and_dtypes: array | Dtype) -> Dtype:
    """
    The dtype in which the arguments meet.

    Example:
        >>> mx.result_type(mx.int32, mx.float16)
        mlx.core.float16
    """

def can_cast(from_: array | Dtype, to: Dtype) -> bool:
    """Does promoting ``from_`` with ``to`` give ``to``?"""

class DeviceType(enum.Enum):
    """A kind of device."""

    cpu = 0

    gpu = 1

cpu: DeviceType = DeviceType.cpu

gpu: DeviceType = DeviceType.gpu

class Device:
    """A device: where operations run."""

    def __init__(self, type: DeviceType, index: int = 0) -> None: ...

    @property
    def type(self) -> DeviceType:
        """The kind of device."""

    @property
    def index(self) -> int:
        """Number among its kind."""

    def __eq__(self, arg: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

class Stream:
    """A queue of a device; its operations run in order."""

    @property
    def device(self) -> Device:
        """The device of the stream."""

    def __eq__(self, arg: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

class ThreadLocalStream:
    """Stands for a stream of its own in every thread that uses it."""

    @property
    def device(self) -> Device:
        """The device of the streams."""

    def __eq__(self, arg: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

class StreamContext:
    """Sets the default device and stream for a ``with`` block."""

    def __init__(self, s: Stream | ThreadLocalStream | Device | DeviceType | None) -> None: ...

    def __enter__(self) -> None: ...

    def __exit__(self, *args) -> None: ...

def stream(s: Stream | ThreadLocalStream | Device | DeviceType | None) -> StreamContext:
    """
    A context manager that sets the default device and stream and restores them on exit.

    Example:
        >>> with mx.stream(mx.cpu):
        ...     y = mx.exp(x)
    """

def default_device() -> Device:
    """The device operations run on by default."""

def set_default_device(device: Device | DeviceType) -> None:
    """
    Set the default device of the calling thread.

    Raises:
        ValueError: the device is not available.
    """

def default_stream(device: Device | DeviceType) -> Stream:
    """The calling thread's default stream on a device."""

def set_default_stream(stream: Stream) -> None:
    """Set the calling thread's default stream on the stream's device."""

def new_stream(device: Device | DeviceType) -> Stream:
    """Make a new stream on a device; it can be used from any thread."""

def new_thread_unsafe_stream(device: Device | DeviceType) -> Stream:
    """Make a new stream on a device; the same as :func:`new_stream`."""

def new_thread_local_stream(device: Device | DeviceType) -> ThreadLocalStream:
    """Make something that stands for a different stream in every thread."""

def clear_streams() -> None:
    """
    Finish the work of the calling thread's streams and forget them and its random state.
    """

def synchronize(stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> None:
    """Wait until all work of a stream is done (default: the default one)."""

def is_available(device: Device | DeviceType) -> bool:
    """Can the device be used?"""

def device_count(device_type: DeviceType) -> int:
    """Number of devices of a kind."""

def device_info(d: Device | DeviceType | None = None) -> dict:
    """
    Name, architecture and other properties of a device; empty if it is not available.
    """

class array:
    """
    An N-dimensional array; its value is computed when it is first needed.

    ``array(val, dtype=None)`` copies a scalar, nested lists or tuples, an array,
    or the memory of an object with the buffer protocol or DLPack (float64 memory
    becomes float32 unless ``dtype`` says otherwise).

    Example:
        >>> mx.array([[1, 2], [3, 4]]).sum(axis=0)
        array([4, 6], dtype=int32)
    """

    def __repr__(self, /):
        """Return repr(self)."""

    def __hash__(self, /):
        """Return hash(self)."""

    def __str__(self, /):
        """Return str(self)."""

    def __lt__(self, value, /):
        """Return self<value."""

    def __le__(self, value, /):
        """Return self<=value."""

    def __eq__(self, value, /):
        """Return self==value."""

    def __ne__(self, value, /):
        """Return self!=value."""

    def __gt__(self, value, /):
        """Return self>value."""

    def __ge__(self, value, /):
        """Return self>=value."""

    def __init__(self, val: bool | int | float | complex | list | tuple | array | ArrayLike, dtype: Dtype | None = None) -> None: ...

    def __add__(self, value, /):
        """Return self+value."""

    def __radd__(self, value, /):
        """Return value+self."""

    def __sub__(self, value, /):
        """Return self-value."""

    def __rsub__(self, value, /):
        """Return value-self."""

    def __mul__(self, value, /):
        """Return self*value."""

    def __rmul__(self, value, /):
        """Return value*self."""

    def __mod__(self, value, /):
        """Return self%value."""

    def __rmod__(self, value, /):
        """Return value%self."""

    def __pow__(self, value, mod=None, /):
        """Return pow(self, value, mod)."""

    def __rpow__(self, value, mod=None, /):
        """Return pow(value, self, mod)."""

    def __neg__(self, /):
        """-self"""

    def __pos__(self, /):
        """+self"""

    def __abs__(self, /):
        """abs(self)"""

    def __bool__(self, /):
        """True if self else False"""

    def __invert__(self, /):
        """~self"""

    def __lshift__(self, value, /):
        """Return self<<value."""

    def __rlshift__(self, value, /):
        """Return value<<self."""

    def __rshift__(self, value, /):
        """Return self>>value."""

    def __rrshift__(self, value, /):
        """Return value>>self."""

    def __and__(self, value, /):
        """Return self&value."""

    def __rand__(self, value, /):
        """Return value&self."""

    def __xor__(self, value, /):
        """Return self^value."""

    def __rxor__(self, value, /):
        """Return value^self."""

    def __or__(self, value, /):
        """Return self|value."""

    def __ror__(self, value, /):
        """Return value|self."""

    def __int__(self, /):
        """int(self)"""

    def __float__(self, /):
        """float(self)"""

    def __iadd__(self, value, /):
        """Return self+=value."""

    def __isub__(self, value, /):
        """Return self-=value."""

    def __imul__(self, value, /):
        """Return self*=value."""

    def __imod__(self, value, /):
        """Return self%=value."""

    def __ipow__(self, value, /):
        """Return self**=value."""

    def __ilshift__(self, value, /):
        """Return self<<=value."""

    def __irshift__(self, value, /):
        """Return self>>=value."""

    def __iand__(self, value, /):
        """Return self&=value."""

    def __ixor__(self, value, /):
        """Return self^=value."""

    def __ior__(self, value, /):
        """Return self|=value."""

    def __floordiv__(self, value, /):
        """Return self//value."""

    def __rfloordiv__(self, value, /):
        """Return value//self."""

    def __truediv__(self, value, /):
        """Return self/value."""

    def __rtruediv__(self, value, /):
        """Return value/self."""

    def __ifloordiv__(self, value, /):
        """Return self//=value."""

    def __itruediv__(self, value, /):
        """Return self/=value."""

    def __index__(self, /):
        """
        Return self converted to an integer, if self is suitable for use as an index into a list.
        """

    def __len__(self, /):
        """Return len(self)."""

    def __getitem__(self, key, /):
        """Return self[key]."""

    def __setitem__(self, key, value, /):
        """Set self[key] to value."""

    def __delitem__(self, key, /):
        """Delete self[key]."""

    @property
    def shape(self) -> Sequence[int]:
        """Size of each dimension."""

    @property
    def ndim(self) -> int:
        """Number of dimensions."""

    @property
    def size(self) -> int:
        """Number of elements."""

    @property
    def dtype(self) -> Dtype:
        """Type of the elements."""

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""

    @property
    def T(self) -> array:
        """The array with its axes reversed."""

    @property
    def mT(self) -> array:
        """The array with its last two axes swapped; needs two at least."""

    @property
    def real(self) -> array:
        """Real part of each element."""

    @property
    def imag(self) -> array:
        """Imaginary part of each element; zeros for real arrays."""

    def __iter__(self) -> ArrayIterator: ...

    def item(self) -> object:
        """
        The value of a one-element array as a bool, int, float or complex.

        Raises:
            ValueError: the array does not have exactly one element.
        """

    def tolist(self) -> object:
        """The elements as nested lists; a scalar for an array with 0 dimensions."""

    def __complex__(self) -> object: ...

    def __copy__(self) -> array: ...

    def __deepcopy__(self, memo: object) -> array: ...

    def __array_namespace__(self, api_version: str | None = None) -> object:
        """The module that implements the array API for this array."""

    def __div__(self, arg: bool | int | float | complex | array | ArrayLike, /) -> array: ...

    def __rdiv__(self, arg: bool | int | float | complex | array | ArrayLike, /) -> array: ...

    def __dlpack__(self, *, stream: object | None = None, max_version: object | None = None, dl_device: object | None = None, copy: bool | None = None) -> object:
        """
        A DLPack capsule over the array's memory; versioned if ``max_version`` allows.

        The value is computed when this returns, for whatever ``stream`` it will be used on.
        """

    def __dlpack_device__(self) -> tuple:
        """
        The DLPack device of the array's memory; where there is a GPU it evaluates the array.
        """

    def __array__(self, dtype: object | None = None, copy: bool | None = None) -> object:
        """
        The array as a NumPy array; shares memory unless ``copy`` or ``dtype`` ask otherwise.
        """

    def __bytes__(self) -> bytes:
        """The elements in row-major order."""

    def __getstate__(self) -> tuple: ...

    def __setstate__(self, arg: tuple, /) -> None: ...

    @property
    def at(self) -> ArrayAt:
        """Indexed updates that give a new array: see :class:`ArrayAt`."""

    def abs(self, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
        """See :func:`mlx.core.abs`."""

    def square(self, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
        """See :func:`mlx.core.square`."""

    def exp(self, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
        """See :func:`mlx.core.exp`."""

    def log(self, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
        """See :func:`mlx.core.log`."""

    def log2(self, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
        """See :func:`mlx.core.log2`."""

    def log10(self, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
        """See :func:`mlx.core.log10`."""

    def log1p(self, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
        """See :func:`mlx.core.log1p`."""

    def sin(self, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
        """See :func:`mlx.core.sin`."""

    def cos(self, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
        """See :func:`mlx.core.cos`."""

    def sqrt(self, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
        """See :func:`mlx.core.sqrt`."""

    def rsqrt(self, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
        """See :func:`mlx.core.rsqrt`."""

    def reciprocal(self, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
        """See :func:`mlx.core.reciprocal`."""

    def conj(self, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
        """See :func:`mlx.core.conjugate`."""

    def round(self, decimals: int = 0, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
        """See :func:`mlx.core.round`."""

    def astype(self, dtype: Dtype, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
        """See :func:`mlx.core.astype`."""

    def sum(self, axis: None | int | Sequence[int] = None, keepdims: bool = False, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
        """See :func:`mlx.core.sum`."""

    def prod(self, axis: None | int | Sequence[int] = None, keepdims: bool = False, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
        """See :func:`mlx.core.prod`."""

    def max(self, axis: None | int | Sequence[int] = None, keepdims: bool = False, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
        """See :func:`mlx.core.max`."""

    def min(self, axis: None | int | Sequence[int] = None, keepdims: bool = False, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
        """See :func:`mlx.core.min`."""

    def all(self, axis: None | int | Sequence[int] = None, keepdims: bool = False, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
        """See :func:`mlx.core.all`."""

    def any(self, axis: None | int | Sequence[int] = None, keepdims: bool = False, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
        """See :func:`mlx.core.any`."""

    def mean(self, axis: None | int | Sequence[int] = None, keepdims: bool = False, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
        """See :func:`mlx.core.mean`."""

    def logsumexp(self, axis: None | int | Sequence[int] = None, keepdims: bool = False, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
        """See :func:`mlx.core.logsumexp`."""

    def var(self, axis: None | int | Sequence[int] = None, keepdims: bool = False, ddof: int = 0, *, correction: int | None = None, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
        """
        See :func:`mlx.core.var`; ``correction`` is another name of ``ddof`` and wins.
        """

    def std(self, axis: None | int | Sequence[int] = None, keepdims: bool = False, ddof: int = 0, *, correction: int | None = None, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
        """
        See :func:`mlx.core.std`; ``correction`` is another name of ``ddof`` and wins.
        """

    def argmax(self, axis: None | int = None, keepdims: bool = False, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
        """See :func:`mlx.core.argmax`."""

    def argmin(self, axis: None | int = None, keepdims: bool = False, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
        """See :func:`mlx.core.argmin`."""

    def cumsum(self, axis: int | None = None, *, reverse: bool = False, inclusive: bool = True, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
        """See :func:`mlx.core.cumsum`."""

    def cumprod(self, axis: int | None = None, *, reverse: bool = False, inclusive: bool = True, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
        """See :func:`mlx.core.cumprod`."""

    def cummax(self, axis: int | None = None, *, reverse: bool = False, inclusive: bool = True, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
        """See :func:`mlx.core.cummax`."""

    def cummin(self, axis: int | None = None, *, reverse: bool = False, inclusive: bool = True, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
        """See :func:`mlx.core.cummin`."""

    def logcumsumexp(self, axis: int | None = None, *, reverse: bool = False, inclusive: bool = True, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
        """See :func:`mlx.core.logcumsumexp`."""

    def reshape(self, *shape, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
        """See :func:`mlx.core.reshape`; the sizes may be separate arguments."""

    def transpose(self, *axes, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
        """See :func:`mlx.core.transpose`; the axes may be separate arguments."""

    def flatten(self, start_axis: int = 0, end_axis: int = -1, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
        """See :func:`mlx.core.flatten`."""

    def squeeze(self, axis: int | Sequence[int] | None = None, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
        """See :func:`mlx.core.squeeze`."""

    def swapaxes(self, axis1: int, axis2: int, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
        """See :func:`mlx.core.swapaxes`."""

    def moveaxis(self, source: int, destination: int, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
        """See :func:`mlx.core.moveaxis`."""

    def split(self, indices_or_sections: int | Sequence[int], axis: int = 0, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> list[array]:
        """See :func:`mlx.core.split`."""

    def view(self, dtype: Dtype, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
        """See :func:`mlx.core.view`."""

    def diag(self, k: int = 0, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
        """See :func:`mlx.core.diag`."""

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
        """See :func:`mlx.core.diagonal`."""

    def __matmul__(self, other: array) -> array: ...

    def __imatmul__(self, other: array) -> object: ...

class ArrayIterator:
    """Iterates over the first axis of an array."""

    def __iter__(self) -> object: ...

    def __next__(self) -> array: ...

class ArrayLike:
    """Any object with a method ``__mlx_array__`` that returns an array."""

    def __init__(self, arg: object, /) -> None: ...

    def __mlx_array__(self) -> array: ...

def from_dlpack(arg0: object, /, *, copy: bool | None = None) -> object:
    """
    Make an array from an object with ``__dlpack__``.

    Args:
        x: an object whose memory lies on the CPU or a CUDA GPU.
        copy: ``None`` shares read-only memory and that of GPUs and copies other, ``True``
            always copies, ``False`` raises ``ValueError`` where a copy is needed. Memory that
            is shared should not be written by others while the array is used.

    Example:
        >>> mx.from_dlpack(numpy.arange(3))
        array([0, 1, 2], dtype=int64)
    """

def asarray(arg0: bool | int | float | complex | array | ArrayLike, dtype: Dtype | None = None, *, copy: bool | None = None) -> array:
    """
    Make an array of a scalar, nested lists, another array, or memory of another library.

    Args:
        a: what to convert.
        dtype: the dtype of the result, default that of ``a``
            (float64 memory becomes float32).
        copy: ``None`` shares read-only memory and copies other, ``True`` always copies,
            ``False`` raises ``ValueError`` where a copy is needed.
    """

class ArrayAt:
    """
    ``x.at[index]``: methods that give a copy of ``x`` with its elements at the index updated.

    Indices are those of ``x[index]``, masks as well. Other than with ``x[index] += v``, every
    update counts where indices repeat. Values are converted to the dtype of ``x`` and
    broadcast to the shape of ``x[index]``.

    Example:
        >>> x = mx.array([0, 0])
        >>> x.at[mx.array([0, 1, 0])].add(1)
        array([2, 1], dtype=int32)
    """

    def __getitem__(self, indices: object | None) -> ArrayAt: ...

    def add(self, value: bool | int | float | complex | array | ArrayLike) -> array:
        """Adds ``value``."""

    def subtract(self, value: bool | int | float | complex | array | ArrayLike) -> array:
        """Subtracts ``value``."""

    def multiply(self, value: bool | int | float | complex | array | ArrayLike) -> array:
        """Multiplies by ``value``."""

    def divide(self, value: bool | int | float | complex | array | ArrayLike) -> array:
        """
        Multiplies by the reciprocal of ``value``, which in an integer dtype is 0 but for 1
        and -1.
        """

    def maximum(self, value: bool | int | float | complex | array | ArrayLike) -> array:
        """The greater of the element and ``value``; NaN wins."""

    def minimum(self, value: bool | int | float | complex | array | ArrayLike) -> array:
        """The lesser of the element and ``value``; NaN wins."""

class ArrayNamespaceInfo:
    """Properties of this array namespace."""

    def capabilities(self) -> dict: ...

    def default_device(self) -> Device: ...

    def default_dtypes(self, *, device: object | None = None) -> dict: ...

    def devices(self) -> tuple: ...

    def dtypes(self, *, device: object | None = None, kind: object | None = None) -> dict: ...

def __array_namespace_info__() -> ArrayNamespaceInfo:
    """Properties of this array namespace, as the array API standard has it."""

class PrintOptions:
    """How arrays print."""

    def __init__(self, precision: int = -1) -> None: ...

    @property
    def precision(self) -> int:
        """Number of decimals; negative: six significant digits."""

    @precision.setter
    def precision(self, arg: int, /) -> None: ...

def set_printoptions(precision: int = -1) -> None:
    """
    Set how arrays print.

    Args:
        precision: number of decimals; negative (default): six
            significant digits.
    """

def get_printoptions() -> PrintOptions:
    """The print options in use."""

def printoptions(precision: int = -1) -> _PrintOptionsContext:
    """
    A context manager that sets the print options and restores them on exit.

    Example:
        >>> with mx.printoptions(precision=2):
        ...     print(mx.array(1 / 3))
        array(0.33, dtype=float32)
    """

def get_active_memory() -> int:
    """Bytes of memory in use."""

def get_peak_memory() -> int:
    """
    The most bytes that were in use since the start or :func:`reset_peak_memory`.
    """

def reset_peak_memory() -> None:
    """Set the peak to zero."""

def get_cache_memory() -> int:
    """Bytes kept for later use."""

def clear_cache() -> None:
    """Give cached memory back to the system."""

def set_cache_limit(limit: int) -> int:
    """
    Set how many bytes may be kept for later use; 0 keeps none. Returns the previous limit.
    """

def set_memory_limit(limit: int) -> int:
    """
    Set how many bytes may be in use before allocation fails. Returns the previous limit.
    """

def get_memory_limit() -> int:
    """The limit of :func:`set_memory_limit`."""

def set_wired_limit(limit: int) -> int:
    """
    Set how many bytes a Metal device keeps resident; without one this does nothing.
    Returns the previous limit.
    """

def get_array_buffer_size(*args) -> int:
    """
    Bytes of the distinct buffers behind the evaluated arrays in the arguments (trees).

    Raises:
        ValueError: an array is not evaluated yet.
    """

def eval(*args) -> None:
    """
    Compute the arrays in the arguments (trees of them) and wait for the values.

    Raises:
        RuntimeError: something went wrong while computing.
        ValueError: inside a function that vmap or compile traces.
    """

def async_eval(*args) -> None:
    """
    Start to compute the arrays in the arguments (trees of them) without waiting.

    Raises:
        ValueError: inside a function that is being transformed.
    """

def export_to_dot(file: object, *args, **kwargs) -> None:
    """
    Write what is left to compute for the arrays as a Graphviz graph.

    Args:
        file: a path or a file object for text.
        args: arrays or trees of them.
        kwargs: names for arrays in the graph.

    Example:
        >>> x = mx.array(1.0)
        >>> mx.export_to_dot("graph.dot", mx.exp(x), x=x)
    """

def abs(a: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise absolute value.

    Args:
        a: input array or scalar.

    The result has the dtype of the input, float32 for complex64.

    Example:
        >>> mx.abs(mx.array([-1.5, 2.0]))
    """

def negative(a: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise negation.

    Args:
        a: input array or scalar.

    The result has the dtype of the input (two inputs: the one they promote to).

    Raises:
        ValueError: the input is bool.

    Example:
        >>> mx.negative(mx.array([1, -2]))
    """

def sign(a: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise sign; complex values give ``z / |z|``; NaN stays NaN.

    Args:
        a: input array or scalar.

    The result has the dtype of the input (two inputs: the one they promote to).

    Example:
        >>> mx.sign(mx.array([-2.0, 0.0, 3.0]))
    """

def square(a: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise square.

    Args:
        a: input array or scalar.

    The result has the dtype of the input (two inputs: the one they promote to).

    Example:
        >>> mx.square(mx.array([2, 3]))
    """

def floor(a: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise floor; integers are returned unchanged.

    Args:
        a: input array or scalar.

    The result has the dtype of the input (two inputs: the one they promote to).

    Raises:
        ValueError: the input is complex.

    Example:
        >>> mx.floor(mx.array([1.5, -1.5]))
    """

def ceil(a: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise ceiling; integers are returned unchanged.

    Args:
        a: input array or scalar.

    The result has the dtype of the input (two inputs: the one they promote to).

    Raises:
        ValueError: the input is complex.

    Example:
        >>> mx.ceil(mx.array([1.5, -1.5]))
    """

def trunc(a: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise rounding towards zero.

    Args:
        a: input array or scalar.

    The result has the dtype of the input (two inputs: the one they promote to).

    Raises:
        ValueError: the input is complex.

    Example:
        >>> mx.trunc(mx.array([1.5, -1.5]))
    """

def exp(a: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise exponential.

    Args:
        a: input array or scalar.

    The result is floating or complex: integers and bools become float32.

    Example:
        >>> mx.exp(mx.array([0.0, 1.0]))
    """

def expm1(a: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise ``exp(x) - 1``, accurate near zero.

    Args:
        a: input array or scalar.

    The result is floating or complex: integers and bools become float32.

    Raises:
        ValueError: the input is complex.

    Example:
        >>> mx.expm1(mx.array([1e-6]))
    """

def log(a: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise natural logarithm.

    Args:
        a: input array or scalar.

    The result is floating or complex: integers and bools become float32.

    Example:
        >>> mx.log(mx.array([1.0, 2.0]))
    """

def log2(a: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise base-2 logarithm.

    Args:
        a: input array or scalar.

    The result is floating or complex: integers and bools become float32.

    Example:
        >>> mx.log2(mx.array([1.0, 8.0]))
    """

def log10(a: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise base-10 logarithm.

    Args:
        a: input array or scalar.

    The result is floating or complex: integers and bools become float32.

    Example:
        >>> mx.log10(mx.array([1.0, 100.0]))
    """

def log1p(a: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise ``log(1 + x)``, accurate near zero.

    Args:
        a: input array or scalar.

    The result is floating or complex: integers and bools become float32.

    Example:
        >>> mx.log1p(mx.array([1e-6]))
    """

def sin(a: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise sine.

    Args:
        a: input array or scalar.

    The result is floating or complex: integers and bools become float32.

    Example:
        >>> mx.sin(mx.array([0.0, 1.0]))
    """

def cos(a: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise cosine.

    Args:
        a: input array or scalar.

    The result is floating or complex: integers and bools become float32.

    Example:
        >>> mx.cos(mx.array([0.0, 1.0]))
    """

def tan(a: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise tangent.

    Args:
        a: input array or scalar.

    The result is floating or complex: integers and bools become float32.

    Example:
        >>> mx.tan(mx.array([0.0, 1.0]))
    """

def sinh(a: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise hyperbolic sine.

    Args:
        a: input array or scalar.

    The result is floating or complex: integers and bools become float32.

    Example:
        >>> mx.sinh(mx.array([0.0, 1.0]))
    """

def cosh(a: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise hyperbolic cosine.

    Args:
        a: input array or scalar.

    The result is floating or complex: integers and bools become float32.

    Example:
        >>> mx.cosh(mx.array([0.0, 1.0]))
    """

def tanh(a: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise hyperbolic tangent.

    Args:
        a: input array or scalar.

    The result is floating or complex: integers and bools become float32.

    Example:
        >>> mx.tanh(mx.array([0.0, 1.0]))
    """

def arcsin(a: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise inverse sine.

    Args:
        a: input array or scalar.

    The result is floating or complex: integers and bools become float32.

    Example:
        >>> mx.arcsin(mx.array([0.0, 1.0]))
    """

def arccos(a: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise inverse cosine.

    Args:
        a: input array or scalar.

    The result is floating or complex: integers and bools become float32.

    Example:
        >>> mx.arccos(mx.array([0.0, 1.0]))
    """

def arctan(a: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise inverse tangent.

    Args:
        a: input array or scalar.

    The result is floating or complex: integers and bools become float32.

    Example:
        >>> mx.arctan(mx.array([0.0, 1.0]))
    """

def arcsinh(a: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise inverse hyperbolic sine.

    Args:
        a: input array or scalar.

    The result is floating or complex: integers and bools become float32.

    Example:
        >>> mx.arcsinh(mx.array([0.0, 1.0]))
    """

def arccosh(a: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise inverse hyperbolic cosine.

    Args:
        a: input array or scalar.

    The result is floating or complex: integers and bools become float32.

    Example:
        >>> mx.arccosh(mx.array([1.0, 2.0]))
    """

def arctanh(a: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise inverse hyperbolic tangent.

    Args:
        a: input array or scalar.

    The result is floating or complex: integers and bools become float32.

    Example:
        >>> mx.arctanh(mx.array([0.0, 0.5]))
    """

def sqrt(a: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise square root.

    Args:
        a: input array or scalar.

    The result is floating or complex: integers and bools become float32.

    Example:
        >>> mx.sqrt(mx.array([4.0, 9.0]))
    """

def rsqrt(a: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise reciprocal square root.

    Args:
        a: input array or scalar.

    The result is floating or complex: integers and bools become float32.

    Example:
        >>> mx.rsqrt(mx.array([4.0, 9.0]))
    """

def reciprocal(a: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise reciprocal.

    Args:
        a: input array or scalar.

    The result is floating or complex: integers and bools become float32.

    Example:
        >>> mx.reciprocal(mx.array([2.0, 4.0]))
    """

def sigmoid(a: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise logistic sigmoid ``1 / (1 + exp(-x))``.

    Args:
        a: input array or scalar.

    The result is floating or complex: integers and bools become float32.

    Raises:
        ValueError: the input is complex.

    Example:
        >>> mx.sigmoid(mx.array([0.0, 1.0]))
    """

def erf(a: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise error function.

    Args:
        a: input array or scalar.

    The result is floating or complex: integers and bools become float32.

    Raises:
        ValueError: the input is complex.

    Example:
        >>> mx.erf(mx.array([0.0, 1.0]))
    """

def erfinv(a: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise inverse of :func:`erf`; NaN outside [-1, 1].

    Args:
        a: input array or scalar.

    The result is floating or complex: integers and bools become float32.

    Raises:
        ValueError: the input is complex.

    Example:
        >>> mx.erfinv(mx.array([0.0, 0.5]))
    """

def degrees(a: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Convert angles from radians to degrees.

    Args:
        a: input array or scalar.

    The result is floating or complex: integers and bools become float32.

    Raises:
        ValueError: the input is complex.

    Example:
        >>> mx.degrees(mx.array([0.0, 3.14159]))
    """

def radians(a: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Convert angles from degrees to radians.

    Args:
        a: input array or scalar.

    The result is floating or complex: integers and bools become float32.

    Raises:
        ValueError: the input is complex.

    Example:
        >>> mx.radians(mx.array([0.0, 180.0]))
    """

def real(a: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Real part of each element.

    Args:
        a: input array or scalar.

    The result has the dtype of the input, float32 for complex64.

    Example:
        >>> mx.real(mx.array([1 + 2j]))
    """

def imag(a: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Imaginary part of each element; zeros for real input.

    Args:
        a: input array or scalar.

    The result has the dtype of the input, float32 for complex64.

    Example:
        >>> mx.imag(mx.array([1 + 2j]))
    """

def conjugate(a: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise complex conjugate.

    Args:
        a: input array or scalar.

    The result has the dtype of the input (two inputs: the one they promote to).

    Example:
        >>> mx.conjugate(mx.array([1 + 2j]))
    """

def logical_not(a: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise logical not.

    Args:
        a: input array or scalar.

    The result is bool.

    Example:
        >>> mx.logical_not(mx.array([True, False]))
    """

def bitwise_invert(a: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise bitwise inversion; logical not for bool.

    Args:
        a: input array or scalar.

    The result has the dtype of the input (two inputs: the one they promote to).

    Raises:
        ValueError: the input is not an integer or bool.

    Example:
        >>> mx.bitwise_invert(mx.array([0, 1]))
    """

def isnan(a: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Test element-wise for NaN.

    Args:
        a: input array or scalar.

    The result is bool.

    Example:
        >>> mx.isnan(mx.array([1.0, float('nan')]))
    """

def isinf(a: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Test element-wise for positive or negative infinity.

    Args:
        a: input array or scalar.

    The result is bool.

    Example:
        >>> mx.isinf(mx.array([1.0, float('inf')]))
    """

def isfinite(a: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Test element-wise that a value is neither infinite nor NaN.

    Args:
        a: input array or scalar.

    The result is bool.

    Example:
        >>> mx.isfinite(mx.array([1.0, float('inf')]))
    """

def isposinf(a: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Test element-wise for positive infinity.

    Args:
        a: input array or scalar.

    The result is bool.

    Example:
        >>> mx.isposinf(mx.array([1.0, float('inf')]))
    """

def isneginf(a: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Test element-wise for negative infinity.

    Args:
        a: input array or scalar.

    The result is bool.

    Example:
        >>> mx.isneginf(mx.array([1.0, -float('inf')]))
    """

def add(a: bool | int | float | complex | array | ArrayLike, b: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise sum with broadcasting.

    Args:
        a: input array or scalar.
        b: input array or scalar; broadcasts with ``a``.

    The result has the dtype of the input (two inputs: the one they promote to).

    Example:
        >>> mx.add(mx.array([1, 2]), 3)
    """

def subtract(a: bool | int | float | complex | array | ArrayLike, b: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise difference with broadcasting.

    Args:
        a: input array or scalar.
        b: input array or scalar; broadcasts with ``a``.

    The result has the dtype of the input (two inputs: the one they promote to).

    Example:
        >>> mx.subtract(mx.array([1, 2]), 3)
    """

def multiply(a: bool | int | float | complex | array | ArrayLike, b: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise product with broadcasting.

    Args:
        a: input array or scalar.
        b: input array or scalar; broadcasts with ``a``.

    The result has the dtype of the input (two inputs: the one they promote to).

    Example:
        >>> mx.multiply(mx.array([1, 2]), 3)
    """

def divide(a: bool | int | float | complex | array | ArrayLike, b: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise division; integers give float32.

    Args:
        a: input array or scalar.
        b: input array or scalar; broadcasts with ``a``.

    The result is floating or complex: integers and bools become float32.

    Example:
        >>> mx.divide(mx.array([1, 2]), 4)
    """

def floor_divide(a: bool | int | float | complex | array | ArrayLike, b: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise division rounded towards minus infinity.

    Args:
        a: input array or scalar.
        b: input array or scalar; broadcasts with ``a``.

    The result has the dtype of the input (two inputs: the one they promote to).

    Raises:
        ValueError: the input is complex.

    Example:
        >>> mx.floor_divide(mx.array([7, -7]), 2)
    """

def remainder(a: bool | int | float | complex | array | ArrayLike, b: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise remainder with the sign of the divisor.

    Args:
        a: input array or scalar.
        b: input array or scalar; broadcasts with ``a``.

    The result has the dtype of the input (two inputs: the one they promote to).

    Raises:
        ValueError: the input is complex.

    Example:
        >>> mx.remainder(mx.array([7, -7]), 3)
    """

def power(a: bool | int | float | complex | array | ArrayLike, b: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise power; a negative integer exponent of an integer gives 0.

    Args:
        a: input array or scalar.
        b: input array or scalar; broadcasts with ``a``.

    The result has the dtype of the input (two inputs: the one they promote to).

    Example:
        >>> mx.power(mx.array([2.0, 3.0]), 2)
    """

def maximum(a: bool | int | float | complex | array | ArrayLike, b: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise maximum; NaN wins.

    Args:
        a: input array or scalar.
        b: input array or scalar; broadcasts with ``a``.

    The result has the dtype of the input (two inputs: the one they promote to).

    Example:
        >>> mx.maximum(mx.array([1, 5]), 3)
    """

def minimum(a: bool | int | float | complex | array | ArrayLike, b: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise minimum; NaN wins.

    Args:
        a: input array or scalar.
        b: input array or scalar; broadcasts with ``a``.

    The result has the dtype of the input (two inputs: the one they promote to).

    Example:
        >>> mx.minimum(mx.array([1, 5]), 3)
    """

def logaddexp(a: bool | int | float | complex | array | ArrayLike, b: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise ``log(exp(a) + exp(b))`` without overflow.

    Args:
        a: input array or scalar.
        b: input array or scalar; broadcasts with ``a``.

    The result is floating or complex: integers and bools become float32.

    Example:
        >>> mx.logaddexp(mx.array([0.0]), mx.array([1.0]))
    """

def arctan2(a: bool | int | float | complex | array | ArrayLike, b: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise angle of the point ``(b, a)``.

    Args:
        a: input array or scalar.
        b: input array or scalar; broadcasts with ``a``.

    The result is floating or complex: integers and bools become float32.

    Raises:
        ValueError: the input is complex.

    Example:
        >>> mx.arctan2(mx.array([1.0]), mx.array([1.0]))
    """

def equal(a: bool | int | float | complex | array | ArrayLike, b: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise ``a == b``.

    Args:
        a: input array or scalar.
        b: input array or scalar; broadcasts with ``a``.

    The result is bool.

    Example:
        >>> mx.equal(mx.array([1, 2]), 2)
    """

def not_equal(a: bool | int | float | complex | array | ArrayLike, b: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise ``a != b``.

    Args:
        a: input array or scalar.
        b: input array or scalar; broadcasts with ``a``.

    The result is bool.

    Example:
        >>> mx.not_equal(mx.array([1, 2]), 2)
    """

def less(a: bool | int | float | complex | array | ArrayLike, b: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise ``a < b``; complex values in lexicographic order.

    Args:
        a: input array or scalar.
        b: input array or scalar; broadcasts with ``a``.

    The result is bool.

    Example:
        >>> mx.less(mx.array([1, 2]), 2)
    """

def less_equal(a: bool | int | float | complex | array | ArrayLike, b: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise ``a <= b``.

    Args:
        a: input array or scalar.
        b: input array or scalar; broadcasts with ``a``.

    The result is bool.

    Example:
        >>> mx.less_equal(mx.array([1, 2]), 2)
    """

def greater(a: bool | int | float | complex | array | ArrayLike, b: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise ``a > b``.

    Args:
        a: input array or scalar.
        b: input array or scalar; broadcasts with ``a``.

    The result is bool.

    Example:
        >>> mx.greater(mx.array([1, 2]), 1)
    """

def greater_equal(a: bool | int | float | complex | array | ArrayLike, b: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise ``a >= b``.

    Args:
        a: input array or scalar.
        b: input array or scalar; broadcasts with ``a``.

    The result is bool.

    Example:
        >>> mx.greater_equal(mx.array([1, 2]), 2)
    """

def logical_and(a: bool | int | float | complex | array | ArrayLike, b: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise logical and.

    Args:
        a: input array or scalar.
        b: input array or scalar; broadcasts with ``a``.

    The result is bool.

    Example:
        >>> mx.logical_and(mx.array([True, False]), True)
    """

def logical_or(a: bool | int | float | complex | array | ArrayLike, b: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise logical or.

    Args:
        a: input array or scalar.
        b: input array or scalar; broadcasts with ``a``.

    The result is bool.

    Example:
        >>> mx.logical_or(mx.array([True, False]), False)
    """

def bitwise_and(a: bool | int | float | complex | array | ArrayLike, b: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise bitwise and.

    Args:
        a: input array or scalar.
        b: input array or scalar; broadcasts with ``a``.

    The result has the dtype of the input (two inputs: the one they promote to).

    Raises:
        RuntimeError: an input is not an integer or bool.

    Example:
        >>> mx.bitwise_and(mx.array([6]), 3)
    """

def bitwise_or(a: bool | int | float | complex | array | ArrayLike, b: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise bitwise or.

    Args:
        a: input array or scalar.
        b: input array or scalar; broadcasts with ``a``.

    The result has the dtype of the input (two inputs: the one they promote to).

    Raises:
        RuntimeError: an input is not an integer or bool.

    Example:
        >>> mx.bitwise_or(mx.array([6]), 3)
    """

def bitwise_xor(a: bool | int | float | complex | array | ArrayLike, b: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise bitwise exclusive or.

    Args:
        a: input array or scalar.
        b: input array or scalar; broadcasts with ``a``.

    The result has the dtype of the input (two inputs: the one they promote to).

    Raises:
        RuntimeError: an input is not an integer or bool.

    Example:
        >>> mx.bitwise_xor(mx.array([6]), 3)
    """

def left_shift(a: bool | int | float | complex | array | ArrayLike, b: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise left shift; a count of at least the width gives 0.

    Args:
        a: input array or scalar.
        b: input array or scalar; broadcasts with ``a``.

    The result has the dtype the inputs promote to, uint8 for two bools.

    Raises:
        RuntimeError: an input is not an integer or bool.

    Example:
        >>> mx.left_shift(mx.array([1]), 3)
    """

def right_shift(a: bool | int | float | complex | array | ArrayLike, b: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise right shift, arithmetic for signed integers.

    Args:
        a: input array or scalar.
        b: input array or scalar; broadcasts with ``a``.

    The result has the dtype the inputs promote to, uint8 for two bools.

    Raises:
        RuntimeError: an input is not an integer or bool.

    Example:
        >>> mx.right_shift(mx.array([8]), 2)
    """

acos = arccos

acosh = arccosh

asin = arcsin

asinh = arcsinh

atan = arctan

atanh = arctanh

atan2 = arctan2

pow = power

conj = conjugate

bitwise_left_shift = left_shift

bitwise_right_shift = right_shift

def isclose(arg0: array, arg1: array, rtol: float = 1e-05, atol: float = 1e-08, *, equal_nan: bool = False, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise ``|a - b| <= atol + rtol * |b|``; equal infinities are close, NaN to NaN only
    with ``equal_nan``. The result is bool.

    Example:
        >>> mx.isclose(mx.array([1.0, 2.0]), mx.array([1.0, 2.1]))
        array([True, False], dtype=bool)
    """

def allclose(arg0: array, arg1: array, rtol: float = 1e-05, atol: float = 1e-08, *, equal_nan: bool = False, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Are all elements close in the sense of :func:`isclose`? A bool array with 0 dimensions.

    Example:
        >>> mx.allclose(mx.array([1.0]), mx.array([1.0 + 1e-7]))
        array(True, dtype=bool)
    """

def array_equal(arg0: bool | int | float | complex | array | ArrayLike, arg1: bool | int | float | complex | array | ArrayLike, /, *, equal_nan: bool = False, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Do both have the same shape and, after promotion, the same values? A bool array with 0
    dimensions.

    Example:
        >>> mx.array_equal(mx.array([1, 2]), mx.array([1.0, 2.0]))
        array(True, dtype=bool)
    """

def logical_xor(arg0: bool | int | float | complex | array | ArrayLike, arg1: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Element-wise logical exclusive or. The result is bool.

    Example:
        >>> mx.logical_xor(mx.array([True, False]), True)
        array([False, True], dtype=bool)
    """

def where(arg0: bool | int | float | complex | array | ArrayLike, arg1: bool | int | float | complex | array | ArrayLike, arg2: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Elements of the second argument where the first one is true (NaN is), else of the third.

    All three broadcast; the result has the dtype the last two promote to.

    Example:
        >>> mx.where(mx.array([True, False]), 1, 2)
        array([1, 2], dtype=int32)
    """

def clip(arg0: bool | int | float | complex | array | ArrayLike, a_min: bool | int | float | complex | array | ArrayLike | None, a_max: bool | int | float | complex | array | ArrayLike | None, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Values below ``a_min`` or above ``a_max`` become the bound; NaN stays.

    Bounds broadcast with ``a`` and promote with it; one of them may be ``None``.

    Raises:
        ValueError: both bounds are ``None``.

    Example:
        >>> mx.clip(mx.array([1, 5, 9]), 2, 8)
        array([2, 5, 8], dtype=int32)
    """

def round(arg0: bool | int | float | complex | array | ArrayLike, decimals: int = 0, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Round to a number of decimals, ties to even; the dtype stays.

    Example:
        >>> mx.round(mx.array([0.5, 1.5, 2.5]))
        array([0, 2, 2], dtype=float32)
    """

def divmod(arg0: bool | int | float | complex | array | ArrayLike, arg1: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> list[array]:
    """
    Quotient rounded towards minus infinity, and remainder, as a list of two arrays.

    Example:
        >>> mx.divmod(mx.array(7), 3)
        [array(2, dtype=int32), array(1, dtype=int32)]
    """

def nan_to_num(arg0: bool | int | float | complex | array | ArrayLike, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Replace NaN and infinities by numbers; infinities by default by the largest finite ones.

    Raises:
        ValueError: the input is float64 or complex.
    """

def astype(arg0: array, dtype: Dtype, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Convert to another dtype. Floats are cut towards zero, saturate at the range of an integer
    dtype, and NaN gives 0; integers wrap; complex numbers lose the imaginary part.

    Example:
        >>> mx.astype(mx.array([1.7, -1.7]), mx.int32)
        array([1, -1], dtype=int32)
    """

def positive(arg0: bool | int | float | complex | array | ArrayLike, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """The array itself, as unary plus gives it."""

def sum(array: array, axis: None | int | Sequence[int] = None, keepdims: bool = False, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Sum over axes; float16 and bfloat16 are accumulated in float32.

    Args:
        a: input array.
        axis: axis or axes to reduce over; None means all, () none.
        keepdims: keep the reduced axes with size 1.

    Bool and signed integers up to 32 bits give int32, unsigned ones uint32; other dtypes are kept.

    Raises:
        AxisError: an axis is out of range.
        ValueError: an axis is given twice.

    Example:
        >>> mx.sum(mx.array([[1, 2], [3, 4]]), axis=0)
        array([4, 6], dtype=int32)
    """

def prod(a: array, /, axis: None | int | Sequence[int] = None, keepdims: bool = False, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Product over axes.

    Args:
        a: input array.
        axis: axis or axes to reduce over; None means all, () none.
        keepdims: keep the reduced axes with size 1.

    Bool and signed integers up to 32 bits give int32, unsigned ones uint32; other dtypes are kept.

    Raises:
        AxisError: an axis is out of range.
        ValueError: an axis is given twice.

    Example:
        >>> mx.prod(mx.array([2.0, 3.0, 4.0]))
        array(24, dtype=float32)
    """

def max(a: array, /, axis: None | int | Sequence[int] = None, keepdims: bool = False, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Maximum over axes; NaN wins.

    Args:
        a: input array.
        axis: axis or axes to reduce over; None means all, () none.
        keepdims: keep the reduced axes with size 1.

    The result has the dtype of the input.

    Raises:
        AxisError: an axis is out of range.
        ValueError: an axis is given twice.
        ValueError: a reduced axis is empty.

    Example:
        >>> mx.max(mx.array([[1, 5], [7, 2]]), axis=1)
        array([5, 7], dtype=int32)
    """

def min(a: array, /, axis: None | int | Sequence[int] = None, keepdims: bool = False, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Minimum over axes; NaN wins.

    Args:
        a: input array.
        axis: axis or axes to reduce over; None means all, () none.
        keepdims: keep the reduced axes with size 1.

    The result has the dtype of the input.

    Raises:
        AxisError: an axis is out of range.
        ValueError: an axis is given twice.
        ValueError: a reduced axis is empty.

    Example:
        >>> mx.min(mx.array([[1, 5], [7, 2]]), axis=1)
        array([1, 2], dtype=int32)
    """

def all(a: array, /, axis: None | int | Sequence[int] = None, keepdims: bool = False, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Whether all elements over axes are nonzero; NaN counts as nonzero.

    Args:
        a: input array.
        axis: axis or axes to reduce over; None means all, () none.
        keepdims: keep the reduced axes with size 1.

    The result is bool.

    Raises:
        AxisError: an axis is out of range.
        ValueError: an axis is given twice.

    Example:
        >>> mx.all(mx.array([[True, False], [True, True]]), axis=1)
        array([False, True], dtype=bool)
    """

def any(a: array, /, axis: None | int | Sequence[int] = None, keepdims: bool = False, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Whether any element over axes is nonzero; NaN counts as nonzero.

    Args:
        a: input array.
        axis: axis or axes to reduce over; None means all, () none.
        keepdims: keep the reduced axes with size 1.

    The result is bool.

    Raises:
        AxisError: an axis is out of range.
        ValueError: an axis is given twice.

    Example:
        >>> mx.any(mx.array([[0, 0], [0, 1]]), axis=1)
        array([False, True], dtype=bool)
    """

def mean(a: array, /, axis: None | int | Sequence[int] = None, keepdims: bool = False, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Mean over axes; NaN if there is nothing to average.

    Args:
        a: input array.
        axis: axis or axes to reduce over; None means all, () none.
        keepdims: keep the reduced axes with size 1.

    Integer and bool inputs give float32.

    Raises:
        AxisError: an axis is out of range.
        ValueError: an axis is given twice.

    Example:
        >>> mx.mean(mx.array([[1, 2], [3, 4]]), axis=0)
        array([2, 3], dtype=float32)
    """

def logsumexp(a: array, /, axis: None | int | Sequence[int] = None, keepdims: bool = False, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Logarithm of the sum of exponentials over axes, without overflow.

    Args:
        a: input array.
        axis: axis or axes to reduce over; None means all, () none.
        keepdims: keep the reduced axes with size 1.

    Integer and bool inputs give float32.

    Raises:
        AxisError: an axis is out of range.
        ValueError: an axis is given twice.
        ValueError: the input is empty.

    Example:
        >>> mx.logsumexp(mx.array([1000.0, 1000.0]))
        array(1000.69, dtype=float32)
    """

def var(a: array, /, axis: None | int | Sequence[int] = None, keepdims: bool = False, ddof: int = 0, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Variance over axes.

    Args:
        a: input array.
        axis: axis or axes to reduce over; None means all, () none.
        keepdims: keep the reduced axes with size 1.
        ddof: the divisor is the number of elements less ``ddof``.

    Integer and bool inputs give float32, complex ones the float32 mean of the squared distance
    from the mean (its root for ``std``).

    Raises:
        AxisError: an axis is out of range.
        ValueError: an axis is given twice.

    Example:
        >>> mx.var(mx.array([1.0, 3.0]))
        array(1, dtype=float32)
    """

def std(a: array, /, axis: None | int | Sequence[int] = None, keepdims: bool = False, ddof: int = 0, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Standard deviation over axes.

    Args:
        a: input array.
        axis: axis or axes to reduce over; None means all, () none.
        keepdims: keep the reduced axes with size 1.
        ddof: the divisor is the number of elements less ``ddof``.

    Integer and bool inputs give float32, complex ones the float32 mean of the squared distance
    from the mean (its root for ``std``).

    Raises:
        AxisError: an axis is out of range.
        ValueError: an axis is given twice.

    Example:
        >>> mx.std(mx.array([1.0, 3.0]))
        array(1, dtype=float32)
    """

def argmax(a: array, /, axis: None | int = None, keepdims: bool = False, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Position of the maximum along an axis: the first of equals, or the first NaN.

    Args:
        a: input array.
        axis: axis to search; None searches the flattened array.
        keepdims: keep the searched axis (all axes for None) with size 1.

    The result is uint32.

    Raises:
        AxisError: the axis is out of range.
        ValueError: the input is empty.

    Example:
        >>> mx.argmax(mx.array([1, 5, 5]))
        array(1, dtype=uint32)
    """

def argmin(a: array, /, axis: None | int = None, keepdims: bool = False, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Position of the minimum along an axis: the first of equals, or the first NaN.

    Args:
        a: input array.
        axis: axis to search; None searches the flattened array.
        keepdims: keep the searched axis (all axes for None) with size 1.

    The result is uint32.

    Raises:
        AxisError: the axis is out of range.
        ValueError: the input is empty.

    Example:
        >>> mx.argmin(mx.array([4, 2, 2]))
        array(1, dtype=uint32)
    """

def softmax(a: array, /, axis: None | int | Sequence[int] = None, *, precise: bool = False, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Exponentials divided by their sum over axes.

    Args:
        a: input array.
        axis: axis or axes the result sums to 1 over; None means all.
        precise: accepted for compatibility: sums are always formed in float32 at least.

    Integer and bool inputs give float32. An empty input is returned as it is.

    Raises:
        AxisError: an axis is out of range.
        ValueError: an axis is given twice.

    Example:
        >>> mx.softmax(mx.array([0.0, 0.0]), axis=-1)
        array([0.5, 0.5], dtype=float32)
    """

def minmax(a: array, /, axis: None | int | Sequence[int] = None, keepdims: bool = False, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> tuple[array, array]:
    """
    Minimum and maximum over axes, as :func:`min` and :func:`max` give them.

    Args:
        a: input array.
        axis: axis or axes to reduce over; None means all, () none.
        keepdims: keep the reduced axes with size 1.

    Raises:
        AxisError: an axis is out of range.
        ValueError: an axis is given twice or a reduced axis is empty.

    Example:
        >>> mx.minmax(mx.array([3, 1, 2]))
        (array(1, dtype=int32), array(3, dtype=int32))
    """

def count_nonzero(a: array, /, axis: None | int | Sequence[int] = None, *, keepdims: bool = False, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Number of nonzero elements over axes, as int32; NaN counts.

    Args:
        a: input array.
        axis: axis or axes to reduce over; None means all, () none.
        keepdims: keep the reduced axes with size 1.

    Raises:
        AxisError: an axis is out of range.
        ValueError: an axis is given twice.
        OverflowError: a count may not fit int32.

    Example:
        >>> mx.count_nonzero(mx.array([[0, 1], [2, 3]]), axis=1)
        array([1, 2], dtype=int32)
    """

def cumsum(a: array, /, axis: int | None = None, *, reverse: bool = False, inclusive: bool = True, dtype: Dtype | None = None, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Sums of all elements up to each one along an axis.

    Args:
        a: input array.
        axis: axis to walk along; None flattens the array.
        reverse: start at the end of the axis.
        inclusive: an output takes in its own element; otherwise only those before it, none
            for the first.
        dtype: convert the input to it first.

    The result has the dtype of the input, int32 for bool; integers wrap. float16 and bfloat16 are
    accumulated in float32 and rounded once.

    Raises:
        AxisError: the axis is out of range.

    Example:
        >>> mx.cumsum(mx.array([1, 2, 3]))
        array([1, 3, 6], dtype=int32)
    """

def cumprod(a: array, /, axis: int | None = None, *, reverse: bool = False, inclusive: bool = True, dtype: Dtype | None = None, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Products of all elements up to each one along an axis.

    Args:
        a: input array.
        axis: axis to walk along; None flattens the array.
        reverse: start at the end of the axis.
        inclusive: an output takes in its own element; otherwise only those before it, none
            for the first.
        dtype: convert the input to it first.

    The result has the dtype of the input; float16 and bfloat16 are accumulated in float32 and rounded once.

    Raises:
        AxisError: the axis is out of range.

    Example:
        >>> mx.cumprod(mx.array([1, 2, 3]), inclusive=False)
        array([1, 1, 2], dtype=int32)
    """

def cummax(a: array, /, axis: int | None = None, *, reverse: bool = False, inclusive: bool = True, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Maximum of all elements up to each one along an axis; NaN wins.

    Args:
        a: input array.
        axis: axis to walk along; None flattens the array.
        reverse: start at the end of the axis.
        inclusive: an output takes in its own element; otherwise only those before it, none
            for the first.

    The result has the dtype of the input.

    Raises:
        AxisError: the axis is out of range.

    Example:
        >>> mx.cummax(mx.array([1, 3, 2]))
        array([1, 3, 3], dtype=int32)
    """

def cummin(a: array, /, axis: int | None = None, *, reverse: bool = False, inclusive: bool = True, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Minimum of all elements up to each one along an axis; NaN wins.

    Args:
        a: input array.
        axis: axis to walk along; None flattens the array.
        reverse: start at the end of the axis.
        inclusive: an output takes in its own element; otherwise only those before it, none
            for the first.

    The result has the dtype of the input.

    Raises:
        AxisError: the axis is out of range.

    Example:
        >>> mx.cummin(mx.array([1, 3, 2]), reverse=True)
        array([1, 2, 2], dtype=int32)
    """

def logcumsumexp(a: array, /, axis: int | None = None, *, reverse: bool = False, inclusive: bool = True, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Logarithm of the sum of exponentials of all elements up to each one along an axis.

    Args:
        a: input array.
        axis: axis to walk along; None flattens the array.
        reverse: start at the end of the axis.
        inclusive: an output takes in its own element; otherwise only those before it, none
            for the first.

    Integer and bool inputs give float32.

    Raises:
        AxisError: the axis is out of range.

    Example:
        >>> mx.logcumsumexp(mx.array([1.0, 1.0]))
        array([1, 1.69315], dtype=float32)
    """

cumulative_sum = cumsum

cumulative_prod = cumprod

def diff(a: array, /, n: int = 1, axis: int = -1, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Differences of neighbours along an axis.

    Args:
        a: input array.
        n: how many times differences are taken; each makes the axis shorter by one.
        axis: default the last.

    The result has the dtype of the input: unsigned integers wrap, bools tell where neighbours differ.

    Raises:
        AxisError: the axis is out of range.
        ValueError: n is negative.

    Example:
        >>> mx.diff(mx.array([1, 4, 9]))
        array([3, 5], dtype=int32)
    """

def reshape(a: array, /, shape: Sequence[int], *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    The elements of ``a`` in row-major order under another shape.

    Args:
        shape: the new sizes; one may be -1 and is then worked out.

    Raises:
        ValueError: the sizes do not fit the number of elements.

    Example:
        >>> mx.reshape(mx.arange(4), (2, -1))
        array([[0, 1],
               [2, 3]], dtype=int32)
    """

def flatten(a: array, /, start_axis: int = 0, end_axis: int = -1, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Merges the axes from ``start_axis`` to ``end_axis``, which are clamped to those there are.

    Raises:
        ValueError: ``start_axis`` lies behind ``end_axis``.

    Example:
        >>> mx.flatten(mx.ones((2, 3, 4)), 1).shape
        (2, 12)
    """

def unflatten(a: array, /, axis: int, shape: Sequence[int], *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Cuts one axis into several; one of the new sizes may be -1.

    Raises:
        ValueError: the sizes do not fit the axis or there are none.
        AxisError: the axis is out of range.

    Example:
        >>> mx.unflatten(mx.ones((2, 6)), 1, (3, -1)).shape
        (2, 3, 2)
    """

def squeeze(a: array, /, axis: int | Sequence[int] | None = None, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Drops axes of size 1: all of them, or those given.

    Raises:
        ValueError: a given axis has another size or is given twice.
        AxisError: an axis is out of range.

    Example:
        >>> mx.squeeze(mx.ones((1, 3, 1)), 0).shape
        (3, 1)
    """

def expand_dims(a: array, /, axis: int | Sequence[int], *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Adds axes of size 1 at the given positions of the result.

    Raises:
        ValueError: a position is given twice.
        AxisError: a position is out of range.

    Example:
        >>> mx.expand_dims(mx.ones(3), (0, 2)).shape
        (1, 3, 1)
    """

def atleast_1d(*arys: array, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array | list[array]:
    """
    Arrays with at least one dimension; one array in, one out, else a list.

    Example:
        >>> mx.atleast_1d(mx.array(3)).shape
        (1,)
    """

def atleast_2d(*arys: array, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array | list[array]:
    """
    Arrays with at least two dimensions; new ones come first.

    Example:
        >>> mx.atleast_2d(mx.ones(3)).shape
        (1, 3)
    """

def atleast_3d(*arys: array, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array | list[array]:
    """
    Arrays with at least three dimensions: (n,) becomes (1, n, 1), (m, n) (m, n, 1).

    Example:
        >>> mx.atleast_3d(mx.ones(3)).shape
        (1, 3, 1)
    """

def transpose(a: array, /, axes: Sequence[int] | None = None, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    The axes in another order, by default reversed. A view.

    Args:
        axes: for each axis of the result the one of ``a`` that it is.

    Raises:
        ValueError: not every axis is given once.
        AxisError: an axis is out of range.

    Example:
        >>> mx.transpose(mx.ones((2, 3, 4)), (2, 0, 1)).shape
        (4, 2, 3)
    """

permute_dims = transpose

def matrix_transpose(a: array, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    The last two axes swapped.

    Raises:
        ValueError: fewer than 2 dimensions.

    Example:
        >>> mx.matrix_transpose(mx.ones((2, 3, 4))).shape
        (2, 4, 3)
    """

def swapaxes(a: array, /, axis1: int, axis2: int, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Two axes swapped.

    Raises:
        AxisError: an axis is out of range.

    Example:
        >>> mx.swapaxes(mx.ones((2, 3, 4)), 0, 2).shape
        (4, 3, 2)
    """

def moveaxis(a: array, /, source: int, destination: int, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    One axis moved to another place, the others keep their order.

    Raises:
        AxisError: an axis is out of range.

    Example:
        >>> mx.moveaxis(mx.ones((2, 3, 4)), 0, 2).shape
        (3, 4, 2)
    """

def flip(a: array, /, axis: int | Sequence[int] | None = None, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    The elements in reverse order along the given axes, by default all.

    Raises:
        ValueError: an axis is given twice.
        AxisError: an axis is out of range.

    Example:
        >>> mx.flip(mx.arange(3))
        array([2, 1, 0], dtype=int32)
    """

def roll(a: array, /, shift: int | Sequence[int], axis: int | Sequence[int] | None = None, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    The elements moved along axes; those that leave at one end enter at the other.

    Args:
        shift: an int, or a tuple with one for each axis; several for one axis add up.
        axis: default None, the flattened array.

    Raises:
        ValueError: the numbers of shifts and axes differ.
        AxisError: an axis is out of range.

    Example:
        >>> mx.roll(mx.arange(4), 1)
        array([3, 0, 1, 2], dtype=int32)
    """

def broadcast_to(a: bool | int | float | complex | array | ArrayLike, /, shape: Sequence[int], *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    ``a`` repeated to ``shape`` by NumPy's rules. A view.

    Raises:
        ValueError: the shapes are incompatible or a size is negative.

    Example:
        >>> mx.broadcast_to(mx.arange(2), (2, 2))
        array([[0, 1],
               [0, 1]], dtype=int32)
    """

def broadcast_arrays(*arrays: array, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> list[array]:
    """
    All arrays broadcast to their common shape.

    Raises:
        ValueError: there is none.

    Example:
        >>> [a.shape for a in mx.broadcast_arrays(mx.ones((2, 1)), mx.ones(3))]
        [(2, 3), (2, 3)]
    """

def broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]:
    """
    The common shape of arrays by NumPy's rules.

    Raises:
        ValueError: there is none, or no shape is given.

    Example:
        >>> mx.broadcast_shapes((2, 1), (3,))
        (2, 3)
    """

def repeat(array: array, /, repeats: int, axis: int | None = None, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Each element ``repeats`` times along an axis, or of the flattened array.

    Raises:
        ValueError: ``repeats`` is negative.
        AxisError: the axis is out of range.

    Example:
        >>> mx.repeat(mx.arange(2), 2)
        array([0, 0, 1, 1], dtype=int32)
    """

def tile(a: array, /, reps: int | Sequence[int], *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    The array repeated as a whole ``reps`` times along each axis.

    Args:
        reps: an int or one for each axis; missing ones, and missing axes, count 1.

    Raises:
        ValueError: a number is negative.

    Example:
        >>> mx.tile(mx.arange(2), 2)
        array([0, 1, 0, 1], dtype=int32)
    """

def concatenate(arrays: Sequence[array], /, axis: int | None = 0, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Arrays joined along an existing axis; their dtypes are promoted.

    Args:
        axis: default 0; None flattens the arrays first.

    Raises:
        ValueError: no arrays, or shapes that differ in another axis.
        AxisError: the axis is out of range.

    Example:
        >>> mx.concatenate([mx.arange(2), mx.arange(1)])
        array([0, 1, 0], dtype=int32)
    """

concat = concatenate

def stack(arrays: Sequence[array], /, axis: int | None = 0, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Arrays of one shape joined along a new axis; their dtypes are promoted.

    Raises:
        ValueError: no arrays, or shapes that differ.
        AxisError: the axis is out of range.

    Example:
        >>> mx.stack([mx.arange(2), mx.arange(2)], axis=1).tolist()
        [[0, 0], [1, 1]]
    """

def split(a: array, /, indices_or_sections: int | Sequence[int], axis: int = 0, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> list[array]:
    """
    Cuts an axis into parts, which are views.

    Args:
        indices_or_sections: a number of equal parts, or the places to cut at.

    Raises:
        ValueError: the axis does not divide into that many parts.
        AxisError: the axis is out of range.

    Example:
        >>> [a.tolist() for a in mx.split(mx.arange(4), [1])]
        [[0], [1, 2, 3]]
    """

def unstack(x: array, /, *, axis: int = 0, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> tuple[array, ...]:
    """
    The slices along an axis, without it.

    Raises:
        AxisError: the axis is out of range.

    Example:
        >>> [a.tolist() for a in mx.unstack(mx.array([[1, 2], [3, 4]]))]
        [[1, 2], [3, 4]]
    """

def pad(a: array, /, pad_width: int | Sequence[int] | Sequence[Sequence[int]], mode: str = 'constant', constant_values: bool | int | float | complex | array | ArrayLike = 0, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Elements added before and behind each axis.

    Args:
        pad_width: an int, a pair (before, behind) for all axes, or a pair for each.
        mode: 'constant'; 'edge' repeats the border; 'reflect' mirrors without, 'symmetric'
            with the border element.
        constant_values: what 'constant' adds, converted to the dtype of ``a``.

    Raises:
        ValueError: a width is negative, the number of pairs or the mode is wrong, or
            an empty axis has nothing to pad with.

    Example:
        >>> mx.pad(mx.array([1, 2]), (1, 0), constant_values=9)
        array([9, 1, 2], dtype=int32)
    """

def as_strided(a: array, /, shape: Sequence[int] | None = None, strides: Sequence[int] | None = None, offset: int = 0, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    The elements of ``a``, flattened in row-major order, read with other strides.

    Args:
        shape: default that of ``a``.
        strides: in elements, default row-major; may be 0 or negative.
        offset: of the first element, in elements.

    Raises:
        ValueError: an element would lie outside the array.

    Example:
        >>> mx.as_strided(mx.arange(4), (3, 2), (1, 1)).tolist()
        [[0, 1], [1, 2], [2, 3]]
    """

def contiguous(a: array, /, allow_col_major: bool = False, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    The same values in row-major memory; copies only if they are not there yet.

    Args:
        allow_col_major: leave a column-major array as it is.

    Example:
        >>> mx.contiguous(mx.ones((2, 3)).T).shape
        (3, 2)
    """

def view(a: bool | int | float | complex | array | ArrayLike, /, dtype: Dtype, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    The bits of ``a`` as elements of another dtype; the last axis scales by the sizes.

    Raises:
        ValueError: the last axis does not hold whole elements.

    Example:
        >>> mx.view(mx.array([1.0]), mx.int32)
        array([1065353216], dtype=int32)
    """

def stop_gradient(a: array, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    The same values; no gradient flows through them.

    Example:
        >>> mx.grad(lambda x: x * mx.stop_gradient(x))(mx.array(3.0))
        array(3, dtype=float32)
    """

@overload
def arange(start: int | float, stop: int | float | None, step: int | float | None = None, dtype: Dtype | None = None, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Evenly spaced values from ``start`` (default 0) up to but without ``stop``.

    Args:
        start: first value.
        stop: bound that is not reached.
        step: distance of neighbours, default 1; may be negative.
        dtype: default int32 (int64 if a number needs it), float32 if any number is a float.

    Returns:
        A 1-D array with ``ceil((stop - start) / step)`` elements.

    Raises:
        ValueError: the step is 0, a bound is not finite, or the dtype is bool.

    Example:
        >>> mx.arange(2, 8, 3)
        array([2, 5], dtype=int32)
    """

@overload
def arange(stop: int | float, step: int | float | None = None, dtype: Dtype | None = None, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array: ...

def linspace(start: bool | int | float | complex | array | ArrayLike, stop: bool | int | float | complex | array | ArrayLike, num: int = 50, endpoint: bool = True, dtype: Dtype | None = ..., stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    ``num`` evenly spaced values from ``start`` to ``stop``.

    Args:
        endpoint: whether ``stop`` is the last value.
        dtype: default float32.

    Raises:
        ValueError: ``num`` is negative.

    Example:
        >>> mx.linspace(0, 1, 3)
        array([0, 0.5, 1], dtype=float32)
    """

def zeros(shape: int | Sequence[int], dtype: Dtype | None = ..., *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    An array of zeros. Takes no memory until something is written to it.

    Args:
        shape: an int or a sequence of ints.
        dtype: default float32.

    Raises:
        ValueError: a dimension is negative.

    Example:
        >>> mx.zeros((2, 2), mx.int32)
        array([[0, 0],
               [0, 0]], dtype=int32)
    """

def ones(shape: int | Sequence[int], dtype: Dtype | None = ..., *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    An array of ones; see :func:`zeros`.

    Example:
        >>> mx.ones(3)
        array([1, 1, 1], dtype=float32)
    """

def zeros_like(a: array, /, dtype: Dtype | None = None, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Zeros with the shape of ``a`` and its dtype unless another is given.

    Example:
        >>> mx.zeros_like(mx.array([1, 2]))
        array([0, 0], dtype=int32)
    """

def ones_like(a: array, /, dtype: Dtype | None = None, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Ones with the shape of ``a`` and its dtype unless another is given.

    Example:
        >>> mx.ones_like(mx.array([3, 4]))
        array([1, 1], dtype=int32)
    """

empty = zeros

empty_like = zeros_like

def full(shape: int | Sequence[int], vals: bool | int | float | complex | array | ArrayLike, dtype: Dtype | None = None, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    An array with ``vals`` broadcast to ``shape``.

    Args:
        vals: a number or an array. An array keeps its dtype.
        dtype: of a number, unless the number does not fit its kind: a float stays float32 if
            an integer dtype is asked for.

    Raises:
        ValueError: a dimension is negative or ``vals`` does not broadcast.

    Example:
        >>> mx.full((2,), 7)
        array([7, 7], dtype=int32)
    """

def full_like(a: array, /, vals: bool | int | float | complex | array | ArrayLike, dtype: Dtype | None = None, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    ``vals`` broadcast to the shape of ``a``, in its dtype unless another is given.

    Example:
        >>> mx.full_like(mx.array([1, 2]), 9)
        array([9, 9], dtype=int32)
    """

def eye(n: int, m: int | None = None, k: int = 0, dtype: Dtype | None = ..., *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    An ``n`` by ``m`` matrix (default square) with ones on diagonal ``k``.

    Raises:
        ValueError: a size is negative.

    Example:
        >>> mx.eye(2)
        array([[1, 0],
               [0, 1]], dtype=float32)
    """

def identity(n: int, dtype: Dtype | None = ..., *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    The ``n`` by ``n`` identity matrix; see :func:`eye`.

    Example:
        >>> mx.identity(1)
        array([[1]], dtype=float32)
    """

def tri(n: int, m: int | None = None, k: int = 0, dtype: Dtype | None = None, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    An ``n`` by ``m`` matrix with ones at and below diagonal ``k``, zeros above.

    Example:
        >>> mx.tri(2)
        array([[1, 0],
               [1, 1]], dtype=float32)
    """

def tril(x: array, k: int = 0, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    The matrices in the last two axes with zeros above diagonal ``k``.

    Raises:
        ValueError: fewer than 2 dimensions.

    Example:
        >>> mx.tril(mx.ones((2, 2)))
        array([[1, 0],
               [1, 1]], dtype=float32)
    """

def triu(x: array, k: int = 0, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    The matrices in the last two axes with zeros below diagonal ``k``.

    Raises:
        ValueError: fewer than 2 dimensions.

    Example:
        >>> mx.triu(mx.ones((2, 2)))
        array([[1, 1],
               [0, 1]], dtype=float32)
    """

def bartlett(M: int, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    The Bartlett window, a triangle, as float32.

    Args:
        M: number of samples; none are returned below 1.

    Example:
        >>> mx.bartlett(3)
        array([0, 1, 0], dtype=float32)
    """

def hanning(M: int, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    The Hann window ``0.5 - 0.5 cos(2πn / (M - 1))``, as float32.

    Args:
        M: number of samples; none are returned below 1.

    Example:
        >>> mx.hanning(3)
        array([0, 1, 7.64274e-15], dtype=float32)
    """

def hamming(M: int, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    The Hamming window ``0.54 - 0.46 cos(2πn / (M - 1))``, as float32.

    Args:
        M: number of samples; none are returned below 1.

    Example:
        >>> mx.hamming(3)
        array([0.08, 1, 0.08], dtype=float32)
    """

def blackman(M: int, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    The Blackman window ``0.42 - 0.5 cos(2πn / (M - 1)) + 0.08 cos(4πn / (M - 1))``, as float32.

    Args:
        M: number of samples; none are returned below 1.

    Example:
        >>> mx.blackman(3)
        array([0, 1, 0], dtype=float32)
    """

def diag(a: array, /, k: int = 0, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    A matrix with the 1-D ``a`` on diagonal ``k``, or diagonal ``k`` of the 2-D ``a``.

    Raises:
        ValueError: other than 1 or 2 dimensions.

    Example:
        >>> mx.diag(mx.array([1, 2]))
        array([[1, 0],
               [0, 2]], dtype=int32)
    """

def diagonal(a: array, offset: int = 0, axis1: int = 0, axis2: int = 1, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    The diagonals of the matrices formed by two axes, as the last axis of the result.

    Raises:
        ValueError: fewer than 2 dimensions or equal axes.
        AxisError: an axis is out of range.

    Example:
        >>> mx.diagonal(mx.array([[1, 2], [3, 4]]))
        array([1, 4], dtype=int32)
    """

def trace(a: array, /, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Dtype | None = None, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    The sum of a diagonal, which is converted to ``dtype`` first if one is given.

    The result has the dtype that :func:`sum` gives.

    Example:
        >>> mx.trace(mx.array([[1, 2], [3, 4]]))
        array(5, dtype=int32)
    """

def meshgrid(*arrays: array, sparse: bool = False, indexing: str = 'xy', stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> tuple[array, ...]:
    """
    Coordinate arrays of the grid that 1-D arrays span.

    Args:
        sparse: keep size 1 along the other axes instead of repeating.
        indexing: 'xy' swaps the first two axes, 'ij' keeps them in order.

    Raises:
        ValueError: another ``indexing``.

    Example:
        >>> mx.meshgrid(mx.arange(2), mx.arange(1), indexing='ij')[0]
        array([[0],
               [1]], dtype=int32)
    """

@overload
def take(a: array, /, indices: array, axis: int | None = None, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Slices of ``a`` at ``indices`` along an axis, or elements of the flattened array.

    Args:
        indices: an integer array, or an int that is not negative. Negative entries of
            an array count from the end; entries outside the axis are clamped.
        axis: default None, the flattened array.

    Returns:
        The shape of ``a`` with that of ``indices`` in place of the axis.

    Raises:
        ValueError: indices of no integer dtype, a negative int, or an empty axis.
        IndexError: an int beyond the axis.
        AxisError: the axis is out of range.

    Example:
        >>> mx.take(mx.array([5, 6, 7]), mx.array([2, 0]))
        array([7, 5], dtype=int32)
    """

@overload
def take(a: array, /, indices: int, axis: int | None = None, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array: ...

def take_along_axis(a: array, /, indices: array, axis: int | None = -1, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    For each line along the axis the elements at its own indices.

    Args:
        indices: integers, with as many dimensions as ``a``; all axes but the given one
            broadcast. Entries outside the axis are clamped.
        axis: default the last; None for the flattened array.

    Raises:
        ValueError: another number of dimensions, or indices of no integer dtype.
        AxisError: the axis is out of range.

    Example:
        >>> mx.take_along_axis(mx.array([[1, 2], [3, 4]]), mx.array([[1], [0]]))
        array([[2],
               [3]], dtype=int32)
    """

def put_along_axis(a: array, /, indices: array, values: array, axis: int | None = None, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    ``a`` with the elements at each line's own indices replaced by ``values``.

    Args:
        indices: as for :func:`take_along_axis`; entries outside the axis are ignored.
        values: broadcast to the shape of ``indices`` and converted to the dtype of ``a``.
        axis: default None, the flattened array.

    Raises:
        ValueError: shapes that do not fit, or indices of no integer dtype.
        AxisError: the axis is out of range.

    Example:
        >>> mx.put_along_axis(mx.array([[1, 2]]), mx.array([[1]]), mx.array(9), 1)
        array([[1, 9]], dtype=int32)
    """

def slice(a: array, /, start_indices: array, axes: Sequence[int], slice_size: Sequence[int], *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    The window of ``a`` whose place is given by an array.

    Args:
        start_indices: integers, one for each of ``axes``. Negative ones count from the
            end; then all are moved so that the window fits.
        axes: axes that have a start; the window starts at 0 on the others.
        slice_size: shape of the window.

    Raises:
        ValueError: a window larger than ``a``, another number of starts than axes, or
            starts of no integer dtype.
        AxisError: an axis is out of range.

    Example:
        >>> mx.slice(mx.array([5, 6, 7, 8]), mx.array([1]), [0], [2])
        array([6, 7], dtype=int32)
    """

def slice_update(a: array, /, update: array, start_indices: array, axes: Sequence[int], *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    ``a`` with a window, whose place is given by an array, replaced by ``update``.

    Args:
        update: converted to the dtype of ``a``; its shape is that of the window. Along
            missing leading axes it broadcasts to the whole axis, or to one element of an
            axis that has a start.
        start_indices: as for :func:`slice`.
        axes: axes that have a start.

    Raises:
        ValueError: an update larger than ``a``, another number of starts than axes,
            or starts of no integer dtype.
        AxisError: an axis is out of range.

    Example:
        >>> mx.slice_update(mx.array([5, 6, 7]), mx.array([0]), mx.array([1]), [0])
        array([5, 0, 7], dtype=int32)
    """

def nonzero(a: array, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> tuple[array, ...]:
    """
    The indices of the elements that are not 0, in row-major order.

    The size of the result depends on values: ``a`` is evaluated.

    Returns:
        One int32 array for each dimension of ``a``.

    Raises:
        ValueError: an array without dimensions, or a call inside a function that
            vmap or compile is tracing.
        OverflowError: indices do not fit int32.

    Example:
        >>> mx.nonzero(mx.array([0, 3, 4]))
        (array([1, 2], dtype=int32),)
    """

def argwhere(a: array, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    The indices of the elements that are not 0 as rows, in row-major order.

    The size of the result depends on values: ``a`` is evaluated.

    Returns:
        An int32 array of shape (count, ndim).

    Raises:
        ValueError: a call inside a function that vmap or compile is tracing.
        OverflowError: indices do not fit int32.

    Example:
        >>> mx.argwhere(mx.array([[0, 3], [4, 0]]))
        array([[0, 1],
               [1, 0]], dtype=int32)
    """

def sort(a: array, /, axis: None | int = -1, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Elements in ascending order along an axis.

    Equal elements keep their order; NaN comes last, complex numbers are ordered by their real
    part first.

    Args:
        axis: default the last; None sorts the flattened array.

    Returns:
        The shape and dtype of ``a``.

    Raises:
        AxisError: the axis is out of range.

    Example:
        >>> mx.sort(mx.array([3, 1, 2]))
        array([1, 2, 3], dtype=int32)
    """

def argsort(a: array, /, axis: None | int = -1, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Positions (uint32) that bring the elements into the order of :func:`sort`.

    Args:
        axis: default the last; None sorts the flattened array.

    Raises:
        AxisError: the axis is out of range.
        OverflowError: positions do not fit uint32.

    Example:
        >>> mx.argsort(mx.array([30, 10, 20]))
        array([1, 2, 0], dtype=uint32)
    """

def partition(a: array, /, kth: int, axis: None | int = -1, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Elements rearranged so that position ``kth`` holds what :func:`sort` would put there, with
    nothing greater before it and nothing less behind it.

    Args:
        kth: a position along the axis; negative ones count from the end.
        axis: default the last; None partitions the flattened array.

    Returns:
        The shape and dtype of ``a``.

    Raises:
        ValueError: kth is out of range.
        AxisError: the axis is out of range.

    Example:
        >>> mx.partition(mx.array([3, 1, 2]), 1)
        array([1, 2, 3], dtype=int32)
    """

def argpartition(a: array, /, kth: int, axis: None | int = -1, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Positions (uint32) that rearrange the elements as :func:`partition` does.

    Args:
        kth: a position along the axis; negative ones count from the end.
        axis: default the last; None partitions the flattened array.

    Raises:
        ValueError: kth is out of range.
        AxisError: the axis is out of range.
        OverflowError: positions do not fit uint32.

    Example:
        >>> mx.argpartition(mx.array([30, 10, 20]), 0)
        array([1, 2, 0], dtype=uint32)
    """

def topk(a: array, /, k: int, axis: None | int = -1, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    The ``k`` largest elements along an axis; NaN counts as largest.

    They are in ascending order, but if all elements are wanted the array is returned as it is.

    Args:
        k: from 0 to the size of the axis.
        axis: default the last; None takes the flattened array.

    Returns:
        The shape of ``a`` with size ``k`` along the axis.

    Raises:
        ValueError: k is out of range.
        AxisError: the axis is out of range.

    Example:
        >>> mx.topk(mx.array([5, 1, 4, 2]), 2)
        array([4, 5], dtype=int32)
    """

def median(a: array, /, axis: None | int | Sequence[int] = None, keepdims: bool = False, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Middle element in sorted order over axes, or the average of the two middle ones.

    Args:
        axis: axis or axes to reduce over; None means all, () none.
        keepdims: keep the reduced axes with size 1.

    Integer and bool inputs give float32. A NaN among the elements gives NaN.

    Raises:
        AxisError: an axis is out of range.
        ValueError: an axis is given twice or a reduced axis is empty.

    Example:
        >>> mx.median(mx.array([4, 1, 3, 2]))
        array(2.5, dtype=float32)
    """

def searchsorted(sorted_sequence: array, values: array, /, side: str = 'left', *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Where values have to be inserted to keep a sequence sorted, by binary search.

    Both are converted to their common dtype; the order is that of :func:`sort`.

    Args:
        sorted_sequence: one-dimensional, in ascending order.
        values: any shape.
        side: ``'left'`` gives the first such position, ``'right'`` the last.

    Returns:
        uint32 positions with the shape of ``values``.

    Raises:
        ValueError: a sequence that is not one-dimensional, or an unknown side.
        OverflowError: positions do not fit uint32.

    Example:
        >>> mx.searchsorted(mx.array([1, 2, 2, 3]), mx.array([2, 0, 9]))
        array([1, 0, 4], dtype=uint32)
    """

def unique(a: array, /, size: int, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False, fill_value: scalar | array | None = None, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array | tuple[array, ...]:
    """
    The distinct elements of the flattened array in ascending order, as many as ``size`` says.

    The size of the result may not depend on values, so it has to be given: further values are
    left out, missing ones filled in. Every NaN is distinct.

    Args:
        size: how many values to return.
        return_index: also return where each value occurs first (uint32).
        return_inverse: also return for each element of ``a`` the position of its value, the
            last one for values that are left out (uint32, the shape of ``a``).
        return_counts: also return how often each value occurs (int32), 0 where filled.
        fill_value: for missing values; default the smallest value.

    Returns:
        The values, or a tuple of them and what else was asked for, in this order.

    Raises:
        ValueError: a negative size, a fill_value of several elements, or none for an
            empty array.
        OverflowError: counts do not fit int32.

    Example:
        >>> mx.unique(mx.array([3, 1, 3, 2]), size=3)
        array([1, 2, 3], dtype=int32)
    """

def grad(fun: Callable, argnums: int | Sequence[int] | None = None, argnames: str | Sequence[str] = []) -> object:
    """
    A function that computes the gradient of ``fun``.

    Args:
        fun: takes arrays or trees of them and returns a scalar array.
        argnums: number or numbers of the positional arguments to differentiate by; default 0 if
            ``argnames`` is not given.
        argnames: name or names of keyword arguments to differentiate by.

    Returns:
        A function with the arguments of ``fun`` that returns the gradient: a tree like
        the argument; a tuple of them for several; with ``argnames`` a tuple of that (or ``None``)
        and a dict. A gradient has the dtype of its input.

    Raises:
        ValueError: bad argument numbers or names, leaves that are not arrays, or a result
            that is no scalar array.

    Example:
        >>> mx.grad(lambda x: x * x)(mx.array(3.0))
        array(6, dtype=float32)
    """

def value_and_grad(fun: Callable, argnums: int | Sequence[int] | None = None, argnames: str | Sequence[str] = []) -> object:
    """
    A function that computes the value and the gradient of ``fun``.

    As :func:`grad`, but the function returned gives ``(value, gradient)``, and ``fun`` may return
    a tuple whose first item is the scalar; further items of any kind are passed through.

    Example:
        >>> mx.value_and_grad(lambda x: x * x)(mx.array(3.0))
        (array(9, dtype=float32), array(6, dtype=float32))
    """

def vjp(fun: Callable, primals: Sequence[array], cotangents: Sequence[array]) -> object:
    """
    The outputs of ``fun`` and the products of ``cotangents`` with its Jacobian.

    Args:
        fun: takes arrays, returns an array or a list or tuple of them.
        primals: the arrays to call it with.
        cotangents: one for each output, of its shape.

    Returns:
        A tuple of two lists: outputs, and one cotangent for each primal.

    Example:
        >>> mx.vjp(mx.sin, [mx.array(0.0)], [mx.array(1.0)])
        ([array(0, dtype=float32)], [array(1, dtype=float32)])
    """

def jvp(fun: Callable, primals: Sequence[array], tangents: Sequence[array]) -> object:
    """
    The outputs of ``fun`` and the product of its Jacobian with ``tangents``.

    Args:
        fun: takes arrays, returns an array or a list or tuple of them.
        primals: the arrays to call it with.
        tangents: one for each, of its shape.

    Returns:
        A tuple of two lists: outputs, and one tangent for each output.

    Example:
        >>> mx.jvp(mx.sin, [mx.array(0.0)], [mx.array(1.0)])
        ([array(0, dtype=float32)], [array(1, dtype=float32)])
    """

def vmap(fun: Callable, in_axes: object = 0, out_axes: object = 0) -> object:
    """
    A function that applies ``fun`` to every slice of its arguments at once.

    Args:
        fun: takes and returns arrays or trees of them, positional arguments only.
        in_axes: the axis to map over: an int for all arguments, or a tuple with an int, ``None``
            (not mapped) or a tree of them for each.
        out_axes: the axis of the outputs along which the results are stacked, in the same form.

    Raises:
        ValueError: axes that do not match the arguments or differ in size, or none at all.
        AxisError: an axis out of range.

    Example:
        >>> mx.vmap(lambda x, y: x + y, in_axes=(0, None))(mx.array([1, 2]), mx.array(3))
        array([4, 5], dtype=int32)
    """

def compile(fun: Callable, inputs: object | None = None, outputs: object | None = None, shapeless: bool = False) -> object:
    """
    A function that does what ``fun`` does, without running its Python code again.

    The first call traces ``fun``; later calls replay the recorded graph, with element-wise
    operations joined beforehand. A call is traced again when dtypes, shapes (with ``shapeless``
    only the numbers of dimensions), the structure of the arguments, the values of constants or
    the default device or stream differ from all earlier ones. Results are the same bit for bit
    as those of ``fun``.

    Args:
        fun: takes arrays, int, float, str, None or trees of them; returns anything: what is no
            array is returned as it was when traced. Side effects happen only then.
        inputs: a list or dict (or ``mx.random.state``) of arrays that ``fun`` reads beside its
            arguments. Other arrays it reads are constants.
        outputs: the same for what it changes: written after each call.
        shapeless: replay for other shapes of the same rank, too. Operations whose output shape
            does not follow from those of the inputs cannot be used.

    Raises:
        ValueError: arguments of another kind, evaluating arrays inside ``fun``, or, with
            ``shapeless``, an operation that needs fixed shapes.

    Example:
        >>> f = mx.compile(lambda x: mx.exp(x) + 1)
        >>> f(mx.array([0.0, 0.0]))
        array([2, 2], dtype=float32)
    """

def enable_compile() -> None:
    """
    Let functions made by :func:`compile` use their recorded graphs (the default).

    Overrides the environment variable ``MLX_DISABLE_COMPILE``.
    """

def disable_compile() -> None:
    """
    Let functions made by :func:`compile` call the original functions.

    The environment variable ``MLX_DISABLE_COMPILE`` does so from the start.
    """

class custom_function:
    """
    A function with derivatives or a mapping rule of its own, used as a decorator.

    Transforms use the rules given by :meth:`vjp`, :meth:`jvp` and :meth:`vmap`, and the
    function's own operations where there is none. With a rule, arrays that the function
    captures are constants.

    Example:
        >>> @mx.custom_function
        ... def f(x):
        ...     return mx.sin(x)
        >>> @f.vjp
        ... def f_vjp(primal, cotangent, output):
        ...     return cotangent * 2
        >>> mx.grad(f)(mx.array(0.0))
        array(2, dtype=float32)
    """

    def __init__(self, f: Callable) -> None: ...

    def __call__(self, *args, **kwargs) -> object:
        """What the function returns."""

    def vjp(self, f: Callable) -> object:
        """
        Set the rule for reverse derivatives.

        Args:
            f: called as ``f(primals, cotangents, outputs, **kwargs)``: the positional
                arguments (a tuple, or the only one), and cotangents and outputs like the
                function's result. Returns the cotangents of the arrays in the positional
                arguments.

        Returns:
            The custom function.
        """

    def jvp(self, f: Callable) -> object:
        """
        Set the rule for forward derivatives.

        Args:
            f: called as ``f(primals, tangents)``, both like the positional arguments,
                ``None`` for an array without tangent. Returns tangents like the result.

        Returns:
            The custom function.
        """

    def vmap(self, f: Callable) -> object:
        """
        Set the rule for mapping.

        Args:
            f: called as ``f(inputs, axes)``, both like the positional arguments, ``None``
                for an array that is not mapped. Returns outputs and their axes.

        Returns:
            The custom function.
        """

    def __getattr__(self, arg: str, /) -> object: ...

def checkpoint(fun: Callable) -> object:
    """
    A function that does what ``fun`` does and keeps no intermediate results for gradients.

    They are computed again in the backward pass (Chen et al., 2016,
    https://arxiv.org/abs/1604.06174). Gradients reach the arrays in the arguments, not those
    that ``fun`` captures.

    Args:
        fun: takes and returns arrays or trees of them.

    Example:
        >>> f = mx.checkpoint(lambda x: mx.sin(mx.sin(x)))
        >>> mx.grad(f)(mx.array(0.0))
        array(1, dtype=float32)
    """

def depends(inputs: array | Sequence[array], dependencies: array | Sequence[array], /) -> array | list[array]:
    """
    The inputs, to be computed after the dependencies.

    Args:
        inputs: an array or a list of arrays.
        dependencies: the same.

    Returns:
        Arrays equal to the inputs, in a list unless ``inputs`` is an array.

    Example:
        >>> mx.depends(mx.array(1), mx.array(2))
        array(1, dtype=int32)
    """

def save(file: object, arr: bool | int | float | complex | array | ArrayLike) -> None:
    """
    Write an array to a ``.npy`` file.

    Args:
        file: a path (``.npy`` is added if it is missing) or a binary file object.
        arr: the array. bfloat16 is stored as two opaque bytes.

    Raises:
        RuntimeError: the file cannot be written.

    Example:
        >>> mx.save("x.npy", mx.array([1, 2]))
    """

def savez(file: object, *args, **kwargs) -> None:
    """
    Write several arrays to an uncompressed ``.npz`` file.

    Positional arrays are named ``arr_0``, ``arr_1`` …, others by their keywords.

    Raises:
        ValueError: a keyword is the name of a positional array.
    """

def savez_compressed(file: object, /, *args, **kwargs) -> None:
    """
    Write several arrays to a compressed ``.npz`` file, as :func:`savez` does.
    """

def save_safetensors(file: object, arrays: dict, metadata: dict | None = None) -> None:
    """
    Write a dict of arrays to a ``.safetensors`` file.

    Args:
        file: a path (the suffix is added if it is missing) or a binary file object.
        arrays: arrays by name.
        metadata: strings by name.

    Raises:
        RuntimeError: an array is float64, or the file cannot be written.
        ValueError: names, arrays or metadata are of other types.
    """

def load(file: object, format: str | None = None, return_metadata: bool = False) -> object:
    """
    Read arrays from a file.

    Args:
        file: a path, read when the arrays are evaluated, or a binary file object, read at
            once.
        format: ``npy``, ``npz`` or ``safetensors``; default: the extension.
        return_metadata: also return the metadata of a safetensors file.

    Returns:
        An array (npy), a dict of arrays, or a tuple of a dict and the metadata.

    Raises:
        RuntimeError: the file is missing, cut short or not valid.
        ValueError: the format is not known.
    """

def matmul(arg0: array, arg1: array, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Matrix product.

    A 1-D operand is a row on the left, a column on the right, and the axis it
    was given is dropped. Axes before the last two broadcast.

    Args:
        a (array): shape ``(..., m, k)`` or ``(k,)``.
        b (array): shape ``(..., k, n)`` or ``(k,)``.

    Returns:
        array: shape ``(..., m, n)``, in the dtype that a and b promote to.

    Raises:
        ValueError: a 0-d operand, inner sizes that differ, or a dtype that is
          neither floating nor complex.

    Example:
        >>> mx.matmul(mx.ones((2, 3)), mx.ones((3, 4))).shape
        (2, 4)
    """

def addmm(arg0: array, arg1: array, arg2: array, alpha: float = 1.0, beta: float = 1.0, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Matrix product with an addend: ``beta * c + alpha * (a @ b)``.

    Args:
        c (array): broadcasts to the shape of the product.
        a (array): shape ``(..., m, k)`` or ``(k,)``.
        b (array): shape ``(..., k, n)`` or ``(k,)``.
        alpha (float): factor of the product; zero leaves it out.
        beta (float): factor of c; zero leaves it out.

    Returns:
        array: shape ``(..., m, n)``, in the dtype that all three promote to.

    Raises:
        ValueError: as :func:`matmul`, or if c does not broadcast.

    Example:
        >>> mx.addmm(mx.array(1.0), mx.ones((2, 3)), mx.ones((3, 2)), alpha=2.0)
        array([[7, 7],
               [7, 7]], dtype=float32)
    """

def gather_mm(arg0: array, arg1: array, lhs_indices: array | None = None, rhs_indices: array | None = None, *, sorted_indices: bool = False, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Products of matrices that are chosen by indices.

    The indices count the matrices of a and b, their leading axes flattened.
    The matrices are read where they are: nothing of b is copied.

    Args:
        a (array): shape ``(..., m, k)``.
        b (array): shape ``(..., k, n)``.
        lhs_indices (array, optional): integers that choose matrices of a;
          without them, all in order.
        rhs_indices (array, optional): the same for b. Both broadcast
          together; without either, the result is that of :func:`matmul`.
        sorted_indices (bool): the indices ascend. The result is the same.

    Returns:
        array: the shape of the indices, then ``(m, n)``.

    Raises:
        ValueError: fewer than two axes, inner sizes that differ, indices that
          are no integers or do not broadcast, or a dtype that is not real
          floating.

    Example:
        >>> experts = mx.ones((4, 3, 2))
        >>> mx.gather_mm(mx.ones((1, 3)), experts, rhs_indices=mx.array([3, 0])).shape
        (2, 1, 2)
    """

def segmented_mm(arg0: array, arg1: array, segments: array, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Products over stretches of the inner axis: ``a[:, s:e] @ b[s:e]`` for each
    segment ``(s, e)``; an empty one gives zeros.

    Args:
        a (array): shape ``(m, k)``.
        b (array): shape ``(k, n)``.
        segments (array): integers of shape ``(..., 2)``; what is outside
          ``0 ... k`` is moved to the nearer end.

    Returns:
        array: shape ``(..., m, n)``.

    Raises:
        ValueError: other shapes, segments that are no integers, or a dtype
          that is neither floating nor complex.

    Example:
        >>> mx.segmented_mm(mx.ones((1, 4)), mx.ones((4, 1)), mx.array([[0, 1], [1, 4]]))
        array([[[1]],
               [[3]]], dtype=float32)
    """

def block_masked_mm(arg0: array, arg1: array, block_size: int = 64, mask_out: array | None = None, mask_lhs: array | None = None, mask_rhs: array | None = None, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Matrix product with masks for square blocks of the operands and the result.

    A bool mask keeps blocks or makes them zero; a floating one multiplies
    them. If one operand has a bool mask and the other a floating one, both
    multiply. Without masks this is :func:`matmul`.

    Args:
        a (array): shape ``(..., m, k)``.
        b (array): shape ``(..., k, n)``.
        block_size (int): 32 or 64; the last blocks of an axis may be smaller.
        mask_out (array, optional): shape ``(..., ceil(m / block_size),
          ceil(n / block_size))``.
        mask_lhs (array, optional): the same for m and k.
        mask_rhs (array, optional): the same for k and n.

    Returns:
        array: shape ``(..., m, n)``.

    Raises:
        ValueError: another block size with masks, or shapes and dtypes that do
          not fit.

    Example:
        >>> keep = mx.array([[True, False]])
        >>> mx.block_masked_mm(mx.ones((1, 96)), mx.ones((96, 1)), 64, mask_lhs=keep).item()
        64.0
    """

def tensordot(arg0: array, arg1: array, axes: int | Sequence[Sequence[int]] = 2, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Sum of products over chosen axes of a and b.

    Args:
        a (array): first operand.
        b (array): second operand.
        axes (int or list): a number n contracts the last n axes of a with
          the first n of b; two lists name the axes of a and of b.

    Returns:
        array: the other axes of a, then those of b.

    Raises:
        ValueError: axes that differ in number or size, or integer dtypes.

    Example:
        >>> mx.tensordot(mx.ones((2, 3)), mx.ones((3, 4)), 1).shape
        (2, 4)
    """

def inner(arg0: array, arg1: array, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Sum of products over the last axes; for a 0-d operand, the product.

    Example:
        >>> mx.inner(mx.array([1.0, 2.0]), mx.array([3.0, 4.0]))
        array(11, dtype=float32)
    """

def outer(arg0: array, arg1: array, /, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Products of all pairs of elements; operands are flattened.

    Returns:
        array: shape ``(a.size, b.size)``.

    Example:
        >>> mx.outer(mx.array([1, 2]), mx.array([3, 4]))
        array([[3, 4],
               [6, 8]], dtype=int32)
    """

def vecdot(arg0: array, arg1: array, axis: int = -1, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Sum of ``conj(a) * b`` along an axis; other axes broadcast.

    Raises:
        ValueError: a 0-d operand, or sizes along the axis that differ.

    Example:
        >>> mx.vecdot(mx.array([1, 2]), mx.array([3, 4]))
        array(11, dtype=int32)
    """

def einsum(subscripts: str, *operands: array, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Sum of products by Einstein's convention, with NumPy's subscripts.

    Every letter names an axis; an axis that the result does not name is summed. A
    letter that repeats in one operand takes the diagonal. ``...`` stands for axes
    that broadcast. Without ``->`` the result has the letters that occur once, in
    alphabetical order, behind the axes of ``...``. Axes of size 1 broadcast. More
    than two operands are contracted in pairs, in the order of :func:`einsum_path`.

    Args:
        subscripts (str): such as ``"ij,jk->ik"``.
        *operands (array): one for each term between commas.

    Returns:
        array: in the dtype that the operands promote to.

    Raises:
        ValueError: subscripts that do not fit the operands, sizes that differ, or a
          sum of products whose dtype is neither floating nor complex.

    Example:
        >>> mx.einsum("ij,j->i", mx.array([[1.0, 2.0], [3.0, 4.0]]), mx.array([1.0, 1.0]))
        array([3, 7], dtype=float32)
    """

def einsum_path(subscripts: str, *operands: array) -> tuple[list[tuple[int, ...]], str]:
    """
    The order in which :func:`einsum` contracts its operands.

    The greedy choice of opt_einsum (Smith and Gray, 2018): the pair that frees most
    memory first.

    Returns:
        tuple: a list of positions, where each step takes its operands out of the
          list and appends their product; and a text about the cost.

    Raises:
        ValueError: subscripts that do not fit the operands.

    Example:
        >>> mx.einsum_path("ij,jk,kl->il", mx.ones((2, 3)), mx.ones((3, 4)), mx.ones((4, 5)))[0]
        [(1, 2), (0, 1)]
    """

def kron(a: array, b: array, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Kronecker product: every element of ``a`` times the whole of ``b``.

    Returns:
        array: sizes are the products of the operands' sizes, axis by axis from the
          last.

    Raises:
        ValueError: an operand is empty.

    Example:
        >>> mx.kron(mx.array([1, 2]), mx.array([1, 1]))
        array([1, 1, 2, 2], dtype=int32)
    """

def hadamard_transform(a: array, /, scale: float | None = None, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Walsh-Hadamard transform along the last axis.

    Orders 2**k are Sylvester's matrices in natural order, order 12 is Paley's, 20 and
    28 are Williamson's, and m * 2**k are Kronecker products of these.

    Args:
        a (array): the last axis has size ``m * 2**k`` with m = 1, 12, 20 or 28.
        scale (float): a factor; default ``1 / sqrt(n)``, which keeps lengths.

    Returns:
        array: the shape of a; float32 for integers and bools. float16 and bfloat16
          are computed in float32 and rounded once.

    Raises:
        ValueError: another size of the last axis, or no elements.

    Example:
        >>> mx.hadamard_transform(mx.array([1.0, 2.0, 3.0, 4.0]))
        array([5, -1, -2, 0], dtype=float32)
    """

bool_: Dtype

class _PrintOptionsContext:
    """Restores the print options when the block ends."""
    def __enter__(self) -> None: ...
    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None) -> None: ...

class _TransformedFunction:
    """A function made by a transform."""
    def __call__(self, *args, **kwargs): ...
