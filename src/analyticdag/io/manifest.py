"""Where a run came from: enough to repeat it, and to notice when something else was repeated."""

from __future__ import annotations

import datetime
import hashlib
import os
import platform
import shlex
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from analyticdag import __version__

PACKAGES = ("numpy", "scipy", "scikit-learn", "networkx")
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
)


def manifest_of(
    *,
    source: str,
    sha256: str,
    shape: tuple[int, int],
    parameters: Mapping[str, Any],
    seed: int | None,
    seconds: float | None = None,
    command: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the manifest of a run; `command` repeats it."""
    return {
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "command": shlex.join(command),
        "data": {"source": source, "sha256": sha256, "rows": shape[0], "columns": shape[1]},
        "parameters": dict(parameters),
        "seed": seed,
        "seconds": None if seconds is None else round(seconds, 3),
        "versions": versions(),
        "threads": threads(),
        "platform": f"{platform.system()} {platform.machine()}",
    }


def versions() -> dict[str, str]:
    """Return the versions of Python, of this package and of those it computes with."""
    found = {"python": platform.python_version(), "analyticdag": __version__}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:  # vendored or built in place
            found[package] = "unknown"
    return found


def threads() -> dict[str, Any]:
    """Return how many threads each numeric library would use, and what the environment asked."""
    from threadpoolctl import threadpool_info

    pools = {pool["internal_api"]: pool["num_threads"] for pool in threadpool_info()}
    asked = {name: os.environ[name] for name in THREAD_VARIABLES if name in os.environ}
    return {"pools": pools, "environment": asked, "cpus": os.cpu_count()}


def hash_array(values: ArrayLike, names: Sequence[str]) -> str:
    """Return a SHA-256 of a table in memory: its names, its shape and its numbers."""
    array = np.ascontiguousarray(values, dtype="<f8")
    digest = hashlib.sha256(repr((list(names), array.shape)).encode())
    digest.update(array.tobytes())
    return digest.hexdigest()
