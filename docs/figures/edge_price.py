"""What a price of an edge costs and saves: fixed ones beside `gamma="auto"`.

    python docs/figures/edge_price.py            prints both tables (a few minutes)
    python docs/figures/edge_price.py strong     one of them

Mean SHD-CPDAG of the scale-free search for several gamma, on data that hide the scale. *Strong*
graphs have weights ±U(0.5, 2) and unit noise. *Weak* ones have 1.5 edges a node, uneven degrees and
effects log-uniform from 0.02 to 2.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np

from analyticdag.extended_bic import edge_price
from analyticdag.losses import covariance
from analyticdag.metrics import compare
from analyticdag.search import search_orders
from analyticdag.simulate import simulate

GAMMAS = (1.0, 0.75, 0.5, 0.25, "auto")
SEEDS = (9001, 9002, 9003, 9004, 9005)
STRONG = (
    *((code, d, n) for code in ("ER1", "ER2", "SF2") for d in (50, 100) for n in (200, 1000)),
    ("ER1", 300, 1000),
    ("ER2", 300, 1000),
)
WEAK = (*((d, n) for d in (50, 100) for n in (200, 1000, 10_000)), (200, 1000))

Drawn = tuple[np.ndarray, np.ndarray]


def strong(code: str, d: int, n: int, seed: int) -> Drawn:
    """Return weights and rows of a graph with strong effects."""
    drawn = simulate(code, n_nodes=d, n_samples=n, seed=seed)
    return drawn.weights, drawn.data


def weak(d: int, n: int, seed: int) -> Drawn:
    """Return weights and rows of a graph with effects of all sizes, most of them small."""
    drawn = simulate(
        "UD1.5", n_nodes=d, n_samples=n, effects=(0.02, 2.0), units=(0.1, 10.0), seed=seed
    )
    return drawn.weights, drawn.data


def errors(drawn: Drawn) -> list[int]:
    """Return the SHD-CPDAG of each gamma."""
    W, X = drawn
    S, (n, d) = covariance(X), X.shape
    prices = [None if gamma == "auto" else edge_price(n, d, gamma) for gamma in GAMMAS]
    found = [search_orders(S, n, price=price, random_state=0).weights for price in prices]
    return [compare(W, weights).shd_cpdag for weights in found]


def rows(kind: str) -> Iterator[tuple[str, list[list[int]]]]:
    """Yield each setting with the errors of every seed."""
    for setting in STRONG if kind == "strong" else WEAK:
        draw = strong if kind == "strong" else weak
        name = setting[0] if kind == "strong" else "weak"
        d, n = setting[-2:]
        yield f"{name}, {d:,} nodes, {n:,} rows", [errors(draw(*setting, seed)) for seed in SEEDS]


def main(kinds: list[str]) -> None:
    """Print a table for each kind of graph."""
    for kind in kinds or ["strong", "weak"]:
        _row([kind, *(f"γ {gamma}" for gamma in GAMMAS)])
        _row(["---"] * (1 + len(GAMMAS)))
        for name, found in rows(kind):
            _row([name, *(f"{mean:.1f}" for mean in np.mean(found, axis=0))])


def _row(cells: list[str]) -> None:
    sys.stdout.write(f"| {' | '.join(cells)} |\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
