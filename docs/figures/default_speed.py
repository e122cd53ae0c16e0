"""How long the default fit takes, as a user runs it: the table of docs/benchmarks/engine.md.

    python docs/figures/default_speed.py            200 and 500 nodes beside FLOP, 1,000 without
    python docs/figures/default_speed.py few        50 rows of 200 columns

ER2 graphs with 1,000 rows. Seconds are wall clock; imports are left out by a fit beforehand.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import nullcontext

import numpy as np
from threadpoolctl import threadpool_limits

from analyticdag import AnalyticDAG
from analyticdag.metrics import compare
from analyticdag.simulate import Simulation, simulate

SIZES, WITH_FLOP, SEED = (200, 500, 1000), 500, 9101
THREADS = (None, 1, 2)


def draw(d: int, n: int, seed: int, *, standardize: bool = False) -> Simulation:
    """Return a graph with its rows."""
    return simulate("ER2", n_nodes=d, n_samples=n, seed=seed, standardize=standardize)


def timed(fit: Callable[[np.ndarray], np.ndarray], drawn: Simulation) -> tuple[float, int, int]:
    """Return seconds, SHD and SHD-CPDAG of one fit."""
    begun = time.perf_counter()
    weights = fit(np.array(drawn.data))
    seconds = time.perf_counter() - begun
    counts = compare(drawn.weights, weights)
    return seconds, counts.shd, counts.shd_cpdag


def ours(solver: str, threads: int | None = None) -> Callable[[np.ndarray], np.ndarray]:
    """Return a fit with so many threads for BLAS; None leaves them as they come."""

    def fit(X: np.ndarray) -> np.ndarray:
        with nullcontext() if threads is None else threadpool_limits(threads):
            return AnalyticDAG(solver=solver).fit(X).weights_

    return fit


def flop(X: np.ndarray) -> np.ndarray:
    """Return FLOP's class with 20 restarts, undirected edges set both ways."""
    import flopsearch

    return np.asarray(flopsearch.flop(X, 2.0, restarts=20) != 0, dtype=float)


def row(cells: list[str]) -> None:
    """Write a row of the table."""
    sys.stdout.write(f"| {' | '.join(cells)} |\n")
    sys.stdout.flush()


def cell(measured: tuple[float, int, int]) -> str:
    """Return seconds and both distances."""
    return f"{measured[0]:.2f} s, {measured[1]} / {measured[2]}"


def speed() -> None:
    """Print the default with several numbers of threads beside the search alone and FLOP."""
    row(
        [
            "nodes",
            *(f"default, BLAS threads {k or 'as they come'}" for k in THREADS),
            "search",
            "FLOP",
        ]
    )
    row(["---"] * (3 + len(THREADS)))
    for d in SIZES:
        for standardize in (False, True):
            drawn = draw(d, 1000, SEED, standardize=standardize)
            cells = [cell(timed(ours("auto", k), drawn)) for k in THREADS]
            cells.append(cell(timed(ours("order"), drawn)))
            wanted = standardize and d <= WITH_FLOP
            cells.append(cell(timed(flop, drawn)) if wanted else "")
            row([f"{d}, {'standardised' if standardize else 'raw'}", *cells])


def few() -> None:
    """Print the default on 50 rows of 200 columns, five seeds."""
    measured = [timed(ours("auto"), draw(200, 50, seed)) for seed in range(1, 6)]
    seconds, shd, _ = np.mean(measured, axis=0)
    row(["50 rows, 200 columns, five seeds", f"{seconds:.2f} s", f"SHD {shd:.1f}"])


if __name__ == "__main__":
    ours("auto")(np.array(draw(10, 200, 1).data))
    few() if sys.argv[1:] == ["few"] else speed()
