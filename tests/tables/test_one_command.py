"""The table that people have, in one command: a correct graph, and every decision listed."""

from __future__ import annotations

import html
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from people import EDGES, VARIABLES, as_csv, people

from analyticdag.graphs import to_cpdag
from analyticdag.io import load_run

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text(as_csv(people()))
    return path


def test_one_command_gives_the_graph_and_lists_every_decision(
    command: Command, table: Path
) -> None:
    code, out, err = command("fit", table, "--json")
    assert code == 0, err
    found = json.loads(out)
    assert set(found["names"]) == VARIABLES | {"region"}
    joined = {frozenset((edge["source"], edge["target"])) for edge in found["edges"]}
    assert joined == {frozenset(edge) for edge in EDGES}
    claimed = {(e["source"], e["target"]) for e in found["edges"] if e["fixed_by"] != "not fixed"}
    assert claimed <= EDGES
    assert len(claimed) >= 6
    for said in (
        "the table has 400 rows and 15 columns; 11 are taken as variables",
        "'Unnamed: 0' is an identifier: left out (it counts the rows)",
        "'patient_id' is an identifier: left out (a different value in every row)",
        "'visit' is a date: left out; --kind visit=days makes it a number",
        "'sex' is yes/no: taken as two values (female = 0, male = 1)",
        "'smoker' is yes/no: taken as two values (no = 0, Yes = 1)",
        "'active' is yes/no: taken as two values (False = 0, True = 1)",
        "'income' is a count: read (thousands or other marks taken out)",
        "'savings' is a number: read (per cent)",
        "'region' is a category: taken as one variable (4 levels)",
        "'comment' is empty: left out",
        "maximum likelihood from the rows as they are (--missing em)",
    ):
        assert said in err


def test_the_pasted_command_does_the_same_and_has_nothing_to_add(
    command: Command, table: Path
) -> None:
    _, first, err = command("fit", table, "--json")
    assert "the command that says all of this itself stands in the report" in err
    words = explicit(table.parent / "people-analyticdag")
    again = table.parent / "again"
    code, second, err = command(*words, "--out", again)
    assert code == 0, err
    assert json.loads(second)["edges"] == json.loads(first)["edges"]
    assert explicit(again) == [*words, "--out", str(again)]


def explicit(folder: Path) -> list[str]:
    """Return the saved command with every decision written out; the report shows it whole."""
    command = load_run(folder).manifest["table"]["explicit"]
    assert html.escape(command) in html.escape(
        html.unescape((folder / "report.html").read_text("utf-8"))
    )
    return shlex.split(command)[1:]


def test_decisions_stand_in_the_manifest_and_in_the_report(command: Command, table: Path) -> None:
    command("fit", table)
    run = load_run(table.parent / "people-analyticdag")
    kept = run.manifest["table"]
    assert kept["columns"]["patient_id"] == "identifier"
    assert ["'comment' is empty", "left out (it has no values)"] in kept["decisions"]
    assert kept["explicit"].startswith("analyticdag fit ")
    assert "maximum likelihood" in kept["missing"]
    page = (table.parent / "people-analyticdag" / "report.html").read_text()
    assert "The table" in page
    assert "left out (it counts the rows)" in page
    assert "--drop patient_id" in page


def test_gaps_can_be_refused_or_dropped(command: Command, table: Path) -> None:
    code, _, err = command("fit", table, "--missing", "error")
    assert code == 2
    assert "missing values, the first in row" in err
    assert err.index("--missing drop)") < err.index("--missing em), which loss='logistic' cannot")
    code, _, err = command("fit", table, "--missing", "drop", "--out", table.parent / "dropped")
    assert code == 0
    assert "rows with missing values left out" in err
    assert command("fit", table, "--missing", "guess")[0] == 2


def test_columns_and_kinds_on_the_command_line(command: Command, table: Path) -> None:
    words = ["--columns", "age", "--columns", "sbp", "--columns", "visit", "--kind", "visit=days"]
    code, out, err = command("fit", table, "--json", *words)
    assert code == 0, err
    assert json.loads(out)["names"] == ["visit", "age", "sbp"]
    for words, said in (
        (["--columns", "Age"], "cannot take ['Age']: did you mean 'age'?"),
        (["--drop", "patient"], "cannot drop ['patient']: did you mean 'patient_id'?"),
        (["--groups", "comments"], "cannot group by ['comments']: did you mean 'comment'?"),
    ):
        code, _, err = command("fit", table, *words)
        assert code == 2
        assert said in err
    code, _, err = command("fit", table, "--kind", "visit")
    assert code == 2
    assert "--kind must be NAME=KIND" in err


def test_a_stray_text_ends_in_one_list_with_the_command_that_settles_it(
    command: Command, table: Path
) -> None:
    rows = people()
    rows[4]["age"], rows[9]["sbp"] = "about 50", "high"
    table.write_text(as_csv(rows))
    code, _, err = command("fit", table)
    assert code == 2
    assert "column 'age' holds the text 'about 50' in row 6 (1 of " in err
    assert err.count("column 'sbp' holds the text 'high' in row 11") == 1
    words = shlex.split(re.search(r"to say all of this yourself: analyticdag (.*)", err)[1])  # type: ignore[index]
    assert words[words.index("age=number") - 1] == "--kind"
    assert command(*words)[0] == 0


def test_two_rows_or_one_column_are_refused_with_the_reason(
    command: Command, tmp_path: Path
) -> None:
    path = tmp_path / "small.csv"
    path.write_text("a,b\n1,2\n3,5\n")
    code, _, err = command("fit", path)
    assert code == 2
    assert "small.csv has 2 rows; two points lie on a line whatever they are" in err
    path.write_text("a\n1\n3\n4\n")
    code, _, err = command("fit", path)
    assert code == 2
    assert "has 1 column of numbers; a graph joins variables" in err


def test_an_empty_column_no_longer_costs_all_rows(command: Command, table: Path) -> None:
    code, _, err = command("fit", table, "--missing", "drop")
    assert code == 0, err


def test_a_class_is_claimed_and_no_more() -> None:
    import numpy as np

    names = sorted(VARIABLES)
    truth = np.array([[(a, b) in EDGES for b in names] for a in names])
    assert to_cpdag(truth).sum() == len(EDGES) + 2  # two edges are open
