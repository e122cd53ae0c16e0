"""An effect in plain lines: the answer, then what it is made of and what it rests on."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping

from analyticdag.effects.effect import Effect, pairs_text


def lines(effect: Effect, units: Mapping[Hashable, str]) -> Iterator[str]:
    """Yield what is to be said about an effect, one thing a line."""
    yield effect.sentence(units)
    if effect.standardized is not None:
        yield f"in standard deviations: {effect.standardized:+.3g}"
    if effect.identified:
        yield from _parts(effect)
        yield from _adjustment(effect)
        return
    if effect.n_members is not None:
        yield (
            f"no effect of {effect.cause} on {effect.outcome} in {effect.n_zero} of the "
            f"{effect.n_members} graphs that fit equally well"
        )
    yield f"{_settled_by(effect)} (fit again with --knowledge)"


def _settled_by(effect: Effect) -> str:
    if not effect.settling:
        return "knowing the directions of all of these would settle it"
    pairs = pairs_text(effect.settling, " or ")
    return f"knowing the direction of {pairs} alone would settle it"


def _parts(effect: Effect) -> Iterator[str]:
    if effect.direct is None or not effect.paths:
        return
    yield f"direct {effect.direct:+.4g}, through other columns {effect.mediated:+.4g}"
    for path in effect.paths:
        yield f"  {' → '.join(map(str, path.nodes))}  {path.value:+.4g}"
    if effect.n_paths > len(effect.paths):
        yield f"  and {effect.n_paths - len(effect.paths)} weaker paths"


def _adjustment(effect: Effect) -> Iterator[str]:
    if not effect.value:
        return
    best, least = (
        ", ".join(map(str, chosen or ())) or "nothing"
        for chosen in (effect.adjustment_set, effect.minimal_adjustment_set)
    )
    yield f"a regression of {effect.outcome} on {effect.cause} should adjust for: {best}"
    if least != best:
        yield f"the least it can adjust for: {least}"
