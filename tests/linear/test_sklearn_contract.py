"""scikit-learn's own checks, none of them expected to fail."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from analyticdag import AnalyticDAG
from analyticdag.optimize.adam import Adam
from analyticdag.optimize.schedule import Schedule

# The checks look at the contract, not at the graph: a few steps are enough.
ADAM = AnalyticDAG(
    loss="mse",
    solver=Adam(1e-2, check_every=10, schedule=Schedule.geometric(s=(1.0, 0.9), max_steps=20)),
    refine=False,
)


SEARCH = AnalyticDAG(solver="order")


@pytest.mark.filterwarnings("ignore::analyticdag.errors.AnalyticDAGWarning")
@parametrize_with_checks([AnalyticDAG(), SEARCH, ADAM])
def test_scikit_learn_contract(estimator: Any, check: Any) -> None:
    check(estimator)
