"""The words of Cython that kernels use, with their meaning where nothing is compiled.

The build puts Cython itself in the place of this module; without it a C type is the Python type
that behaves alike, a pointer is a flat array, and a decorator does nothing. So kernels run, and are
type-checked, without Cython installed. Words that Cython does not have stand at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, NoReturn, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from analyticdag._typing import FloatArray, IntArray

T = TypeVar("T")

compiled = False
nogil = nullcontext()

void: TypeAlias = None
bint: TypeAlias = bool
double: TypeAlias = float
longlong: TypeAlias = int
Py_ssize_t: TypeAlias = int
size_t: TypeAlias = int
p_double: TypeAlias = FloatArray
p_longlong: TypeAlias = IntArray
p_uchar: TypeAlias = NDArray[np.uint8]


def cclass(kind: type[T]) -> type[T]:
    """A class whose annotated fields are fields of a C struct."""
    return kind


def cfunc(function: Callable[..., T]) -> Callable[..., T]:
    """A C function that may use Python objects."""
    return function


def declare(kind: type[T], visibility: str = "") -> T:
    """A C field that Python may read ("readonly") or write too ("public")."""
    unset: Any = None
    return unset


def cast(kind: Any, value: Any) -> Any:
    """A number as another kind of number; a fraction is cut off."""
    return kind(value)


def address(entry: Any) -> NoReturn:
    """Only compiled code has addresses; see ``vectors.start``."""
    raise NotImplementedError("cython.address has a meaning in compiled code only")


# -- The build writes these out in Cython's own words.

doubles: TypeAlias = FloatArray  # a contiguous vector that Python hands over: double[::1]
longlongs: TypeAlias = IntArray
uchars: TypeAlias = NDArray[np.uint8]


def part(function: Callable[..., T]) -> Callable[..., T]:
    """A piece of kernels: a C function that needs no interpreter lock and raises nothing."""
    return function
