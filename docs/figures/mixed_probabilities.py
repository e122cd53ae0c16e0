"""Learns the constants of `analyticdag.linear.blocks` and checks them on other tables.

Mixed tables of 6 to 25 columns and 200 to 5,000 rows are simulated, by both simulators. Every edge
of every fit is a row: what the graph without it, or without its direction, would cost, and the
truth. Tables that played no part then say how often edges are there, by what is claimed.

    python docs/figures/mixed_probabilities.py

It takes some minutes and writes its numbers to mixed_probabilities.json.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit

from analyticdag import AnalyticDAG
from analyticdag.linear import blocks
from analyticdag.simulate import simulate

SEED = (21, 78)  # of no benchmark
LEARNT, CHECKED = range(240), range(1000, 1160)
MECHANISMS = ("linear", "conditional")
HERE = Path(__file__).with_suffix(".json")


def table(number: int) -> tuple[str, Any]:
    """Simulate one table; its mechanism by name."""
    rng = np.random.default_rng([*SEED, number])
    mechanism = MECHANISMS[number % 2]
    low = float(rng.choice([0.1, 0.2, 0.4]))
    drawn = simulate(
        str(rng.choice(["ER1", "ER2", "SF2"])), n_nodes=int(rng.choice([6, 10, 15, 25])),
        n_samples=int(rng.choice([200, 500, 1500, 5000])), mechanism=mechanism, discrete=0.5,
        weight_range=(low, 1.0), seed=[*SEED, number],
    )  # fmt: skip
    return mechanism, drawn


def frame_of(drawn: Any) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return the table as a data frame, and what its discrete columns are."""
    names = [f"x{k}" for k in range(drawn.n_nodes)]
    kinds = {n: k for n, k in zip(names, drawn.kinds, strict=True) if k != "number"}
    return pd.DataFrame(drawn.data, columns=names), kinds


def edges_of(number: int) -> list[list[float]]:
    """Return the rows of one table: mechanism, evidence, whether open, the truth both ways."""
    mechanism, drawn = table(number)
    data, kinds = frame_of(drawn)
    model = AnalyticDAG(kinds=kinds, n_jobs=1).fit(data)
    if not isinstance(model._judge, blocks.MixedJudge):
        return []
    found, truth = model._judge.evidence(), drawn.weights != 0.0
    return [
        [number, MECHANISMS.index(mechanism), found.joined[i, j], found.turned[i, j],
         float(truth[i, j]), float(truth[j, i])]
        for i, j in np.argwhere(model.adjacency_matrix_ != 0)
    ]  # fmt: skip


def surprise(p: np.ndarray, true: np.ndarray) -> float:
    """Return the mean negative log-likelihood of what is true."""
    p = np.clip(p, 1e-6, 1.0 - 1e-6)
    return -float(np.mean(np.where(true, np.log(p), np.log1p(-p))))


def learnt(rows: np.ndarray) -> tuple[np.ndarray, float]:
    """Return level and slope of the one curve, slope of the other; open edges tell nothing."""
    joined = rows[:, 4] + rows[:, 5] > 0
    curve = minimize(
        lambda c: surprise(expit(c[0] + c[1] * rows[:, 2]), joined), [0.3, 1.0],
        method="Nelder-Mead",
    ).x  # fmt: skip
    told = rows[joined & (rows[:, 3] > 0.0)]
    slope = minimize_scalar(lambda c: surprise(expit(c * told[:, 3]), told[:, 4] > 0), (0.1, 1.0)).x
    return curve, float(slope)


def checked(rows: np.ndarray, curve: np.ndarray, slope: float) -> dict[str, Any]:
    """Return what is claimed and what is right, of all edges and by what is claimed."""
    joined = rows[:, 4] + rows[:, 5] > 0
    p = np.minimum(expit(curve[0] + curve[1] * rows[:, 2]), blocks.SUREST)
    told = rows[:, 3] > 0.0
    q = p * expit(slope * rows[:, 3])
    bins = {}
    for low, high in ((0.5, 0.7), (0.7, 0.9), (0.9, 0.97), (0.97, 1.0)):
        inside = (p >= low) & (p < high)
        bins[f"{low} to {high}"] = [int(inside.sum()), share(p[inside]), share(joined[inside])]
    return {
        "edges": len(rows), "joined": [share(p), share(joined)],
        "this way": [share(q[told]), share(rows[told, 4])], "by claim": bins,
    }  # fmt: skip


def share(values: np.ndarray) -> float | None:
    """Return a mean, rounded; None of nothing."""
    return round(float(np.mean(values)), 4) if len(values) else None


def main() -> None:
    """Learn, check on other tables, write the numbers."""
    curve, slope = learnt(rows_of(LEARNT))
    rows = rows_of(CHECKED)
    found = {"joined": np.round(curve, 3).tolist(), "directed": round(slope, 3)}
    found["all"] = checked(rows, curve, slope)
    for k, mechanism in enumerate(MECHANISMS):
        found[mechanism] = checked(rows[rows[:, 1] == k], curve, slope)
    HERE.write_text(json.dumps(found, indent=1) + "\n")


def rows_of(numbers: range) -> np.ndarray:
    """Return the rows of many tables."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = np.array([row for number in numbers for row in edges_of(number)])
    return found[~np.isnan(found[:, 2])]


if __name__ == "__main__":
    main()
