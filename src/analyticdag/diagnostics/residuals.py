"""Is the linear Gaussian story plausible? What a regression on the learned parents leaves over.

If the graph and the model are right, what is left of each column is independent noise: unrelated
to what is left of any other column, unrelated in size and in curvature to its parents. Every test
works on ranks, so that heavy tails do not decide it, and is corrected for the number of tests.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Hashable, Sequence

import numpy as np
from scipy import stats

from analyticdag._typing import BoolArray, FloatArray
from analyticdag.diagnostics.columns import not_judged
from analyticdag.diagnostics.result import SHOWN, Check, Level, listing

LEVEL = 0.01  # chance of an alarm anywhere in a table that agrees with the model
# A kurtosis twice a Gaussian's 3: the t distribution with 6 degrees of freedom.
HEAVY = 6.0
# With so many columns chance finds links among a few large values.
MANY = 50


def check_tails(
    residuals: FloatArray,
    few: BoolArray,
    names: Sequence[Hashable],
    X: FloatArray,
    linked: BoolArray,
    *,
    by_ranks: bool = False,
) -> Check:
    """Find columns whose noise has heavier tails than a Gaussian's; codes have no tails.

    They are to be warned of where they bear on links: in many columns, or in one that is `linked`.
    """
    kurtosis = stats.kurtosis(residuals, axis=0, fisher=False, nan_policy="omit")
    kurtosis = np.where(np.isfinite(kurtosis) & ~few, kurtosis, 3.0)
    heavy = [int(k) for k in np.argsort(-kurtosis) if kurtosis[k] > HEAVY]
    found = [names[k] for k in heavy]
    advice = (
        f"the noise of {listing(found)} has heavy tails, so a few rows weigh a lot and standard "
        f"errors are too small{_cure(X, heavy, names, by_ranks)}"
        if found
        else "no noise has tails much heavier than a Gaussian's"
    ) + not_judged(few, names)
    numbers = {"largest_kurtosis": float(kurtosis.max()), "columns": found}
    matters = not by_ranks and (len(names) >= MANY or bool(linked[heavy].any()))
    level = Level.WARNING if found and matters else Level.NOTE if found else Level.FINE
    return Check("heavy tails", level, advice, numbers)


def _cure(X: FloatArray, columns: Sequence[int], names: Sequence[Hashable], by_ranks: bool) -> str:
    """Say what to do, unless the graph was learned from ranks already."""
    return "" if by_ranks else f"; {shape_advice(X, columns, names)}"


def shape_advice(X: FloatArray, columns: Sequence[int], names: Sequence[Hashable]) -> str:
    """Say what to do about columns that are not normal, with the options of the command."""
    positive = [str(names[k]) for k in columns if X[:, k].min() > 0.0]
    ranks = "use rank correlations (--covariance rank)"
    if not positive:
        return ranks
    options = " ".join(f"--log {shlex.quote(name)}" for name in positive[:SHOWN])
    return f"take logarithms ({options}) or {ranks}"


def check_residual_correlation(
    residuals: FloatArray,
    names: Sequence[Hashable],
    X: FloatArray,
    *,
    ranks: bool = True,
    by_ranks: bool = False,
) -> Check:
    """Find pairs whose noise is correlated: something joins them that the graph does not show.

    Without `ranks` by the residuals as they are: those of levels have no tails, and their ranks
    depend on the parents.
    """
    n, d = residuals.shape
    unit = _unit(stats.rankdata(residuals, axis=0) if ranks else residuals)
    R = unit.T @ unit
    strong = np.triu(np.abs(R) > _critical(n, d * (d - 1) // 2), 1)
    pairs = [(names[i], names[j]) for i, j in _strongest_first(strong, R)]
    advice = (
        f"what the graph leaves unexplained is still correlated for {listing(pairs)}: an edge may "
        "be missing or turned, a relation may bend, or a common cause was not measured"
        f"{'' if by_ranks else _about_shapes(X, _ends(pairs, names), names)}"
        if pairs
        else "what the graph leaves unexplained shows no correlation between columns"
    )
    level = Level.WARNING if len(pairs) > 0.05 * d else Level.NOTE if pairs else Level.FINE
    numbers = {"pairs": [list(pair) for pair in pairs]}
    return Check("residual correlation", level, advice, numbers)


def check_residual_independence(
    X: FloatArray,
    residuals: FloatArray,
    adjacency: BoolArray,
    few: BoolArray,
    names: Sequence[Hashable],
    by_shape: Collection[tuple[Hashable, Hashable]] = (),
    *,
    by_ranks: bool = False,
) -> Check:
    """Find edges whose noise depends on the cause: not linear, or pointing the wrong way.

    A column of few values has noise that depends on its cause under any model with added noise. The
    noise of edges `by_shape` was asked for their direction already: turned, it depends on it more.
    Pairs without an edge are looked at too: lines do not see an interaction.
    """
    unlinked = _bent_pairs(residuals, adjacency, few, names)
    passed = not_judged(few & (adjacency.any(axis=0) | adjacency.any(axis=1)), names)
    adjacency = adjacency & ~few & ~few[:, None]
    n_tests = 2 * int(adjacency.sum())
    distance = np.abs(X - np.median(X, axis=0))
    curvature = _rank_correlation(distance, residuals)
    spread = _rank_correlation(distance, np.abs(residuals))
    limit = _critical(len(X), n_tests)
    strength = np.maximum(np.abs(curvature), np.abs(spread))
    edges = [
        (names[i], names[j]) for i, j in _strongest_first(adjacency & (strength > limit), strength)
    ]
    share = len(edges) / max(int(adjacency.sum()), 1)
    if edges:
        cure = "" if by_ranks else f"{shape_advice(X, _ends(edges, names), names)}, or "
        advice = (
            f"on {len(edges)} of {int(adjacency.sum())} edges the noise depends on the cause "
            f"({listing(edges)}): {_causes(edges, by_shape)}; {cure}try a nonlinear model "
            "(--model nonlinear)"
        )
    elif adjacency.any():
        advice = "no edge shows curvature or changing spread: nothing speaks against lines"
    else:
        advice = "there are no edges to judge"
    if unlinked:
        bent = (
            f"not linked by straight lines, but one goes with the size of the other: "
            f"{listing(unlinked)}: an interaction or a bent effect; try --model nonlinear"
        )
        advice = f"{advice}; {bent}" if edges else bent
    advice += passed
    level = Level.WARNING if share > 0.1 or unlinked else Level.NOTE if edges else Level.FINE
    numbers = {
        "share": share,
        "edges": [list(edge) for edge in edges],
        "unlinked": [list(pair) for pair in unlinked],
    }
    return Check("residual independence", level, advice, numbers)


def _bent_pairs(
    residuals: FloatArray, adjacency: BoolArray, few: BoolArray, names: Sequence[Hashable]
) -> list[tuple[Hashable, Hashable]]:
    """Find pairs that no edge joins and no line relates, but the size of what is left of one.

    Where what is left is correlated, `check_residual_correlation` speaks.
    """
    n, sizes = len(residuals), np.abs(residuals)
    apart = ~(adjacency | adjacency.T | few | few[:, None])
    n_pairs = int(np.triu(apart, 1).sum())
    apart &= np.abs(_rank_correlation(residuals, residuals)) <= _critical(n, n_pairs)
    curvature = np.abs(_rank_correlation(sizes, residuals))
    together = np.abs(_rank_correlation(sizes, sizes))
    strength = np.maximum(np.maximum(curvature, curvature.T), together)
    found = np.triu(apart & (strength > _critical(n, 3 * n_pairs)), 1)
    return [(names[i], names[j]) for i, j in _strongest_first(found, strength)]


def _causes(
    edges: list[tuple[Hashable, Hashable]], by_shape: Collection[tuple[Hashable, Hashable]]
) -> str:
    """Say what can make noise depend on a cause; a direction that the noise fixed cannot."""
    settled = [edge for edge in edges if edge in by_shape]
    if len(settled) == len(edges):
        return "the relation is not linear, or the noise changes its size"
    but = f" (not {listing(settled)}, by the shape of the noise)" if settled else ""
    return (
        "the relation is not linear, the noise changes its size, or the edge points the other "
        f"way{but}"
    )


def _about_shapes(X: FloatArray, columns: Sequence[int], names: Sequence[Hashable]) -> str:
    """Say what to do about those of some columns that have heavy tails; nothing about others."""
    kurtosis = stats.kurtosis(X[:, list(columns)], axis=0, fisher=False)
    heavy = [k for k, size in zip(columns, np.atleast_1d(kurtosis), strict=True) if size > HEAVY]
    if not heavy:
        return ""
    tails = listing([names[k] for k in heavy])
    return f"; heavy tails of {tails} may hide relations: {shape_advice(X, heavy, names)}"


def _ends(edges: Sequence[tuple[Hashable, Hashable]], names: Sequence[Hashable]) -> list[int]:
    """Return the columns that some edges join, in the order of these."""
    place = {name: k for k, name in enumerate(names)}
    return list(dict.fromkeys(place[end] for edge in edges for end in edge))


def _rank_correlation(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return Spearman's correlations between the columns of two tables; constant ones have none."""

    return _unit(stats.rankdata(left, axis=0)).T @ _unit(stats.rankdata(right, axis=0))


def _unit(values: FloatArray) -> FloatArray:
    """Return columns of mean zero and length one; constant ones are zero."""
    centred = values - values.mean(axis=0)
    size = np.linalg.norm(centred, axis=0)
    return centred / np.where(size > 0, size, 1.0)


def _critical(n_samples: int, n_tests: int) -> float:
    """Return the correlation that chance exceeds anywhere with probability LEVEL."""
    z = stats.norm.isf(LEVEL / 2.0 / max(n_tests, 1))
    return float(z / np.sqrt(max(n_samples - 1, 1)))


def _strongest_first(found: BoolArray, strength: FloatArray) -> list[tuple[int, int]]:
    pairs = np.argwhere(found)
    order = np.argsort(-np.abs(strength[found]), kind="stable")
    return [(int(i), int(j)) for i, j in pairs[order]]
