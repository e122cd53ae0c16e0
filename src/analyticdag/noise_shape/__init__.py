"""Directions from the shape of the noise (Shimizu and others 2006, LiNGAM).

An equivalence class leaves edges open, because its members fit Gaussian noise equally well. With
noise of another shape they do not: only what the right member leaves over is the noise itself, and
a mixture of noises is closer to a Gaussian than each of them. So the members are compared by how
far their residuals are from Gaussian.

    density     the likelihood of a residual beyond that of a Gaussian: its gain
    local       gains of a node given its parents, each computed once; rounded columns lose their
                grid first
    turning     the members of an undirected component, from the best on
    evidence    which preferences are clear enough to be claimed
    revising    edges turned where the noise speaks against the class itself, and parents of one
                node by the covariances
    orient      all of it, for a whole class
"""

from __future__ import annotations

from analyticdag.noise_shape.evidence import SURE
from analyticdag.noise_shape.local import LocalGains
from analyticdag.noise_shape.orient import ClassOf, Shaped, orient

__all__ = ["SURE", "ClassOf", "LocalGains", "Shaped", "orient"]
