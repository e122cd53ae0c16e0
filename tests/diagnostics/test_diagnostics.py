from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from analyticdag import AnalyticDAG, NonlinearDAG
from analyticdag._typing import FloatArray
from analyticdag.diagnostics import Check, Diagnostics, Level, diagnose
from analyticdag.errors import AnalyticDAGWarning, DataError, DataWarning
from analyticdag.graphs import to_cpdag


class Given(BaseEstimator):
    """Learns the chain it is told, backwards on columns of equal size: units decide."""

    def __init__(
        self,
        edges: tuple[tuple[int, int], ...] = (),
        standardize: bool = False,
        checkpoint: str | None = None,
        loss: str = "mse",
        on_standardised: tuple[tuple[int, int], ...] | None = None,
        refine: bool = True,
    ) -> None:
        self.edges = edges
        self.standardize = standardize
        self.checkpoint = checkpoint
        self.loss = loss
        self.on_standardised = on_standardised
        self.refine = refine

    def fit(self, X: Any) -> Given:
        d = np.shape(X)[1]
        self.n_features_in_ = d
        if hasattr(X, "columns"):
            self.feature_names_in_ = np.asarray(X.columns, dtype=object)
        other = self.standardize and self.on_standardised is not None
        self.adjacency_matrix_ = np.zeros((d, d), dtype=int)
        for edge in self.on_standardised if other else self.edges:  # type: ignore[union-attr]
            self.adjacency_matrix_[edge] = 1
        self.cpdag_ = to_cpdag(self.adjacency_matrix_)
        self.loss_ = self.loss
        return self


def chain(n: int = 500, seed: int = 0) -> FloatArray:
    X = np.random.default_rng(seed).normal(size=(n, 3))
    X[:, 1] += 2.0 * X[:, 0]
    X[:, 2] += 2.0 * X[:, 1]
    return X


TRUE = ((0, 1), (1, 2))


def diagnosed(X: Any, **settings: Any) -> Diagnostics:
    return diagnose(Given(**{"edges": TRUE, **settings}).fit(X), X)


def test_a_right_model_on_good_data_is_fine_but_for_the_scale() -> None:
    found = diagnosed(chain())
    assert [check.name for check in found.concerns] == ["varsortability"]
    assert found["varsortability"].numbers["share"] == 1.0
    assert found["varsortability"].level is Level.WARNING
    assert "share one meaningful unit" in found["varsortability"].advice


def test_a_score_without_units_makes_varsortability_a_note() -> None:
    assert diagnosed(chain(), loss="likelihood-nv")["varsortability"].level is Level.NOTE


def test_an_order_that_r2_alone_gives_is_noted() -> None:
    X = np.random.default_rng(0).normal(size=(500, 3))
    X[:, 2] += 2.0 * X[:, 0] + 2.0 * X[:, 1]
    found = diagnosed(X, edges=((0, 2), (1, 2)))["R2-sortability"]
    assert found.numbers["share"] == 1.0
    assert found.level is Level.NOTE


def test_units_that_turn_edges_are_listed() -> None:
    names = pd.DataFrame(chain(), columns=["a", "b", "c"])
    found = diagnosed(names, on_standardised=((1, 0), (0, 2)))["standardised refit"]
    assert found.level is Level.WARNING
    assert found.numbers["reversed"] == [["a", "b"]]
    assert found.numbers["lost"] == [["b", "c"]]
    assert found.numbers["gained"] == [["a", "c"]]
    turned = diagnosed(names, on_standardised=((1, 0), (1, 2)))["standardised refit"]
    assert turned.level is Level.NOTE
    assert "1 edges turn round" in turned.advice


def test_a_direction_that_both_results_leave_open_is_no_difference() -> None:
    settings: dict[str, Any] = {"edges": ((0, 1),), "on_standardised": ((1, 0),)}
    open_in_both = diagnosed(chain(), loss="likelihood-nv", refine=False, **settings)
    assert open_in_both["standardised refit"].level is Level.FINE
    claimed = diagnosed(chain(), loss="mse", **settings)["standardised refit"]
    assert claimed.numbers["reversed"] == [[0, 1]]


def test_the_refit_can_be_left_out_and_is_not_needed_on_standardised_data() -> None:
    X = chain()
    names = [check.name for check in diagnose(Given(edges=TRUE).fit(X), X, refit=False)]
    assert "standardised refit" not in names
    assert diagnosed(X, standardize=True)["standardised refit"].level is Level.FINE
    assert "no units" in diagnosed(X, loss="logistic")["standardised refit"].advice


def test_constant_and_duplicate_columns_are_named() -> None:
    X = np.column_stack([chain(), np.ones(500), -3.0 * chain()[:, 0]])
    frame = pd.DataFrame(X, columns=["a", "b", "c", "one", "copy"])
    found = diagnosed(frame)
    assert found["constant columns"].numbers["columns"] == ["one"]
    assert found["constant columns"].level is Level.NOTE  # the fit has warned of it
    assert found["duplicate columns"].numbers["pairs"] == [["a", "copy"]]
    assert "a – copy" in found["duplicate columns"].advice


def test_columns_that_the_others_determine_are_named() -> None:
    X = chain()
    noise = 0.01 * np.random.default_rng(1).normal(size=500)
    found = diagnosed(np.column_stack([X, X.sum(axis=1) + noise]))["collinearity"]
    assert found.level is Level.WARNING
    assert 3 in found.numbers["columns"]


@pytest.mark.parametrize(
    ("n", "d", "level"), [(500, 3, Level.FINE), (50, 10, Level.NOTE), (8, 12, Level.WARNING)]
)
def test_rows_are_held_against_columns(n: int, d: int, level: Level) -> None:
    X = np.random.default_rng(0).normal(size=(n, d))
    found = diagnosed(X, edges=((0, 1),))
    assert found["rows against columns"].level is level
    assert ("by chance" in found["rows against columns"].advice) == (n < d)
    unjudged = n <= d + 1
    assert (found["collinearity"].level is Level.NOTE) == unjudged
    assert (found["R2-sortability"].numbers["share"] is None) == unjudged


def test_heavy_tails_are_named() -> None:
    X = chain()
    X[:, 0] += np.random.default_rng(2).standard_t(2, size=500)
    found = diagnosed(X, edges=((1, 2),))["heavy tails"]
    assert found.level is Level.NOTE
    assert 0 in found.numbers["columns"]


@pytest.mark.parametrize(
    ("d", "edges", "level"),
    [(3, ((1, 2),), Level.NOTE), (3, ((0, 1),), Level.WARNING), (50, ((1, 2),), Level.WARNING)],
)
def test_heavy_tails_are_warned_of_where_they_bear_on_links(
    d: int, edges: tuple[tuple[int, int], ...], level: Level
) -> None:
    X = np.random.default_rng(0).normal(size=(300, d))
    X[:, 0] = np.random.default_rng(2).standard_t(2, size=300)
    found = diagnosed(X, edges=edges)["heavy tails"]
    assert found.level is level
    assert "--covariance rank" in found.advice


def test_links_by_ranks_are_not_warned_of_tails() -> None:
    X = np.random.default_rng(2).standard_t(2, size=(300, 3))
    X[:, 1] += 2.0 * X[:, 0]
    assert diagnose(AnalyticDAG().fit(X), X)["heavy tails"].level is Level.WARNING
    by_ranks = AnalyticDAG(covariance="rank").fit(X)
    assert diagnose(by_ranks, X)["heavy tails"].level is Level.NOTE


def test_a_missing_edge_shows_in_the_residuals() -> None:
    found = diagnosed(chain(), edges=((0, 1),))["residual correlation"]
    assert found.level is Level.WARNING
    assert [1, 2] in found.numbers["pairs"]


def test_a_curve_shows_in_the_residuals() -> None:
    X = chain()
    X[:, 1] += X[:, 0] ** 2
    found = diagnosed(X, edges=((0, 1),))["residual independence"]
    assert found.level is Level.WARNING
    assert found.numbers["edges"] == [[0, 1]]


@pytest.mark.parametrize("what", ["interaction", "square"])
def test_an_interaction_shows_between_columns_without_a_link(what: str) -> None:
    """A line does not see it: y is x or -x, as a third column says, or the square of x."""
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=500), rng.integers(0, 2, 500)
    y = np.where(w == 1, x, -x) if what == "interaction" else x**2
    X = np.column_stack([x, y + 0.3 * rng.normal(size=500), w, rng.normal(size=500)])
    found = diagnosed(X, edges=())["residual independence"]
    assert found.level is Level.WARNING
    assert found.numbers["unlinked"] == [[0, 1]]
    assert "not linked by straight lines, but one goes with the size of the other" in found.advice
    assert "--model nonlinear" in found.advice


def test_independent_columns_show_no_interaction_whatever_their_tails() -> None:
    rows = [np.random.default_rng(k).standard_t(1 + k % 5, size=(300, 12)) for k in range(40)]
    checks = [diagnosed(X, edges=())["residual independence"] for X in rows]
    found = [check.numbers["unlinked"] for check in checks]
    assert sum(map(bool, found)) <= 2


def test_independence_is_rejected_about_as_often_as_said() -> None:
    rejected = [
        diagnosed(chain(200, seed))["residual independence"].level is not Level.FINE
        for seed in range(60)
    ]
    assert sum(rejected) <= 4  # 1 % asked for; more than 4 of 60 has a chance below 1e-3


def test_no_edges_is_no_error() -> None:
    found = diagnosed(chain(), edges=())
    assert found["varsortability"].numbers["share"] is None
    assert found["residual independence"].level is Level.FINE


def test_the_result_is_plain_data_for_json() -> None:
    record = json.loads(json.dumps(diagnosed(chain()).as_dict()))
    assert record["rows against columns"]["level"] == "fine"
    assert record["standardised refit"]["numbers"]["loss"] == "mse"
    assert all(entry["advice"] for entry in record.values())


def test_an_unknown_check_is_refused_by_name() -> None:
    with pytest.raises(KeyError, match="no check 'tails'; there are"):
        Diagnostics((Check("a", Level.FINE, "b"),))["tails"]


def test_an_estimator_without_a_fit_is_refused() -> None:
    with pytest.raises(NotFittedError):
        diagnose(AnalyticDAG(), chain())


def test_perturbed_rows_do_not_speak_about_the_columns() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    X[:, 1] += 0.8 * X[:, 0]
    mask = np.zeros(X.shape, dtype=bool)
    mask[300:, 1] = True
    X[mask] = 50.0 * rng.standard_cauchy(size=100)
    model = AnalyticDAG(loss="likelihood-nv", solver="order").fit(X, interventions=mask)
    found = diagnose(model, X)
    assert found["heavy tails"].level is Level.FINE
    assert found["rows against columns"].numbers["rows"] == 300
    assert found["standardised refit"].level is Level.FINE
    assert (
        diagnose(AnalyticDAG(loss="likelihood-nv", solver="order").fit(X), X, refit=False)[
            "heavy tails"
        ].level
        is Level.NOTE
    )
    with pytest.raises(DataError, match="fitted with interventions on 400 rows, but X has 300"):
        diagnose(model, X[:300])
    mask[:150, 0] = mask[150:, 1] = True
    everywhere = AnalyticDAG(loss="likelihood-nv", solver="order").fit(X, interventions=mask)
    assert [check.name for check in diagnose(everywhere, X)] == ["undisturbed rows"]


def test_a_score_without_units_is_not_said_to_rest_on_them(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A refit would only end in another local optimum, and none is made."""
    caplog.set_level("INFO", logger="analyticdag")
    other = ((0, 1), (0, 2))
    found = diagnosed(chain(), loss="likelihood-nv", on_standardised=other)["standardised refit"]
    assert (found.level, found.advice) == (Level.FINE, "the score does not depend on units")
    assert not caplog.messages
    path = diagnosed(chain(), loss="likelihood-nv", on_standardised=other, refine=False)
    assert path["standardised refit"].numbers["lost"] == [[1, 2]]  # the penalty reads units
    assert caplog.messages == ["fitting once more on standardised columns, for the diagnostics"]


def test_data_that_come_standardised_need_no_refit() -> None:
    X = chain()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    found = diagnosed(X, on_standardised=((1, 0), (1, 2)))["standardised refit"]
    assert found.level is Level.FINE


def test_a_column_that_only_perturbed_rows_move_is_not_to_be_dropped() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([np.zeros(300), rng.normal(size=300), np.ones(300)])
    mask = np.zeros(X.shape, dtype=bool)
    mask[200:, 0] = True
    X[200:, 0] = rng.normal(size=100)
    X[:, 1] += X[:, 0]
    frame = pd.DataFrame(X, columns=["dose", "answer", "one"])
    with pytest.warns(DataWarning, match="one"):
        model = AnalyticDAG(loss="likelihood-nv", solver="order").fit(frame, interventions=mask)
    found = diagnose(model, frame)["constant columns"]
    assert found.numbers == {"columns": ["one"], "only_perturbed": ["dose"]}
    assert "one never vary and can have no edge" in found.advice
    assert "dose vary only in rows in which something was perturbed; keep them" in found.advice


def coded() -> pd.DataFrame:
    """A chain, with a third column of three codes that move the second one's mean and spread."""
    rng = np.random.default_rng(3)
    kind = rng.choice([1.0, 2.0, 9.0], size=600, p=[0.6, 0.38, 0.02])
    a = rng.normal(size=600)
    b = a + np.where(kind == 2.0, 3.0, 0.0) + rng.normal(size=600) * kind
    return pd.DataFrame({"a": a, "b": b, "kind": kind})


def test_codes_are_named_as_few_values_and_judged_as_nothing_else() -> None:
    found = diagnosed(coded(), edges=((0, 1), (2, 1)), loss="likelihood-nv")
    assert found["few values"].level is Level.WARNING
    assert found["few values"].numbers == {"columns": ["kind"], "values": [3]}
    assert "kind (3 values): few values" in found["few values"].advice
    assert "--kind NAME=category or --kind NAME=ordered" in found["few values"].advice
    assert "kind" not in found["heavy tails"].numbers["columns"]
    assert ["kind", "b"] not in found["residual independence"].numbers["edges"]
    for name in ("heavy tails", "residual independence"):
        assert "not judged for columns of few values: kind" in found[name].advice


def test_two_values_are_a_note_and_0_1_data_under_their_own_loss_are_fine() -> None:
    X = chain()
    X[:, 0] = X[:, 0] > 0
    assert diagnosed(X)["few values"].level is Level.NOTE
    binary = (chain() > 0).astype(float)
    assert diagnosed(binary, loss="logistic")["few values"].level is Level.FINE


def test_numbers_with_few_rows_are_not_called_codes() -> None:
    assert diagnosed(np.round(chain(20)))["few values"].numbers["columns"] == []
    assert diagnosed(chain())["few values"].level is Level.FINE


def test_networks_have_their_columns_checked() -> None:
    pytest.importorskip("torch")
    X = np.column_stack([chain(100), chain(100)[:, 0]])
    with pytest.warns(AnalyticDAGWarning):
        model = NonlinearDAG(model="mlp", max_steps=3, device="cpu").fit(X)
    found = diagnose(model, X)
    assert found["duplicate columns"].numbers["pairs"] == [[0, 3]]
    assert "residual independence" not in [check.name for check in found]


def test_advice_can_be_followed_in_python_and_on_the_command_line() -> None:
    X = chain()
    X[:, 1] += X[:, 0] ** 2
    curved = diagnosed(X, edges=((0, 1),))["residual independence"].advice
    assert "a nonlinear model (--model nonlinear)" in curved
    few = np.random.default_rng(0).normal(size=(8, 12))
    assert "bootstrap (--resamples 100)" in diagnosed(few)["rows against columns"].advice
