from __future__ import annotations

from typing import Any

import pytest

from benchmarks.records import Record
from benchmarks.render import method_tables, render, speed_table
from benchmarks.summary import format_number, latest


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
        "cpu_seconds": None,
        "isolated": True,
        "peak_rss_mib": 100.0,
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
    assert "### SHD (graph = ER2)" in lines
    assert "| nodes | a | b | seeds |" in lines
    assert "| 10 | 2 ± 1.41 | 0.5 (1 timeout) | 2 |" in lines
    assert "| 20 | 7 | – | 1 |" in lines
    assert "- b: stopped after 8 seconds (1 cell)" in lines


def test_fewer_seeds_than_the_row_has_are_said() -> None:
    table = render([*RECORDS, record("b", 0, 20, 9.0), record("b", 1, 20, 9.0)])
    assert "| 20 | 7 (1 seed) | 9 ± 0 | 2 |" in table


def test_a_setting_can_be_a_table_of_its_own() -> None:
    text = method_tables(RECORDS, ["shd", "peak_rss_mib"])
    assert "**nodes 10**\n\n| method | SHD | peak memory, MiB | seeds |" in text
    assert "| a | 2 ± 1.41 | 100 ± 0 | 2 |" in text
    assert "| b | 0.5 (1 timeout) | 100 (1 timeout) | 2 |" in text


def test_memory_is_only_shown_for_cells_that_were_alone() -> None:
    shared = record("a", 0, 10, 1.0, isolated=False)
    assert "| a | 1 | – | 1 |" in method_tables([shared], ["shd", "peak_rss_mib"])


def test_speed_is_compared_on_the_same_data() -> None:
    def timed(method: str, repeat: int, seconds: float) -> Record:
        metrics = {"shd": 0, "cpu_seconds": seconds}
        return record(method, repeat, 10, None, metrics=metrics)

    records = [timed("base", 0, 30.0), timed("base", 1, 1e6), timed("a", 0, 2.0)]
    assert speed_table([*records, record("b", 0, 10, 1.0)], "base").splitlines()[-1] == (
        "| 15 | – |"
    )


def test_costs_can_be_asked_for_by_name() -> None:
    assert "| 20 | 2.50 | – | 1 |" in render(RECORDS, ["wall_seconds"])


def test_a_later_record_replaces_an_earlier_one() -> None:
    again = record("a", 0, 10, 5.0)
    assert again in latest([*RECORDS, again])
    assert len(latest([*RECORDS, again])) == len(RECORDS)


def test_known_tasks_show_their_headlines() -> None:
    learned = [{**entry, "task": "learn"} for entry in RECORDS]
    titles = [line for line in render(learned).splitlines() if line.startswith("### ")]
    assert titles[0] == "### SHD (graph = ER2)"
    assert "### F1 (graph = ER2)" in titles


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
