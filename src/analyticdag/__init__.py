"""Learn causal graphs from data with analytic acyclicity constraints."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analyticdag.knowledge import Knowledge
    from analyticdag.linear import AnalyticDAG
    from analyticdag.nonlinear import NonlinearDAG

__version__ = "0.1.0.dev0"
__all__ = ["AnalyticDAG", "Knowledge", "NonlinearDAG", "__version__"]

# Looked up at first use: scikit-learn takes a second to import, which `import analyticdag` and
# the command line's --help should not.
_HOME = {
    "AnalyticDAG": "analyticdag.linear",
    "Knowledge": "analyticdag.knowledge",
    "NonlinearDAG": "analyticdag.nonlinear",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
