"""Has one method fewer errors than another? A paired test, claim by claim.

    <!-- bench paired paper-claims shd graph=ER2,ER4 order-2 < order-1; order-1 < dagma -->

A claim "A < B" says that A has the smaller metric, on the settings that its conditions leave. Both
ran on the same data, so the test is the t test of the differences A - B being zero on average. All
settings of a claim are taken together, in errors per hundred nodes. p is corrected after Holm for
the number of claims in the block: of many that are false, one would look true by chance. The
interval is of its claim alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy import stats

from analyticdag._typing import FloatArray
from analyticdag.errors import DataError
from benchmarks.records import Record
from benchmarks.render import settings_of, split_keys
from benchmarks.summary import format_number, setting_of, table, values_of

__all__ = ["Claim", "holm", "paired_table"]

_LEVEL = 0.05
_FEWEST = 3  # pairs below which no test is made: an interval from two says nothing
_HEADER = [
    "claim",
    "difference per 100 nodes",
    "95 % interval",
    "better / equal / worse",
    "p, corrected",
    "verdict",
    "difference by setting (seeds)",
]
_Setting: TypeAlias = tuple[tuple[str, object], ...]


@dataclass(frozen=True)
class Claim:
    """``better`` has a smaller metric than ``worse`` where all conditions hold."""

    better: str
    worse: str
    conditions: Mapping[str, str]

    @classmethod
    def read(cls, text: str) -> Claim:
        """Read 'key=value,value better < worse'."""
        words = text.split()
        names = " ".join(word for word in words if "=" not in word).split(" < ")
        if len(names) != 2:
            raise DataError(
                f"a claim is 'method < method', several are parted by ';'; got {text!r}"
            )
        return cls(*names, dict(word.split("=", 1) for word in words if "=" in word))

    def differences(self, records: Sequence[Record], metric: str) -> dict[_Setting, FloatArray]:
        """better - worse on every graph that both were run on, by setting."""
        found = {}
        for setting in settings_of(records):
            here = [record for record in records if setting_of(record) == setting]
            one, other = (
                values_of([record for record in here if record["method"] == name], metric)
                for name in (self.better, self.worse)
            )
            both = sorted(set(one) & set(other))
            if both and self._holds(dict(setting)):
                found[setting] = np.array([one[repeat] - other[repeat] for repeat in both])
        return found

    def _holds(self, setting: Mapping[str, object]) -> bool:
        return all(
            str(setting.get(key)) in values.split(",") for key, values in self.conditions.items()
        )

    def __str__(self) -> str:
        where = ", ".join(value.replace(",", ", ") for value in self.conditions.values())
        return (
            f"{where}: {self.better} < {self.worse}" if where else f"{self.better} < {self.worse}"
        )


def paired_table(records: Sequence[Record], words: Sequence[str]) -> str:
    """A line for each claim: difference, interval, better / equal / worse, p and verdict."""
    metric, text = words[0], " ".join(words[1:])
    varying, _ = split_keys(records)
    rows, pooled = [], []
    for claim in map(Claim.read, text.split(";")):
        found = claim.differences(records, metric)
        pooled.append(np.concatenate([[], *(d * _per_hundred(s) for s, d in found.items())]))
        rows.append((str(claim), ", ".join(_in_words(s, d, varying) for s, d in found.items())))
    corrected = holm([_p(differences) for differences in pooled])
    return table(
        _HEADER,
        [
            [claim, *_numbers(differences, p), settings]
            for (claim, settings), differences, p in zip(rows, pooled, corrected, strict=True)
        ],
    )


def holm(p: Sequence[float]) -> list[float]:
    """The p values after Holm's correction for their number."""
    largest, corrected = 0.0, [1.0] * len(p)
    for place, which in enumerate(np.argsort(p)):
        largest = max(largest, min(1.0, (len(p) - place) * p[which]))
        corrected[which] = largest
    return corrected


def _p(differences: FloatArray) -> float:
    """How often differences this large come by chance; 1 where there is nothing to test."""
    if len(differences) < _FEWEST or not differences.any():
        return 1.0
    return float(stats.ttest_1samp(differences, 0.0).pvalue)


def _numbers(differences: FloatArray, p: float) -> list[str]:
    n = len(differences)
    if n < _FEWEST:
        return ["–", "–", "–", "–", f"too few seeds ({n})"]
    low, high = stats.ttest_1samp(differences, 0.0).confidence_interval(1.0 - _LEVEL)
    better, worse = int((differences < 0).sum()), int((differences > 0).sum())
    direction = "shown" if differences.mean() < 0 else "contradicted"
    return [
        _signed(differences.mean()),
        f"{_signed(low)} to {_signed(high)}",
        f"{better} / {n - better - worse} / {worse}",
        f"{p:.3f}" if p >= 0.001 else "< 0.001",
        f"**{direction}** ({n} seeds)" if p < _LEVEL else f"not shown with {n} seeds",
    ]


def _in_words(setting: _Setting, differences: FloatArray, varying: Sequence[str]) -> str:
    place = " ".join(str(value) for key, value in setting if key in varying)
    return f"{place} {_signed(differences.mean())} ({len(differences)})".lstrip()


def _per_hundred(setting: _Setting) -> float:
    return 100.0 / float(str(dict(setting).get("nodes", 100)))


def _signed(value: float) -> str:
    return ("−" if value < 0 else "+" if value > 0 else "") + format_number(abs(value))
