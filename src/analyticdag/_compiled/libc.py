"""Functions of C's mathematical library, which compiled kernels call instead of these."""

from __future__ import annotations

from math import copysign, exp, fabs, hypot, inf, isfinite, log, log1p, sqrt

__all__ = ["INFINITY", "copysign", "exp", "fabs", "hypot", "isfinite", "log", "log1p", "sqrt"]

INFINITY = inf
