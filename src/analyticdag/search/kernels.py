"""What Python calls of the search's kernels: one extension module where they are compiled."""

from analyticdag.search.alternatives import detours
from analyticdag.search.local import explains, fit, give_parents, move_node, offer, search
from analyticdag.search.records import (
    Data,
    Memory,
    Plan,
    Queue,
    Regression,
    Rules,
    State,
    Stop,
    Undo,
)

__all__ = [
    "Data",
    "Memory",
    "Plan",
    "Queue",
    "Regression",
    "Rules",
    "State",
    "Stop",
    "Undo",
    "detours",
    "explains",
    "fit",
    "give_parents",
    "move_node",
    "offer",
    "search",
]
