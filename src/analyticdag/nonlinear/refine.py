"""The search that follows the networks: its two starts, and what it leaves in the trace."""

from __future__ import annotations

import math

import numpy as np

from analyticdag._typing import BoolArray, FloatArray
from analyticdag.knowledge import Constraints
from analyticdag.nonlinear.climb import climb
from analyticdag.nonlinear.options import LOSSES, Options
from analyticdag.nonlinear.surfaces import Surfaces
from analyticdag.optimize.trace import SearchRecord


def refine(
    rows: FloatArray,
    varies: BoolArray,
    networks: BoolArray,
    options: Options,
    constraints: Constraints,
) -> tuple[BoolArray, SearchRecord]:
    """Climb from the networks' DAG and from no edge at all; the better end wins.

    Columns that do not vary have no part in it, but keep the edges that are required.
    """
    block = np.ix_(varies, varies)
    known = Constraints(
        constraints.allowed[block], constraints.required[block], constraints.max_parents
    )
    starts = {"networks": networks[block], "no edges": known.required}
    surfaces, equal = Surfaces(rows[:, varies]), options.variance == "equal"
    ends = {label: climb(surfaces, start, known, pooled=equal) for label, start in starts.items()}
    winner = min(ends, key=lambda label: ends[label].score)  # the first, of equals
    adjacency = constraints.required.copy()
    adjacency[block] = ends[winner].adjacency
    record = SearchRecord(
        loss=LOSSES[options.variance],
        score=ends[winner].score,
        start=winner,
        price=0.5 * math.log(len(rows)),
        contributions=tuple(
            {"start": label, "score": end.score, "moves": end.n_moves, "edges": end.n_edges}
            for label, end in ends.items()
        ),
    )
    return adjacency, record
