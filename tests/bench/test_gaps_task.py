from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from analyticdag.errors import ParameterError
from benchmarks.gaps import _absent, gaps
from benchmarks.plan import Method

SETTING: dict[str, Any] = {"graph": "ER1", "nodes": 8, "samples": 600, "pattern": "MCAR"}


@pytest.mark.parametrize("pattern", ["MCAR", "MAR"])
def test_gaps_are_as_many_as_asked(pattern: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5000, 10))
    absent = _absent(X, pattern, 0.3, rng)
    some = absent[:, absent.any(axis=0)]
    assert some.shape[1] == (10 if pattern == "MCAR" else 8)
    assert some.mean() == pytest.approx(0.3, abs=0.01)
    pulled = max(abs(np.corrcoef(X.T, some.T)[:10, 10:].ravel()))
    assert (pulled > 0.3) == (pattern == "MAR")


def test_em_loses_little_on_easy_data_and_counts_fewer_rows() -> None:
    found = gaps({**SETTING, "share": 0.15}, Method("EM", "em"), np.random.default_rng(0))
    assert found["shd_cpdag"] <= 1
    assert 350 < found["rows_counted"] < 550


def test_what_is_not_known_is_refused() -> None:
    for setting, call, words in (
        ({**SETTING, "share": 0.1}, "guess", "no way with gaps"),
        ({**SETTING, "share": 0.1, "pattern": "odd"}, "em", "pattern must be MCAR or MAR"),
    ):
        with pytest.raises(ParameterError, match=words):
            gaps(setting, Method(call, call), np.random.default_rng(0))
