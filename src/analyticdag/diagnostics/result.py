"""What diagnostics found, as plain data: a check has a level, numbers and a sentence of advice."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from analyticdag._tables import first_few

# Names that one sentence of advice lists.
SHOWN = 5


class Level(StrEnum):
    """How much a check should worry the reader."""

    FINE = "fine"
    NOTE = "note"
    WARNING = "warning"


@dataclass(frozen=True)
class Check:
    """One question put to the data, its answer in numbers, and what to do."""

    name: str
    level: Level
    advice: str
    numbers: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Diagnostics:
    """Every check of a fit; `diagnostics["varsortability"]` finds one by its name."""

    checks: tuple[Check, ...]

    def __iter__(self) -> Iterator[Check]:
        return iter(self.checks)

    def __getitem__(self, name: str) -> Check:
        for check in self.checks:
            if check.name == name:
                return check
        raise KeyError(f"no check {name!r}; there are {[check.name for check in self.checks]}")

    @property
    def concerns(self) -> tuple[Check, ...]:
        """The checks that are not fine, warnings first."""
        worried = [check for check in self.checks if check.level is not Level.FINE]
        return tuple(sorted(worried, key=lambda check: check.level is Level.NOTE))

    def as_dict(self) -> dict[str, Any]:
        """Return plain data as JSON holds it, by the names of the checks."""
        return {
            check.name: {
                "level": str(check.level),
                "advice": check.advice,
                "numbers": dict(check.numbers),
            }
            for check in self.checks
        }


def listing(items: Sequence[Hashable | tuple[Hashable, ...]]) -> str:
    """Return the first few items as text, pairs as a – b."""
    texts = [" – ".join(map(str, item)) if isinstance(item, tuple) else str(item) for item in items]
    return first_few(texts, SHOWN)
