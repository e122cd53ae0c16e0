"""Rows that belong together: noticed, said, and resampled by group."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from analyticdag import AnalyticDAG
from analyticdag.errors import DataError
from analyticdag.stability import bootstrap
from analyticdag.tables.together import (
    autocorrelation,
    block_length,
    group_members,
    order_blocks,
    worth,
)

Command = Callable[..., tuple[int, str, str]]


def visits(path: Path, n_patients: int = 60, per_patient: int = 5) -> Path:
    """Visits of patients: what differs between patients stays the same at each visit."""
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(n_patients), per_patient)
    own = rng.standard_normal((n_patients, 3))[who]
    x = own[:, 0] + 0.1 * rng.standard_normal(len(who))
    y = x + own[:, 1] + 0.1 * rng.standard_normal(len(who))
    z = own[:, 2] + 0.1 * rng.standard_normal(len(who))
    shuffled = rng.permutation(len(who))
    rows = [f"{who[k]},{x[k]:.4f},{y[k]:.4f},{z[k]:.4f}" for k in shuffled]
    path.write_text("\n".join(["patient_id,x,y,z", *rows]))
    return path


def series(path: Path, memory: float) -> Path:
    """Days in order; with memory the noise of a day is partly that of the day before."""
    rng = np.random.default_rng(1)
    noise = rng.standard_normal((400, 2))
    for k in range(1, 400):
        noise[k] += memory * noise[k - 1]
    days = np.datetime64("2021-01-01") + np.arange(400)
    rows = [f"{d},{a:.4f},{a + b:.4f}" for d, (a, b) in zip(days, noise, strict=True)]
    path.write_text("\n".join(["day,x,y", *rows]))
    return path


def test_a_repeated_identifier_is_noticed_and_said(command: Command, tmp_path: Path) -> None:
    file = visits(tmp_path / "visits.csv")
    code, _, err = command("fit", file)
    assert code == 0, err
    assert "take care: " in err
    assert "rows are not independent of each other" in err
    code, _, err = command("fit", file, "-v", "--force")
    assert code == 0, err
    assert "patient_id stands in several rows: such rows repeat each other" in err
    assert "links look surer than they are" in err
    assert "--groups patient_id --resamples 100" in err
    words = ["-v", "--groups", "patient_id", "--resamples", "4", "--out", tmp_path / "grouped"]
    code, _, err = command("fit", file, *words)
    assert code == 0, err
    assert "rows are grouped by patient_id: 60 groups of 300 rows" in err
    assert "stands in several rows" not in err
    assert "--resamples 100" not in err


@pytest.mark.parametrize("memory", [0.0, 0.8])
def test_rows_in_order_are_noticed_where_residuals_follow_each_other(
    command: Command, tmp_path: Path, memory: float
) -> None:
    code, out, err = command("fit", series(tmp_path / "days.csv", memory), "--json", "-v")
    assert code == 0, err
    assert json.loads(out)["names"] == ["x", "y"]
    said = "the rows stand in the order of day, and what is left of"
    assert (said in err) == (memory > 0.0)
    if memory:
        assert "400 rows are worth about" in err
        assert "--groups 40 --resamples 100" in err
        assert "--groups day" not in err


def test_a_column_of_days_makes_blocks_and_the_warning_stays(
    command: Command, tmp_path: Path
) -> None:
    file = series(tmp_path / "days.csv", 0.8)
    for groups, said in (
        ("day", "400 groups of 400 rows: every row is its own group, so blocks of 15 rows"),
        ("3", "--groups 40 --resamples 100"),  # far too short
        ("40", "10 groups of rows were resampled, so how often links came back allows for that"),
    ):
        words = ["-v", "--groups", groups, "--resamples", "3", "--out", tmp_path / groups]
        code, _, err = command("fit", file, *words)
        assert code == 0, err
        assert said in err
        assert "400 rows are worth about" in err
        assert ("--resamples 100" in err) == (groups != "40")
    code, _, err = command("fit", file, "--groups", "300")
    assert code == 2
    assert "cannot group by blocks of 300 of 400 rows; give 2 to 200 rows, or name a" in err


def test_groups_that_are_nearly_rows_are_named(command: Command, tmp_path: Path) -> None:
    file = series(tmp_path / "days.csv", 0.8)
    lines = file.read_text().splitlines()
    lines[2] = lines[1].split(",")[0] + "," + lines[2].partition(",")[2]
    file.write_text("\n".join(lines))
    code, _, err = command("fit", file, "-v", "--groups", "day", "--out", tmp_path / "run")
    assert code == 0, err
    assert "399 groups of 400 rows: nearly every row is its own group" in err
    assert "rows still count as independent" in err
    assert "400 rows are worth about" in err


def test_blocks_are_as_long_as_rows_remember() -> None:
    assert block_length(3000, 0.0) == 29  # twice the cube root
    assert block_length(3000, 0.9) == 192  # ten times (1 + 0.9) / (1 - 0.9)
    assert block_length(400, 0.8) == 40  # ten blocks at least


def test_groups_are_drawn_together_and_a_series_in_blocks() -> None:
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), 5)
    own = rng.standard_normal((40, 3))[groups]
    X = own + 0.05 * rng.standard_normal((200, 3))
    # Three columns that nothing joins; as single rows they pass for 200, and chance for links.
    apart = bootstrap(AnalyticDAG(), X, 10)
    together = bootstrap(AnalyticDAG(), X, 10, groups=groups)
    assert not np.array_equal(apart.skeleton_frequency, together.skeleton_frequency)
    assert group_members(["a", "b", "a"], 3) == ((0, 2), (1,))
    assert group_members(range(1000), 1000) == order_blocks(1000)
    assert [len(block) for block in order_blocks(1000)] == [20] * 50
    with pytest.raises(DataError, match="a label for each of the 3 rows, not 2"):
        group_members([1, 2], 3)
    with pytest.raises(DataError, match="puts all rows into one group"):
        group_members([1, 1, 1], 3)


def test_what_rows_in_order_are_worth() -> None:
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((5000, 2))
    for k in range(1, 5000):
        noise[k, 1] += 0.6 * noise[k - 1, 1]
    found, chance = autocorrelation(noise)
    assert abs(found[0]) < chance
    assert found[1] == pytest.approx(0.6, abs=0.05)
    # A mean of such a series has the variance of n·(1 - ρ)/(1 + ρ) rows that do not follow.
    assert worth(5000, [0.6]) == 1250
