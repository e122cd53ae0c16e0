"""What a price of an edge costs and saves: the tables behind `gamma="auto"`.

    python docs/figures/edge_price.py            prints both tables (about ten minutes)
    python docs/figures/edge_price.py strong     one of them

Mean SHD-CPDAG of the scale-free search for several gamma, on data that hide the scale. *Strong*
graphs have weights ±U(0.5, 2) and unit noise. *Weak* ones have 100 nodes, 1.5 edges a node, effects
log-uniform from 0.05 to 1.5 (noise deviations of the child per noise deviation of the parent), and
noise deviations over a factor of 20.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np

from analyticdag.losses import covariance
from analyticdag.metrics import compare
from analyticdag.search import search_orders
from analyticdag.simulate import simulate

GAMMAS = (1.0, 0.75, 0.5, 0.25)
SEEDS = (9001, 9002, 9003)
STRONG = (
    *((code, d, 1000) for code in ("ER1", "ER2", "SF2") for d in (50, 100, 200, 300)),
    *(("ER1", d, 1000) for d in (150, 500)),
    *(("ER2", d, 200) for d in (50, 100)),
    ("ER1", 100, 10_000),
    ("ER1", 300, 10_000),
)
WEAK = ((100, 200), (100, 1000), (100, 10_000), (50, 1000), (200, 1000))

Drawn = tuple[np.ndarray, np.ndarray]


def strong(code: str, d: int, n: int, seed: int) -> Drawn:
    """Return weights and rows of a graph with strong effects."""
    drawn = simulate(code, n_nodes=d, n_samples=n, seed=seed)
    return drawn.weights, drawn.data


def weak(d: int, n: int, seed: int) -> Drawn:
    """Return weights and rows of a graph with effects of all sizes, most of them small."""
    rng = np.random.default_rng([seed, d, n])
    pairs = np.argwhere(np.triu(np.ones((d, d)), 1))
    chosen = pairs[rng.choice(len(pairs), size=3 * d // 2, replace=False)].T
    sd = np.exp(rng.uniform(0.0, np.log(20.0), size=d))
    effects = np.exp(rng.uniform(np.log(0.05), np.log(1.5), size=chosen.shape[1]))
    W = np.zeros((d, d))
    W[*chosen] = rng.choice((-1.0, 1.0), size=len(effects)) * effects * sd[chosen[1]]
    W[*chosen] /= sd[chosen[0]]
    noise = rng.normal(size=(n, d)) * sd
    return W, noise @ np.linalg.inv(np.eye(d) - W)


def errors(drawn: Drawn) -> list[int]:
    """Return the SHD-CPDAG of each gamma."""
    W, X = drawn
    S, n = covariance(X), len(X)
    found = [search_orders(S, n, gamma=gamma, random_state=0).weights for gamma in GAMMAS]
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
        _row([kind, *(f"γ {gamma:g}" for gamma in GAMMAS)])
        _row(["---"] * (1 + len(GAMMAS)))
        for name, found in rows(kind):
            _row([name, *(f"{mean:.1f}" for mean in np.mean(found, axis=0))])


def _row(cells: list[str]) -> None:
    sys.stdout.write(f"| {' | '.join(cells)} |\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
