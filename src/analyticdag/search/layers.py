"""Equal noise variances: the order in layers, sources first.

A node whose parents have all been placed has the noise variance as its residual variance; any other
node has more. So each layer takes the nodes whose residual variance on the nodes placed so far is
within `TOLERANCE` of the noise level, or the closest one if there is none, and the noise level is
the median over the nodes placed.

Regressions are only made for nodes that may qualify: the variance given *all* nodes placed, a
Cholesky factor that grows by a block per layer, is a lower bound for every choice of parents.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import linalg

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.interventions import Moments
from analyticdag.search.parents import PATIENT
from analyticdag.search.setting import Desk, Setting, new_desk
from analyticdag.search.store import fit
from analyticdag.search.tables import COLLINEAR

# About three standard errors of a residual variance at n = 1000.
TOLERANCE = 0.12
# When no node is within the tolerance, those this close to the closest one go with it.
TIE = 0.04
# The full regression is of use while it leaves this share of the samples.
SPARE = 0.1
# Beyond that, regressions are given up after this many faint parents.
PATIENCE = 40
# A node is fitted again when a new one explains this many standard errors, squared.
NOTICED = 6.0


def refit(desk: Desk, nodes: IntArray, span: tuple[int, int], levels: FloatArray) -> None:
    """Residual variances of `nodes` on the order up to the end of the span, into `levels`.

    A node that has been fitted before (level not infinite) is fitted again only if one of those
    placed since, in the span, explains part of its residual.
    """
    n, count = desk.n, desk.graph.count
    again = levels[nodes] == np.inf
    fitted, new = nodes[~again], desk.graph.order[slice(*span)]
    link, spread = (table[np.ix_(fitted, new)] for table in (desk.link, desk.spread))
    own = NOTICED * desk.link[fitted, fitted]
    again[~again] = (n[fitted, None] * link * link > own[:, None] * spread).any(axis=1)
    stale = nodes[again]
    fit(desk.task, desk.mover, stale, np.full(len(stale), span[1]))
    free = np.maximum(n[stale] - count[stale], 1.0)
    levels[stale] = desk.link[stale, stale] * n[stale] / free


class Rest:
    """Variance of every variable given all nodes placed, while there are samples enough."""

    def __init__(self, S: FloatArray, n_samples: int) -> None:
        self.S, self.n_samples = S, n_samples
        self.size, self.room = 0, min(len(S), int((1.0 - SPARE) * n_samples))
        self.factor = np.empty((self.room, len(S)))
        self.variances = np.diag(S).copy()

    def place(self, nodes: IntArray) -> None:
        """Condition on further nodes; those that the others determine add nothing."""
        nodes = nodes[self.variances[nodes] > COLLINEAR * np.diag(self.S)[nodes]]
        nodes = nodes[: self.room - self.size]
        if len(nodes) == 0:
            return
        known = self.factor[: self.size]
        rows = self.S[nodes] - known[:, nodes].T @ known
        try:
            corner = np.linalg.cholesky(rows[:, nodes])
        except np.linalg.LinAlgError:  # nodes of this layer determine each other
            for node in nodes if len(nodes) > 1 else ():
                self.place(np.array([node]))
            return
        new = linalg.solve_triangular(corner, rows, lower=True, check_finite=False)
        self.factor[self.size : self.size + len(nodes)] = new
        self.size += len(nodes)
        self.variances -= np.einsum("ij,ij->j", new, new)

    @property
    def is_full(self) -> bool:
        """Whether there are not enough samples to condition on all nodes placed."""
        return self.size == self.room < len(self.S)

    @property
    def levels(self) -> FloatArray:
        """The same as an estimate: corrected for the degrees of freedom spent."""
        return self.variances * (self.n_samples / (self.n_samples - self.size))

    def may_qualify(self, limit: float) -> BoolArray:
        """Nodes whose residual variance may be below `limit` for some choice of parents."""
        free = self.n_samples - self.size
        if self.is_full:
            return np.ones(len(self.S), np.bool_)
        slack = 1.0 + 4.0 * np.sqrt(2.0 / free)
        return np.asarray(self.levels <= limit * slack)


class Rests:
    """The same where nodes have covariances of their own: what is left in the rows of each."""

    def __init__(self, moments: Moments) -> None:
        used, self.of = np.unique(moments.of, return_inverse=True)
        self.parts = [Rest(moments.S[k], int(moments.n_samples[k])) for k in used]

    def place(self, nodes: IntArray) -> None:
        """Condition on further nodes."""
        for part in self.parts:
            part.place(nodes)

    @property
    def is_full(self) -> bool:
        """Whether some node has not samples enough to condition on all nodes placed."""
        return any(part.is_full for part in self.parts)

    @property
    def levels(self) -> FloatArray:
        """Estimates of the variance of each node given all nodes placed."""
        levels: FloatArray = self._own([part.levels for part in self.parts])
        return levels

    def may_qualify(self, limit: float) -> BoolArray:
        """Nodes whose residual variance may be below `limit` for some choice of parents."""
        may: BoolArray = self._own([part.may_qualify(limit) for part in self.parts])
        return may

    def _own(self, values: list[Any]) -> Any:
        return np.array(values)[self.of, np.arange(len(self.of))]


def layered_order(setting: Setting, before: BoolArray) -> tuple[IntArray, float]:
    """The order and the noise variance; `before[i, j]` says that i has to precede j."""
    variances, d = np.diag(setting.moments.variances), len(setting.S)
    positive = variances[variances > 0]
    lowest = (1.0 + TOLERANCE) * float(positive.min()) if len(positive) > 0 else 1.0
    desk = new_desk(replace(setting, noise=lowest), np.arange(d))
    order, noise, rest = desk.graph.order, desk.noise, Rests(setting.moments)
    levels, waits = np.full(d, np.inf), before.sum(axis=0)
    unplaced = np.ones(d, np.bool_)
    first = last = 0
    while last < d:
        free = unplaced & (waits == 0)
        limit = (1.0 + TOLERANCE) * noise[0]
        tried = np.flatnonzero(free & rest.may_qualify(limit))
        refit(desk, tried, (first, last), levels)
        layer = tried[levels[tried] <= limit]
        if len(layer) == 0:
            layer = closest(desk, tried, free, levels, rest.levels, (first, last))
        layer = layer[np.argsort(levels[layer], kind="stable")]
        first, last = last, last + len(layer)
        order[first:last] = layer
        unplaced[layer] = False
        waits = waits - before[layer].sum(axis=0)
        rest.place(layer)
        desk.patience[0] = PATIENCE if rest.is_full else PATIENT
        known = levels[~unplaced & (levels > 0)]
        noise[0] = np.median(known) if len(known) > 0 else noise[0]
    return order, float(noise[0])


def closest(
    desk: Desk,
    tried: IntArray,
    free: BoolArray,
    levels: FloatArray,
    bounds: FloatArray,
    span: tuple[int, int],
) -> IntArray:
    """The layer when no node is within the tolerance: the lowest of those tried and the bounds."""
    bounds = np.where(free, bounds, np.inf)
    bounds[tried] = levels[tried]
    best = int(bounds.argmin())
    if best not in tried:
        refit(desk, np.array([best]), span, levels)
    near = tried[levels[tried] <= (1.0 + TIE) * bounds[best]]
    return np.union1d(near, [best])
