"""The one place that knows array kinds.

Everything else is written on the Python array API. What the standard lacks (a view of CPU
memory for compiled kernels, writing a diagonal, silence about overflow) is dispatched here.
"""

from __future__ import annotations

import math
from contextlib import AbstractContextManager
from typing import Any

import array_api_compat
import array_api_compat.numpy
import numpy as np
from array_api_compat import device, is_torch_array

from analyticdag._compiled import flat, readable
from analyticdag._constraint import kernels
from analyticdag._tables import check_square
from analyticdag._typing import Array
from analyticdag.errors import DataError


def array_namespace(array: Array) -> Any:
    """The array's library in standard form, found at once for NumPy."""
    if type(array) is np.ndarray:
        return array_api_compat.numpy
    return array_api_compat.array_namespace(array)


def _is_numpy(array: object) -> bool:
    return isinstance(array, np.ndarray)


def as_square_matrix(matrix: Any, name: str) -> Array:
    """The matrix as a floating-point array of its own kind, or a DataError saying why not."""
    array = _as_array(matrix, name)
    check_square(array, name)
    xp = array_namespace(array)
    if array.dtype != xp.float64 and array.dtype != xp.float32:
        if not xp.isdtype(array.dtype, ("integral", "bool", "real floating")):
            raise DataError(f"{name} must hold real numbers, got dtype {array.dtype}")
        array = xp.astype(array, xp.float64)
    if not _all_finite(array, xp):
        raise DataError(f"{name} has NaN or infinite entries; replace them before the call")
    return array


def _all_finite(array: Array, xp: Any) -> bool:
    # A finite sum of squares proves it in one pass; an infinite one may be mere overflow.
    if isinstance(array, np.ndarray) and math.isfinite(np.vdot(array, array)):
        return True
    return bool(xp.all(xp.isfinite(array)))


def _as_array(matrix: Any, name: str) -> Array:
    if type(matrix) is np.ndarray and matrix.dtype != object:
        return matrix
    if not _is_numpy(matrix):
        try:
            array_namespace(matrix)
            return matrix
        except TypeError:
            pass
    elif matrix.dtype != object:
        return np.asarray(matrix)  # np.matrix would read * as a matrix product
    try:
        return np.asarray(matrix, dtype=np.float64)
    except (TypeError, ValueError):
        kind = type(matrix).__name__
        raise DataError(f"{name} must be a matrix of numbers, got {kind}") from None


def host_view(array: Array) -> np.ndarray[Any, Any] | None:
    """The same memory as a NumPy array where the CPU can read it, else None."""
    if isinstance(array, np.ndarray):
        return array
    if is_torch_array(array) and array.device.type == "cpu":
        return array.detach().numpy()
    return None


def like(values: Any, template: Array) -> Array:
    """NumPy values as an array of the template's kind, on its device."""
    if _is_numpy(template):
        return values
    xp = array_namespace(template)
    return xp.asarray(values, dtype=template.dtype, device=device(template))


def identity(matrix: Array) -> Array:
    """The identity of the matrix' size, kind, precision and device."""
    xp = array_namespace(matrix)
    return xp.eye(matrix.shape[0], dtype=matrix.dtype, device=device(matrix))


def epsilon(array: Array) -> float:
    """Machine precision of the array's dtype."""
    if isinstance(array, np.ndarray):
        return 2.0**-52 if array.dtype == np.float64 else 2.0**-23
    return float(array_namespace(array).finfo(array.dtype).eps)


def diagonal_of_product(P: Array, Q: Array) -> Array:
    """The diagonal of P @ Q."""
    return array_namespace(P).sum(P * Q.T, axis=1)


def set_diagonal(matrix: Array, diagonal: Array) -> Array:
    """The matrix with another diagonal."""
    eye = identity(matrix)
    return matrix * (1 - eye) + eye * diagonal[:, None]


def quiet() -> AbstractContextManager[Any]:
    """No overflow warnings: a series that diverges is an answer here, not a surprise."""
    return np.errstate(over="ignore", invalid="ignore", divide="ignore")


def times_transposed(
    W: np.ndarray[Any, Any], P: np.ndarray[Any, Any], factor: float
) -> np.ndarray[Any, Any]:
    """factor·W∘Pᵀ of NumPy matrices; the kernel goes by tiles, as P is read across its rows."""
    if W.dtype != np.float64 or not P.flags.c_contiguous:
        return W.dtype.type(factor) * W * P.T
    W = readable(W)
    result: np.ndarray[Any, Any] = np.empty_like(W)
    kernels.times_transposed(flat(W), flat(P), len(W), factor, flat(result))
    return result
