"""How often an interval of 95 % holds the true effect, with the graph given and with it learned.

    python docs/figures/effect_coverage.py            writes effect_coverage.json beside it
    python docs/figures/effect_coverage.py --tell     prints the table

Random graphs of eight columns with one or two edges a column, weights ±U(0.2, 1), Gaussian noise of
unequal size. *Given*: the true DAG. *Class given*: its equivalence class; the hull of the intervals
over its members. *Learned*: `AnalyticDAG(loss="likelihood-nv")` on the same rows, likewise.
*Resampled*: `bootstrap_effects` with 30 resamples, on some of the tables. Counted are the pairs
with a true effect; for learned graphs those of pairs without one too.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np

from analyticdag import AnalyticDAG
from analyticdag.effects import Known, effects
from analyticdag.errors import AnalyticDAGWarning
from analyticdag.graphs import to_cpdag
from analyticdag.moments import Moments
from analyticdag.simulate import random_dag
from analyticdag.stability import bootstrap_effects

OUT = Path(__file__).with_suffix(".json")
D, ROWS, TABLES, RESAMPLED, RESAMPLES = 8, (200, 1000), 50, 20, 30
Spans = dict[tuple[int, int], tuple[float, float]]


def draw(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a DAG, its true total effects, and rows."""
    rng = np.random.default_rng([81, n, seed])
    graph = random_dag(f"ER{1 + seed % 2}", D, rng)
    sizes = rng.uniform(0.2, 1.0, graph.shape) * rng.choice([-1.0, 1.0], graph.shape)
    T = np.linalg.inv(np.eye(D) - np.where(graph, sizes, 0.0))
    noise = rng.normal(size=(n, D)) * rng.uniform(0.5, 2.0, D)
    return graph, T, noise @ T


def spans(model: object) -> Spans:
    """Return the interval of every pair that may have an effect."""
    return {(row.cause, row.outcome): (row.low, row.high) for row in effects(model)}


def held(found: Spans, T: np.ndarray, *, is_true: bool) -> list[int]:
    """Return how many true effects, or how many zeros, lie in their intervals, and of how many."""
    pairs = [(x, y) for x in range(D) for y in range(D) if x != y and (T[x, y] != 0.0) == is_true]
    ends = [found.get(pair, (0.0, 0.0)) for pair in pairs]
    inside = [low <= T[pair] <= high for pair, (low, high) in zip(pairs, ends, strict=True)]
    return [int(np.sum(inside)), len(pairs)]


def one_table(n: int, seed: int) -> dict[str, list[int]]:
    """Return the counts of every way on one table."""
    graph, T, X = draw(n, seed)
    T = np.where(np.abs(T) > 1e-12, T, 0.0)
    moments = Moments.shared(np.cov(X.T, bias=True), n)
    names = list(range(D))
    record = {}
    for way, edges in (("given", graph), ("class given", to_cpdag(graph) != 0)):
        known = Known.standardised(names, edges, graph, moments, X.mean(axis=0))
        record[way] = held(spans(known), T, is_true=True)
    learned = spans(AnalyticDAG(loss="likelihood-nv").fit(X))
    record["learned"] = held(learned, T, is_true=True)
    record["learned, no effect"] = held(learned, T, is_true=False)
    if seed < RESAMPLED:
        rows = bootstrap_effects(AnalyticDAG(loss="likelihood-nv"), X, RESAMPLES)
        averaged = {(row.cause, row.outcome): (row.low, row.high) for row in rows}
        for name, found in (("resampled", averaged), ("the same, learned", learned)):
            record[name] = held(found, T, is_true=True)
            record[f"{name}, no effect"] = held(found, T, is_true=False)
    return record


def main() -> None:
    """Fill in the tables that are not there yet."""
    records = json.loads(OUT.read_text()) if OUT.exists() else {}
    warnings.simplefilter("ignore", AnalyticDAGWarning)
    for seed in range(TABLES):
        for n in ROWS:
            key = f"{n}|{seed}"
            if key not in records:
                records[key] = one_table(n, seed)
                OUT.write_text(json.dumps(records, indent=None) + "\n")


def tell() -> None:
    """Print the share of effects inside their intervals."""
    sums: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    for key, record in json.loads(OUT.read_text()).items():
        for way, (inside, total) in record.items():
            sums[way, key.split("|")[0]][0] += inside
            sums[way, key.split("|")[0]][1] += total
    for (way, n), (inside, total) in sorted(sums.items()):
        sys.stdout.write(f"| {way} | {n} | {inside / max(total, 1):.1%} of {total} |\n")


if __name__ == "__main__":
    tell() if sys.argv[1:] == ["--tell"] else main()
