"""The one place that knows numba.

`kernel` marks a function for compilation at its first call, never at import. Compiled code is
cached on disk where the installation or the user's cache directory can be written; elsewhere
(a read-only container, no home directory) the kernel still works and is compiled once per process.
Kernels release the global interpreter lock, so that plain threads keep every core busy.

Only what Python calls is a kernel: each costs the compiler a tenth of a second for the way in and
out, and what a kernel calls is optimised again with it. A piece of kernels is a `part`, compiled
once and called, if several places want it, and a `helper`, pasted where it is called, if only one
does. Python sees a part as the plain function it is: `kernel(function)` compiles it by itself.
A constant as an argument makes the compiler start again for each value: pass int(CONSTANT) where
that is not wanted, and let a part return what may be a constant.

`struct` declares a record of arrays and numbers that kernels pass on as one pointer: thirty arrays
as thirty arguments would take minutes to compile.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

import numba
from numba import types
from numba.experimental import structref
from numba.extending import typeof_impl

# numba's annotations stop at this module.
_structref: Any = structref

F = TypeVar("F", bound=Callable[..., Any])

# Division by zero gives inf or nan as in NumPy instead of an exception: the check for it would
# keep the compiler from vectorising. Fused multiply-add is allowed, reordering of sums is not:
# results stay the same whatever the vector width.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": {"contract"}}
# Nobody calls a kernel from C; the compiler need not make that possible.
_OPTIONS["no_cfunc_wrapper"] = True


def kernel(function: F) -> F:
    """Compile `function` with numba at its first call, with an on-disk cache where possible."""
    return _compile(getattr(function, "function", function), **_OPTIONS)


def part(function: F) -> F:
    """A piece of several kernels: compiled when one of them is, without a way in from Python."""
    return cast(F, Part(function))


class Part:
    """The plain function to Python, compiled code to kernels."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        options = {"no_cpython_wrapper": True, **_OPTIONS}
        self.compiled = numba.njit(**options)(function)

    def __call__(self, *args: Any) -> Any:
        """Run as plain Python: the compiled code has no way in, and would crash."""
        return self.function(*args)


@typeof_impl.register(Part)
def _part_in_a_kernel(value: Part, context: Any) -> Any:
    return types.Dispatcher(value.compiled)


def helper(function: F) -> F:
    """A piece of one kernel: its body is pasted where it is called."""
    return _compile(function, inline="always", **_OPTIONS)


def _compile(function: F, **options: Any) -> F:
    try:
        compiled = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # numba: "no locator available", nowhere to write a cache
        compiled = numba.njit(**options)(function)
    return cast(F, compiled)


class Struct(structref.StructRefProxy):
    """Base of the Python side of a record; only kernels make one and look inside."""

    if TYPE_CHECKING:

        def __new__(cls, *fields: Any) -> Self:
            """Within a kernel: a record of these fields."""


class StructType(types.StructRef):
    """Base of the compiled side of a record."""


def struct(proxy: type[Struct], kind: type[StructType]) -> None:
    """Tie the two sides of a record together; its fields are those the proxy class declares.

    Kernels make a record by calling the proxy class with all fields in order. What types they have
    is settled there: an array of another kind would have every kernel compiled once more.
    """
    _structref.register(kind)
    _structref.define_proxy(proxy, kind, list(proxy.__annotations__))


def needs_compiling(function: Callable[..., Any]) -> bool:
    """Whether the next call of a kernel has to go through the compiler.

    What is on disk may be of older source; then the answer is wrong, and only a notice is missing.
    """
    compiled: Any = function
    if compiled.signatures:
        return False
    file = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    return file is None or not Path(file._index_path).exists()
