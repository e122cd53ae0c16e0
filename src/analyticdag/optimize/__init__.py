"""Solving: a *schedule* (how mu and s shrink) times a *minimiser* (how one stage is solved).

| module        | holds                                                                          |
|---------------|--------------------------------------------------------------------------------|
| `problem.py`  | the equation: loss + lambda1·‖W‖₁ + acyclicity, and which edges may exist      |
| `schedule.py` | the stages, and the paper's preset                                             |
| `adam.py`     | the paper's minimiser: many small steps                                        |
| `push.py`     | the gradient of the constraint at the pace of an inner loop                    |
| `halves.py`   | the inverse that it needs, nearly all of it by products                        |
| `update/`     | one step of Adam, given the gradients                                          |
| `columns/`    | the exact minimiser: one column after the other                                |
| `path.py`     | Algorithm 2: run the minimiser through the schedule                            |
| `trace.py`    | what happened on the way, and the status of the result                         |
"""

from analyticdag.optimize.adam import Adam
from analyticdag.optimize.columns import Columns
from analyticdag.optimize.schedule import Schedule, Stage
from analyticdag.optimize.trace import Status, Stop, Trace, TraceRecord

__all__ = ["Adam", "Columns", "Schedule", "Stage", "Status", "Stop", "Trace", "TraceRecord"]
