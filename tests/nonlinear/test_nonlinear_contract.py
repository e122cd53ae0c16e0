"""scikit-learn's own checks, none of them expected to fail."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from analyticdag import NonlinearDAG

# The checks look at the contract, not at the graph: a few steps are enough.
FEW = [NonlinearDAG(max_steps=5), NonlinearDAG("mlp", max_steps=3)]


@pytest.mark.filterwarnings("ignore::analyticdag.errors.AnalyticDAGWarning")
@parametrize_with_checks(FEW)
def test_scikit_learn_contract(estimator: Any, check: Any) -> None:
    check(estimator)
