"""The rungs of `ladder_` as plain data: what a saved run keeps of graphs at other prices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from analyticdag.graphs import is_dag
from analyticdag.linear.ladder import Rung


@dataclass(frozen=True)
class RungRecord:
    """One rung: `edges` are (source, target, open) by column index, open as 0 or 1."""

    price: float
    min_effect: float
    score: float
    edges: tuple[tuple[int, int, int], ...]

    @classmethod
    def of(cls, rung: Rung) -> RungRecord:
        """Return the record of a rung."""
        edges = tuple(
            (int(i), int(j), int(rung.cpdag[j, i] != 0)) for i, j in np.argwhere(rung.adjacency)
        )
        return cls(rung.price, rung.min_effect, rung.score, edges)

    def rung(self, n_columns: int) -> Rung:
        """Return the rung again."""
        adjacency = np.zeros((n_columns, n_columns), dtype=bool)
        cpdag = np.zeros(adjacency.shape, dtype=np.int64)
        for i, j, is_open in self.edges:
            adjacency[i, j] = True
            cpdag[i, j], cpdag[j, i] = 1, is_open
        return Rung(self.price, self.min_effect, self.score, adjacency, cpdag)

    def check(self, n_columns: int) -> None:
        """Raise ValueError unless this can be a rung of so many columns."""
        limits = (n_columns, n_columns, 2)
        cells = [(v, most) for edge in self.edges for v, most in zip(edge, limits, strict=True)]
        if any(not 0 <= value < most for value, most in cells):
            raise ValueError("a rung of the ladder has edges between columns that are not there")
        pairs = {frozenset(edge[:2]) for edge in self.edges}
        if len(pairs) != len(self.edges) or not is_dag(self.rung(n_columns).adjacency):
            raise ValueError("a rung of the ladder is no acyclic graph")
        if not (self.price > 0.0 and 0.0 <= self.min_effect <= 1.0):
            raise ValueError("a rung of the ladder has an impossible price")


def ladder_of(estimator: Any) -> tuple[RungRecord, ...]:
    """Return the rungs that were asked for; none where nobody did, or there are none."""
    return tuple(map(RungRecord.of, getattr(estimator, "_rungs", None) or ()))
