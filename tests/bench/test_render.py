from __future__ import annotations

from typing import Any

import pytest

from analyticdag.bench.records import Record
from analyticdag.bench.render import format_number, latest, render


def record(method: str, repeat: int, nodes: int, shd: float | None, **changes: Any) -> Record:
    return {
        "plan": "p",
        "task": "some-task",
        "setting": {"graph": "ER2", "nodes": nodes},
        "method": method,
        "repeat": repeat,
        "seed": 0,
        "place": 0,
        "exit": "ok",
        "reason": "",
        "metrics": {} if shd is None else {"shd": shd},
        "wall_seconds": 2.5,
        **changes,
    }


RECORDS = [
    record("a", 0, 10, 1.0),
    record("a", 1, 10, 3.0),
    record("b", 0, 10, 0.5),
    record("b", 1, 10, None, exit="timeout", reason="stopped after 8 seconds"),
    record("a", 0, 20, 7.0),
]


def test_a_table_has_mean_std_seeds_and_failures() -> None:
    lines = render(RECORDS).splitlines()
    assert "### shd (graph = ER2)" in lines
    assert "| nodes | a | b | seeds |" in lines
    assert "| 10 | 2 ± 1.41 | 0.5 (1 timeout) | 2 |" in lines
    assert "| 20 | 7 | – | 1 |" in lines
    assert "- b: stopped after 8 seconds (1 cell)" in lines


def test_costs_can_be_asked_for_by_name() -> None:
    assert "| 20 | 2.50 | – | 1 |" in render(RECORDS, ["wall_seconds"])


def test_a_later_record_replaces_an_earlier_one() -> None:
    again = record("a", 0, 10, 5.0)
    assert again in latest([*RECORDS, again])
    assert len(latest([*RECORDS, again])) == len(RECORDS)


def test_known_tasks_show_their_headlines() -> None:
    learned = [{**entry, "task": "learn"} for entry in RECORDS]
    titles = [line for line in render(learned).splitlines() if line.startswith("### ")]
    assert titles[0] == "### shd (graph = ER2)"
    assert "### f1 (graph = ER2)" in titles


def test_tables_keep_the_order_of_the_plan() -> None:
    late, early = record("late", 0, 10, 1.0, place=1), record("early", 0, 10, 1.0, place=0)
    assert "| early | late | seeds |" in render([late, early])


def test_nothing_recorded() -> None:
    assert render([]) == "No records yet.\n"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (12.0, "12"), (1234.56, "1235"), (56.789, "56.79"), (0.01234, "0.0123")],
)
def test_numbers_are_short(value: float, text: str) -> None:
    assert format_number(value) == text
