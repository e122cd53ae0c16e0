"""Resamples draw rows: what is no table in memory is refused in one line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from analyticdag import AnalyticDAG
from analyticdag.errors import DataError
from analyticdag.stability import bootstrap, bootstrap_effects

X = np.random.default_rng(0).standard_normal((60, 3))


@pytest.mark.parametrize(
    "batches",
    [[X[:30], X[30:]], iter([X]), Path("rows.parquet"), "rows.csv"],
    ids=["list", "generator", "path", "text"],
)
def test_batches_are_refused_in_one_line(batches: object) -> None:
    for draw in (
        lambda: bootstrap(AnalyticDAG(), batches, 2),
        lambda: bootstrap_effects(AnalyticDAG(), batches, 2, on=0),
    ):
        with pytest.raises(DataError, match="resamples draw rows, and need all of them") as said:
            draw()
        assert "\n" not in str(said.value)
