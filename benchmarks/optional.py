"""Libraries that only some cells need: imported when called, or named with what to install."""

from __future__ import annotations

import importlib
from typing import Any

from analyticdag.errors import MissingDependencyError

__all__ = ["optional"]

_PROJECT = "./benchmarks"  # as pip is told in the folder of the repository


def optional(module: str, package: str, extra: str = "peers") -> Any:
    """Import ``module`` of ``package``, which the extra of this distribution brings."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingDependencyError(package, extra, _PROJECT) from error
