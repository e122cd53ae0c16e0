"""What is said about one effect: `Effect`, and the sentence that says it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

# What a common cause that was not measured does to an effect, in one clause.
HIDDEN = "may be due to a common cause that was not measured"


@dataclass(frozen=True)
class Possible:
    """One possible value of an effect, with what it would rest on."""

    value: float
    standard_error: float
    interval: tuple[float, float]
    parents: tuple[Hashable, ...]  # what would be the direct causes of x


@dataclass(frozen=True)
class Path:
    """One way on which an effect travels: the columns on it, and how much it carries."""

    nodes: tuple[Hashable, ...]
    value: float


@dataclass(frozen=True)
class Effect:
    """The total effect of `cause` on `outcome`: one more unit of the one, so many of the other.

    value, standard_error : None where the class leaves several values possible.
    interval : a confidence interval; over a class the hull of the intervals of all values.
    possible : one value for each distinct possible effect over the class, smallest first.
    identified : whether all members of the class agree on the value.
    zero_share : share of the ways to point the open edges at the cause that give no effect.
    n_members, n_zero : how many graphs the class has, and in how many of them the cause does not
        reach the outcome; None where open edges connect too many columns to count.
    standardized : the value in standard deviations; None like `value`.
    unit : one standard deviation of the outcome per one of the cause, in units of the columns.
    direct, mediated : the part of the value along the edge from cause to outcome, and the rest;
        None where open edges leave the split open.
    paths, n_paths : the strongest paths that carry the effect, and how many there are in all.
    adjustment_set : columns that a regression of the outcome on the cause should adjust for, the
        choice with the smallest error; None where the effect is not identified.
    minimal_adjustment_set : a valid set with as few columns as can be; None likewise.
    open_edges : the pairs at the cause that would have to be settled; empty where identified.
    settling : those of the open edges of which each alone, once its direction is known, would leave
        one value; empty where it takes several.
    hidden : pairs on the way that look as if they had a common cause that was not measured.
    bounded : True where there were too many open edges to list values: `interval` is a bound.
    """

    cause: Hashable
    outcome: Hashable
    value: float | None
    standard_error: float | None
    interval: tuple[float, float]
    possible: tuple[float, ...]
    identified: bool
    zero_share: float
    standardized: float | None
    adjustment_set: tuple[Hashable, ...] | None
    minimal_adjustment_set: tuple[Hashable, ...] | None
    open_edges: tuple[tuple[Hashable, Hashable], ...]
    details: tuple[Possible, ...] = ()
    level: float = 0.95
    bounded: bool = False
    unit: float = 1.0
    n_members: int | None = None
    n_zero: int | None = None
    direct: float | None = None
    mediated: float | None = None
    paths: tuple[Path, ...] = ()
    n_paths: int = 0
    settling: tuple[tuple[Hashable, Hashable], ...] = ()
    hidden: tuple[tuple[Hashable, Hashable], ...] = ()

    def __str__(self) -> str:
        return self.sentence()

    def sentence(self, units: Mapping[Hashable, str] | None = None) -> str:
        """Say the effect in one line; `units` names what the columns are measured in."""
        named = units or {}
        head = f"one more {named.get(self.cause, 'unit')} of {self.cause} → "
        tail = f" {named[self.outcome]} of {self.outcome}" if self.outcome in named else ""
        tail = tail or f" in {self.outcome}"
        low, high = self.interval
        if self.value is not None:
            return f"{head}{self.value:+.4g} [{low:.4g}, {high:.4g}]{tail}{self._crossing()}"
        pairs = pairs_text(self.open_edges)
        said = "something within" if self.bounded else f"one of {self._values()} within"
        return (
            f"{head}{said} [{low:.4g}, {high:.4g}]{tail}; not identified: {pairs} "
            f"{'is' if len(self.open_edges) == 1 else 'are'} open{self._crossing()}"
        )

    def _values(self) -> str:
        return ", ".join(f"{value:.4g}" for value in self.possible)

    def _crossing(self) -> str:
        if not self.hidden:
            return ""
        return f"; {pairs_text(self.hidden)} {HIDDEN}"

    def as_dict(self) -> dict[str, Any]:
        """Return plain data as JSON holds it: what is not finite is None."""
        return {
            "cause": self.cause,
            "outcome": self.outcome,
            "value": self.value,
            "standard_error": self.standard_error,
            "interval": [_finite(end) for end in self.interval],
            "level": self.level,
            "standardized": self.standardized,
            "identified": self.identified,
            "possible": list(self.possible),
            "bounded": self.bounded,
            "zero_share": _finite(self.zero_share),
            "n_members": self.n_members,
            "n_zero": self.n_zero,
            "direct": self.direct,
            "mediated": self.mediated,
            "paths": [{"nodes": list(path.nodes), "value": path.value} for path in self.paths],
            "n_paths": self.n_paths,
            "adjustment_set": _listed(self.adjustment_set),
            "minimal_adjustment_set": _listed(self.minimal_adjustment_set),
            "open_edges": [list(pair) for pair in self.open_edges],
            "settling": [list(pair) for pair in self.settling],
            "hidden": [list(pair) for pair in self.hidden],
        }


def pairs_text(pairs: Iterable[tuple[Hashable, Hashable]], between: str = ", ") -> str:
    """Return pairs that are joined, without a direction."""
    return between.join(f"{a} — {b}" for a, b in pairs)


def _finite(value: float) -> float | None:
    return value if abs(value) < float("inf") else None


def _listed(names: tuple[Hashable, ...] | None) -> list[Hashable] | None:
    return None if names is None else list(names)
