from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from analyticdag import AnalyticDAG, Knowledge
from analyticdag._typing import BoolArray
from analyticdag.fitting.edges import (
    FixedBy,
    directions,
    edge_strength,
    edge_table,
    near_border,
)
from analyticdag.graphs import to_cpdag
from analyticdag.losses import covariance
from analyticdag.moments import Moments
from analyticdag.optimize.trace import Status
from analyticdag.simulate import simulate


def graph(d: int, *edges: tuple[int, int]) -> BoolArray:
    adjacency = np.zeros((d, d), dtype=bool)
    for edge in edges:
        adjacency[edge] = True
    return adjacency


def labels(
    adjacency: BoolArray, allowed: BoolArray | None = None, *, equal_variances: bool = False
) -> dict[tuple[int, int], FixedBy]:
    if allowed is None:
        allowed = np.ones_like(adjacency)
    otherwise = FixedBy.EQUAL_VARIANCES if equal_variances else FixedBy.NOTHING
    return directions(adjacency, to_cpdag(adjacency), allowed, otherwise)


def test_colliders_and_what_follows_from_them() -> None:
    # 0 -> 2 <- 1 is a collider; 2 -> 3 follows, or it would be one more.
    assert labels(graph(4, (0, 2), (1, 2), (2, 3))) == {
        (0, 2): FixedBy.COLLIDER,
        (1, 2): FixedBy.COLLIDER,
        (2, 3): FixedBy.ORIENTATION_RULES,
    }


def test_a_shielded_collider_fixes_nothing() -> None:
    assert set(labels(graph(3, (0, 1), (0, 2), (1, 2))).values()) == {FixedBy.NOTHING}


def test_an_open_edge_rests_on_the_assumption_if_there_is_one() -> None:
    chain = graph(3, (0, 1), (1, 2))
    assert set(labels(chain).values()) == {FixedBy.NOTHING}
    assert set(labels(chain, equal_variances=True).values()) == {FixedBy.EQUAL_VARIANCES}


def test_knowledge_fixes_an_edge_and_what_follows() -> None:
    chain = graph(3, (0, 1), (1, 2))
    allowed = np.ones((3, 3), dtype=bool)
    allowed[1, 0] = False
    assert set(labels(chain, allowed).values()) == {FixedBy.KNOWLEDGE}


def test_strength_is_that_of_an_ordinary_regression() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    X[:, 2] += 0.5 * X[:, 0] - 0.2 * X[:, 1]
    strength = edge_strength(Moments.shared(covariance(X), 200), graph(3, (0, 2), (1, 2)))
    design = np.column_stack([np.ones(200), X[:, :2]])
    slopes, rss, *_ = np.linalg.lstsq(design, X[:, 2], rcond=None)
    errors = np.sqrt(rss[0] / 197 * np.diag(np.linalg.inv(design.T @ design)))
    assert strength.standard_error.toarray()[:2, 2] == pytest.approx(errors[1:], rel=1e-9)
    t = slopes[1:] / errors[1:]
    partial = strength.partial_correlation.toarray()[:2, 2]
    assert partial == pytest.approx(t / np.sqrt(t**2 + 197), rel=1e-9)
    assert strength.standard_error.nnz == 2


def test_as_many_parents_as_rows_leaves_no_certainty() -> None:
    X = np.random.default_rng(0).normal(size=(3, 3))
    strength = edge_strength(Moments.shared(covariance(X), 3), graph(3, (0, 2), (1, 2)))
    assert np.isinf(strength.standard_error.toarray()[:2, 2]).all()


def test_near_means_within_two_standard_errors_of_the_border() -> None:
    S = np.array([[1.0, 0.4], [0.4, 1.0]])
    strength = edge_strength(Moments.shared(S, 402), graph(2, (0, 1)))
    error = strength.standard_error[0, 1]
    weights = np.array([[0.0, 0.4], [0.0, 0.0]])
    for threshold, near in [(0.4 - 1.9 * error, True), (0.4 - 2.1 * error, False)]:
        assert (
            near_border(weights, strength, np.array([402, 402]), threshold=threshold, price=0.0)[
                0, 1
            ]
            == near
        )
    gain = -402 * np.log(1 - 0.16)
    for price, near in [((gain**0.5 - 1.9) ** 2, True), ((gain**0.5 - 2.1) ** 2, False)]:
        assert (
            near_border(weights, strength, np.array([402, 402]), threshold=0.0, price=price)[0, 1]
            == near
        )


def test_the_table_names_the_columns_and_starts_like_a_weighted_edge() -> None:
    adjacency = graph(2, (0, 1))
    S = np.array([[1.0, 0.4], [0.4, 1.0]])
    row = edge_table(
        ["a", "b"],
        0.4 * adjacency,
        edge_strength(Moments.shared(S, 100), adjacency),
        labels(adjacency),
        adjacency,
    )[0]
    assert row[:3] == ("a", "b", 0.4)
    assert row.fixed_by == "not fixed"
    assert row.near_threshold is True
    assert row.stability is None


def test_a_fit_labels_its_edges_and_says_when_only_the_class_is_known() -> None:
    X = np.random.default_rng(0).normal(size=(400, 4))
    X[:, 2] += X[:, 0] + X[:, 1]
    X[:, 3] *= 0.3
    settings: dict[str, Any] = {"loss": "likelihood-nv", "solver": "order", "refine": True}
    model = AnalyticDAG(**settings).fit(X[:, :3])
    assert {edge.fixed_by for edge in model.edges_} == {FixedBy.COLLIDER}
    assert model.status_ is Status.SEARCHED
    assert model.edges_[0].standard_error == pytest.approx(0.05, rel=0.2)
    X[:, 1] += X[:, 3]
    chain = X[:, [3, 1]]
    model = AnalyticDAG(**settings).fit(chain)
    assert [edge.fixed_by for edge in model.edges_] == [FixedBy.NOTHING]
    assert model.status_ is Status.CLASS_FOUND
    assert model.status_.converged
    known = AnalyticDAG(knowledge=Knowledge(tiers=[[0], [1]]), **settings).fit(chain)
    assert [edge.fixed_by for edge in known.edges_] == [FixedBy.KNOWLEDGE]
    assert known.status_ is Status.SEARCHED


@pytest.mark.parametrize("solver", ["order", "fast"])
def test_units_do_not_change_the_class_under_unequal_variances(solver: str) -> None:
    X = simulate("ER2", n_nodes=12, n_samples=300, seed=5).data
    units = 10.0 ** np.random.default_rng(0).integers(-4, 5, size=12)
    settings: dict[str, Any] = {"loss": "likelihood-nv", "solver": solver, "refine": True}
    before, after = (AnalyticDAG(**settings).fit(data) for data in (X, X * units))
    assert before.cpdag_.any()
    np.testing.assert_array_equal(before.cpdag_, after.cpdag_)
