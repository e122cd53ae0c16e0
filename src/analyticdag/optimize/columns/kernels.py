"""What Python calls of the path's kernels: one extension module where they are compiled."""

from analyticdag.optimize.columns.column import Column, Equation, State
from analyticdag.optimize.columns.elastic import Net
from analyticdag.optimize.columns.resolvent import Block, resolvent_block
from analyticdag.optimize.columns.walks import walk_block

__all__ = ["Block", "Column", "Equation", "Net", "State", "resolvent_block", "walk_block"]
