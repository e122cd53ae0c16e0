"""Effects averaged over graphs learned from resamples."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analyticdag import AnalyticDAG, Knowledge
from analyticdag.errors import InputError, ParameterError
from analyticdag.stability import AveragedEffect, bootstrap_effects


def table(n: int = 300, seed: int = 0) -> pd.DataFrame:
    """Rain and a sprinkler wet the grass; the news have nothing to do with it."""
    rng = np.random.default_rng(seed)
    rain, sprinkler, news, e = rng.normal(size=(4, n))
    wet = rain + 2.0 * sprinkler + e
    return pd.DataFrame({"rain": rain, "sprinkler": sprinkler, "wet": wet, "news": news})


def by_cause(rows: list[AveragedEffect]) -> dict[object, AveragedEffect]:
    return {row.cause: row for row in rows}


def test_causes_that_every_resample_finds() -> None:
    model = AnalyticDAG(loss="likelihood-nv")
    rows = bootstrap_effects(model, table(), 12, on="wet")
    found = by_cause(rows)
    assert set(found) == {"rain", "sprinkler", "news"}
    assert found["sprinkler"].cause_share >= found["sprinkler"].certain_share > 0.9
    assert found["sprinkler"].value == pytest.approx(2.0, abs=0.25)
    assert found["sprinkler"].low < 2.0 < found["sprinkler"].high < 2.3
    assert all(row.n_resamples == 12 for row in rows)
    assert found["news"].cause_share < 0.5
    assert rows[-1].cause == "news"
    assert not hasattr(model, "weights_")


def test_an_open_direction_is_half_a_cause() -> None:
    pair = table()[["rain", "wet"]]
    row = by_cause(bootstrap_effects(AnalyticDAG(loss="likelihood-nv"), pair, 6, on="wet"))["rain"]
    assert row.cause_share == 0.5
    assert row.certain_share == 0.0
    assert row.low == 0.0
    assert row.high > 0.5
    known = AnalyticDAG(
        loss="likelihood-nv", knowledge=Knowledge(forbidden_edges=[("wet", "rain")])
    )
    settled = by_cause(bootstrap_effects(known, pair, 6, on="wet"))["rain"]
    assert settled.certain_share == 1.0
    assert settled.low > 0.0


def test_neither_workers_nor_the_fit_change_the_numbers() -> None:
    model = AnalyticDAG(loss="likelihood-nv").fit(table())
    one = bootstrap_effects(model, table(), 4, on="wet", random_state=3)
    two = bootstrap_effects(AnalyticDAG(loss="likelihood-nv"), table(), 4, on="wet", random_state=3)
    assert one == two
    assert one != bootstrap_effects(model, table(), 4, on="wet", random_state=4)


def test_refusals() -> None:
    with pytest.raises(InputError, match="on='snow' is no column"):
        bootstrap_effects(AnalyticDAG(), table(), 2, on="snow")
    with pytest.raises(ParameterError, match="level must be a number"):
        bootstrap_effects(AnalyticDAG(), table(), 2, on="wet", level=95)
