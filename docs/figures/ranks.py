"""Numbers as they are, or ranks? What `covariance="auto"` takes on tables with known graphs.

    python docs/figures/ranks.py

ER1 graphs with 20 nodes, 1,000 rows, four seeds each. `straight` tables are linear with noise of
that name; the others are straight tables with Gaussian noise of which every column was changed.
The last are columns that have nothing in common.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial

import numpy as np

from analyticdag import AnalyticDAG
from analyticdag.graphs import to_cpdag
from analyticdag.metrics import compare
from analyticdag.simulate import simulate

NODES, ROWS, SEEDS = 20, 1000, 4
Table = tuple[np.ndarray, np.ndarray]


def straight(noise: str, seed: int) -> Table:
    """A linear table, every column of variance one, and its graph."""
    drawn = simulate(
        "ER1", n_nodes=NODES, n_samples=ROWS, noise=noise, seed=seed, weight_range=(0.4, 1.0)
    )
    return drawn.data / drawn.data.std(axis=0), drawn.adjacency_matrix


def changed(how: Callable[[np.ndarray, np.random.Generator], np.ndarray], seed: int) -> Table:
    """A linear table of which every column was changed."""
    X, graph = straight("gaussian", seed)
    return how(X, np.random.default_rng(seed)), graph


def wild(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Give one cell in a hundred a value far out."""
    return np.where(rng.random(X.shape) < 0.01, 20.0 * rng.normal(size=X.shape), X)


def nothing(noise: Callable[..., np.ndarray], rows: int, columns: int, seed: int) -> Table:
    """Columns that have nothing in common."""
    return noise(np.random.default_rng(seed), size=(rows, columns)), np.zeros((columns, columns))


TABLES: dict[str, Callable[[int], Table]] = {
    **{
        f"straight, {noise}": partial(straight, noise)
        for noise in ("gaussian", "exponential", "gumbel", "laplace", "uniform")
    },
    "straight, rounded to halves": partial(changed, lambda X, _: np.round(2.0 * X) / 2.0),
    "products (exp x)": partial(changed, lambda X, _: np.exp(X)),
    "saturating (tanh 2x)": partial(changed, lambda X, _: np.tanh(2.0 * X)),
    "zeros below the mean": partial(changed, lambda X, _: np.maximum(X, 0.0)),
    "counts (Poisson of exp x)": partial(changed, lambda X, rng: rng.poisson(3.0 * np.exp(X))),
    "1 % of the cells wild": partial(changed, wild),
    "nothing, lognormal, 150 x 100": partial(
        nothing, lambda rng, size: rng.lognormal(size=size), 150, 100
    ),
    "nothing, t with 2 degrees, 500 x 100": partial(
        nothing, lambda rng, size: rng.standard_t(2, size), 500, 100
    ),
}


def errors(graph: np.ndarray, X: np.ndarray, covariance: str) -> tuple[int, str]:
    """Return the errors between classes, and what the graph was learned from."""
    model = AnalyticDAG(covariance=covariance, n_jobs=1).fit(X)
    return compare(to_cpdag(graph != 0), model.cpdag_).shd, model.covariance_


def main() -> None:
    """Print a row of the table on the page for every kind of table."""
    sys.stdout.write("| tables | sample | rank | auto | ranks taken |\n")
    sys.stdout.write("| --- | --- | --- | --- | --- |\n")
    for name, make in TABLES.items():
        found = [
            [errors(graph, X, how) for how in ("sample", "rank", "auto")]
            for X, graph in map(make, range(SEEDS))
        ]
        means = [np.mean([one[k][0] for one in found]) for k in range(3)]
        taken = sum(one[2][1] == "rank" for one in found)
        shown = " | ".join(f"{mean:.1f}" for mean in means)
        sys.stdout.write(f"| {name} | {shown} | {taken} of {SEEDS} |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
