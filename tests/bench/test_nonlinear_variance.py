"""The task that holds `variance="auto"` against both fixed choices."""

from __future__ import annotations

import numpy as np
import pytest

from analyticdag.errors import ParameterError
from benchmarks.nonlinear_variance import nonlinear_variance
from benchmarks.plan import Method

SETTING = {"mechanism": "gp", "graph": "ER1", "nodes": 4, "samples": 60}
QUICK = Method("mlp", "mlp", {"max_steps": 2})


@pytest.mark.parametrize(("kind", "took_equal"), [("standardised", 0), ("equal", 1)])
def test_auto_has_the_figures_of_what_it_took(kind: str, took_equal: int) -> None:
    pytest.importorskip("torch")
    found = nonlinear_variance({**SETTING, "kind": kind}, QUICK, np.random.default_rng(0))
    assert found["took_equal"] == took_equal
    assert found["f1_auto"] == found["f1_equal" if took_equal else "f1_constant"]


def test_an_unknown_kind_of_table_is_refused() -> None:
    with pytest.raises(ParameterError, match="kind must be one of"):
        nonlinear_variance({**SETTING, "kind": "odd"}, QUICK, np.random.default_rng(0))
