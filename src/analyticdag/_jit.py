"""The one place that knows numba.

`kernel` marks a function for compilation at its first call, never at import. Compiled code is
cached on disk where the installation or the user's cache directory can be written; elsewhere
(a read-only container, no home directory) the kernel still works and is compiled once per process.
Kernels release the global interpreter lock, so that plain threads keep every core busy.

Only what Python calls is a kernel: each costs the compiler a tenth of a second for the way in and
out, and what a kernel calls is optimised again with it. A piece of kernels is a `part`, compiled
once and called, if several places want it, and a `helper`, pasted where it is called, if only one
does. Python sees a part as the plain function it is: `kernel(function)` compiles it by itself.

`struct` declares a record of arrays and numbers that kernels pass on as one pointer: thirty arrays
as thirty arguments would take minutes to compile.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba import types
from numba.experimental import structref
from numba.extending import register_jitable

# numba's annotations stop at this module.
_structref: Any = structref
new_struct: Any = structref.new

F = TypeVar("F", bound=Callable[..., Any])

# Division by zero gives inf or nan as in NumPy instead of an exception: the check for it would
# keep the compiler from vectorising. Fused multiply-add is allowed, reordering of sums is not:
# results stay the same whatever the vector width.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": {"contract"}}
# Nobody calls a kernel from C; the compiler need not make that possible.
_OPTIONS["no_cfunc_wrapper"] = True

REAL, WHOLE, FLAG = types.float64, types.int64, types.boolean
REALS, WHOLES, FLAGS = (types.Array(t, 1, "C") for t in (REAL, WHOLE, FLAG))
REAL_TABLE, WHOLE_TABLE = types.Array(REAL, 2, "C"), types.Array(WHOLE, 2, "C")
FLAG_TABLE, BYTE_TABLE = types.Array(FLAG, 2, "C"), types.Array(types.int8, 2, "C")


def kernel(function: F) -> F:
    """Compile `function` with numba at its first call, with an on-disk cache where possible."""
    return _compile(function, **_OPTIONS)


def part(function: F) -> F:
    """A piece of several kernels: compiled when one of them is, without a way in from Python."""
    piece: F = register_jitable(**_OPTIONS)(function)
    return piece


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
    """Base of the Python side of a record; only kernels look inside."""


class StructType(types.StructRef):
    """Base of the compiled side of a record."""


def struct(proxy: type[Struct], kind: type[StructType], fields: dict[str, Any]) -> Any:
    """Tie the two sides of a record together; returns its numba type."""
    _structref.register(kind)
    _structref.define_boxing(kind, proxy)
    return kind(tuple(fields.items()))


def needs_compiling(function: Callable[..., Any]) -> bool:
    """Whether the next call of a kernel has to go through the compiler.

    What is on disk may be of older source; then the answer is wrong, and only a notice is missing.
    """
    compiled: Any = function
    if compiled.signatures:
        return False
    file = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    return file is None or not Path(file._index_path).exists()
