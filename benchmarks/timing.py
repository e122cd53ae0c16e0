"""How long a run will still take, judged by what its cells have taken so far.

Cells differ by orders of magnitude, so the average over all of them says little: a cell is
expected to take what its method took on the same setting, else what the method took anywhere, else
what all took. How many run at a time shows in how fast that work gets done.
"""

from __future__ import annotations

import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from typing import TypeAlias

from benchmarks.plan import Cell
from benchmarks.records import Record

__all__ = ["Forecast", "in_words"]

_Place: TypeAlias = tuple[Hashable, ...]


class Forecast:
    """Tell it every record; it tells the seconds that are left."""

    def __init__(
        self,
        cells: Sequence[Cell],
        before: Sequence[Record] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._left = {cell.key: (cell.setting_name, cell.method.name) for cell in cells}
        self._seen: dict[_Place, list[float]] = defaultdict(list)
        self._clock, self._begin, self._work = clock, clock(), 0.0
        for record in before:
            self._learn(record)

    def after(self, record: Record) -> float:
        """Seconds left, now that this record was made."""
        self._learn(record)
        self._left.pop(record["key"], None)
        self._work += record["wall_seconds"] or 0.0
        elapsed = self._clock() - self._begin
        # Work done per second: two when two cells run at a time, less than one with overheads.
        speed = self._work / elapsed if elapsed > 0 else 1.0
        return sum(map(self._expected, self._left.values())) / max(speed, 1e-3)

    def _learn(self, record: Record) -> None:
        place = (_setting_name(record), record["method"])
        if record["wall_seconds"] is not None:
            for known in (place, place[1:], ()):
                self._seen[known].append(record["wall_seconds"])

    def _expected(self, place: tuple[str, str]) -> float:
        known = next((self._seen[p] for p in (place, place[1:], ()) if p in self._seen), [0.0])
        return statistics.fmean(known)


def in_words(seconds: float) -> str:
    """A time as people say it: 40 s, 12 min, 3.5 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _setting_name(record: Record) -> str:
    """The same words as `Cell.setting_name`."""
    setting = record["setting"]
    return ",".join(f"{key}={setting[key]}" for key in sorted(setting))
