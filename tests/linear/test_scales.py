"""Columns of any size: they fit, or are refused by name; no warning of NumPy gets through."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analyticdag import AnalyticDAG
from analyticdag.errors import AnalyticDAGError, DataError

pytestmark = pytest.mark.filterwarnings("ignore::analyticdag.errors.AnalyticDAGWarning")


def chain(n: int = 20) -> Any:
    X = np.random.default_rng(0).normal(size=(n, 3))
    X[:, 1] += X[:, 0]
    X[:, 2] += X[:, 1]
    return X


def test_one_huge_cell_is_refused_by_name() -> None:
    X = chain()
    X[4, 1] = 1e200
    with pytest.raises(DataError, match=r"column 1 \(1e\+200 in row 4\).*rescale the column"):
        AnalyticDAG().fit(X)
    with pytest.raises(DataError, match=r"smaller than 1e-150 in column 2"):
        AnalyticDAG().fit(chain() * [1.0, 1.0, 1e-200])


def test_columns_too_far_apart_are_refused_by_name_with_the_cure() -> None:
    X = chain() * [1e-100, 1.0, 1e100]
    with pytest.raises(DataError, match=r"column [02] has.*standardise the columns"):
        AnalyticDAG().fit(X)
    plain = AnalyticDAG(standardize=True).fit(chain())
    model = AnalyticDAG(standardize=True).fit(X)
    np.testing.assert_array_equal(model.cpdag_, plain.cpdag_)
    np.testing.assert_allclose(model.scale_ / plain.scale_, [1e-100, 1.0, 1e100], rtol=1e-12)


@pytest.mark.parametrize("loss", ["auto", "likelihood-ev", "likelihood-nv", "mse"])
@pytest.mark.parametrize("unit", [2.0**-480, 2.0**480])
def test_a_common_unit_changes_no_weight(loss: str, unit: float) -> None:
    plain, model = (AnalyticDAG(loss, solver="order").fit(chain() * u) for u in (1.0, unit))
    np.testing.assert_array_equal(model.weights_, plain.weights_)
    np.testing.assert_array_equal(model.mean_, plain.mean_ * unit)
    # Noise variances are those of the columns divided by scale_: squares need not be numbers.
    ratio = model.scale_ / unit
    np.testing.assert_allclose(
        model.noise_variances_ * ratio**2, plain.noise_variances_, rtol=1e-12
    )
    shift = 3 * np.log(unit)
    assert model.score(chain() * unit) + shift == pytest.approx(plain.score(chain()), abs=1e-6)


def test_a_covariance_is_brought_into_range_too() -> None:
    S = np.cov(chain().T, bias=True)
    plain = AnalyticDAG(solver="order").fit_covariance(S, n_samples=20)
    model = AnalyticDAG(solver="order").fit_covariance(S * 2.0**900, n_samples=20)
    np.testing.assert_array_equal(model.weights_, plain.weights_)
    with pytest.raises(DataError, match="rescale"):
        AnalyticDAG().fit_covariance(S * 2.0**1015, n_samples=20)


def test_constant_columns_keep_their_place_beside_large_ones() -> None:
    X = np.column_stack([chain() * 2.0**400, np.full(20, 7.0)])
    model = AnalyticDAG(solver="order").fit(X)
    assert model.noise_variances_[3] == 0.0
    assert model.scale_[3] == 1.0
    assert model.mean_[3] == 7.0


def test_a_row_far_out_has_no_likelihood() -> None:
    model = AnalyticDAG(solver="order").fit(chain())
    assert model.score(np.full((1, 3), 1e149)) < -1e200


POWERS = st.integers(-160, 160)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.tuples(POWERS, POWERS, POWERS), st.sampled_from(["fast", "order"]), st.booleans())
def test_any_scales_fit_or_are_refused(powers: Any, solver: str, standardize: bool) -> None:
    X = chain() * 10.0 ** np.array(powers, dtype=float)
    model, message = AnalyticDAG(solver=solver, standardize=standardize), ""
    try:
        model.fit(X)
    except AnalyticDAGError as error:
        message = str(error)
    if message:
        assert "column" in message
    else:
        assert np.isfinite(model.weights_).all()
        assert np.isfinite(model.score(X))


def test_a_column_far_larger_than_the_noise_is_refused_by_name() -> None:
    """Ratios of variances of 1e200 overflowed where hubs are weighed (found by `make fuzz`)."""
    X = (np.random.default_rng(142).normal(size=(4, 4)) > 0).astype(float)
    X[:, 2] *= 1e100
    with pytest.raises(DataError, match="more than 1e50 times as large"):
        AnalyticDAG(solver="order").fit(X)


def test_a_huge_constant_beside_ordinary_columns_overflows_nothing() -> None:
    """Its rounding errors were taken to the fourth power (found by `make fuzz`)."""
    X = np.random.default_rng(356).uniform(size=(10, 2))
    X[:, 1] += 1e100
    assert AnalyticDAG().fit(X).edges_ == ()
