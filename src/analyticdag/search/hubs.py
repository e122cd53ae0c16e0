"""Parents of hubs: nodes with hundreds of parents among more candidates than there are samples.

Taking the best candidate first fails there: while most of the parents are missing, the residual is
so large that accidents look as good as parents. A sparse regression weighs all candidates at once.
It is a lasso path in the known scale, and then the penalty is taken off the weights that have
become large, round after round (reweighting), which finds supports up to about half the samples.

Coordinate descent finds the support; an exact solution on the support, repeated, gets along the
valleys of nearly collinear candidates that coordinate descent alone would take for ever to follow.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from analyticdag._jit import kernel
from analyticdag._typing import FloatArray, IntArray
from analyticdag.search.parents import PATIENT, grow_shrink
from analyticdag.search.regression import clear, toggle
from analyticdag.search.setting import Desk, Setting
from analyticdag.search.store import store
from analyticdag.search.tables import Bench, Task

# Nodes with more parents than this share of the samples are hubs.
HUB = 0.25
# The path's last penalty, in standard errors of a covariance with noise.
PENALTY = 0.4
STEPS = 40
# Rounds of reweighting; a weight of this size keeps exp(-1) of its penalty.
ROUNDS, LARGE = 30, 0.6
ROUND_PASSES = 100
# Coordinate passes between two exact solutions, and how often they alternate.
PASSES, REPEATS = 5, 2
# Largest number of parents, as a share of the samples.
MOST = 0.7


@kernel
def coordinate_passes(
    G: FloatArray, lam: FloatArray, b: FloatArray, g: FloatArray, passes: int
) -> None:
    """Minimise b'Gb/2 - c'b + sum_i lam_i |b_i| over one b_i after another; g is c - G b."""
    for _ in range(passes):
        for i in range(len(b)):
            target = g[i] + G[i, i] * b[i]
            shrunk = max(abs(target) - lam[i], 0.0) / G[i, i]
            change = (shrunk if target > 0.0 else -shrunk) - b[i]
            if change != 0.0:
                b[i] += change
                for k in range(len(b)):
                    g[k] -= change * G[i, k]


def exact_on_support(
    G: FloatArray, c: FloatArray, lam: FloatArray, b: FloatArray, g: FloatArray, most: int
) -> None:
    """Solve for the nonzero weights with their signs as they are; those that change sign go.

    A support of more than `most` (nearly the number of samples) is left to coordinate passes.
    """
    for _ in range(4):
        support = np.flatnonzero(b)
        if len(support) > most:
            return
        signs, block = np.sign(b[support]), G[np.ix_(support, support)]
        block[np.diag_indices_from(block)] *= 1.0 + 1e-9
        try:
            factor = linalg.cho_factor(block, check_finite=False)
        except linalg.LinAlgError:  # collinear to the last digit
            return
        solved = linalg.cho_solve(factor, c[support] - lam[support] * signs, check_finite=False)
        turned = solved * signs < 0.0
        b[support] = np.where(turned, 0.0, solved)
        g[:] = c - G[:, support] @ b[support]
        if not turned.any():
            return


def minimise(
    G: FloatArray, c: FloatArray, lam: FloatArray, b: FloatArray, g: FloatArray, most: int
) -> None:
    """Alternate coordinate passes and exact solutions."""
    for _ in range(REPEATS):
        coordinate_passes(G, lam, b, g, PASSES)
        exact_on_support(G, c, lam, b, g, most)
    coordinate_passes(G, lam, b, g, PASSES)


def sparse_weights(G: FloatArray, c: FloatArray, noise: float, n_samples: int) -> FloatArray:
    """Weights of a node on candidates with covariance G; c is their covariance with the node."""
    end = PENALTY * noise * float(np.sqrt(2.0 * np.log(len(c)) / n_samples))
    most = int(0.9 * n_samples)
    b, g, ones = np.zeros(len(c)), c.copy(), np.ones(len(c))
    for lam in np.geomspace(max(float(np.abs(c).max()), 2.0 * end) / 2.0, end, STEPS):
        minimise(G, c, lam * ones, b, g, most)
    for _ in range(ROUNDS):
        coordinate_passes(G, end * np.exp(-((b / LARGE) ** 2)), b, g, ROUND_PASSES)
    return b


def likely_parents(
    S: FloatArray, node: int, candidates: IntArray, noise: float, n_samples: int
) -> IntArray:
    """Candidates with a weight, the largest first, at most `MOST` of the number of samples."""
    G = np.ascontiguousarray(S[np.ix_(candidates, candidates)])
    b = sparse_weights(G, S[candidates, node], noise, n_samples)
    ranked = np.argsort(-np.abs(b), kind="stable")[: int(MOST * n_samples)]
    chosen: IntArray = candidates[ranked[b[ranked] != 0.0]]
    return chosen


@kernel
def offer(task: Task, bench: Bench, node: int, parents: IntArray, n_candidates: int) -> bool:
    """Give `node` these parents, shrunk and grown, if that lowers its score."""
    clear(task, bench, node)
    for p in parents:
        if bench.spread[p] > task.floor[p] and bench.size < task.cap:
            toggle(task, bench, p)
    better = bool(grow_shrink(task, bench, node, n_candidates) < task.value[node])
    if better:
        store(task, bench, node)
    return better


def revisit_hubs(setting: Setting, desk: Desk) -> int:
    """Try the sparse regression on nodes with very many parents; how many it helped."""
    if setting.noise is None:
        return 0
    n, order, helped = setting.moments.samples_of, desk.graph.order, 0
    for place in np.flatnonzero(desk.graph.count[order] > HUB * n[order]):
        node, before = int(order[place]), order[:place]
        S = setting.moments.covariance_of(node)
        candidates = before[~setting.forbidden[before, node] & (np.diag(S)[before] > 0)]
        likely = likely_parents(S, node, candidates, setting.noise, int(n[node]))
        needed = np.flatnonzero(setting.required[:, node])
        offered = np.concatenate([needed, np.setdiff1d(likely, needed, assume_unique=True)])
        desk.patience[0] = 0
        helped += offer(desk.task, desk.mover, node, offered, int(place))
        desk.patience[0] = PATIENT
    return helped
