"""A case: a program of a few lines, and the outcome of running it."""

from __future__ import annotations

import random
import traceback
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

import analyticdag

T = TypeVar("T")

PACKAGE = str(Path(analyticdag.__file__).parent)
PRELUDE = """\
import json
from pathlib import Path
import numpy as np
from analyticdag import AnalyticDAG, Knowledge, NonlinearDAG
"""


@dataclass(frozen=True)
class Case:
    """Lines that set something up, and the name of the call that is then judged."""

    family: str
    lines: tuple[str, ...]
    call: str

    def without(self, index: int) -> Case:
        """Return the case with one line less."""
        return Case(self.family, self.lines[:index] + self.lines[index + 1 :], self.call)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {**asdict(self), "lines": list(self.lines)}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Case:
        """Build a case from what `to_dict` made."""
        return cls(record["family"], tuple(record["lines"]), record["call"])


@dataclass(frozen=True)
class Outcome:
    """What came of a case: `status` is counted; a violation has a kind and the place it came from.

    Two violations with the same kind and place are taken for one.
    """

    status: str
    kind: str = ""
    place: str = ""
    message: str = ""

    @property
    def is_violation(self) -> bool:
        """Whether a promise was broken, or the campaign itself is."""
        return self.status in ("violation", "unbuildable")

    @property
    def identity(self) -> tuple[str, str]:
        """What makes two violations the same."""
        return self.kind, self.place


class Violation(Exception):  # noqa: N818 - it is what it is
    """A promise that does not hold."""

    def __init__(self, kind: str, message: str, place: str = "") -> None:
        super().__init__(message)
        self.kind, self.place = kind, place

    def outcome(self) -> Outcome:
        """Return it as data."""
        return Outcome("violation", self.kind, self.place, str(self)[:600])


class Draw:
    """Choices from (seed, family, number); adding a case never shifts another."""

    def __init__(self, seed: int, family: str, number: int) -> None:
        self.random = random.Random(f"{seed}/{family}/{number}")

    def one(self, items: Sequence[T]) -> T:
        """Return one of the items."""
        return self.random.choice(items)

    def weighted(self, weights: dict[T, float]) -> T:
        """Return one of the keys, as often as its weight says."""
        return self.random.choices(list(weights), list(weights.values()))[0]

    def some(self, items: Sequence[T], most: int) -> list[T]:
        """Return up to `most` of the items, in random order."""
        return self.random.sample(items, min(len(items), self.random.randint(0, most)))

    def chance(self, share: float) -> bool:
        """Return True in this share of the calls."""
        return self.random.random() < share

    def whole(self, low: int, high: int) -> int:
        """Return a whole number between the two, both included."""
        return self.random.randint(low, high)


def set_up(case: Case) -> dict[str, Any]:
    """Run the lines and return the names they defined.

    Errors that the package itself raises are for the caller to judge; any other is a mistake of
    the generator.
    """
    names: dict[str, Any] = {"__name__": "case"}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        exec(PRELUDE, names)
        for line in case.lines:
            exec(line, names)
    return names


def place_of(error: BaseException) -> str:
    """Return the error's type and the last function of the package that it came through."""
    frames = [
        f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(PACKAGE)
    ]
    last = f"{Path(frames[-1].filename).stem}.{frames[-1].name}" if frames else ""
    return f"{type(error).__name__} in {last}" if last else ""
