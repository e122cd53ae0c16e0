from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from benchmarks.plan import Cell, parse_plan
from benchmarks.timing import Forecast, in_words

CELLS = parse_plan(
    "p", "task = 't'\nrepeats = 2\nmethods = ['slow', 'quick']\n[[settings]]\nnodes = [1, 2]"
).cells


def record(cell: Cell, seconds: float | None) -> dict[str, Any]:
    place = {"setting": dict(cell.setting), "method": cell.method.name}
    return {"key": cell.key, "wall_seconds": seconds, **place}


def ticking(*times: float) -> Any:
    moments: Iterator[float] = iter(times)
    return lambda: next(moments)


def cell(method: str, nodes: int, repeat: int) -> Cell:
    return next(
        c for c in CELLS if (c.method.name, c.setting["nodes"], c.repeat) == (method, nodes, repeat)
    )


def test_a_cell_is_expected_to_take_what_its_like_took() -> None:
    forecast = Forecast(CELLS, clock=ticking(0, 100, 101))
    # Nothing else is known yet: all seven that are left are expected to take as long.
    assert forecast.after(record(cell("slow", 1, 0), 100)) == pytest.approx(700)
    # Three slow ones at 100 and three quick ones at 1 are left.
    assert forecast.after(record(cell("quick", 1, 0), 1)) == pytest.approx(303)


def test_records_from_before_and_parallel_work_count() -> None:
    before = [record(cell("slow", 2, 0), 50), record(cell("quick", 2, 0), 2)]
    left = [cell("slow", 2, 1), cell("quick", 2, 1)]
    # 50 seconds of work in 25: two cells run at a time, and 2 seconds of work are left.
    forecast = Forecast(left, before, clock=ticking(0, 25))
    assert forecast.after(record(cell("slow", 2, 1), 50)) == pytest.approx(1)


def test_a_crash_says_nothing_about_time() -> None:
    forecast = Forecast(CELLS, clock=ticking(0, 1))
    assert forecast.after(record(cell("slow", 1, 0), None)) == 0


@pytest.mark.parametrize(
    ("seconds", "words"), [(12.4, "12 s"), (600, "10 min"), (7200, "2.0 h"), (0, "0 s")]
)
def test_times_are_said_in_words(seconds: float, words: str) -> None:
    assert in_words(seconds) == words
