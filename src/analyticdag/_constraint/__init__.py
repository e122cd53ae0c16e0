"""Kernels of the constraint.

| module           | holds                                                              |
|------------------|--------------------------------------------------------------------|
| `kernels.py`     | what Python calls, all of it; one extension module where compiled  |
| `components.py`  | the strongly connected components of a matrix                      |
| `elimination.py` | all walks: (I - Y)^-1 - I, and h with its gradient for order-k     |
"""

from analyticdag._compiled import compiled_first

__path__ = compiled_first(__path__)
