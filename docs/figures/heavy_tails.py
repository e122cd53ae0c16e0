"""What heavy tails make of links: in tables without any link, and in linear ones.

    python docs/figures/heavy_tails.py            prints both tables (some minutes)
    python docs/figures/heavy_tails.py null       one of them: null or linear

Independent columns have no links, so each that is found is false. Linear tables have weights
±U(0.5, 2) and noise of different scales, divided by its own deviation.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable

import numpy as np

from analyticdag import AnalyticDAG
from analyticdag.metrics import compare
from analyticdag.simulate import simulate

Draw = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]

NOISE: dict[str, Draw] = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "exponential": lambda rng, shape: rng.exponential(size=shape),
    "gumbel": lambda rng, shape: rng.gumbel(size=shape),
    "t5": lambda rng, shape: rng.standard_t(5, size=shape),
    "t3": lambda rng, shape: rng.standard_t(3, size=shape),
    "t2": lambda rng, shape: rng.standard_t(2, size=shape),
    "lognormal": lambda rng, shape: np.exp(rng.normal(size=shape)),
    "lognormal, half zero": lambda rng, shape: (
        np.exp(rng.normal(size=shape)) * (rng.random(shape) < 0.5)
    ),
}
NULL = ("normal", "t5", "t3", "t2", "lognormal", "lognormal, half zero")
SIZES = ((60, 30), (60, 100), (60, 300), (200, 100), (1000, 30), (1000, 100), (1000, 300))
LINEAR = ("normal", "exponential", "gumbel", "t5", "t3", "t2", "lognormal")
GRAPHS = (("ER1", 20), ("ER2", 50))
ROWS = (200, 1000, 2000)
NULL_SEEDS, LINEAR_SEEDS = (7001, 7002, 7003), (7101, 7102, 7103, 7104)


def fitted(X: np.ndarray) -> AnalyticDAG:
    """Fit a table; what it warns of is no part of the tables."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return AnalyticDAG(covariance="sample").fit(X)


def null(noise: str, n: int, d: int) -> list[float]:
    """Return links, links expected to be real, and links above 90 %, on average over seeds."""
    found = []
    for seed in NULL_SEEDS:
        edges = fitted(NOISE[noise](np.random.default_rng(seed), (n, d))).edges_
        joined = [edge.probability for edge in edges if edge.probability is not None]
        found.append((len(edges), sum(joined), sum(p > 0.9 for p in joined)))
    return np.mean(found, axis=0).tolist()


def drawn(code: str, d: int, n: int, noise: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return weights and rows of a linear table."""
    W = simulate(code, n_nodes=d, n_samples=2, seed=seed).weights
    rng = np.random.default_rng([seed, n])
    E = NOISE[noise](rng, (n, d))
    E = (E - E.mean(axis=0)) / E.std(axis=0) * rng.uniform(0.5, 2.0, size=d)
    return W, E @ np.linalg.inv(np.eye(d) - W)


def linear(noise: str, code: str, d: int, n: int) -> list[float]:
    """Return true links, those found, false ones, SHD-CPDAG; claimed and right, in links."""
    found = []
    for seed in LINEAR_SEEDS:
        W, X = drawn(code, d, n, noise, seed)
        model = fitted(X)
        counts, true = compare(W, model.adjacency_matrix_), W != 0.0
        links = true | true.T
        judged = [(e.probability, links[e.source, e.target]) for e in model.edges_]
        claimed = sum(p for p, _ in judged if p is not None)
        right = sum(real for p, real in judged if p is not None)
        found.append(
            (
                true.sum(),
                true.sum() - counts.missing,
                counts.extra,
                counts.shd_cpdag,
                claimed,
                right,
            )
        )
    return np.mean(found, axis=0).tolist()


def tell(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def show(label: str, values: list[float]) -> None:
    """Print a row."""
    tell(f"| {label} | {' | '.join(f'{value:.1f}' for value in values)} |")


def main(kinds: list[str]) -> None:
    """Print the tables."""
    if "null" in kinds:
        tell("| columns without links | links | claimed | above 90 % |\n|---|---|---|---|")
        for noise in NULL:
            for n, d in SIZES:
                show(f"{noise}, {n} x {d}", null(noise, n, d))
    if "linear" in kinds:
        tell("| noise | links | found | false | SHD-CPDAG | claimed | right |")
        tell("|---|---|---|---|---|---|---|")
        for noise in LINEAR:
            for code, d in GRAPHS:
                for n in ROWS:
                    show(f"{noise}, {code}, {n} x {d}", linear(noise, code, d, n))


if __name__ == "__main__":
    main(sys.argv[1:] or ["null", "linear"])
