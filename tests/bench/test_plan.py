from __future__ import annotations

from pathlib import Path

import pytest

from analyticdag.errors import ParameterError
from benchmarks.plan import load_plan, parse_plan, shipped_plans

TEXT = """
task = "learn"
repeats = 2
methods = ["empty", { name = "strict", call = "pc", alpha = 0.01 }]

[[settings]]
graph = ["ER2", "SF4"]
nodes = [10, 20]

[[settings]]
graph = "ER1"
nodes = 5
"""


def test_a_plan_is_settings_times_methods_times_repeats() -> None:
    plan = parse_plan("p", TEXT)
    assert len(plan.cells) == (2 * 2 + 1) * 2 * 2
    assert len({cell.key for cell in plan.cells}) == len(plan.cells)
    assert plan.cells[1].method.call == "pc"
    assert plan.cells[1].method.options == {"alpha": 0.01}


def test_methods_of_a_setting_share_their_data_and_nothing_else_does() -> None:
    draws: dict[tuple[str, int], set[float]] = {}
    for cell in parse_plan("p", TEXT).cells:
        draws.setdefault((cell.setting_name, cell.repeat), set()).add(cell.rng().random())
    assert all(len(values) == 1 for values in draws.values())
    assert len(set.union(*draws.values())) == len(draws)


def test_adding_methods_and_settings_shifts_no_seed() -> None:
    grown = TEXT.replace('["empty"', '["another", "empty"').replace("[10, 20]", "[7, 10, 20]")
    before = {cell.key: cell.rng().random() for cell in parse_plan("p", TEXT).cells}
    after = {cell.key: cell.rng().random() for cell in parse_plan("p", grown).cells}
    assert before.items() <= after.items()
    assert len(after) > len(before)


def test_the_order_of_keys_does_not_matter() -> None:
    swapped = TEXT.replace('graph = "ER1"\nnodes = 5', 'nodes = 5\ngraph = "ER1"')
    assert swapped != TEXT
    assert parse_plan("p", TEXT).cells[-1].key == parse_plan("p", swapped).cells[-1].key
    first, second = (parse_plan("p", text).cells[-1].rng() for text in (TEXT, swapped))
    assert first.random() == second.random()


def test_the_root_seed_changes_the_data() -> None:
    first, second = (parse_plan("p", f"seed = {seed}\n" + TEXT).cells[0] for seed in (1, 2))
    assert first.rng().random() != second.rng().random()


@pytest.mark.parametrize("name", shipped_plans())
def test_shipped_plans_can_be_read(name: str) -> None:
    plan = load_plan(name)
    assert plan.cells
    assert plan.title != name


def test_a_plan_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_bytes(b"task = '\xff'")
    with pytest.raises(ParameterError, match=r"cannot be read as UTF-8 text .*; give a TOML file"):
        load_plan(tmp_path / "p.toml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("task = ", "not valid TOML"),
        ("task = " + "[" * 5000 + "]" * 5000, "not valid TOML: it is nested too deeply"),
        ("task = 'learn'\nsettings = []", "lacks \\['methods'\\]"),
        (TEXT.replace("repeats", "repeat"), "unknown keys \\['repeat'\\]"),
        (TEXT.replace("name = ", "nom = "), "needs a name"),
        (TEXT.replace('["empty"', '["empty", "empty"'), "two cells for setting"),
        (TEXT.replace("repeats = 2", "repeats = 0"), "repeats must be a whole number of at least"),
        (TEXT.replace("repeats = 2", "repeats = '2'"), "repeats must be .*, not '2'"),
        (TEXT.replace("repeats = 2", "seed = 1.5"), "seed must be a whole number"),
        (TEXT.replace("repeats = 2", "time_limit = '1h'"), "time_limit must be a positive number"),
        (TEXT.replace("repeats = 2", "memory_limit = -1"), "memory_limit must be a positive"),
        (TEXT.replace("repeats = 2", "threads = true"), "threads must be a whole number"),
        (TEXT.replace("[10, 20]", "[]"), r"setting nodes is \[\]; give a value"),
        (TEXT.replace("[10, 20]", "[[10, 20]]"), "give a value, or a list of values"),
        (TEXT.replace("[[settings]]", "[settings]", 1).split("[[")[0], "settings must be one"),
        ("task = 1\nmethods = ['a']\n[[settings]]\na = 1", "task must be the name of a task"),
        ("task = 't'\nmethods = 'a'\n[[settings]]\na = 1", "methods must be a list of names"),
    ],
)
def test_a_bad_plan_is_refused(text: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        parse_plan("p", text)


def test_an_unknown_plan_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"shipped plans: .*quick"):
        load_plan("no-such-plan")
    with pytest.raises(ParameterError, match="there is no plan at"):
        load_plan(tmp_path / "no-such-plan.toml")
