"""Tasks small enough to test the harness with; plans name them as "bench_tasks:function"."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from analyticdag.errors import MissingDependencyError
from benchmarks.plan import Method


def draw(setting: Mapping[str, Any], method: Method, rng: np.random.Generator) -> dict[str, Any]:
    return {"draw": rng.random(), "nan": np.nan, "count": np.int64(3)}


def misbehave(
    setting: Mapping[str, Any], method: Method, rng: np.random.Generator
) -> dict[str, Any]:
    """Fail in the way the method's name says."""
    if method.name == "raise":
        raise ZeroDivisionError("on purpose")
    if method.name == "warn":
        warnings.warn("careful", RuntimeWarning, stacklevel=1)
        warnings.warn("careful", RuntimeWarning, stacklevel=1)
    if method.name == "missing":
        raise MissingDependencyError("peer", "peers", "./benchmarks")
    if method.name == "hang":
        time.sleep(600)
    if method.name == "hoard":
        return {"bytes": np.ones(2**31, dtype=np.uint8).sum()}
    if method.name == "abort":
        os.abort()
    if method.name == "chatter":
        os.write(1, b"noise on standard output\n")
    return {"fine": 1.0}


def leave_a_mark(
    setting: Mapping[str, Any], method: Method, rng: np.random.Generator
) -> dict[str, Any]:
    """Append a line to a file, so that a test can count how often each cell was run."""
    with Path(str(method.options["file"])).open("a") as file:
        file.write(f"{setting['number']}\n")
    time.sleep(float(method.options["seconds"]))
    return {"number": setting["number"]}


def name_the_worker(
    setting: Mapping[str, Any], method: Method, rng: np.random.Generator
) -> dict[str, Any]:
    """Leave behind who started this process, and take long enough to be killed meanwhile."""
    with Path(str(method.options["file"])).open("a") as file:
        file.write(f"{os.getppid()}\n")
    time.sleep(0.5)
    return {}


def die_if_orphaned(
    setting: Mapping[str, Any], method: Method, rng: np.random.Generator
) -> dict[str, Any]:
    """Leave the process id behind and wait far longer than the test."""
    Path(str(method.options["file"])).write_text(f"{os.getpid()}\n")
    time.sleep(600)
    return {}
