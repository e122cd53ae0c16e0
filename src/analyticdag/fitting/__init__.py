"""What every estimator needs around its fit: the data as it sees them, the graph as it returns it.

| module          | holds                                                                        |
|-----------------|------------------------------------------------------------------------------|
| `statistics.py` | what a fit sees of the data: covariance, means, names                        |
| `design.py`     | discrete columns as a search sees them: columns, blocks, readings            |
| `facts.py`      | what these need of the rows: of a table, or of rows added up                 |
| `tally.py`      | rows added up with the levels of their discrete columns                      |
| `rows.py`       | rows for a second look: all, or a sample of too many                         |
| `cluster.py`    | the same for a Dask DataFrame, on its cluster                                |
| `placement.py`  | which array library, device and precision the path runs on                   |
| `checkpoint.py` | a path that can be killed and goes on                                        |
| `finish.py`     | from a path's weights to a DAG: threshold, cycles, limits                    |
| `edges.py`      | the table of edges: how strong, and what fixed each direction                |
| `fitted.py`     | `GraphEstimator`, the base of both estimators                                |
"""

from __future__ import annotations

from analyticdag.fitting.edges import Edge, FixedBy

__all__ = ["Edge", "FixedBy"]
