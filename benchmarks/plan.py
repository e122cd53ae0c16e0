"""A plan is settings times methods times repeats, written in TOML.

    task = "learn"
    repeats = 3
    seed = 0                      # root of every seed; optional
    time_limit = 600              # seconds for one cell; optional
    memory_limit = 4.0            # GiB for one cell; optional
    threads = 1                   # BLAS threads; optional
    methods = [
      "dagma",
      { name = "order-2", call = "analyticdag", constraint = "order-2" },
    ]

    [[settings]]
    graph = ["ER2", "ER4"]        # a list is an axis: every combination is a setting
    nodes = [100, 200]

The seed of a cell comes from the *name* of its setting and the number of the repeat, not from its
place in the plan: adding a method or a setting changes nobody's data.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from analyticdag._schema import parsed_toml
from analyticdag.errors import ParameterError

__all__ = ["Cell", "Limits", "Method", "Plan", "Scalar", "load_plan", "parse_plan", "shipped_plans"]

Scalar: TypeAlias = str | int | float | bool

_KEYS = {"title", "task", "repeats", "seed", "settings", "methods"}
_LIMITS = {"time_limit", "memory_limit", "threads"}


@dataclass(frozen=True)
class Method:
    """What is measured: a name for the table, the callable behind it, and its options."""

    name: str
    call: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Limits:
    """What one cell may use. None means no limit (or, for threads, the libraries' own choice)."""

    time_limit: float | None = None
    memory_limit: float | None = None
    threads: int | None = None

    @property
    def need_a_process(self) -> bool:
        """Whether the limits can only be enforced from outside the cell's process."""
        return self.time_limit is not None or self.memory_limit is not None


@dataclass(frozen=True)
class Cell:
    """One setting, one method, one repeat: the unit that is run, recorded and never run again."""

    plan: str
    task: str
    setting: Mapping[str, Scalar]
    method: Method
    repeat: int
    seed: int
    place: int = 0  # in the plan: tables keep its order, and nothing else depends on it

    @property
    def setting_name(self) -> str:
        """The setting in words, independent of the order of its keys."""
        return ",".join(f"{key}={self.setting[key]}" for key in sorted(self.setting))

    @property
    def key(self) -> str:
        """Identity of the cell: two cells with the same key would make the same record."""
        what = [self.task, dict(self.setting), self.method.call, dict(self.method.options)]
        return json.dumps([*what, self.method.name, self.repeat, self.seed], sort_keys=True)

    def rng(self) -> np.random.Generator:
        """The generator of the cell's data: the same for every method."""
        name = f"{self.seed}|{self.task}|{self.setting_name}|{self.repeat}"
        digest = hashlib.sha256(name.encode()).digest()
        return np.random.default_rng(np.random.SeedSequence(int.from_bytes(digest, "big")))


@dataclass(frozen=True)
class Plan:
    """A list of cells and the limits each of them runs under."""

    name: str
    title: str
    cells: tuple[Cell, ...]
    limits: Limits


def shipped_plans() -> list[str]:
    """Names of the plans inside the package."""
    folder = resources.files("benchmarks") / "plans"
    files = [file.name for file in folder.iterdir() if file.name.endswith(".toml")]
    return sorted(name.removesuffix(".toml") for name in files)


def load_plan(plan: str | Path) -> Plan:
    """Read a plan: the name of a shipped one, or the path of a TOML file."""
    path = Path(plan)
    if path.suffix == ".toml":
        if not path.is_file():
            raise ParameterError(f"there is no plan at {path}; give the path of a TOML file")
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = f"cannot be read as UTF-8 text ({error})"
            raise ParameterError(f"the plan {path} {reason}; give a TOML file") from error
        return parse_plan(path.stem, text)
    if str(plan) not in shipped_plans():
        known = ", ".join(shipped_plans())
        raise ParameterError(
            f"no plan is called {str(plan)!r}; shipped plans: {known}; or give a .toml file"
        )
    text = resources.files("benchmarks").joinpath("plans", f"{plan}.toml").read_text("utf-8")
    return parse_plan(str(plan), text)


def parse_plan(name: str, text: str) -> Plan:
    """Turn the text of a plan into its cells; unknown keys are refused, not ignored."""
    try:
        table = parsed_toml(text)
    except ValueError as error:
        raise ParameterError(f"plan {name!r} is not valid TOML: {error}") from error
    _refuse_unknown_keys(name, table)
    _refuse_wrong_types(name, table)
    grid = itertools.product(
        _settings(name, table["settings"]),
        range(table.get("repeats", 1)),
        [_method(entry) for entry in table["methods"]],
    )
    seed = table.get("seed", 0)
    cells = [
        Cell(name, table["task"], setting, method, repeat, seed, place)
        for place, (setting, repeat, method) in enumerate(grid)
    ]
    _refuse_twins(name, cells)
    limits = Limits(**{key: table[key] for key in _LIMITS if key in table})
    return Plan(name, table.get("title", name), tuple(cells), limits)


def _method(entry: str | dict[str, Any]) -> Method:
    if isinstance(entry, str):
        return Method(entry, entry)
    options = dict(entry) if isinstance(entry, dict) else {}
    if "name" not in options:
        raise ParameterError(f"a method needs a name; got {entry}")
    name = options.pop("name")
    return Method(name, options.pop("call", name), options)


def _settings(name: str, blocks: list[dict[str, Any]]) -> Iterator[dict[str, Scalar]]:
    for block in blocks:
        axes = [value if isinstance(value, list) else [value] for value in block.values()]
        for key, axis in zip(block, axes, strict=True):
            if not axis or any(isinstance(value, list | dict) for value in axis):
                raise ParameterError(
                    f"plan {name!r}: setting {key} is {block[key]!r}; give a value, or a list of "
                    "values, at least one"
                )
        for values in itertools.product(*axes):
            yield dict(zip(block, values, strict=True))


def _refuse_unknown_keys(name: str, table: dict[str, Any]) -> None:
    missing = {"task", "settings", "methods"} - set(table)
    unknown = set(table) - _KEYS - _LIMITS
    if missing:
        raise ParameterError(f"plan {name!r} lacks {sorted(missing)}")
    if unknown:
        known = sorted(_KEYS | _LIMITS)
        raise ParameterError(f"plan {name!r} has unknown keys {sorted(unknown)}; known: {known}")


def _refuse_wrong_types(name: str, table: dict[str, Any]) -> None:
    """A plan that means something else than its author thinks must not run for hours first."""
    wrong = {
        "task": not isinstance(table["task"], str),
        "settings": not _is_list(table["settings"], dict),
        "methods": not _is_list(table["methods"], str | dict),
        "repeats": not _is_count(table.get("repeats", 1), 1),
        "seed": not _is_count(table.get("seed", 0), 0),
        "threads": not _is_count(table.get("threads", 1), 1),
        **{key: not _is_positive(table.get(key, 1)) for key in ("time_limit", "memory_limit")},
    }
    for key in (key for key, is_wrong in wrong.items() if is_wrong):
        raise ParameterError(
            f"plan {name!r}: {key} must be {_EXPECTED[key]}, not {table[key]!r:.80}"
        )


_EXPECTED = {
    "task": "the name of a task",
    "settings": "one [[settings]] table or more",
    "methods": "a list of names, or tables with a name",
    "repeats": "a whole number of at least 1",
    "seed": "a whole number of at least 0",
    "threads": "a whole number of at least 1",
    "time_limit": "a positive number of seconds",
    "memory_limit": "a positive number of GiB",
}


def _is_list(value: Any, kind: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, kind) for v in value)


def _is_count(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _is_positive(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def _refuse_twins(name: str, cells: list[Cell]) -> None:
    seen: set[tuple[str, str, int]] = set()
    for cell in cells:
        place = (cell.setting_name, cell.method.name, cell.repeat)
        if place in seen:
            raise ParameterError(
                f"plan {name!r} has two cells for setting {cell.setting_name} and method "
                f"{cell.method.name!r}; give methods and settings distinct names"
            )
        seen.add(place)
