"""What is said about one effect: `Effect`, and the sentence that says it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from analyticdag._schema import plain
from analyticdag._tables import one_line

# What an interval leaves out, and who does not.
_GIVEN = (
    "the interval takes the graph as given; for one that knows that the graph was learned: "
    "analyticdag.stability.bootstrap_effects"
)
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


class Arrow(NamedTuple):
    """An arrow of the graph, and how likely its ends are joined this way."""

    source: Hashable
    target: Hashable
    likely: float

    def __str__(self) -> str:
        share = f"{self.likely:.0%}".replace("%", " %")
        return f"{self.source} → {self.target}, which is {share} likely to point this way"


class LevelEffect(NamedTuple):
    """What a level of the cause, instead of the reference, does to the outcome or to the share of
    one of its levels; texts are empty, and a unit is meant, where a column is no category.

    smallest, largest : the possible values over the class; one where it is identified.
    low, high : a confidence interval; over a class the hull of the intervals of all values.
    """

    cause_level: str
    reference: str
    outcome_level: str
    smallest: float
    largest: float
    low: float
    high: float


@dataclass(frozen=True)
class Effect:
    """The total effect of `cause` on `outcome`: one more unit of the one, so many of the other.

    value, standard_error : None where the class leaves several values possible.
    interval : a confidence interval; over a class the hull of the intervals of all values. It takes
        the graph as given: where that was learned from the same rows it is too narrow, and
        `analyticdag.stability.bootstrap_effects` gives one that knows.
    possible : one value for each distinct possible effect over the class, smallest first.
    identified : whether all members of the class agree on the value.
    zero_share : share of the graphs of the class in which the cause does not reach the outcome; NaN
        where there are too many to count.
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
    levels : of or on a category, what each of its levels does, or what becomes of its share; the
        effect then has no other value.
    step : the two levels of a yes/no cause: one more unit is the first instead of the second.
    outcome_level : the level of a yes/no outcome whose share changes; empty of any other outcome.
    bounded : True where there were too many open edges to list values: `interval` is a bound.
    missed : where no path leads to the outcome, what a link would carry by least squares on the
        cause and the outcome's other causes: the search did not find enough evidence for one. None
        where there is a path, or one back, or a category.
    leads_back : True where a path leads from the outcome to the cause.
    rests_on : of the arrows on the way the least likely one, if it is less than 90 % likely; where
        no path leads to the outcome, of those that would make one if they were turned round.
    tied : where links of an identity are on the way, which one, and what to do: there is no value
        then, and the interval is NaN. Empty of any other effect.
    """

    cause: Hashable
    outcome: Hashable
    interval: tuple[float, float]
    identified: bool
    zero_share: float
    open_edges: tuple[tuple[Hashable, Hashable], ...]
    value: float | None = None
    standard_error: float | None = None
    possible: tuple[float, ...] = ()
    standardized: float | None = None
    adjustment_set: tuple[Hashable, ...] | None = None
    minimal_adjustment_set: tuple[Hashable, ...] | None = None
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
    levels: tuple[LevelEffect, ...] = ()
    step: tuple[str, str] = ("", "")
    outcome_level: str = ""
    missed: Possible | None = None
    leads_back: bool = False
    rests_on: Arrow | None = None
    tied: str = ""

    def __str__(self) -> str:
        given = () if self.is_nowhere or self.tied else (f"({self.note})",)
        return "\n".join([self.sentence(), *map(one_line, self.rests), *given])

    @property
    def is_nowhere(self) -> bool:
        """Whether the cause reaches the outcome in no graph of the class."""
        return self.identified and self.zero_share == 1.0

    @property
    def rests(self) -> tuple[str, ...]:
        """The sentence on the least sure arrow, if one is to be said."""
        return () if self.rests_on is None else (f"it rests on {self.rests_on}",)

    @property
    def note(self) -> str:
        """What the intervals leave out."""
        return _GIVEN

    def sentence(self, units: Mapping[Hashable, str] | None = None) -> str:
        """Say the effect in one line; `units` names what the columns are measured in."""
        return one_line(self._sentence(units or {}))

    def _sentence(self, named: Mapping[Hashable, str]) -> str:
        if self.tied:
            return f"no number for {self.cause} on {self.outcome}: {self.tied}"
        if self.is_nowhere:
            return f"{self._no_path()}, so no effect if the graph is right{self._missed(named)}"
        if self.levels:
            most = max(self.levels, key=lambda one: abs(one.smallest + one.largest))
            many = f" (the largest of {len(self.levels)})" if len(self.levels) > 1 else ""
            return f"{self.of_level(most, named)}{many}{self._crossing()}"
        head = f"{change(self.cause, *self.step, named)} → "
        tail = f" {self._counted_in(self.outcome_level, named)}"
        low, high = self.interval
        if self.value is not None:
            return f"{head}{self.value:+.4g} [{low:.4g}, {high:.4g}]{tail}{self._crossing()}"
        pairs = pairs_text(self.open_edges)
        said = "something within" if self.bounded else f"one of {self._values()} within"
        return (
            f"{head}{said} [{low:.4g}, {high:.4g}]{tail}; not identified: {pairs} "
            f"{'is' if len(self.open_edges) == 1 else 'are'} open{self._crossing()}"
        )

    def _no_path(self) -> str:
        back = f", which leads from {self.outcome} to {self.cause}" if self.leads_back else ""
        return f"no path from {self.cause} to {self.outcome} in this graph{back}"

    def _missed(self, named: Mapping[Hashable, str]) -> str:
        if self.missed is None:
            return ""
        low, high = self.missed.interval
        counted = f" {self._counted_in(self.outcome_level, named)}" if self.outcome_level else ""
        return (
            f"; with a link that the search may have missed: "
            f"{self.missed.value:+.4g} [{low:.4g}, {high:.4g}]{counted}"
        )

    def of_level(self, one: LevelEffect, units: Mapping[Hashable, str]) -> str:
        """Say what one level of a category does, or what becomes of its share."""
        levels = (one.cause_level, one.reference) if one.cause_level else self.step
        head = change(self.cause, *levels, units)
        tail = self._counted_in(one.outcome_level, units)
        value = f"{one.smallest:+.4g}"
        if one.largest - one.smallest > 1e-9 * max(abs(one.largest), abs(one.smallest)):
            value += f" to {one.largest:+.4g}"
        return one_line(f"{head} → {value} [{one.low:.4g}, {one.high:.4g}] {tail}")

    def _counted_in(self, level: str, units: Mapping[Hashable, str]) -> str:
        """Say what a value counts: the share of a level, or units of the outcome."""
        if level:
            return f"in the share of {level_of_column(level, self.outcome)}"
        unit = units.get(self.outcome)
        return f"{unit} of {self.outcome}" if unit else f"in {self.outcome}"

    def _values(self) -> str:
        return ", ".join(f"{value:.4g}" for value in self.possible)

    def _crossing(self) -> str:
        if not self.hidden:
            return ""
        return f"; {pairs_text(self.hidden)} {HIDDEN}"

    def as_dict(self) -> dict[str, Any]:
        """Return plain data as JSON holds it, without `details`: what is not finite is None."""
        record: dict[str, Any] = plain(asdict(self))
        del record["details"], record["unit"]
        record["rests_on"] = plain(self.rests_on and self.rests_on._asdict())
        record["levels"] = [plain(one._asdict()) for one in self.levels]
        return {**record, "note": self.note}


def change(cause: Hashable, to: str, since: str, units: Mapping[Hashable, str]) -> str:
    """Say what is done to a cause: one more unit, or one level instead of another."""
    if to or since:
        return f"{cause}: {to} instead of {since}"
    return f"one more {units.get(cause, 'unit')} of {cause}"


def level_of_column(level: str, column: Hashable) -> str:
    """Name a level with its column, if that has not the same name: "yes (smoker)"."""
    return level if level == str(column) else f"{level} ({column})"


def pairs_text(pairs: Iterable[tuple[Hashable, Hashable]], between: str = ", ") -> str:
    """Return pairs that are joined, without a direction; on one line, whatever their names."""
    return between.join(one_line(f"{a} — {b}") for a, b in pairs)


def lines(effect: Effect, units: Mapping[Hashable, str]) -> Iterator[str]:
    """Yield what is to be said about an effect, one thing a line; not what intervals leave out."""
    yield from map(one_line, _lines(effect, units))


def _lines(effect: Effect, units: Mapping[Hashable, str]) -> Iterator[str]:
    if effect.is_nowhere or effect.tied:
        yield effect.sentence(units)
        yield from effect.rests
        return
    if effect.levels:
        yield from (effect.of_level(one, units) for one in effect.levels)
    else:
        yield effect.sentence(units)
    yield from effect.rests
    yield from _about(effect)


def _about(effect: Effect) -> Iterator[str]:
    if effect.standardized is not None:
        yield f"in standard deviations: {effect.standardized:+.3g}"
    if effect.identified:
        yield from _parts(effect)
        yield from _adjustment(effect)
        return
    if effect.n_members is not None:
        pair, n_zero = f"{effect.cause} on {effect.outcome}", effect.n_zero
        has = f"{n_zero} {'has' if n_zero == 1 else 'have'} no effect of {pair}"
        yield (
            f"of the {effect.n_members} graphs that fit equally well "
            f"{has if n_zero else f'all have an effect of {pair}'} (a count of graphs, which is no "
            "probability)"
        )
    yield f"{_settled_by(effect)} (fit again with --knowledge)"


def _settled_by(effect: Effect) -> str:
    if not effect.settling:
        return "knowing the directions of all of these would settle it"
    pairs = pairs_text(effect.settling, " or ")
    return f"knowing the direction of {pairs} alone would settle it"


def _parts(effect: Effect) -> Iterator[str]:
    if effect.direct is None or (not effect.paths and not effect.mediated):
        return
    yield f"direct {effect.direct:+.4g}, through other columns {effect.mediated:+.4g}"
    for path in effect.paths:
        yield f"  {' → '.join(map(str, path.nodes))}  {path.value:+.4g}"
    if effect.n_paths > len(effect.paths):
        yield f"  and {effect.n_paths - len(effect.paths)} weaker paths"


def _adjustment(effect: Effect) -> Iterator[str]:
    if not effect.value and not effect.levels:
        return
    best, least = (
        ", ".join(map(str, chosen or ())) or "nothing"
        for chosen in (effect.adjustment_set, effect.minimal_adjustment_set)
    )
    yield f"a regression of {effect.outcome} on {effect.cause} should adjust for {best}"
    if least != best:
        others = "without adjusting for anything" if least == "nothing" else f"with {least} alone"
        yield f"it is right {others} too, but then its error is larger as a rule"
