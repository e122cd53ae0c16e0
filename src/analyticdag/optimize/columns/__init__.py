"""The exact minimiser of one stage: one column after the other.

| module           | holds                                                                       |
|------------------|-----------------------------------------------------------------------------|
| `minimise.py`    | `minimise_columns`: arguments in, `ColumnsResult` out                       |
| `start.py`       | `starting_weights`: zero, or parents along the variances                    |
| `scaling.py`     | the stage problem with every variance one                                   |
| `stage.py`       | one stage: sweeps until they win nothing                                    |
| `descents.py`    | two ways to know the constraint: the inverse (order-k), or walks (any f)    |
| `sweep.py`       | the inverse of I - A/s through a block of columns, by rank-one updates      |
| `coordinates.py` | one column: exact steps in each weight, exact zeros                         |
| `newton.py`      | one column: Newton steps in all non-zero weights together                   |
| `walks.py`       | one column of tr f(A) for any f, from its power series                      |
| `barrier.py`     | the constraint and its derivatives as a function of one column              |
"""

from analyticdag.optimize.columns.minimise import ColumnsResult, minimise_columns
from analyticdag.optimize.columns.start import starting_weights

__all__ = ["ColumnsResult", "minimise_columns", "starting_weights"]
