"""What Python calls of Adam's kernels: one extension module where they are compiled."""

from analyticdag.optimize.update.entries import average, move

__all__ = ["average", "move"]
