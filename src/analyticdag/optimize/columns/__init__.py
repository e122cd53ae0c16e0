"""The exact minimiser of one stage: one column after the other.

| module           | holds                                                                       |
|------------------|-----------------------------------------------------------------------------|
| `minimise.py`    | `Columns`, the minimiser; `minimise_columns`, a stage with least squares:   |
|                  | sweeps until they win nothing                                               |
| `start.py`       | `starting_weights`: zero, or parents along the variances                    |
| `descents.py`    | two ways to know the constraint: the inverse (order-k), or walks (any f);   |
|                  | the stage problem with every variance one                                   |
| `kernels.py`     | what Python calls of the kernels: one extension module where compiled       |
| `resolvent.py`   | kernels: the inverse of I - A/s through a block of columns                  |
| `walks.py`       | kernels: the walks from a node back to it, up to any length                 |
| `column.py`      | kernels: one column, as elastic nets with a line search                     |
| `elastic.py`     | kernels: one elastic net, by coordinate and Newton steps                    |
| `cholesky.py`    | kernels: the Newton system                                                  |
| `barrier.py`     | kernels: the constraint and its slopes as a function of one column          |
"""

from analyticdag._compiled import compiled_first

__path__ = compiled_first(__path__)  # before anything looks for the kernels

from analyticdag.optimize.columns.minimise import Columns, ColumnsResult, minimise_columns
from analyticdag.optimize.columns.start import starting_weights

__all__ = ["Columns", "ColumnsResult", "minimise_columns", "starting_weights"]
