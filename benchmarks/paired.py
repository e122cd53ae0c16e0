"""Has one method fewer errors than another? A paired test, claim by claim.

    <!-- bench paired paper-claims shd graph=ER2,ER4 order-2 < order-1; order-1 < dagma -->

A claim "A < B" says that A has the smaller metric, on the settings that its conditions leave. Both
ran on the same data, so the differences A - B are tested, all settings of a claim together, in
errors per hundred nodes. Two tests, because they ask two things: Student's t, whether the mean is
below zero, and Wilcoxon's signed ranks, whether the graphs that differ lean to one side. A single
bad graph can change the mean a lot; it changes a rank test little. p is corrected after Holm for
the number of all tests of the block: of many claims that are false, one would look true by chance.
The interval, of the mean, is of its claim alone; differences that are all alike have none. Settings
that do not say how many nodes they have are compared in plain errors.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
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
    "95 % interval",
    "better / equal / worse",
    "p of the mean",
    "p of the ranks",
    "verdict",
    "difference by setting (pairs)",
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
        conditions = dict(word.split("=", 1) for word in words if "=" in word)
        return cls(better=names[0], worse=names[1], conditions=conditions)

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


def paired_table(records: Sequence[Record], words: Sequence[str], known: Collection[str]) -> str:
    """A line for each claim: difference, interval, better / equal / worse, p and verdict.

    A method that is not ``known`` is a typo, one without records has not been run.
    """
    metric, text = words[0], " ".join(words[1:])
    varying, _ = split_keys(records)
    rows, pooled = [], []
    for claim in map(Claim.read, text.split(";")):
        if missing := {claim.better, claim.worse} - set(known):
            raise DataError(f"the plan has no method {sorted(missing)}; it has {sorted(known)}")
        found = claim.differences(records, metric)
        pooled.append(np.concatenate([[], *(d * _per_hundred(s) for s, d in found.items())]))
        rows.append((str(claim), ", ".join(_in_words(s, d, varying) for s, d in found.items())))
    corrected = holm([test(d) for test in (_p_of_mean, _p_of_ranks) for d in pooled])
    tests = zip(corrected[: len(rows)], corrected[len(rows) :], strict=True)
    unit = " per 100 nodes" if any("nodes" in record["setting"] for record in records) else ""
    return table(
        ["claim", f"difference{unit}", *_HEADER],
        [
            [claim, *_numbers(differences, *p), settings]
            for (claim, settings), differences, p in zip(rows, pooled, tests, strict=True)
        ],
    )


def holm(p: Sequence[float]) -> list[float]:
    """The p values after Holm's correction for their number."""
    largest, corrected = 0.0, [1.0] * len(p)
    for place, which in enumerate(np.argsort(p)):
        largest = max(largest, min(1.0, (len(p) - place) * p[which]))
        corrected[which] = largest
    return corrected


def _p_of_mean(differences: FloatArray) -> float:
    """How often a mean this far from zero comes by chance; 1 where there is nothing to test."""
    n = len(differences)
    if n < _FEWEST or not differences.any():
        return 1.0
    if np.ptp(differences) == 0.0:
        return 2.0 * 0.5**n  # all alike: the sign test, where t would be infinite
    return float(stats.ttest_1samp(differences, 0.0).pvalue)


def _p_of_ranks(differences: FloatArray) -> float:
    """How often ranks this uneven come by chance; graphs without a difference do not count."""
    differing = differences[differences != 0.0]
    return float(stats.wilcoxon(differing).pvalue) if len(differing) else 1.0


def _numbers(differences: FloatArray, p_of_mean: float, p_of_ranks: float) -> list[str]:
    n = len(differences)
    if n < _FEWEST:
        return ["–", "–", "–", "–", "–", f"too few pairs ({n})"]
    mean, half = differences.mean(), stats.t.ppf(1.0 - _LEVEL / 2, n - 1) * stats.sem(differences)
    better, worse = int((differences < 0).sum()), int((differences > 0).sum())
    return [
        _signed(mean),
        f"{_signed(mean - half)} to {_signed(mean + half)}" if np.ptp(differences) else "–",
        f"{better} / {n - better - worse} / {worse}",
        *(f"{p:.3f}" if p >= 0.001 else "< 0.001" for p in (p_of_mean, p_of_ranks)),
        _verdict(n, mean < 0 if p_of_mean < _LEVEL else better > worse, p_of_mean, p_of_ranks),
    ]


def _verdict(n: int, claimed: bool, p_of_mean: float, p_of_ranks: float) -> str:
    """What the tests say, and where only one of them says it, which."""
    if min(p_of_mean, p_of_ranks) >= _LEVEL:
        return f"not shown with {n} pairs"
    found = "**shown**" if claimed else "**contradicted**"
    if p_of_ranks >= _LEVEL:
        return f"{found} by the mean ({n} pairs)"
    return f"{found} ({n} pairs)" if p_of_mean < _LEVEL else f"{found} by the ranks ({n} pairs)"


def _in_words(setting: _Setting, differences: FloatArray, varying: Sequence[str]) -> str:
    place = " ".join(str(value) for key, value in setting if key in varying)
    return f"{place} {_signed(differences.mean())} ({len(differences)})".lstrip()


def _per_hundred(setting: _Setting) -> float:
    return 100.0 / float(str(dict(setting).get("nodes", 100)))


def _signed(value: float) -> str:
    return ("−" if value < 0 else "+" if value > 0 else "") + format_number(abs(value))
