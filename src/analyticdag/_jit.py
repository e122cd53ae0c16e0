"""The one place that knows numba.

`kernel` marks a function for compilation at its first call, never at import. Compiled code is
cached on disk where the installation or the user's cache directory can be written; elsewhere
(a read-only container, no home directory) the kernel still works and is compiled once per process.
Kernels release the global interpreter lock, so that plain threads keep every core busy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])

# Division by zero gives inf or nan as in NumPy instead of an exception: the check for it would
# keep the compiler from vectorising. Fused multiply-add is allowed, reordering of sums is not:
# results stay the same whatever the vector width.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": {"contract"}}


def kernel(function: F) -> F:
    """Compile `function` with numba at its first call, with an on-disk cache where possible."""
    try:
        compiled = numba.njit(cache=True, **_OPTIONS)(function)
    except RuntimeError:  # numba: "no locator available", nowhere to write a cache
        compiled = numba.njit(**_OPTIONS)(function)
    return cast(F, compiled)
