"""Linear algebra."""



def svd(a: array, compute_uv: bool = True, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> tuple[array, array, array] | array:
    """
    Singular value decomposition ``a = U[:, :k] @ diag(S) @ Vt[:k]``, k the smaller size.

    By LAPACK's divide and conquer, for every matrix in the last two axes. A matrix
    that holds infinity or NaN gives NaN.

    Differentiable. Derivatives are those of quantities that do not depend on the
    choice of the singular vectors: where singular values coincide, or where vectors
    belong to none, single vectors have no derivative, and what would be infinite
    counts as 0.

    Args:
        a (array): shape ``(..., m, n)``; float32, float64 or complex64.
        compute_uv (bool): compute the vectors as well.

    Returns:
        tuple[array, array, array]: U of shape ``(..., m, m)``, S ``(..., k)`` in
          descending order and Vt ``(..., n, n)``; S alone if compute_uv is false.

    Raises:
        ValueError: fewer than 2 dimensions, or another dtype.
        RuntimeError: it did not converge (when the result is evaluated).

    Example:
        >>> mx.linalg.svd(mx.array([[1.0, 0.0], [0.0, 2.0]]))[1]
        array([2, 1], dtype=float32)
    """

def norm(a: array, /, ord: None | int | float | str = None, axis: None | int | Sequence[int] = None, keepdims: bool = False, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Norm of vectors or matrices.

    Without ord the root of the sum of squares, over all axes by default. With ord, a
    norm of vectors along one axis or of matrices in two.

    Differentiable; where everything is 0 the gradient is 0.

    Args:
        a (array): complex values count by their magnitude.
        ord (int, float or str): for vectors 0 (the number of elements that are not
          0), inf, -inf or the power p of ``sum(abs(a) ** p) ** (1 / p)``; for
          matrices 1, -1 (sums of columns), inf, -inf (sums of rows), 2, -2 (singular
          values), "fro" or "f", "nuc" (the sum of the singular values).
        axis (int or Sequence[int]): one axis or two; default all of at most two.
        keepdims (bool): keep the axes with size 1.

    Returns:
        array: real; float32 for integers. float16 and bfloat16 are computed in
          float32 and rounded once.

    Raises:
        AxisError: an axis is out of range.
        ValueError: an ord that does not go with the number of axes, an axis given
          twice, or an empty axis where there is no norm.

    Example:
        >>> mx.linalg.norm(mx.array([3.0, 4.0]))
        array(5, dtype=float32)
    """

def cross(a: array, b: array, axis: int = -1, *, stream: Stream | ThreadLocalStream | Device | DeviceType | None = None) -> array:
    """
    Cross product of vectors.

    Args:
        a (array): vectors of 2 or 3 elements; of 2, the third counts as 0.
        b (array): likewise; other axes broadcast.
        axis (int): the axis of the vectors, in both and in the result.

    Returns:
        array: vectors of 3 elements, in the dtype that a and b promote to.

    Raises:
        AxisError: the axis is out of range.
        ValueError: another size of the axis, or shapes that do not broadcast.

    Example:
        >>> mx.linalg.cross(mx.array([1, 2, 3]), mx.array([4, 5, 6]))
        array([-3, 6, -3], dtype=int32)
    """
