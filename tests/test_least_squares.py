"""Least squares of nodes on their parents: one place, and it agrees with the plain definition."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
from numpy.testing import assert_allclose

from analyticdag.least_squares import regressions_of, weights_on_parents
from analyticdag.moments import Moments

SOURCES = Path(__file__).resolve().parent.parent / "src" / "analyticdag"
SOLVERS = {"lstsq", "pinv"}
# No copies: regressions on functions of the parents, partial correlations given all columns, the
# acceleration of EM, equations with correlated noise.
ALLOWED = {"least_squares.py", "pruning.py", "candidates.py", "gaps.py", "hidden.py"}


def table() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    graph = np.triu(rng.random((6, 6)) < 0.6, 1)
    X = rng.normal(size=(200, 6)) @ np.linalg.inv(np.eye(6) - graph * rng.normal(size=(6, 6)))
    return X, graph


def test_weights_are_those_of_a_regression_on_the_rows() -> None:
    X, graph = table()
    mask = np.zeros(X.shape, dtype=bool)
    mask[:50, 4] = True  # node 4 has rows of its own
    W = weights_on_parents(Moments.of_rows(X, mask), graph)
    assert_allclose(W != 0, graph)
    for j in range(6):
        rows = X[~mask[:, j]] - X[~mask[:, j]].mean(axis=0)
        parents = np.flatnonzero(graph[:, j])
        expected = np.linalg.lstsq(rows[:, parents], rows[:, j], rcond=None)[0]
        assert_allclose(W[parents, j], expected, rtol=1e-8)


def test_precisions_are_one_over_what_others_leave_of_a_parent() -> None:
    X, graph = table()
    rows = X - X.mean(axis=0)
    for found in regressions_of(Moments.of_rows(X), graph):
        for node, parents, precisions in zip(
            found.nodes, found.parents, found.precisions, strict=True
        ):
            assert_allclose(np.flatnonzero(graph[:, node]), parents)
            for parent, precision in zip(parents, precisions, strict=True):
                others = rows[:, [k for k in parents if k != parent]]
                fitted = others @ np.linalg.lstsq(others, rows[:, parent], rcond=None)[0]
                assert_allclose(1.0 / precision, np.mean((rows[:, parent] - fitted) ** 2))


def test_sizes_do_not_make_parents_collinear_and_copies_share_the_weight() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 300))
    X = np.column_stack([a, 1e9 * b, a + b, a])
    graph = np.zeros((4, 4), dtype=bool)
    graph[[0, 1, 3], 2] = True
    W = weights_on_parents(Moments.of_rows(X), graph)
    assert_allclose(W[:, 2], [0.5, 1e-9, 0.0, 0.5], rtol=1e-6)


def test_there_is_no_second_place() -> None:
    """Before, six modules had least squares on parents of their own."""
    found = {
        path.name
        for path in SOURCES.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in SOLVERS
    }
    assert found <= ALLOWED
