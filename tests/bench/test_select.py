from __future__ import annotations

import pytest

from analyticdag.errors import ParameterError
from benchmarks.plan import load_plan, parse_plan
from benchmarks.select import command, select

PLAN = parse_plan(
    "p",
    """
task = "learn"
repeats = 3
methods = ["a", "b, c"]
[[settings]]
nodes = [10, 20]
flag = true
[[settings]]
nodes = 10
noise = "gumbel"
""",
)


def test_conditions_are_met_by_every_cell_and_keep_its_key() -> None:
    part = select(PLAN, ["nodes=10", "method=b, c"], repeats=2)
    assert len(part.cells) == 2 * 2
    assert {(cell.setting["nodes"], cell.method.name) for cell in part.cells} == {(10, "b, c")}
    assert {cell.key for cell in part.cells} < {cell.key for cell in PLAN.cells}
    assert len(select(PLAN, ["nodes=10,20"]).cells) == len(PLAN.cells)
    assert len(select(PLAN, ["nodes=10,20", "nodes=20"]).cells) == 2 * 3
    assert len(select(PLAN, ["flag=true"]).cells) == 2 * 2 * 3


def test_a_time_limit_replaces_the_plans() -> None:
    assert select(PLAN, time_limit=5).limits.time_limit == 5
    assert select(PLAN).limits == PLAN.limits


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("nodes=11", r"plan 'p' has no nodes \['11'\]; it has \['10', '20'\]"),
        ("node=10", "one of the keys method, nodes, flag, noise; got 'node=10'"),
        ("nodes", "a condition is key=value"),
        ("nodes=", r"has no nodes \[''\]"),
    ],
)
def test_typos_are_refused(where: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        select(PLAN, [where])


def test_what_leaves_no_cell_is_refused() -> None:
    with pytest.raises(ParameterError, match="no cell of plan 'p' meets noise=gumbel and nodes=20"):
        select(PLAN, ["noise=gumbel", "nodes=20"])
    with pytest.raises(ParameterError, match="repeats must be more than 0, not 0"):
        select(PLAN, repeats=0)
    with pytest.raises(ParameterError, match="plan 'p' has 3 repeats, fewer than 4"):
        select(PLAN, repeats=4)
    with pytest.raises(ParameterError, match="time limit must be more than 0, not -1"):
        select(PLAN, time_limit=-1)


def test_the_printed_command_selects_what_it_says() -> None:
    text = command("engine-path", method="order-1 from zero", nodes=100)
    assert text == (
        'python -m benchmarks run engine-path --out runs --where "method=order-1 from zero" '
        "--where nodes=100"
    )
    assert select(load_plan("engine-path"), ["method=order-1 from zero", "nodes=100"]).cells
