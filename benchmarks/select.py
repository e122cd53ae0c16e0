"""A part of a plan: some settings, some methods, the first few repeats.

    python -m benchmarks run paper-table-1 --out runs --where nodes=500,1000 --where method=order-1

Nobody has to run 210 cells to see three. Cells keep their keys, so the parts add up to the plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from analyticdag.errors import ParameterError
from benchmarks.plan import Cell, Plan, load_plan
from benchmarks.records import Record, recorded

__all__ = ["command", "planned_records", "select"]


def select(
    plan: Plan,
    where: Sequence[str] = (),
    *,
    repeats: int | None = None,
    time_limit: float | None = None,
) -> Plan:
    """The cells that meet every condition ``key=value`` or ``key=value,value``.

    A key is ``method`` or one of the settings. ``repeats`` keeps the first few repeats of each,
    ``time_limit`` replaces the plan's.
    """
    for name, number in (("repeats", repeats), ("time limit", time_limit)):
        if number is not None and not number > 0:
            raise ParameterError(f"{name} must be more than 0, not {number}")
    most = 1 + max(cell.repeat for cell in plan.cells)
    if repeats is not None and repeats > most:
        raise ParameterError(f"plan {plan.name!r} has {most} repeats, fewer than {repeats}")
    conditions = [_condition(plan, text) for text in where]
    cells = [
        cell
        for cell in plan.cells
        if (repeats is None or cell.repeat < repeats) and _meets(cell, conditions)
    ]
    if not cells:
        raise ParameterError(f"no cell of plan {plan.name!r} meets {' and '.join(where)}")
    limits = plan.limits if time_limit is None else replace(plan.limits, time_limit=time_limit)
    return replace(plan, cells=tuple(cells), limits=limits)


def command(plan: str, **conditions: object) -> str:
    """The command that runs a part of a shipped plan."""
    where = [f"--where {_quoted(f'{key}={value}')}" for key, value in conditions.items()]
    return " ".join([f"python -m benchmarks run {plan} --out runs", *where])


def _quoted(text: str) -> str:
    return f'"{text}"' if " " in text else text


def _condition(plan: Plan, text: str) -> tuple[str, set[str]]:
    """Read one condition; a key or value that no cell has is a typo."""
    key, sign, values = text.partition("=")
    known = {value for cell in plan.cells if (value := _value(cell, key)) is not None}
    if not sign or not known:
        keys = dict.fromkeys(key for cell in plan.cells for key in ("method", *cell.setting))
        raise ParameterError(
            f"a condition is key=value with one of the keys {', '.join(keys)}; got {text!r}"
        )
    # A name may have a comma in it.
    asked = {values} if values in known else {value.strip() for value in values.split(",")}
    if asked - known:
        raise ParameterError(
            f"plan {plan.name!r} has no {key} {sorted(asked - known)}; it has {sorted(known)}"
        )
    return key, asked


def _value(cell: Cell, key: str) -> str | None:
    if key == "method":
        return cell.method.name
    value = cell.setting.get(key)
    if isinstance(value, bool):
        return str(value).lower()  # as TOML writes it
    return None if value is None else str(value)


def _meets(cell: Cell, conditions: Sequence[tuple[str, set[str]]]) -> bool:
    return all(_value(cell, key) in values for key, values in conditions)


def planned_records(folder: Path, plan: str) -> list[Record]:
    """The records of cells that the plan still has, in its order."""
    place = {cell.key: number for number, cell in enumerate(load_plan(plan).cells)}
    records = {record["key"]: record for record in recorded(folder, plan)}  # the last one counts
    return sorted(
        (record for key, record in records.items() if key in place),
        key=lambda record: place[record["key"]],
    )
