from __future__ import annotations

import random
import sys

import numpy as np
import pytest

from analyticdag.errors import MissingDependencyError, ParameterError
from analyticdag.optimize.trace import Status
from analyticdag.simulate import simulate
from benchmarks.learn import draw_problem, learn
from benchmarks.methods import METHODS, find_method
from benchmarks.plan import Method, parse_plan

SETTING = {"graph": "ER2", "nodes": 6, "samples": 200}


def test_the_empty_graph_misses_every_edge() -> None:
    metrics = learn(SETTING, Method("empty", "empty"), np.random.default_rng(0))
    assert metrics["shd"] == metrics["n_true"] == 12
    assert metrics["tpr"] == 0
    assert metrics["seconds"] >= 0


def test_measures_of_skeleton_and_class() -> None:
    pytest.importorskip("gadjid")
    setting = {**SETTING, "graph": "ER1", "effects": "0.5 to 2", "units": "0.1 to 10"}
    rng = np.random.default_rng(1)
    truth, _ = draw_problem(setting, np.random.default_rng(1))
    METHODS["class"] = lambda X, seed: truth if X.shape[1] == 6 else np.zeros((5, 5))
    METHODS["turned"] = lambda X, seed: truth.T if X.shape[1] == 6 else np.zeros((5, 5))
    try:
        right = learn(setting, Method("class", "class"), rng)
        turned = learn(setting, Method("turned", "turned"), np.random.default_rng(1))
    finally:
        del METHODS["class"], METHODS["turned"]
    assert (right["f1_skeleton"], right["f1_arrows"]) == (1.0, 1.0)
    assert turned["f1_skeleton"] == 1.0
    assert turned["f1_arrows"] < 1.0
    assert (right["aid"], turned["aid"] > 0) == (0, True)


def test_methods_see_the_same_data_and_may_not_spoil_it(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[np.ndarray] = []

    def spoil(X: np.ndarray, seed: int) -> np.ndarray:
        seen.append(X.copy())
        X[:] = 0
        return np.zeros((X.shape[1], X.shape[1]))

    monkeypatch.setitem(METHODS, "spoil", spoil)
    for name in ("a", "b"):
        settings = "[[settings]]\ngraph = 'ER1'\nnodes = 4\nsamples = 20"
        cell = parse_plan("p", f"task = 'learn'\nmethods = ['{name}']\n{settings}").cells[0]
        learn(cell.setting, Method(name, "spoil"), cell.rng())
    warm_a, data_a, warm_b, data_b = seen
    np.testing.assert_array_equal(warm_a, warm_b)
    np.testing.assert_array_equal(data_a, data_b)
    assert data_a.shape == (20, 4)


def test_real_data_can_be_a_setting() -> None:
    metrics = learn({"dataset": "sachs"}, Method("empty", "empty"), np.random.default_rng(0))
    assert (metrics["n_nodes"], metrics["shd"]) == (11, 17)


def test_a_method_may_report_numbers_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METHODS, "counting", lambda X, seed: (np.zeros((6, 6)), {"steps": 7}))
    monkeypatch.setattr("benchmarks.learn._warm_up", lambda *_: None)
    assert learn(SETTING, Method("m", "counting"), np.random.default_rng(0))["steps"] == 7


@pytest.mark.parametrize("name", ["boss", "grasp"])
def test_peers_with_global_randomness_are_repeatable(name: str) -> None:
    pytest.importorskip("causallearn")
    X = simulate("ER2", n_nodes=8, n_samples=100, seed=0).data
    state = random.getstate()
    first, second = (find_method(name)(X, 3) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert random.getstate() == state


def test_dagma_counts_its_steps() -> None:
    pytest.importorskip("dagma")
    X = np.random.default_rng(0).normal(size=(50, 2)) @ np.array([[1.0, 2.0], [0.0, 1.0]])
    few = {"T": 1, "s": [1.0], "warm_iter": 10, "max_iter": 10, "checkpoint": 5}
    weights, numbers = find_method("dagma")(X, 0, **few)
    assert weights.shape == (2, 2)
    assert 1 <= numbers["steps"] <= 11


@pytest.mark.filterwarnings("ignore::analyticdag.errors.NotConvergedWarning")
def test_our_estimator_reports_steps_and_status() -> None:
    setting = {"graph": "ER1", "nodes": 4, "samples": 500}
    options = {"steps": 3000, "constraint": "order-1", "adam": {"learning_rate": 3e-3}}
    method = Method("ours", "path", options)
    metrics = learn(setting, method, np.random.default_rng(0))
    assert metrics["shd"] <= 1
    assert metrics["status"] in {status.name.lower() for status in Status}
    assert 0 < metrics["steps"] <= 5 * 3000


def test_our_baselines_are_methods() -> None:
    for name in ("conditional-variance", "sort-and-regress", "our-dagma", "notears", "golem"):
        assert name in METHODS
    method = Method("m", "conditional-variance")
    assert learn(SETTING, method, np.random.default_rng(0))["shd"] <= 2


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"no method is called 'magic'; known: .*dagma"):
        find_method("magic")
    with pytest.raises(ParameterError, match="cannot import 'no_such_module:f'"):
        find_method("no_such_module:f")
    with pytest.raises(ParameterError, match="unknown setting \\['size'\\]"):
        learn({**SETTING, "size": 3}, Method("empty", "empty"), np.random.default_rng(0))


PACKAGES = {
    "dagma": "dagma.linear",
    "flop": "flopsearch",
    "pc": "causallearn.search.ConstraintBased.PC",
    "ges": "causallearn.search.ScoreBased.GES",
    "boss": "causallearn.search.PermutationBased.BOSS",
    "grasp": "causallearn.search.PermutationBased.GRaSP",
    "xges": "xges",
    "var-sort-regress": "CausalDisco.baselines",
    "r2-sort-regress": "CausalDisco.baselines",
}


@pytest.mark.parametrize("name", PACKAGES)
def test_an_absent_peer_says_how_to_install_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, PACKAGES[name], None)
    with pytest.raises(MissingDependencyError, match=r"pip install './benchmarks\[peers\]'"):
        find_method(name)(np.zeros((10, 2)), 0)


@pytest.mark.filterwarnings("ignore")  # the peers' own
@pytest.mark.parametrize("name", sorted(set(PACKAGES) - {"dagma"}))
def test_peers_use_our_orientation(name: str) -> None:
    """A collider 0 -> 2 <- 1 is identifiable by every peer, up to what its class leaves open."""
    pytest.importorskip(PACKAGES[name].split(".")[0])
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2000, 3))
    X[:, 2] += 1.5 * X[:, 0] + 1.5 * X[:, 1]
    edges = find_method(name)(X, 0) != 0
    assert edges[0, 2]
    assert edges[1, 2]
    assert not edges[2, 0]
    assert not edges[2, 1]
