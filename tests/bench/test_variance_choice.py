from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from analyticdag.errors import ParameterError
from benchmarks.plan import Method
from benchmarks.variance_choice import variance_choice

SETTING: dict[str, Any] = {"graph": "ER1", "nodes": 8, "samples": 400, "noise": "gaussian"}


@pytest.mark.parametrize("kind", ["equal", "standardised", "unequal"])
def test_the_choice_is_right_on_easy_data(kind: str) -> None:
    found = variance_choice(
        {**SETTING, "kind": kind}, Method("order", "order"), np.random.default_rng(0)
    )
    assert found["right"] == 1
    assert (found["margin"] > 0) == (kind == "equal")


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"kind must be one of .*, not 'odd'"):
        variance_choice(
            {**SETTING, "kind": "odd"}, Method("order", "order"), np.random.default_rng(0)
        )
