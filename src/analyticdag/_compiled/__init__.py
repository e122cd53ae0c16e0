"""Which build of the kernels runs: one for newer processors, one for all, or plain Python.

Kernels are Python files that Cython compiles when the package is built. A package that has some
puts the folder of the build to use before its own,

    __path__ = compiled_first(__path__)

and ``from analyticdag.search.kernels import …`` finds the extension module there. Where nothing was
compiled the same import finds ``kernels.py``, the source, which Python runs: slow, and right.
`docs/design/compiled.md` says how kernels are written and built.

| module       | holds                                                                  |
|--------------|------------------------------------------------------------------------|
| `cython.py`  | what kernels use of Cython, for where they run as plain Python          |
| `libc.py`    | the same for functions of C                                            |
| `vectors.py` | loops over plain vectors that several kernels share                    |
"""

from __future__ import annotations

import os
import warnings
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import numpy as np

from analyticdag._typing import Array
from analyticdag.errors import ParameterError

__all__ = ["build_in", "compiled_first", "flat", "readable"]

VARIABLE = "ANALYTICDAG_KERNELS"
# From the fastest to the one that always runs. "v3" is x86-64-v3: processors with AVX2 and FMA,
# which is nearly every one made since 2013.
BUILDS = ("v3", "baseline", "python")
_NOT_COMPILED = (
    "analyticdag's kernels are not compiled here and run as plain Python, hundreds of times slower;"
    " install a wheel, or a C compiler and Python's headers, and install again"
)


def compiled_first(path: list[str]) -> list[str]:
    """The places to look for a package's modules: the compiled ones before the sources."""
    home = path[0]
    asked = os.environ.get(VARIABLE, "")
    if asked and asked not in BUILDS:
        raise ParameterError(f"{VARIABLE} must be one of {', '.join(BUILDS)}, got {asked!r}")
    suitable = ["v3", "baseline"] if _is_v3() else ["baseline"]
    for build in [asked] if asked else suitable:
        if build == "python":
            return path
        folder = Path(home) / f"_{build}"
        if any(file.name.endswith(tuple(EXTENSION_SUFFIXES)) for file in folder.glob("*")):
            return [str(folder), *path]
    if asked:
        raise ParameterError(f"{VARIABLE}={asked}, but {home} holds no such build")
    warnings.warn(_NOT_COMPILED, RuntimeWarning, stacklevel=1)
    return path


def build_in(path: list[str]) -> str:
    """Name of the build that a package's ``__path__`` leads to."""
    first = Path(path[0]).name.removeprefix("_")
    return first if first in BUILDS else "python"


def flat(array: Array) -> Array:
    """All entries of an array as one vector on the same memory, as kernels want them.

    A copy would let a kernel write where nobody reads, hence the check.
    """
    if not array.flags.c_contiguous:
        raise ValueError("a kernel was given an array that is not contiguous")
    return array.reshape(-1)


def readable(array: Array) -> Array:
    """The array as a kernel can read it: contiguous, and writable, as every vector of a kernel is.

    Arrays in read-only memory, such as a mapped file, are copied.
    """
    return np.require(array, requirements=["C", "W"])


def _is_v3() -> bool:
    """Whether this processor runs x86-64-v3, as NumPy found out at its own import."""
    core = getattr(np, "_core", None) or np.core  # NumPy 2, NumPy 1
    features = getattr(core._multiarray_umath, "__cpu_features__", {})
    return all(features.get(name, False) for name in ("AVX2", "FMA3"))
