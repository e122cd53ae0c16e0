"""Is the result of a fit to be believed? Checks of the data, the scale and the residuals.

    diagnose(fitted, X)  ->  Diagnostics, a tuple of checks with one sentence of advice each

| module          | asks                                                                      |
|-----------------|---------------------------------------------------------------------------|
| `columns.py`    | are the columns fit to be used: constant, codes, copies, collinear; do     |
|                 | rows belong together: repeated identifiers, series in time                |
| `scale.py`      | does the answer rest on the units of the data                             |
| `residuals.py`  | is the linear Gaussian story plausible: tails, dependence, curvature      |
| `run.py`        | `diagnose`, all of them                                                   |
| `result.py`     | `Check` and `Diagnostics`, plain data                                     |
"""

from __future__ import annotations

from analyticdag.diagnostics.result import Check, Diagnostics, Level
from analyticdag.diagnostics.run import diagnose

__all__ = ["Check", "Diagnostics", "Level", "diagnose"]
