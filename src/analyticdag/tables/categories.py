"""Categories: which levels stand for themselves, and a score for each.

    group_levels(texts)            the levels of a column, and those that count with the first
    scored(columns, values)        codes of categories replaced by scores

Weights act like repeated rows in both.

The rule: a level in fewer than ten rows says next to nothing, and with more than twelve levels a
column would buy its edges dearly. So the eleven most frequent levels with ten rows or more stand
for themselves, and the rest are one level, "(other)". Where the rest are fewer than ten rows in
all, they count with the most frequent level, which a handful of rows hardly changes; as a level of
their own, one outlier among them would make an edge. A column with a single level left is constant,
and one without any is left out.

A category has no size, so as a number it stands by *scores*: one for each level, with mean 0 and
variance 1 over the rows, in the direction in which the means of the other columns differ most
between the levels (the first axis of a weighted singular value decomposition). What the search sees
is not these but a column for each level (`fitting/design.py`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import repeat

import numpy as np

from analyticdag._typing import FloatArray
from analyticdag.tables.cells import key_of, of_each
from analyticdag.tables.recipe import OTHER, Column, Kind

FEWEST_ROWS = 10  # the rule above
MOST_LEVELS = 12
# Sums of fractional weights are compared after rounding to so many decimals.
_DIGITS = 9
# Scores of different levels differ by at least this, so that values tell levels apart.
_APART = 1e-6


def group_levels(
    texts: Sequence[str], weights: Sequence[float] | None = None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the levels that stand for themselves, the most frequent first, perhaps "(other)"; and
    the rare levels that count with the first."""
    spelled: dict[str, str] = {}
    masses: dict[str, float] = defaultdict(float)
    each = repeat(1.0) if weights is None else weights
    for text, key, weight in zip(texts, of_each(key_of, texts), each, strict=False):
        spelled.setdefault(key, text)
        masses[key] += weight
    counts = {key: round(mass, _DIGITS) for key, mass in masses.items()}
    ranked = sorted(counts, key=lambda key: (-counts[key], key))
    kept = [key for key in ranked if counts[key] >= FEWEST_ROWS]
    if len(ranked) > MOST_LEVELS:
        kept = kept[: MOST_LEVELS - 1]
    levels, rest = (tuple(map(spelled.__getitem__, keys)) for keys in (kept, ranked[len(kept) :]))
    if not levels or sum(counts[key_of(level)] for level in rest) >= FEWEST_ROWS:
        return (*levels, OTHER), ()
    return levels, rest


def scored(
    columns: Sequence[Column], values: FloatArray, weights: FloatArray | None = None
) -> tuple[tuple[Column, ...], FloatArray]:
    """Give the levels of categories their scores; `values` are those of the columns taken."""
    taken = [k for k, column in enumerate(columns) if column.taken]
    blocks = {
        place: (values[:, [place]] == np.arange(len(columns[k].levels))).astype(np.float64)
        for place, k in enumerate(taken)
        if columns[k].kind == Kind.CATEGORY and not columns[k].scores
    }
    if not blocks:
        return tuple(columns), values
    mass = np.ones(len(values)) if weights is None else weights
    every = [blocks.get(place, values[:, [place]]) for place in range(values.shape[1])]
    node = np.repeat(np.arange(len(every)), [block.shape[1] for block in every])
    units = np.column_stack([_unit(block, mass) for block in every])
    indicators = mass[:, None] * np.column_stack(list(blocks.values()))
    counts, sums = indicators.sum(axis=0), indicators.T @ units
    of = np.repeat(list(blocks), [block.shape[1] for block in blocks.values()])
    found, numbers = list(columns), values.copy()
    for place in blocks:
        own, k = of == place, taken[place]
        scores = _scores(counts[own], sums[np.ix_(own, node != place)])
        found[k] = replace(columns[k], scores=tuple(scores.tolist()))
        numbers[:, place] = found[k].scored(values[:, place])
    return tuple(found), numbers


def _unit(block: FloatArray, mass: FloatArray) -> FloatArray:
    """Return columns with mean 0 and variance 1; gaps, and what will be refused, at the mean."""
    seen = np.isfinite(block)
    small = np.where(seen, block, 0.0)
    small /= np.maximum(np.abs(small).max(axis=0), 1e-300)  # squares of 1e200 are no numbers
    mean = mass @ small / np.maximum(mass @ seen, np.finfo(float).tiny)
    centred = np.where(seen, small - mean, 0.0)
    sd = np.sqrt(mass @ centred**2 / mass.sum())
    return centred / np.where(sd > 0.0, sd, 1.0)


def _scores(counts: FloatArray, sums: FloatArray) -> FloatArray:
    """Return a score for each level: mean 0, variance 1, all different, in a sign of their own.

    `counts` say how often each level comes, `sums` are those of all other columns over its rows.
    """
    share = np.maximum(counts, 1.0) / max(counts.sum(), 1.0)
    means = np.sqrt(share)[:, None] * (sums / np.maximum(counts, 1.0)[:, None])
    means -= np.outer(np.sqrt(share), np.sqrt(share) @ means)
    # By a product, so that the places of the columns cannot matter, as rounding in an SVD would.
    _, vectors = np.linalg.eigh(means @ means.T)
    scores = vectors[:, -1] / np.sqrt(share)
    scores = scores - share @ scores
    spread = np.sqrt(share @ scores**2)
    if not spread > 0.0:
        scores, spread = np.arange(len(share), dtype=np.float64), 1.0
    scores = scores / spread
    if share @ scores**3 < 0.0:
        scores = -scores
    # Levels that agree in everything are told apart by their places.
    order = np.argsort(scores, kind="stable")
    steps = np.maximum(np.diff(scores[order]), _APART)
    scores[order] = scores[order[0]] + np.concatenate([[0.0], np.cumsum(steps)])
    return np.round(scores, 9)
