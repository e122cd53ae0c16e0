"""The linear estimator: data in, a DAG out, always.

| module          | holds                                                                        |
|-----------------|------------------------------------------------------------------------------|
| `estimator.py`  | `AnalyticDAG`, the scikit-learn estimator                                    |
| `options.py`    | its parameters, checked; combinations that make no sense refused             |
| `statistics.py` | what a fit sees of the data: covariance, means, names                        |
| `placement.py`  | which array library, device and precision the path runs on                   |
| `learn.py`      | from statistics to a DAG: the path, the search, or one after the other       |
| `paths.py`      | the path: its problem, its start, going on from a checkpoint                 |
| `refine.py`     | the order search: its starts, its score                                      |
| `selection.py`  | lambda and threshold chosen by the data                                      |
| `choice.py`     | equal or unequal variances, by BIC                                           |
| `checkpoint.py` | a path that can be killed and goes on                                        |
| `finish.py`     | from a path's weights to a DAG: threshold, cycles, limits                    |
| `labels.py`     | the table of edges: how strong, and what fixed each direction                |
"""

from __future__ import annotations

from analyticdag.linear.estimator import AnalyticDAG
from analyticdag.linear.labels import Edge, FixedBy

__all__ = ["AnalyticDAG", "Edge", "FixedBy"]
