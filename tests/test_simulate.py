from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from analyticdag.errors import InputError, ParameterError
from analyticdag.graphs import is_dag, topological_order
from analyticdag.simulate import random_dag, sample, simulate

NOISES = ["gaussian", "exponential", "gumbel", "uniform", "laplace", "student"]
# Mean and variance of each law at scale 1.
MOMENTS = {
    "gaussian": (0.0, 1.0),
    "exponential": (1.0, 1.0),
    "gumbel": (np.euler_gamma, np.pi**2 / 6),
    "uniform": (0.0, 1 / 3),
    "laplace": (0.0, 2.0),
    "student": (0.0, 5 / 3),
}


# ---- graphs --------------------------------------------------------------------------------


@settings(max_examples=50)
@given(
    st.sampled_from(["ER", "SF", "SC", "BP"]),
    st.integers(0, 3),
    st.integers(20, 60),
    st.integers(0, 99),
)
def test_graphs_are_dags_with_the_promised_number_of_edges(
    family: str, k: int, d: int, seed: int
) -> None:
    A = random_dag(f"{family}{k}", d, np.random.default_rng(seed))
    assert is_dag(A)
    assert A.sum() == (k * d - k * (k + 1) // 2 if family in ("SF", "SC") else k * d)


def test_every_er_edge_is_equally_likely() -> None:
    rng = np.random.default_rng(0)
    counts = np.sum([random_dag("ER1", 5, rng) for _ in range(4000)], axis=0)
    off_diagonal = counts[~np.eye(5, dtype=bool)]
    # 5 of 10 pairs, either direction: 1000 expected, standard deviation 27.
    assert np.abs(off_diagonal - 1000).max() < 5 * 27
    assert counts.trace() == 0


def test_scale_free_hubs_have_many_parents_and_nobody_many_children() -> None:
    A = random_dag("SF2", 1000, np.random.default_rng(0))
    assert A.sum(axis=1).max() == 2
    assert A.sum(axis=0).max() > 60
    # The oldest node, which points to nobody, sits anywhere after the permutation.
    oldest = {int(np.flatnonzero(random_dag("SF1", 9, np.random.default_rng(s)).sum(1) == 0)[0])
              for s in range(60)}  # fmt: skip
    assert len(oldest) > 6


def test_scale_free_attachment_follows_in_degree_plus_one() -> None:
    # Three nodes, k = 1: the second points to the first, then the third to the first with
    # odds 2 : 1. A first node with two parents is a collider.
    rng = np.random.default_rng(0)
    colliders = sum(random_dag("SF1", 3, rng).sum(axis=0).max() == 2 for _ in range(3000))
    assert abs(colliders / 3000 - 2 / 3) < 0.04


def test_scale_free_causes_are_the_same_graphs_the_other_way() -> None:
    one, other = (random_dag(code, 40, np.random.default_rng(3)) for code in ("SF2", "SC2"))
    assert (one == other.T).all()
    assert random_dag("SC1", 40, np.random.default_rng(3)).sum(axis=0).max() == 1  # a tree


def test_bipartite_edges_leave_one_fifth_of_the_nodes() -> None:
    A = random_dag("BP2", 50, np.random.default_rng(1))
    causes, effects = A.any(axis=1), A.any(axis=0)
    assert not (causes & effects).any()
    assert causes.sum() <= 10


def test_complete_er_graph_fits_exactly() -> None:
    assert random_dag("ER2", 5, np.random.default_rng(0)).sum() == 10
    with pytest.raises(ParameterError, match="ER3 does not fit on 5 nodes: at most ER2"):
        random_dag("ER3", 5, np.random.default_rng(0))


# ---- linear data ---------------------------------------------------------------------------


@pytest.mark.parametrize("noise", NOISES)
def test_noise_has_the_documented_moments(noise: str) -> None:
    X = sample(np.zeros((3, 3)), 40_000, noise=noise, noise_scale=[1.0, 2.0, 0.5],
               rng=np.random.default_rng(0))  # type: ignore[arg-type]  # fmt: skip
    mean, variance = MOMENTS[noise]
    scale = np.array([1.0, 2.0, 0.5])
    assert X.mean(axis=0) == pytest.approx(mean * scale, abs=0.05)
    assert X.var(axis=0) == pytest.approx(variance * scale**2, rel=0.06)


def test_covariance_is_that_of_the_linear_model() -> None:
    sim = simulate("ER2", n_nodes=8, n_samples=200_000, noise_scale=(0.5, 1.5), seed=3)
    mixing = np.linalg.inv(np.eye(8) - sim.weights)
    expected = mixing.T @ np.diag(sim.noise_scale**2) @ mixing
    sd = np.sqrt(expected.diagonal())
    difference = (np.cov(sim.data.T) - expected) / np.outer(sd, sd)
    assert np.abs(difference).max() < 0.02


def test_data_satisfy_the_equations_exactly() -> None:
    sim = simulate("SF2", n_nodes=30, n_samples=50, seed=5)
    residual = sim.data - sim.data @ sim.weights
    pure_noise = simulate("SF0", n_nodes=30, n_samples=50, seed=5).data
    assert residual == pytest.approx(pure_noise, abs=1e-8)


def test_weights_fill_both_halves_of_their_range() -> None:
    W = simulate("ER4", n_nodes=200, n_samples=1, weight_range=(0.1, 0.4), seed=0).weights
    w = W[W != 0]
    assert (np.abs(w) >= 0.1).all()
    assert (np.abs(w) <= 0.4).all()
    assert abs((w > 0).mean() - 0.5) < 0.1
    assert np.abs(w).mean() == pytest.approx(0.25, abs=0.02)


def test_standardised_columns() -> None:
    raw = simulate("ER2", n_nodes=10, n_samples=500, seed=1)
    sim = simulate("ER2", n_nodes=10, n_samples=500, seed=1, standardize=True)
    assert sim.data.mean(axis=0) == pytest.approx(np.zeros(10), abs=1e-9)
    assert sim.data.std(axis=0) == pytest.approx(np.ones(10))
    assert np.array_equal(sim.weights, raw.weights)


def test_binary_data_follow_the_logistic_law() -> None:
    W = np.zeros((2, 2))
    W[0, 1] = 2.0
    X = sample(W, 40_000, noise="binary", rng=np.random.default_rng(0))
    assert set(np.unique(X)) == {0.0, 1.0}
    assert X[X[:, 0] == 0, 1].mean() == pytest.approx(0.5, abs=0.02)
    assert X[X[:, 0] == 1, 1].mean() == pytest.approx(1 / (1 + np.exp(-2)), abs=0.02)


# ---- nonlinear data ------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", ["mlp", "gp", "additive"])
def test_nonlinear_data_depend_on_parents_and_on_nothing_else(mechanism: Any) -> None:
    W = np.zeros((3, 3))
    W[0, 2] = W[1, 2] = 1.0
    make = {"noise_scale": [1.0, 1.0, 1e-9], "mechanism": mechanism}
    rng = np.random.default_rng(0)
    X = sample(W, 3000, rng=rng, functions_rng=np.random.default_rng(1), **make)
    assert X[:, 2].std() > 0.1
    # Without noise the child is a smooth function of its parents: near parents, near child.
    # A straight line leaves something unexplained.
    design = np.column_stack([np.ones(3000), X[:, :2]])
    residual = X[:, 2] - design @ np.linalg.lstsq(design, X[:, 2], rcond=None)[0]
    assert residual.std() > 0.02 * X[:, 2].std()
    nearest = np.argsort(((X[:, None, :2] - X[None, :60, :2]) ** 2).sum(-1), axis=0)[1]
    assert np.abs(X[nearest, 2] - X[:60, 2]).mean() < 0.2 * X[:, 2].std()


def test_additive_effects_add_up() -> None:
    W = np.zeros((3, 3))
    W[0, 2] = W[1, 2] = 1.0
    from analyticdag.simulate.mechanisms import run_equations

    a, b = [0.3, -1.2], [0.7, 2.0]
    corners = np.array([[x, y, 0.0] for x in a for y in b])
    for mechanism, adds_up in [("additive", True), ("gp", False), ("mlp", False)]:
        rng = np.random.default_rng(2)
        f = run_equations(W, corners, mechanism=mechanism, functions_rng=rng)[:, 2]
        assert (abs(f[0] - f[1] - f[2] + f[3]) < 1e-9) == adds_up


def test_gaussian_process_draws_have_the_unit_kernel() -> None:
    from analyticdag.simulate.mechanisms import run_equations

    W = np.zeros((2, 2))
    W[0, 1] = 1.0
    points = np.array([[0.0, 0.0], [1.0, 0.0], [4.0, 0.0]])
    rng = np.random.default_rng(0)
    draws = np.array(
        [run_equations(W, points, mechanism="gp", functions_rng=rng)[:, 1] for _ in range(1000)]
    )
    distance = points[:, :1] - points[:, 0]
    assert np.cov(draws.T) == pytest.approx(np.exp(-(distance**2) / 2), abs=0.15)


def test_weights_of_nonlinear_models_are_zero_or_one() -> None:
    sim = simulate("ER2", n_nodes=10, n_samples=5, mechanism="mlp")
    assert set(np.unique(sim.weights)) == {0.0, 1.0}


# ---- closer to measured tables -------------------------------------------------------------


def test_uneven_degrees_have_hubs_of_both_kinds() -> None:
    uneven, even = (random_dag(code, 200, np.random.default_rng(0)) for code in ("UD2", "ER2"))
    assert is_dag(uneven)
    assert uneven.sum() == 400
    for axis in (0, 1):
        assert uneven.sum(axis=axis).var() > 1.5 * even.sum(axis=axis).var()
    assert random_dag("UD1.5", 51, np.random.default_rng(0)).sum() == 76


def test_effects_are_log_uniform_in_units_of_child_noise_and_parent_spread() -> None:
    sim = simulate("UD2", n_nodes=300, n_samples=1, effects=(0.02, 2.0), noise_scale=(1, 9))
    mixing = np.linalg.inv(np.eye(300) - sim.weights)
    sd = np.sqrt((mixing.T @ np.diag(sim.noise_scale**2) @ mixing).diagonal())
    effects = np.abs(sim.weights * sd[:, None] / sim.noise_scale)[sim.weights != 0]
    logs = np.log(effects / 0.02) / np.log(100)
    assert logs.min() > -1e-9
    assert logs.max() < 1 + 1e-9
    assert np.quantile(logs, [0.25, 0.5, 0.75]) == pytest.approx([0.25, 0.5, 0.75], abs=0.06)


def test_units_change_nothing_but_the_units() -> None:
    make: dict[str, Any] = {"n_nodes": 8, "n_samples": 50, "seed": 3}
    raw, sim = simulate("ER2", **make), simulate("ER2", **make, units=(0.01, 100.0))
    unit = sim.noise_scale / raw.noise_scale
    assert unit.max() / unit.min() > 10
    assert sim.data == pytest.approx(raw.data * unit)
    assert sim.data - sim.data @ sim.weights == pytest.approx(
        (raw.data - raw.data @ raw.weights) * unit
    )
    codes = simulate("ER2", **make, units=(0.01, 100.0), levels=4)
    assert set(np.unique(codes.data)) == {0, 1, 2, 3}


def test_bent_effects_have_another_slope_on_either_side() -> None:
    W = np.zeros((2, 2))
    W[0, 1] = 2.0
    X = sample(W, 50, noise_scale=[1.0, 1e-12], mechanism="bent", rng=np.random.default_rng(0))
    slopes = X[:, 1] / X[:, 0]
    right, left = slopes[X[:, 0] > 0], slopes[X[:, 0] < 0]
    assert [np.ptp(right), np.ptp(left)] == pytest.approx([0, 0], abs=1e-6)
    assert (right[0] + left[0]) / 2 == pytest.approx(2.0)
    assert 0.1 <= abs(right[0] - 2.0) / 2.0 <= 0.5


def test_hidden_causes_join_three_columns_each() -> None:
    X = sample(np.zeros((9, 9)), 20_000, hidden=1, rng=np.random.default_rng(0))
    joined = np.triu(np.abs(np.corrcoef(X.T)) > 0.1, 1)
    assert joined.sum() == 3
    assert (joined | joined.T).any(axis=0).sum() == 3


def test_regimes_move_and_stretch_a_fifth_of_the_columns() -> None:
    X = sample(np.zeros((50, 50)), 20_000, regimes=2, rng=np.random.default_rng(0))
    changed = np.abs(X.mean(axis=0)) > 0.05
    assert 5 <= changed.sum() <= 20
    assert (np.abs(np.triu(np.corrcoef(X.T), 1)) > 0.04).any()


@pytest.mark.parametrize(
    "option", [{"hidden": 2}, {"regimes": 3}, {"levels": 5}, {"units": (1, 9)}]
)
def test_violations_leave_graph_and_rest_as_they_were(option: dict[str, Any]) -> None:
    make: dict[str, Any] = {"n_nodes": 12, "n_samples": 20, "seed": 4}
    base, other = simulate("UD1.5", **make), simulate("UD1.5", **make, **option)
    assert np.array_equal(base.adjacency_matrix, other.adjacency_matrix)
    assert not np.array_equal(base.data, other.data)
    assert all(getattr(other, name) == value for name, value in option.items())


# ---- seeds and the result ------------------------------------------------------------------


def test_each_part_has_a_generator_of_its_own() -> None:
    base = simulate("ER2", n_nodes=12, n_samples=20, seed=4)
    again = simulate("ER2", n_nodes=12, n_samples=20, seed=4)
    assert np.array_equal(base.data, again.data)
    other_noise = simulate("ER2", n_nodes=12, n_samples=20, seed=4, noise="gumbel")
    assert np.array_equal(base.weights, other_noise.weights)
    unequal = simulate("ER2", n_nodes=12, n_samples=20, seed=4, noise_scale=(1, 2))
    assert np.array_equal(base.weights, unequal.weights)
    weaker = simulate("ER2", n_nodes=12, n_samples=20, seed=4, weight_range=(0.1, 0.2))
    assert np.array_equal(base.adjacency_matrix, weaker.adjacency_matrix)
    assert not np.array_equal(base.weights, simulate("ER2", n_nodes=12, n_samples=1).weights)


@pytest.mark.parametrize("mechanism", ["linear", "bent", "mlp", "gp", "additive"])
def test_more_rows_only_add_rows(mechanism: Any) -> None:
    short, long = (
        simulate("ER2", n_nodes=6, n_samples=n, seed=4, mechanism=mechanism).data for n in (5, 9)
    )
    assert long[:5] == pytest.approx(short)


def test_seeds_may_come_as_numpy_numbers() -> None:
    plain = simulate("ER1", n_nodes=5, n_samples=2, seed=[3, 4])
    same = simulate("ER1", n_nodes=5, n_samples=2, seed=np.array([3, 4]))  # type: ignore[arg-type]
    assert np.array_equal(plain.data, same.data)
    assert plain == same
    assert simulate("ER1", n_nodes=5, n_samples=2, seed=np.int64(3)).seed == 3
    free = [simulate("ER1", n_nodes=5, n_samples=2, seed=None).data for _ in range(2)]
    assert not np.array_equal(*free)


def test_global_random_state_is_untouched() -> None:
    before = np.random.get_state()[1].copy()  # type: ignore[index,union-attr]  # noqa: NPY002
    simulate("SF2", n_nodes=10, n_samples=10, seed=None)
    assert np.array_equal(before, np.random.get_state()[1])  # type: ignore[index]  # noqa: NPY002


def test_result_is_frozen_and_remembers_its_settings() -> None:
    sim = simulate("SF2", n_nodes=6, n_samples=7, noise="uniform", seed=[1, 2])
    assert (sim.code, sim.n_nodes, sim.n_samples, sim.noise) == ("SF2", 6, 7, "uniform")
    assert (sim.seed, sim.mechanism, sim.weight_range) == ((1, 2), "linear", (0.5, 2.0))
    assert sim.data.shape == (7, 6)
    assert sim.data.flags.c_contiguous
    assert "weights" not in repr(sim)
    assert isinstance(sim.graph, nx.DiGraph)
    assert np.array_equal(nx.to_numpy_array(sim.graph, nodelist=range(6)), sim.weights)
    with pytest.raises(AttributeError):
        sim.noise = "gaussian"  # type: ignore[misc]


def test_smallest_cases() -> None:
    assert simulate("ER0", n_nodes=1, n_samples=1).data.shape == (1, 1)
    assert simulate("SF1", n_nodes=2, n_samples=1).weights.astype(bool).sum() == 1
    assert simulate("BP0", n_nodes=1, n_samples=3).data.shape == (3, 1)
    assert simulate("SF0", n_nodes=3, n_samples=3).graph.number_of_edges() == 0


def test_a_large_graph_needs_no_dense_algebra() -> None:
    sim = simulate("SF4", n_nodes=2000, n_samples=10)
    assert len(topological_order(sim.weights)) == 2000


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"graph": "XY2"}, "unknown graph 'XY2'; write one of ER, SF, BP"),
        ({"graph": "ER"}, "unknown graph 'ER'"),
        ({"graph": "er2"}, "unknown graph"),
        ({"graph": 2}, "unknown graph 2"),
        ({"graph": "ER5"}, "ER5 does not fit on 10 nodes: at most ER4"),
        ({"graph": "SF10"}, "SF10 does not fit on 10 nodes: at most SF9"),
        ({"graph": "SC10"}, "SC10 does not fit on 10 nodes: at most SC9"),
        ({"graph": "BP2"}, "BP2 does not fit on 10 nodes: at most BP1"),
        ({"n_nodes": 0}, "n_nodes must be a whole number of at least 1 and at most 100000, not 0"),
        ({"n_nodes": 2.5}, "n_nodes must be a whole number"),
        (
            {"n_samples": -3},
            "n_samples must be a whole number of at least 1 and at most 1000000000, not -3",
        ),
        ({"noise": "cauchy"}, r"noise must be one of \('gaussian'.*not 'cauchy'"),
        ({"mechanism": "quadratic"}, "mechanism must be one of.*not 'quadratic'"),
        ({"seed": -1}, "seed must be a non-negative"),
        ({"seed": "12"}, "seed must be a non-negative"),
        ({"seed": 1.5}, "seed must be a non-negative"),
        ({"seed": [1, -2]}, "seed must be a non-negative"),
        ({"graph": "ER1.5"}, "unknown graph 'ER1.5'"),
        ({"graph": "UD4.6"}, "UD4.6 does not fit on 10 nodes: at most UD4.5"),
        ({"effects": (0, 1)}, "effects needs 0 < low <= high"),
        ({"effects": 0.5}, r"effects must be \(low, high\); got 0.5"),
        ({"units": (2, 1)}, "units needs 0 < low <= high"),
        ({"effects": (0.1, 1), "mechanism": "mlp"}, "effects is for linear or bent equations"),
        ({"units": (0.1, 1), "noise": "binary"}, "units is for linear or bent equations"),
        ({"levels": 1}, "levels must be None, or a whole number of at least 2"),
        ({"hidden": -1}, "hidden must be a whole number of at least 0"),
        ({"regimes": 0}, "regimes must be a whole number of at least 1"),
        ({"hidden": 1, "noise": "binary"}, "are for continuous data"),
        ({"weight_range": (0, 1)}, "0 < low <= high"),
        ({"weight_range": (2, 1)}, "0 < low <= high"),
        ({"weight_range": 2}, r"weight_range must be \(low, high\); got 2"),
        ({"noise_scale": 0}, "noise_scale must be positive"),
        ({"noise_scale": [1, 2]}, r"one number per node \(10\); got shape \(2,\)"),
        ({"noise_scale": (2, 1)}, r"is \(low, high\) with 0 < low <= high"),
        ({"noise_scale": (1, 2, 3)}, "pass a list or an array"),
        ({"noise_scale": "big"}, "noise_scale must hold numbers"),
        ({"noise": "binary", "noise_scale": 2}, "binary data have no noise scale"),
        ({"noise": "binary", "standardize": True}, "standardize needs continuous data"),
        ({"n_samples": 1, "standardize": True}, "at least 2 rows"),
    ],
)
def test_refusals_say_what_to_do(change: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"graph": "ER2", "n_nodes": 10, "n_samples": 5} | change
    with pytest.raises(ParameterError, match=message):
        simulate(**arguments)


def test_sample_refuses_a_cyclic_graph() -> None:
    with pytest.raises(InputError, match="cycle"):
        sample(np.ones((2, 2)), 3, rng=np.random.default_rng(0))


@pytest.mark.parametrize("mechanism", ["linear", "conditional"])
def test_discrete_columns_are_codes_of_the_kinds_that_were_drawn(mechanism: str) -> None:
    drawn = simulate(
        "ER2", n_nodes=12, n_samples=400, mechanism=mechanism, discrete=0.5, units=(0.1, 10.0)
    )  # type: ignore[arg-type]  # fmt: skip
    assert drawn.kinds is not None
    counts = {kind: drawn.kinds.count(kind) for kind in drawn.kinds}
    assert counts == {"number": 6, "yes/no": 2, "ordered": 2, "category": 2}
    for column, kind in zip(drawn.data.T, drawn.kinds, strict=True):
        values = np.unique(column)
        if kind == "number":
            assert len(values) == 400
        else:
            np.testing.assert_array_equal(values, np.arange(len(values)))
            assert len(values) == 2 if kind == "yes/no" else 3 <= len(values) <= 5
    other = simulate("ER2", n_nodes=12, n_samples=400, mechanism=mechanism)  # type: ignore[arg-type]
    assert other.kinds is None
    np.testing.assert_array_equal(other.adjacency_matrix, drawn.adjacency_matrix)


def test_conditional_means_follow_the_levels() -> None:
    drawn = simulate(
        "ER1", n_nodes=12, n_samples=3000, mechanism="conditional", discrete=0.5, seed=3
    )
    joined, checked = drawn.adjacency_matrix != 0, 0
    assert drawn.kinds is not None
    for i, j in np.argwhere(joined):
        if drawn.kinds[i] != "number" and drawn.kinds[j] == "number":
            codes = drawn.data[:, i]
            groups = [drawn.data[codes == level, j] for level in np.unique(codes)]
            assert stats.f_oneway(*groups).pvalue < 1e-6
            checked += 1
    assert checked > 1


def test_discrete_refuses_what_codes_cannot_have() -> None:
    for wrong in ({"standardize": True}, {"levels": 3}):
        with pytest.raises(ParameterError, match="discrete columns are codes"):
            simulate("ER1", n_nodes=5, n_samples=50, discrete=0.5, **wrong)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="discrete are for continuous data"):
        simulate("ER1", n_nodes=5, n_samples=50, discrete=0.5, noise="binary")
    with pytest.raises(ParameterError, match="discrete must be"):
        simulate("ER1", n_nodes=5, n_samples=50, discrete=1.5)
