"""`variance="auto"`: which noise variances the data choose, and what is said about it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from analyticdag import NonlinearDAG
from analyticdag._typing import FloatArray
from analyticdag.errors import ParameterError
from analyticdag.io import load_run, record_of, save_run
from analyticdag.report import render_report
from analyticdag.simulate import simulate

pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore::analyticdag.errors.AnalyticDAGWarning")


def table(kind: str = "equal", n: int = 300) -> FloatArray:
    drawn = simulate(
        "ER1",
        n_nodes=6,
        n_samples=n,
        mechanism="gp",
        standardize=kind == "standardised",
        seed=41,
    )
    units = np.array([1.0, 10.0, 0.1, 1.0, 30.0, 0.3]) if kind == "units" else 1.0
    return np.asarray(drawn.data * units)


def fitted(X: FloatArray, model: str = "mlp", variance: str | None = "auto") -> NonlinearDAG:
    return NonlinearDAG(model=model, variance=variance, max_steps=30, device="cpu").fit(X)


@pytest.mark.parametrize(
    ("kind", "n", "variance", "because"),
    [
        ("equal", 300, "equal", "little enough to read directions from scales"),
        ("units", 300, "constant", "too much to read directions from scales"),
        ("standardised", 300, "constant", "the columns are standardised"),
        ("equal", 25, "constant", "25 rows are too few"),
    ],
)
def test_the_data_choose(kind: str, n: int, variance: str, because: str) -> None:
    model = fitted(table(kind, n))
    assert model.variance_ == variance
    assert model.loss_choice_ is not None
    assert because in model.loss_choice_.reason
    by_hand = fitted(table(kind, n), variance=variance)
    assert by_hand.loss_choice_ is None
    np.testing.assert_array_equal(model.weights_, by_hand.weights_)


def test_the_choice_does_not_depend_on_the_common_unit() -> None:
    choices = [fitted(c * table()).loss_choice_ for c in (1e-6, 1.0, 1e9)]
    spreads = [float(choice.spread) for choice in choices if choice and choice.spread]
    np.testing.assert_allclose(spreads, [spreads[0]] * 3, rtol=1e-6)


def test_columns_of_one_common_variance_count_as_standardised() -> None:
    model = fitted(7.0 * table("standardised"))
    assert "standardised" in model.loss_choice_.reason  # type: ignore[union-attr]


def test_one_column_that_varies_leaves_nothing_to_compare() -> None:
    X = np.column_stack([table()[:, 0], np.ones(300)])
    assert "fewer than two columns vary" in fitted(X).loss_choice_.reason  # type: ignore[union-attr]


def test_gran_dag_says_that_it_does_not_read_scales() -> None:
    model = fitted(table(), model="gran-dag")
    assert model.variance_ == "constant"
    assert "gran-dag does not read scales" in model.loss_choice_.reason  # type: ignore[union-attr]


def test_none_is_the_published_assumption() -> None:
    assert fitted(table("units"), variance=None).variance_ == "equal"


def test_an_unknown_word_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"variance must be one of \('auto', 'equal', 'const"):
        fitted(table(), variance="best")


def test_the_reason_is_in_the_saved_run_and_the_report(tmp_path: Path) -> None:
    model = fitted(table("units"))
    run = load_run(save_run(record_of(model), tmp_path / "run"))
    assert run.loss_choice is not None
    assert run.loss_choice["loss"] == "likelihood-nv"
    assert "too much to read directions from scales" in render_report(run)
