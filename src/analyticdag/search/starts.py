"""Orders to start from: R² and random ones, and with equal noise variances the order in layers.

Sources come first. A node whose parents have all been placed has the noise variance as its residual
variance; any other node has more. So each layer takes the nodes whose residual variance on the
nodes placed so far is within `TOLERANCE` of the noise level, or the closest one if there is none,
and the noise level is the median over the nodes placed.

Regressions are only made for nodes that may qualify: the variance given *all* nodes placed, a
Cholesky factor that grows by a block per layer, is a lower bound for every choice of parents.
"""

from __future__ import annotations

import zlib
from dataclasses import replace
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import blas

from analyticdag._threads import in_threads, one_blas_thread
from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.moments import Moments
from analyticdag.orders import consistent_order, precedence, r2_order
from analyticdag.search import kernels
from analyticdag.search.graph import Search
from analyticdag.search.kernels import Rules, Stop
from analyticdag.search.setting import Setting
from analyticdag.search.steps.given import COLLINEAR, PATIENT

# Random orders beside the order by R². As first written; no trial of other values is on record.
RANDOM_STARTS = 2
# About three standard errors of a residual variance at n = 1000.
TOLERANCE = 0.12
# When no node is within the tolerance, those this close to the closest one go with it. This, SPARE,
# PATIENCE and NOTICED are as first written; no trial of other values is on record.
TIE = 0.04
# The full regression is of use while it leaves this share of the samples.
SPARE = 0.1
# Beyond that, regressions are given up after this many faint parents.
PATIENCE = 40
# Up to so many nodes the layers take some milliseconds, which nobody wants to interrupt.
QUICK = 200
# A node is fitted again when a new one explains this many standard errors, squared.
NOTICED = 6.0


def named_rng(random_state: int | None, label: str) -> np.random.Generator:
    """Random numbers that depend on the seed and the start's label only."""
    name = zlib.crc32(label.encode())
    entropy = None if random_state is None else [random_state, name]
    return np.random.default_rng(entropy)


def cheap_starts(setting: Setting, random_state: int | None) -> dict[str, ArrayLike]:
    """Orders that cost next to nothing: R², and a few random ones."""
    starts: dict[str, ArrayLike] = {"r2": r2_order(setting.S, n_samples=setting.n_samples)}
    for number in range(1, RANDOM_STARTS + 1):
        label = f"random-{number}"
        starts[label] = named_rng(random_state, label).permutation(len(setting.S))
    return starts


def refit(
    search: Search, nodes: IntArray, span: tuple[int, int], levels: FloatArray, rules: Rules
) -> None:
    """Residual variances of `nodes` on the order up to the end of the span, into `levels`.

    A node that has been fitted before (level not infinite) is fitted again only if one of those
    placed since, in the span, explains part of its residual.
    """
    n, again = search.setting.moments.samples_of, levels[nodes] == np.inf
    again[~again] = kernels.explains(
        search.data, search.memory.state, nodes[~again], *span, NOTICED
    )
    stale = nodes[again]
    search.fit(stale, np.full(len(stale), span[1]), rules)
    free = np.maximum(n[stale] - search.graph.count[stale], 1.0)
    levels[stale] = search.link[stale, stale] * n[stale] / free


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
        new = blas.dtrsm(1.0, corner, rows, lower=True)
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
        self.parts = [Rest(moments.covariances[k], int(moments.counts[k])) for k in used]

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
        return self._own([part.levels for part in self.parts])

    def may_qualify(self, limit: float) -> BoolArray:
        """Nodes whose residual variance may be below `limit` for some choice of parents."""
        return self._own([part.may_qualify(limit) for part in self.parts])

    def _own(self, values: list[Any]) -> Any:
        return np.array(values)[self.of, np.arange(len(self.of))]


def with_noise(setting: Setting, stop: Stop) -> tuple[Setting, IntArray | None]:
    """For equal variances: the noise level, and the order that shows it."""
    if not setting.equal:
        return setting, None
    before = setting.required
    if setting.forbidden is not None:
        before = precedence(~setting.forbidden, setting.required)
    if setting.n_nodes <= QUICK:
        with one_blas_thread():
            order, noise = layered_order(setting, before, stop)
    else:  # on a thread, so that this one can be interrupted
        ((order, noise),) = in_threads(
            lambda mask: layered_order(setting, mask, stop), [before], 1, stop
        )
    return replace(setting, noise=noise), order


def layered_order(setting: Setting, before: BoolArray | None, stop: Stop) -> tuple[IntArray, float]:
    """The order and the noise variance; `before[i, j]` says that i has to precede j."""
    variances, d = setting.moments.own_variances, len(setting.S)
    positive = variances[variances > 0]
    noise = (1.0 + TOLERANCE) * float(positive.min()) if len(positive) > 0 else 1.0
    search, rest = Search(setting, np.arange(d), stop), Rests(setting.moments)
    order, levels, unplaced = search.graph.order, np.full(d, np.inf), np.ones(d, np.bool_)
    waits = np.zeros(d, np.int64) if before is None else before.sum(axis=0)
    first = last = 0
    while last < d and not stop.asked:
        rules = setting.rules(noise, PATIENCE if rest.is_full else PATIENT)
        layer = next_layer(search, rest, unplaced & (waits == 0), (first, last), levels, rules)
        first, last = last, last + len(layer)
        order[first:last] = layer
        unplaced[layer] = False
        if before is not None:
            waits = waits - before[layer].sum(axis=0)
        rest.place(layer)
        known = levels[~unplaced & (levels > 0)]
        noise = median(known.tolist()) if len(known) > 0 else noise
    order[last:] = np.flatnonzero(unplaced)  # none, unless asked to stop
    return consistent_order(order, before), noise


def next_layer(
    search: Search,
    rest: Rests,
    free: BoolArray,
    span: tuple[int, int],
    levels: FloatArray,
    rules: Rules,
) -> IntArray:
    """The free nodes within the tolerance of the noise, or the closest; the lowest first."""
    limit = (1.0 + TOLERANCE) * rules.noise
    tried = np.flatnonzero(free & rest.may_qualify(limit))
    refit(search, tried, span, levels, rules)
    layer = tried[levels[tried] <= limit]
    if len(layer) == 0:
        bounds = np.where(free, rest.levels, np.inf)
        bounds[tried] = levels[tried]
        best = int(bounds.argmin())
        if best not in tried:
            refit(search, np.array([best]), span, levels, rules)
        near = tried[levels[tried] <= (1.0 + TIE) * bounds[best]]
        layer = np.union1d(near, [best])
    return layer[np.argsort(levels[layer], kind="stable")]
