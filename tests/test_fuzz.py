"""The campaign itself: it must find what is broken, shrink it, and survive what it runs."""

from __future__ import annotations

import json
import os
import re
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analyticdag import AnalyticDAG, NonlinearDAG
from analyticdag.errors import AnalyticDAGError, DataError
from fuzz import changes, command, options, page, snapshot, tables, words
from fuzz.calls import program, run
from fuzz.campaign import Log, counts
from fuzz.case import Case, Draw, Outcome, Violation, set_up
from fuzz.families import FAMILIES, drawn
from fuzz.pool import Answer, Pool, Request
from fuzz.promises import judge_error, judge_fit, judge_warnings
from fuzz.shrink import shrink

GOOD = Case(
    "tables",
    (
        "rng = np.random.default_rng(0)",
        "n, d = 40, 3",
        "X = rng.normal(size=(n, d))",
        "Model, options, extra = AnalyticDAG, {'solver': 'order'}, {}",
    ),
    "fit",
)


def plus(*lines: str) -> Case:
    return Case(GOOD.family, (*GOOD.lines, *lines), GOOD.call)


def fitted() -> AnalyticDAG:
    return AnalyticDAG(solver="order").fit(np.random.default_rng(0).normal(size=(40, 3)))


def test_a_good_case_is_fitted_and_a_bad_one_refused() -> None:
    assert run(GOOD) == Outcome("fitted")
    assert run(plus("X[0, 0] = np.nan")).status == "refused: DataError"


@pytest.mark.parametrize("family", FAMILIES)
def test_a_case_depends_on_its_name_only(family: str) -> None:
    assert drawn(3, family, 5) == drawn(3, family, 5)
    assert len({drawn(3, family, number) for number in range(20)}) > 10


def test_every_parameter_has_good_values_and_none_is_drawn_that_does_not_exist() -> None:
    assert set(options.LINEAR) == set(AnalyticDAG().get_params())
    assert set(options.NONLINEAR) == set(NonlinearDAG().get_params())


def test_every_option_of_the_commands_is_drawn_and_no_other() -> None:
    known = {command: words.options_of(command) for command in ("fit", "stability", "check")}
    assert set(words.WORDS) <= set().union(*known.values())
    for name, there in known.items():
        drawn_ones = {
            line.split("'")[1]
            for number in range(2000)
            for line in words.options(Draw(0, "files", number), name)
            if line.startswith("argv += ['-")
        }
        assert drawn_ones == set(there)


@pytest.mark.parametrize("number", range(60))
@pytest.mark.parametrize("family", ["tables", "files", "tamper"])
def test_the_lines_of_a_case_can_be_run(
    family: str, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with suppress(AnalyticDAGError):  # knowledge that contradicts itself is refused here already
        set_up(drawn(7, family, number))


def test_what_is_masked_is_a_missing_value() -> None:
    masked = ("X[:, 1] += X[:, 0]", "X = np.ma.masked_array(X, X > 1.0)", tables.AS_MISSING)
    assert run(plus(*masked)).status == "refused: DataError"
    for rule in ("drop", "em"):
        assert run(plus(f"options['missing'] = {rule!r}", *masked)) == Outcome("fitted")
    believed = (*masked, "X = X.data")
    assert run(plus(*believed)).kind == "misread"
    told = "options['missing'] = 'drop'"
    assert run(plus(told, *believed)).message == "the graph differs from that of the plain array"


def test_a_table_without_columns_can_have_interventions() -> None:
    for value in options.interventions_of_rows():
        assert eval(value, {"n": 3, "d": 0, "np": np}) is not None


def test_a_part_of_a_record_that_is_gone_is_no_mistake(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text('{"a": {"b": [1, 2]}}')
    for number in range(50):
        changes.in_json(file, number, changes.drop)
    assert json.loads(file.read_text()) == {}
    changes.in_json(file, 0, changes.put(1))
    file.write_text('{"a": 1}')
    changes.in_json(file, 0, changes.put(changes.Deep()))
    changes.in_json(file, 0, changes.drop)  # nobody can read it any more
    assert len(file.read_text()) > 200_000


def test_a_reproduction_is_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(program(GOOD), names)
    assert names["model"].weights_.shape == (3, 3)


def test_a_mistake_of_the_generator_is_told_from_one_of_the_package() -> None:
    assert run(plus("X = nothing")).status == "unbuildable"


def test_the_shrinker_leaves_only_what_matters() -> None:
    case = plus("noise = 1", "X[0, 0] = np.nan  # the culprit", "more = 2")

    def broken(case: Case) -> Outcome:
        found = any("culprit" in line for line in case.lines)
        return Outcome("violation", "cycle") if found else Outcome("fitted")

    smallest, outcome = shrink(case, broken(case), broken)
    assert smallest.lines == ("X[0, 0] = np.nan  # the culprit",)
    assert outcome.kind == "cycle"


def test_the_shrinker_makes_tables_smaller() -> None:
    def broken(case: Case) -> Outcome:
        size = next((line for line in case.lines if line.startswith("n, d = ")), "n, d = 0, 0")
        n, d = map(int, size.removeprefix("n, d = ").split(", "))
        return Outcome("violation" if n >= 4 and d >= 2 else "fitted")

    smallest, _ = shrink(GOOD, broken(GOOD), broken)
    assert smallest.lines == ("n, d = 4, 2",)


def test_a_cycle_is_found() -> None:
    model = fitted()
    model.adjacency_matrix_[:] = 1
    with pytest.raises(Violation, match="order"):
        judge_fit(model, None)


def test_a_nan_is_found() -> None:
    model = fitted()
    model.mean_[0] = np.nan
    with pytest.raises(Violation, match="mean_"):
        judge_fit(model, None)


def test_broken_knowledge_is_found() -> None:
    from analyticdag import Knowledge

    with pytest.raises(Violation, match="lacks"):
        judge_fit(fitted(), Knowledge(required_edges=[(0, 1), (1, 2)]))


def test_raw_errors_and_long_messages_are_found() -> None:
    assert judge_error(DataError("one line")) == "DataError"
    with pytest.raises(Violation, match="KeyError"):
        judge_error(KeyError("x"))
    with pytest.raises(Violation, match="two"):
        judge_error(DataError("one\ntwo"))


def test_foreign_warnings_are_found(recwarn: pytest.WarningsRecorder) -> None:
    import warnings

    warnings.warn("overflow encountered", RuntimeWarning, stacklevel=1)
    with pytest.raises(Violation, match="overflow"):
        judge_warnings(list(recwarn))


def test_changed_input_is_found() -> None:
    X = np.zeros((2, 2))
    before = snapshot.of_value(X)
    X[0, 0] = 1.0
    assert snapshot.of_value(X) != before


def test_an_overwritten_file_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine").write_text("mine")
    before = snapshot.of_folder(tmp_path)
    command.judge_unchanged(before)
    Path("mine").write_text("yours")
    with pytest.raises(Violation, match="mine"):
        command.judge_unchanged(before)


def test_a_traceback_is_found() -> None:
    with pytest.raises(Violation, match="exit 1"):
        command.judge_end(command.Ended(1, "", "Traceback (most recent call last):\n"))


@pytest.fixture(scope="module")
def pool() -> Any:
    kept = dict(os.environ)
    with Pool(2) as found:
        yield found
    os.environ.clear()
    os.environ.update(kept)


def test_the_pool_answers_in_children(pool: Pool) -> None:
    answers = list(pool.run(Request(None, 60.0, case) for case in [GOOD] * 5))
    assert [answer.outcome.status for answer in answers] == ["fitted"] * 5


def test_a_hang_and_a_crash_are_violations(pool: Pool) -> None:
    start = time.monotonic()
    hang = pool.ask(Request(None, 0.5, plus("while True: pass")))
    assert hang.outcome.kind == "hang"
    assert time.monotonic() - start < 60.0
    crash = pool.ask(Request(None, 60.0, plus("import os; os._exit(7)")))
    assert (crash.outcome.kind, crash.outcome.place) == ("crash", "7")
    assert pool.ask(Request(None, 60.0, GOOD)).outcome.status == "fitted"


def test_counts_come_from_the_log(tmp_path: Path) -> None:
    log = Log(tmp_path / "log.jsonl")
    for number, outcome in enumerate([Outcome("fitted"), Outcome("violation", "hang", "tables")]):
        log.add(Answer(Request((0, "tables", number), 1.0), outcome, 0.5))
    log.add(Answer(Request((0, "tables", 0), 1.0), Outcome("fitted"), 0.5))  # once more
    with log.path.open("a") as file:
        file.write('{"family": "tab')  # a kill cut the last line off
    found = counts(log)["tables"]
    assert (found["cases"], found["violations"], found["hangs"]) == (2, 1, 1)
    assert found["outcomes"] == {"fitted": 1, "hang: tables": 1}


HOME = Path(__file__).resolve().parent.parent


def test_every_item_that_was_found_has_tests() -> None:
    """The table of docs/reliability.md names tests that are there, for each of its items."""
    text = (HOME / "docs/reliability.md").read_text("utf-8")
    rows = re.findall(r"^\| (\d+)\. .*$", text, re.MULTILINE)
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text)
    assert rows == [str(number) for number in range(1, 14)]
    for file, name in named:
        assert f"def {name}(" in (HOME / file).read_text("utf-8"), (file, name)


def test_the_page_shows_the_counts_that_were_recorded() -> None:
    docs = HOME / "docs"
    record = json.loads((docs / "reliability.json").read_text("utf-8"))
    assert page.block(record) in (docs / "reliability.md").read_text("utf-8")
