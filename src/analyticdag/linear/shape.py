"""What the shapes of the noise add to a graph that a search found (`noise_shape`).

They are asked where the rows are there, and where the class is all that the loss identifies: under
unequal variances. Gaps take rows out; of a long table some rows are enough. A row that a resample
drew twice is asked once, as repeated values have a shape of their own. Rows with weights are not
asked: how sure a margin is would be unknown.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.fitting.finish import Finished
from analyticdag.fitting.rows import evenly
from analyticdag.graphs import orient_with_knowledge
from analyticdag.interventions import equivalence_class
from analyticdag.knowledge import EdgeMasks
from analyticdag.least_squares import weights_on_parents
from analyticdag.linear.misfit import few_valued
from analyticdag.linear.prepare import Fit
from analyticdag.losses import LossTraits
from analyticdag.moments import Moments
from analyticdag.noise_shape import ClassOf, LocalGains, Shaped, orient

# Rows looked at, evenly spread over the table: with so many a shape that matters is clear.
_ROWS = 20_000
# Of fewer rows no density can be made.
_FEWEST = 100


def turn_by_shape(
    fit: Fit, finished: Finished, loss: LossTraits, price: float
) -> tuple[Finished, Shaped | None]:
    """Point edges as the noise clearly wants them; None where it is not asked.

    `price` is that of an edge in the score of the search.
    """
    statistics, dag = fit.statistics, finished.adjacency
    if loss.score != "unequal" or statistics.rows is None or statistics.ranks:
        return finished, None
    allowed, perturbed = fit.known.allowed, statistics.perturbed

    def class_of(graph: BoolArray) -> tuple[BoolArray, BoolArray]:
        cpdag = equivalence_class(graph, perturbed)
        return cpdag != 0, orient_with_knowledge(cpdag, allowed) != 0

    question = partial(
        _asked,
        dag=dag,
        class_of=class_of,
        masks=fit.masks,
        perturbed=perturbed,
        price=price,
        gaps=statistics.has_gaps,
    )
    shaped = statistics.rows.ask(question)
    if shaped is None or np.array_equal(shaped.member, dag):
        return finished, shaped
    turned = (shaped.member != dag).any(axis=0)
    W = finished.weights.copy()
    W[:, turned] = weights_on_parents(statistics.moments, shaped.member & turned)[:, turned]
    return replace(finished, weights=W, adjacency=shaped.member), shaped


def _asked(
    rows: FloatArray,
    weights: FloatArray | None,
    *,
    dag: BoolArray,
    class_of: ClassOf,
    masks: EdgeMasks,
    perturbed: BoolArray | None,
    price: float,
    gaps: bool,
) -> Shaped | None:
    """Ask the rows without gaps; None where they are too few, or count more or less than once."""
    full = np.flatnonzero(np.isfinite(rows).all(axis=1)) if gaps else np.arange(len(rows))
    used = evenly(full, _ROWS)
    used = used[_distinct(rows[used])]
    rows, perturbed = rows[used], None if perturbed is None else perturbed[used]
    if weights is not None or len(rows) < _FEWEST:
        return None
    moments = Moments.of_rows(rows, perturbed)
    if moments.counts.min() < _FEWEST:
        return None
    few = few_valued(rows)
    gains = LocalGains(rows, moments, perturbed, few)
    return orient(gains, dag, class_of, masks, few, price)


def _distinct(rows: FloatArray) -> IntArray:
    """Return where different rows are, the first of each."""
    mixed = rows * np.random.default_rng(0).normal(size=rows.shape[1])  # the same for equal rows
    return np.sort(np.unique(mixed.sum(axis=1), return_index=True)[1])


def told(shaped: Shaped | None) -> str:
    """Say in a clause what the shapes of the noise contributed."""
    if shaped is None:
        return ""
    clauses = [_said_of_open_edges(shaped), _said_of_turned_edges(shaped)]
    return "; ".join(one for one in clauses if one)


def _said_of_open_edges(shaped: Shaped) -> str:
    if not shaped.margins:
        return ""
    asked = _n_open(shaped.of_class)
    fixed = asked - _n_open(shaped.known)
    if fixed:
        return f"the shape of the noise fixes {fixed} of the {asked} edges that it leaves open"
    if shaped.misfit:
        why = "the noise depends on the causes, so its shape fixes none"
    elif shaped.doubtful:
        why = "the edges are not probable enough for the shape of the noise to fix any"
    else:
        why = "the noise is too close to Gaussian, or the rows are too few, to fix any"
    return f"{why} of the {asked} edges left open"


def _n_open(graph: BoolArray) -> int:
    return int((graph & graph.T).sum()) // 2


def _said_of_turned_edges(shaped: Shaped) -> str:
    turned = len(shaped.turned)
    edges = "1 edge" if turned == 1 else f"{turned} edges"
    return f"the shape of the noise turned {edges} of the class found first" if turned else ""
