"""Learns what blocks of rows that come back say about links of series, and checks it on others.

Sensors: 15 to 40 columns, 1,000 to 3,000 rows in time order, a linear graph with weak and strong
effects whose noise is autoregressive. The rows are resampled in blocks of 20 to 100 rows. Every
edge of every fit is a row: what the score says, how often it came back, and the truth. The
constants of `analyticdag.stability.judged` for groups are fitted to the first tables; others say
how often edges are there, by what is claimed.

    python docs/figures/series_resamples.py collect FILE        a line of JSON a table; resumes
    python docs/figures/series_resamples.py learn FILE          constants
    python docs/figures/series_resamples.py check FILE          calibration of the constants in use

The first takes about ten minutes.
"""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.optimize import minimize
from scipy.signal import lfilter

from analyticdag import AnalyticDAG
from analyticdag.linear.probabilities import SUREST
from analyticdag.simulate import simulate
from analyticdag.stability import bootstrap, judged

SEED, RESAMPLES = 8123, 40
LEARNT, CHECKED = range(26), range(100, 110)
BEFORE_ROWS = 300  # of every series, left out
BINS = (0.0, 0.25, 0.6, 0.8, 0.95, 1.01)  # of the share of resamples


def series(number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Simulate one table: its weights, its rows, and the block of every row."""
    rng = np.random.default_rng([SEED, number])
    d, n = int(rng.choice([15, 25, 40])), int(rng.choice([1000, 2000, 3000]))
    drawn = simulate(
        "ER1", n_nodes=d, n_samples=n, effects=(0.05, 1.0), units=(0.3, 3.0), seed=[SEED, number]
    )
    least = float(rng.choice([0.3, 0.6, 0.8, 0.9]))
    stays = rng.uniform(least, min(least + 0.15, 0.97), d)
    size = (drawn.data @ (np.eye(d) - drawn.weights)).std(axis=0)
    new = rng.normal(size=(n + BEFORE_ROWS, d))
    noise = np.column_stack(
        [lfilter([1.0], [1.0, -r], e) for r, e in zip(stays, new.T, strict=True)]
    )
    noise = noise[BEFORE_ROWS:] * np.sqrt(1.0 - stays**2) * size
    X = noise @ np.linalg.inv(np.eye(d) - drawn.weights)
    return drawn.weights, X, np.arange(n) // int(rng.choice([20, 50, 100]))


def edges_of(number: int) -> list[list[float]]:
    """Return a row for each edge: by the score, how often it came back, whether it is true."""
    W, X, blocks = series(number)
    edges = AnalyticDAG(n_jobs=1).fit(X).edges_
    found = bootstrap(AnalyticDAG(n_jobs=1), X, RESAMPLES, random_state=number, groups=blocks)
    joined = (W != 0.0) | (W.T != 0.0)
    return [
        [edge.probability, float(found.skeleton_frequency[edge[:2]]), float(joined[edge[:2]])]
        for edge in edges
    ]


def collect(path: Path) -> None:
    """Add what is not there yet."""
    done = {json.loads(line)["number"] for line in path.open()} if path.exists() else set()
    with path.open("a") as file:
        for number in (*LEARNT, *CHECKED):
            if number not in done:
                file.write(json.dumps({"number": number, "rows": edges_of(number)}) + "\n")
                file.flush()


def rows_of(path: Path, numbers: range) -> np.ndarray:
    """Return the edges of some tables."""
    tables = [json.loads(line) for line in path.open()]
    return np.array([row for one in tables if one["number"] in numbers for row in one["rows"]])


def surprise(p: np.ndarray, true: np.ndarray) -> float:
    """Return the mean surprise of claims about the truth."""
    p = np.clip(p, 1e-4, SUREST)
    return -float(np.mean(np.where(true, np.log(p), np.log1p(-p))))


def learn(path: Path) -> None:
    """Print the constants that surprise least."""
    p, back, true = rows_of(path, LEARNT).T

    def badness(c: np.ndarray) -> float:
        rule = judged.Links(*np.clip(c, 1e-3, 0.999))
        return surprise(rule.probability(p, RESAMPLES * back, RESAMPLES), true)

    best = minimize(badness, [0.3, 0.5], method="Nelder-Mead").x.round(3).tolist()
    sys.stdout.write(f"{judged.Links(*best)}\n")


def check(path: Path) -> None:
    """Print what is claimed and right, in percent, by how often links came back."""
    p, back, true = rows_of(path, CHECKED).T
    claims = [
        np.minimum(rule.probability(p, RESAMPLES * back, RESAMPLES), SUREST)
        for rule in (judged.JOINED, judged.GROUPED_JOINED)
    ]
    surprises = (f"{surprise(one, true):.3f}" for one in (p, *claims))
    sys.stdout.write(f"surprise: score, independent, groups: {', '.join(surprises)}\n")
    for low, high in [*pairwise(BINS), (BINS[0], BINS[-1])]:
        here = (back >= low) & (back < high)
        told = [str(here.sum()), *(f"{100 * x[here].mean():.0f}" for x in (p, *claims, true))]
        sys.stdout.write(f"| {low:.2f} to {high:.2f} | {' | '.join(told)} |\n")


if __name__ == "__main__":
    {"collect": collect, "learn": learn, "check": check}[sys.argv[1]](Path(sys.argv[2]))
