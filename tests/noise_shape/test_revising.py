"""Where the noise speaks against a class, edges of it are turned; nowhere else."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from analyticdag import AnalyticDAG
from analyticdag._typing import BoolArray, FloatArray
from analyticdag.diagnostics import diagnose, run
from analyticdag.diagnostics.result import Check, Level
from analyticdag.fitting.edges import FIXED_IN_CLASS
from analyticdag.graphs import is_dag, to_cpdag
from analyticdag.knowledge import EdgeMasks
from analyticdag.metrics import compare
from analyticdag.moments import Moments
from analyticdag.noise_shape import LocalGains, Shaped, orient
from analyticdag.noise_shape.revising import choose_parents, score
from analyticdag.simulate import Simulation, simulate

PRICE = 10.0
CHAIN = np.eye(3, k=1, dtype=bool)
COLLIDER = np.array([[0, 1, 0], [0, 0, 0], [0, 1, 0]], dtype=bool)  # 0 -> 1 <- 2


def chain_rows(noise: str, n: int = 1000) -> FloatArray:
    """0 -> 1 -> 2, the first effect so weak that a collider at 1 fits nearly as well."""
    e = getattr(np.random.default_rng(3), noise)(size=(n, 3))
    e -= e.mean(axis=0)
    X = np.empty((n, 3))
    X[:, 0] = e[:, 0]
    X[:, 1] = 0.15 * X[:, 0] + e[:, 1]
    X[:, 2] = X[:, 1] + e[:, 2]
    return X


def class_of(dag: BoolArray) -> tuple[BoolArray, BoolArray]:
    cpdag = to_cpdag(dag) != 0
    return cpdag, cpdag


def oriented(X: FloatArray, masks: EdgeMasks | None = None) -> Shaped:
    gains = LocalGains(X, Moments.of_rows(X), None)
    no_shape = np.zeros(3, dtype=bool)
    return orient(gains, COLLIDER, class_of, masks or EdgeMasks.free(3), no_shape, PRICE)


@pytest.mark.parametrize("noise", ["exponential", "uniform", "laplace"])
def test_a_collider_against_which_the_noise_speaks_is_undone(noise: str) -> None:
    shaped = oriented(chain_rows(noise))
    assert_array_equal(shaped.member, CHAIN)
    assert list(shaped.turned) == [(1, 2)]
    assert shaped.turned[1, 2] > 2.0


def test_gaussian_noise_leaves_the_class() -> None:
    shaped = oriented(chain_rows("normal"))
    assert_array_equal(shaped.member, COLLIDER)
    assert shaped.turned == {}


@pytest.mark.parametrize("knowledge", ["required", "forbidden"])
def test_knowledge_is_kept(knowledge: str) -> None:
    masks = EdgeMasks.free(3)
    if knowledge == "required":
        masks.required[2, 1] = True
    else:
        masks.allowed[1, 2] = False
    assert_array_equal(oriented(chain_rows("exponential"), masks).member, COLLIDER)


def test_a_limit_on_parents_is_kept() -> None:
    X = chain_rows("exponential")
    masks = EdgeMasks(~np.eye(3, dtype=bool), np.zeros((3, 3), dtype=bool), 1)
    assert oriented(X, masks).member.sum(axis=0).max() == 1


def test_noise_that_depends_on_the_causes_turns_nothing() -> None:
    rng = np.random.default_rng(0)
    e = rng.normal(size=(2000, 3))
    X = np.stack([e[:, 0], e[:, 0] ** 2 + e[:, 2] ** 2 + e[:, 1], e[:, 2]], axis=1)
    X[:, 1] += X[:, 0] + X[:, 2]
    shaped = oriented(X)
    assert shaped.misfit
    assert_array_equal(shaped.member, COLLIDER)
    assert shaped.turned == {}


def test_parents_end_where_no_single_change_is_better() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 8)) @ rng.normal(size=(8, 8))
    moments, free = Moments.of_rows(X), np.arange(1, 8)
    for begin in ([], [1, 2, 3], list(range(1, 8))):
        parents = choose_parents(moments, 0, np.array(begin, dtype=np.int64), free, PRICE, 8)
        best = score(moments, 0, parents, PRICE)
        assert best >= max(score(moments, 0, np.setxor1d(parents, [k]), PRICE) for k in free)
        assert best >= score(moments, 0, np.array(begin, dtype=np.int64), PRICE)
    limited = choose_parents(moments, 0, free, free, PRICE, 2)
    assert len(limited) == 2


def mended() -> Simulation:
    """Draw rows of which the search finds a wrong class."""
    return simulate(
        "ER2", n_nodes=30, n_samples=300, noise="exponential", standardize=True, seed=10
    )


def test_a_fit_says_that_edges_were_turned_and_its_class_is_that_of_its_graph() -> None:
    drawn = mended()
    model = AnalyticDAG(solver="order", n_jobs=1).fit(drawn.data)
    assert "of the class found first" in model.loss_choice_.reason
    assert compare(drawn.weights, model.weights_).shd == 0
    assert_array_equal(model.cpdag_, to_cpdag(model.adjacency_matrix_))
    turned = [e for e in model.edges_ if e.fixed_by in FIXED_IN_CLASS and e.margin is not None]
    assert min(edge.margin for edge in turned) > 2.0
    assert all(edge.direction_probability is None for edge in turned)  # the score says otherwise


def test_the_residual_check_is_told_which_edges_the_noise_turned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X = mended().data
    model = AnalyticDAG(solver="order", n_jobs=1).fit(X)
    told: list[tuple[object, object]] = []

    def check(*given: object, by_ranks: bool) -> Check:
        told.extend(given[-1])  # type: ignore[arg-type]
        return Check("residual independence", Level.FINE, "")

    monkeypatch.setattr(run, "check_residual_independence", check)
    diagnose(model, X, refit=False)
    turned = [e for e in model.edges_ if e.fixed_by in FIXED_IN_CLASS and e.margin is not None]
    assert turned
    assert {(e.source, e.target) for e in turned} <= set(told)


def test_near_copies_end() -> None:
    rows = np.random.default_rng(0).normal(size=(800, 4)).cumsum(axis=1)
    rows[5] = 1e6  # one row makes all columns copies of each other, but for rounding
    assert is_dag(AnalyticDAG(covariance="sample").fit(rows).adjacency_matrix_)
