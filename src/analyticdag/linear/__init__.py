"""The linear estimator: data in, a DAG out, always.

| module          | holds                                                                        |
|-----------------|------------------------------------------------------------------------------|
| `estimator.py`  | `AnalyticDAG`, the scikit-learn estimator                                    |
| `options.py`    | its parameters, checked; combinations that make no sense refused             |
| `statistics.py` | what a fit sees of the data: covariance, means, names                        |
| `placement.py`  | which array library, device and precision the path runs on                   |
| `learn.py`      | from statistics to weights: the path, then the search                        |
| `checkpoint.py` | a path that can be killed and goes on                                        |
| `finish.py`     | from weights to a DAG: threshold, cycles, limits, edges                      |
"""

from __future__ import annotations

from analyticdag.linear.estimator import AnalyticDAG
from analyticdag.linear.finish import Edge

__all__ = ["AnalyticDAG", "Edge"]
