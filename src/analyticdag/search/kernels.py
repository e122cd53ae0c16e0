"""What Python calls of the steps: one extension module where they are compiled."""

from analyticdag.search.steps.detours import detours
from analyticdag.search.steps.given import Data, Rules, Stop
from analyticdag.search.steps.local import explains, fit, give_parents, move_node, offer, search
from analyticdag.search.steps.records import Memory, Plan, Queue, Regression, State, Undo

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
