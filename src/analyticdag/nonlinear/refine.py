"""The search that follows the networks: its two starts, and what it leaves in the trace."""

from __future__ import annotations

import logging
import math

import numpy as np

from analyticdag._typing import BoolArray, FloatArray
from analyticdag.knowledge import EdgeMasks
from analyticdag.nonlinear.climb import climb
from analyticdag.nonlinear.options import LOSSES, NetworkOptions
from analyticdag.nonlinear.surfaces import Surfaces
from analyticdag.optimize.trace import SearchRecord

logger = logging.getLogger(__name__)


def refine(
    rows: FloatArray,
    varies: BoolArray,
    learned: BoolArray,
    options: NetworkOptions,
    masks: EdgeMasks,
) -> tuple[BoolArray, SearchRecord]:
    """Climb from the DAG that the networks learned and from no edges; the better end wins.

    Columns that do not vary are of no use to any other, but may have edges that are required.
    """
    surfaces = Surfaces(np.where(varies, rows, 0.0))
    pooled = options.variance == "equal"
    starts = {"networks": learned, "no edges": masks.required}
    ends = {}
    for label, start in starts.items():
        ends[label] = end = climb(surfaces, start, masks, pooled=pooled)
        if options.verbose:
            logger.info(
                "search from %s: score=%.6g with %d edges after %d moves",
                *(label, end.score, end.n_edges, end.n_moves),
            )
    winner = min(ends, key=lambda label: ends[label].score)  # the first, of equals
    record = SearchRecord(
        # The search knows no variance that depends on the parents.
        loss=LOSSES["equal" if pooled else "constant"],
        score=ends[winner].score,
        start=winner,
        price=math.log(len(rows)) * int(surfaces.count.max()) + 2.0 * math.log(varies.sum()),
        contributions=tuple(
            {"start": label, "score": end.score, "moves": end.n_moves, "edges": end.n_edges}
            for label, end in ends.items()
        ),
    )
    return ends[winner].adjacency, record
