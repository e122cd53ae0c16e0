"""Learns the constants of graphs by counts (`analyticdag.linear.blocks`), and checks them.

As mixed_probabilities.py, on Bayesian networks of 6 to 25 discrete columns and 100 to 5,000 rows in
which every combination of parents has shares of its own. Tables that the other readings describe
better play no part.

    python docs/figures/count_probabilities.py

It takes some minutes and writes its numbers to count_probabilities.json.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from mixed_probabilities import checked, learnt

from analyticdag import AnalyticDAG
from analyticdag.linear import blocks
from analyticdag.simulate import random_dag
from analyticdag.simulate.mechanisms import draw_by_tables

SEED = (25, 91)  # of no benchmark
LEARNT, CHECKED = range(240), range(1000, 1160)
HERE = Path(__file__).with_suffix(".json")


def edges_of(number: int) -> list[list[float]]:
    """Return the rows of one table: evidence and the truth both ways, as mixed_probabilities.py."""
    rng = np.random.default_rng([*SEED, number])
    code, nodes = str(rng.choice(["ER1", "ER2", "SF2"])), int(rng.choice([6, 10, 15, 25]))
    graph = random_dag(code, nodes, rng)
    n = int(rng.choice([100, 200, 500, 1500, 5000]))
    concentration = float(rng.choice([0.3, 0.7, 1.5, 4.0]))
    codes = draw_by_tables(graph, n, concentration, rng)
    data = pd.DataFrame(codes, columns=[f"x{k}" for k in range(len(graph))])
    kinds = dict.fromkeys(data.columns, "category")
    model = AnalyticDAG(kinds=kinds, n_jobs=1).fit(data)
    if not isinstance(model._judge, blocks.CountJudge):
        return []
    found = model._judge.evidence()
    return [
        [number, 0, found.joined[i, j], found.turned[i, j], float(graph[i, j]), float(graph[j, i])]
        for i, j in np.argwhere(model.adjacency_matrix_ != 0)
    ]


def rows_of(numbers: range) -> np.ndarray:
    """Return the rows of many tables."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.array([row for number in numbers for row in edges_of(number)])


def main() -> None:
    """Learn, check on other tables, write the numbers."""
    curve, slope = learnt(rows_of(LEARNT))
    found = {"joined": np.round(curve, 3).tolist(), "directed": round(slope, 3)}
    found["all"] = checked(rows_of(CHECKED), curve, slope)
    HERE.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
