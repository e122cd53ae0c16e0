"""What Python calls of the search's kernels: one extension module where they are compiled."""

from analyticdag.search.alternatives import detours
from analyticdag.search.block_moves import (
    choose_without,
    descend_blocks,
    fit_order,
    keep_parents,
    move_to,
)
from analyticdag.search.blocks import Blocks, Ordered
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
    "Blocks",
    "Data",
    "Memory",
    "Ordered",
    "Plan",
    "Queue",
    "Regression",
    "Rules",
    "State",
    "Stop",
    "Undo",
    "choose_without",
    "descend_blocks",
    "detours",
    "explains",
    "fit",
    "fit_order",
    "give_parents",
    "keep_parents",
    "move_node",
    "move_to",
    "offer",
    "search",
]
