"""What Python calls of the constraint's kernels: one extension module where they are compiled."""

from analyticdag._constraint.components import tarjan
from analyticdag._constraint.elimination import order_gradient, star, times_transposed

__all__ = ["order_gradient", "star", "tarjan", "times_transposed"]
