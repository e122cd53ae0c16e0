"""The search that follows the networks: its regressions, its moves, its limits."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from analyticdag.graphs import is_dag
from analyticdag.knowledge import EdgeMasks
from analyticdag.metrics import compare
from analyticdag.nonlinear.climb import climb
from analyticdag.nonlinear.surfaces import Surfaces, spline_basis
from analyticdag.simulate import simulate


def bent(n_nodes: int = 5, seed: int = 0, n_samples: int = 300) -> np.ndarray:
    return simulate("ER2", n_nodes=n_nodes, n_samples=n_samples, mechanism="mlp", seed=seed).data


def least_squares(X: np.ndarray, t: int, parents: list[int]) -> tuple[float, int]:
    """What the definition says: splines of the parents and products of squeezed pairs."""
    centred = X - X.mean(axis=0)
    squeezed = np.tanh(centred / (1.5 * X.std(axis=0)))
    squeezed -= squeezed.mean(axis=0)
    blocks = [spline_basis(X[:, i], 4) for i in parents]
    pairs = [squeezed[:, [i]] * squeezed[:, [j]] for i, j in itertools.combinations(parents, 2)]
    design = np.column_stack([np.ones(len(X)), *blocks, *pairs])
    residual = X[:, t] - design @ np.linalg.lstsq(design, X[:, t], rcond=None)[0]
    return float(residual @ residual), design.shape[1] - 1


def bic(X: np.ndarray, adjacency: np.ndarray, *, pooled: bool) -> float:
    n, d = X.shape
    nodes = [least_squares(X, t, list(np.flatnonzero(adjacency[:, t]))) for t in range(d)]
    left = np.array([node[0] for node in nodes])
    misfit = d * math.log(left.sum()) if pooled else np.log(left).sum()
    functions = sum(node[1] for node in nodes)
    return float(n * misfit + math.log(n) * functions + 2 * math.log(d) * adjacency.sum())


@pytest.mark.parametrize("parents", [[], [0], [0, 2], [4, 2, 0]])
def test_fits_are_least_squares_with_one_parent_more_or_less(parents: list[int]) -> None:
    X = bent()
    fits = Surfaces(X).fits(1, np.array(parents, dtype=np.int64))
    assert (fits.left, fits.functions) == pytest.approx(least_squares(X, 1, parents), rel=1e-5)
    for i in range(5):
        if i in parents:
            expected = least_squares(X, 1, [p for p in parents if p != i])
            found = (fits.left_dropped[i], fits.functions_dropped[i])
            assert found == pytest.approx(expected, rel=1e-5)
            assert math.isinf(fits.left_added[i])
        elif i != 1:
            expected = least_squares(X, 1, [*parents, i])
            found = (fits.left_added[i], fits.functions_added[i])
            assert found == pytest.approx(expected, rel=1e-5)
            assert math.isinf(fits.left_dropped[i])
        else:
            assert math.isinf(fits.left_added[1])


@pytest.mark.parametrize("pooled", [True, False])
def test_no_single_edge_improves_where_the_climb_ends(pooled: bool) -> None:
    X = bent()
    found = climb(Surfaces(X), np.zeros((5, 5), dtype=bool), EdgeMasks.free(5), pooled=pooled)
    assert is_dag(found.adjacency)
    assert found.score == pytest.approx(bic(X, found.adjacency, pooled=pooled), rel=1e-7)
    assert found.n_moves >= found.n_edges > 0
    for i, t in itertools.permutations(range(5), 2):
        flipped, turned = found.adjacency.copy(), found.adjacency.copy()
        flipped[i, t] = not flipped[i, t]
        turned[i, t], turned[t, i] = turned[t, i], turned[i, t]
        for neighbour in (flipped, turned):
            if is_dag(neighbour):
                assert bic(X, neighbour, pooled=pooled) > found.score - 1e-3


def test_it_finds_equations_that_bend() -> None:
    wrong = 0
    for seed in range(3):
        sim = simulate("ER1", n_nodes=10, n_samples=1000, mechanism="gp", seed=seed)
        start = np.zeros((10, 10), dtype=bool)
        found = climb(Surfaces(sim.data), start, EdgeMasks.free(10), pooled=True)
        wrong += compare(sim.weights, found.adjacency).shd
    assert wrong <= 9  # the empty graph has 30


def test_an_effect_that_needs_two_parents_together_is_seen() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    X[:, 2] += 2.0 * np.tanh(X[:, 0]) * np.tanh(X[:, 1])
    surfaces = Surfaces(X)
    alone, both = surfaces.fits(2, np.array([0])), surfaces.fits(2, np.array([0, 1]))
    assert both.left < 0.9 * alone.left
    start = np.zeros((3, 3), dtype=bool)
    start[:2, 2] = True
    assert (climb(surfaces, start, EdgeMasks.free(3), pooled=True).adjacency == start).all()


def test_knowledge_holds_all_the_way() -> None:
    X = bent(8, n_samples=500)
    free = climb(Surfaces(X), np.zeros((8, 8), dtype=bool), EdgeMasks.free(8), pooled=True)
    i, t = np.argwhere(free.adjacency)[0]
    allowed, required = ~np.eye(8, dtype=bool), np.zeros((8, 8), dtype=bool)
    allowed[i, t], required[t, i] = False, True
    known = EdgeMasks(allowed, required, max_parents=2)
    found = climb(Surfaces(X), required, known, pooled=True).adjacency
    assert is_dag(found)
    assert found[t, i]
    assert not (found & ~allowed).any()
    assert found.sum(axis=0).max() == 2


@pytest.mark.parametrize("n_samples", [8, 20, 60, 200])
@pytest.mark.parametrize("full", [True, False])
def test_noise_has_few_edges_however_few_the_rows(n_samples: int, full: bool) -> None:
    X = np.random.default_rng(1).normal(size=(n_samples, 12))
    start = np.triu(np.ones((12, 12), dtype=bool), 1) & full
    surfaces = Surfaces(X)
    found = climb(surfaces, start, EdgeMasks.free(12), pooled=False)
    nodes = [surfaces.fits(t, np.flatnonzero(found.adjacency[:, t])) for t in range(12)]
    assert max(node.functions for node in nodes) * 5 <= n_samples
    assert found.n_edges <= 4


@pytest.mark.parametrize("noise", [0.0, 1e-6, 1e-4, 1e-3, 1e-2])
def test_it_ends_on_columns_that_are_nearly_the_same(noise: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 1)) + noise * rng.normal(size=(300, 5))
    found = climb(Surfaces(X), np.zeros((5, 5), dtype=bool), EdgeMasks.free(5), pooled=False)
    assert is_dag(found.adjacency)
    assert 4 <= found.n_edges <= (4 if noise < 1e-3 else 10)  # a copy needs one parent


@pytest.mark.parametrize(
    ("counts", "n_functions"), [((100, 100), 1), ((101, 98, 101), 2), ((90, 5, 5, 100), 3)]
)
def test_a_column_of_few_values_has_as_many_functions_as_tell_them_apart(
    counts: tuple[int, ...], n_functions: int
) -> None:
    column = np.repeat(np.arange(float(len(counts))), counts)
    basis = spline_basis(column, 4)
    assert basis.shape[1] == n_functions
    np.testing.assert_allclose(basis.T @ basis, np.eye(n_functions), atol=1e-9)
    middle = (column == 1.0) - (column == 1.0).mean()
    np.testing.assert_allclose(basis @ (basis.T @ middle), middle, atol=1e-9)
