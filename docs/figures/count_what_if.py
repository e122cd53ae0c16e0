"""What if, in tables where causes act together: by counts, and by equations that add up effects.

    python docs/figures/count_what_if.py

Eight columns of two or three levels, two causes each on average, a table of probabilities for each
combination of causes (Dirichlet, 0.7); the order of the columns is known. Every column is set to
each level that 50 rows have, and the shares of all it may cause are compared with those of 100,000
rows drawn with that level set.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analyticdag import AnalyticDAG, Knowledge
from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.graphs import reachability, topological_order
from analyticdag.simulate import simulate

COLUMNS, TABLES, TRUE_ROWS, LEAST_ROWS = 8, 20, 100_000, 50
ROWS = (500, 2000, 10_000)


@dataclass(frozen=True)
class Network:
    """A graph, and shares of the levels of each column in every combination of its causes."""

    graph: BoolArray
    levels: IntArray
    tables: list[FloatArray]

    @classmethod
    def random(cls, seed: int, rng: np.random.Generator) -> Network:
        """Draw a graph and its shares."""
        graph = simulate(n_nodes=COLUMNS, n_samples=2, graph="ER2", seed=seed).adjacency_matrix != 0
        levels = rng.integers(2, 4, COLUMNS)
        tables = [
            rng.dirichlet(np.full(levels[j], 0.7), size=int(np.prod(levels[graph[:, j]])))
            for j in range(COLUMNS)
        ]
        return cls(graph, levels, tables)

    def draw(self, n: int, rng: np.random.Generator, do: dict[int, int]) -> IntArray:
        """Draw n rows, with some columns set to a level."""
        X = np.zeros((n, COLUMNS), np.int64)
        for j in topological_order(self.graph).tolist():
            row = np.zeros(n, np.int64)
            for cause in np.flatnonzero(self.graph[:, j]):
                row = row * self.levels[cause] + X[:, cause]
            ends = np.cumsum(self.tables[j], axis=1)[row][:, :-1]
            X[:, j] = do[j] if j in do else (rng.random((n, 1)) > ends).sum(axis=1)
        return X


def errors(network: Network, X: IntArray, rng: np.random.Generator) -> list[list[float]]:
    """Return the errors of shares: of the observed ones, of sums of effects, by counts."""
    names = [f"x{j}" for j in range(COLUMNS)]
    frame = pd.DataFrame({name: [f"l{v}" for v in X[:, j]] for j, name in enumerate(names)})
    tiers = [[names[j]] for j in topological_order(network.graph)]
    model = AnalyticDAG(knowledge=Knowledge(tiers=tiers)).fit(frame)
    if model.reading_ != "counts":
        return []
    counted, found = model.families_, []
    reach = reachability(network.graph)
    for x in range(COLUMNS):
        for level in range(network.levels[x]):
            if (X[:, x] == level).sum() < LEAST_ROWS:
                continue
            truth = network.draw(TRUE_ROWS, rng, {x: level})
            told = []
            for families in (None, counted):
                model.families_ = families
                told.append(
                    {one.name: one.mean for one in model.intervene({names[x]: f"l{level}"})}
                )
            for y in np.flatnonzero(reach[x]):
                for own in range(network.levels[y]):
                    key, share = f"x{y}: l{own}", float((truth[:, y] == own).mean())
                    if y != x and key in told[0]:
                        observed = float((X[:, y] == own).mean())
                        found.append(
                            [abs(one - share) for one in (observed, *(t[key] for t in told))]
                        )
    return found


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    sys.stdout.write("| rows | tables | | mean error | nine in ten below | largest |\n")
    sys.stdout.write("|---|---|---|---|---|---|\n")
    for n in ROWS:
        rng, found, taken = np.random.default_rng(n), [], 0
        for k in range(TABLES):
            network = Network.random(7000 + k, rng)
            own = errors(network, network.draw(n, rng, {}), rng)
            found += own
            taken += bool(own)
        for name, one in zip(
            ("observed, nothing set", "effects add up", "by counts"), np.array(found).T, strict=True
        ):
            cells = f"{one.mean():.3f} | {np.quantile(one, 0.9):.3f} | {one.max():.2f}"
            sys.stdout.write(f"| {n} | {taken} of {TABLES} | {name} | {cells} |\n")


if __name__ == "__main__":
    main()
