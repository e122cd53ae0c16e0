"""One step of Adam, given the gradients.

| module       | holds                                                                 |
|--------------|-----------------------------------------------------------------------|
| `step.py`    | the step for arrays of any kind, and by kernels for NumPy's float64   |
| `kernels.py` | what Python calls of the kernels: one extension module where compiled |
| `entries.py` | kernels: the step, entry by entry                                     |
"""

from analyticdag._compiled import compiled_first

__path__ = compiled_first(__path__)  # before anything looks for the kernels

from analyticdag.optimize.update.step import Update, update_of

__all__ = ["Update", "update_of"]
