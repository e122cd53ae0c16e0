"""``analyticdag effect`` and ``effects``: what happens to Y if X is changed, from a saved run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from analyticdag.cli.options import AsJson
from analyticdag.cli.progress import line

if TYPE_CHECKING:
    from analyticdag.effects import Effect, EffectRow, JointEffect
    from analyticdag.io import SavedRun

Run = Annotated[Path, typer.Argument(help="Folder of a saved run.")]
On = Annotated[str, typer.Option("--on", help="The outcome.")]
Level = Annotated[float, typer.Option(help="Confidence of the intervals.")]
Units = Annotated[
    list[str] | None,
    typer.Option(
        "--unit", help="What a column is measured in: NAME=UNIT; repeatable.", show_default="unit"
    ),
]
# What one more of a column is, where the table tells.
_KIND_UNITS = {"log": "unit of the logarithm", "days": "day", "ordered": "level"}


def effect_command(
    run: Run,
    of: Annotated[list[str], typer.Option("--of", help="The cause; repeated: several at once.")],
    on: On,
    level: Level = 0.95,
    unit: Units = None,
    as_json: AsJson = False,
) -> None:
    """Say what one more unit of a cause does to an outcome, as far as RUN can tell."""
    from analyticdag.effects import joint_effect, total_effect
    from analyticdag.io import load_run

    saved = load_run(run)
    model, units = saved.to_estimator(), _units(saved, unit or [])
    if len(of) > 1:
        joint = joint_effect(model, of, on, level=level)
        _tell(as_json, asdict(joint), list(_joint_words(joint, units)))
    else:
        effect = total_effect(model, of[0], on, level=level)
        sentence = effect.sentence(units)
        _tell(as_json, {**effect.as_dict(), "sentence": sentence}, list(_words(effect, units)))


def effects_command(
    run: Run,
    on: On,
    level: Level = 0.95,
    unit: Units = None,
    as_json: AsJson = False,
) -> None:
    """List what moves an outcome, the strongest first, as far as RUN can tell."""
    from analyticdag.effects import effects
    from analyticdag.io import load_run
    from analyticdag.io.run import plain

    saved = load_run(run)
    rows = effects(saved.to_estimator(), on=on, level=level)
    listed = [plain(row._asdict()) for row in rows]
    _tell(as_json, {"outcome": on, "level": level, "effects": listed}, _list(rows, on, saved, unit))


def _tell(as_json: bool, record: Mapping[str, Any], lines: list[str]) -> None:
    text = json.dumps(record, ensure_ascii=True) if as_json else "\n".join(lines)
    line(Console(highlight=False), text)


def _units(saved: SavedRun, given: list[str]) -> dict[Any, str]:
    """Return what columns are measured in: as the table says, and as the user does."""
    from analyticdag.errors import InputError

    columns = () if saved.look is None else saved.look.columns
    units = {c.name: c.unit or _KIND_UNITS.get(c.kind, "") for c in columns}
    for word in given:
        name, sign, text = word.partition("=")
        if not sign or name not in saved.names:
            raise InputError(f"--unit takes NAME=UNIT of a column, as age=year; got {word!r}")
        units[name] = text
    return {name: text for name, text in units.items() if text and name in saved.names}


def _words(effect: Effect, units: Mapping[Any, str]) -> Iterator[str]:
    """Yield the answer, then what it is made of and what it rests on."""
    yield effect.sentence(units)
    if effect.standardized is not None:
        yield f"in standard deviations: {effect.standardized:+.3g}"
    if not effect.identified and effect.n_members is not None:
        yield (
            f"no effect of {effect.cause} on {effect.outcome} in {effect.n_zero} of the "
            f"{effect.n_members} graphs that fit equally well"
        )
    yield from _parts(effect)
    if effect.identified and effect.value:
        best = ", ".join(map(str, effect.adjustment_set or ())) or "nothing"
        least = ", ".join(map(str, effect.minimal_adjustment_set or ())) or "nothing"
        yield f"a regression of {effect.outcome} on {effect.cause} should adjust for: {best}"
        if least != best:
            yield f"the least it can adjust for: {least}"
    elif not effect.identified:
        yield f"{_settled_by(effect)} (fit again with --knowledge)"


def _settled_by(effect: Effect) -> str:
    if not effect.settling:
        return "knowing the directions of all of these would settle it"
    pairs = " or ".join(f"{a} — {b}" for a, b in effect.settling)
    return f"knowing the direction of {pairs} alone would settle it"


def _parts(effect: Effect) -> Iterator[str]:
    if effect.direct is None or not effect.paths:
        return
    yield f"direct {effect.direct:+.4g}, through other columns {effect.mediated:+.4g}"
    for path in effect.paths:
        yield f"  {' → '.join(map(str, path.nodes))}  {path.value:+.4g}"
    if effect.n_paths > len(effect.paths):
        yield f"  and {effect.n_paths - len(effect.paths)} weaker paths"


def _joint_words(joint: JointEffect, units: Mapping[Any, str]) -> Iterator[str]:
    unit = units.get(joint.outcome, "")
    yield f"on {joint.outcome}{f' ({unit})' if unit else ''}, with the other causes held fixed:"
    for k, cause in enumerate(joint.causes):
        low, high = joint.intervals[k]
        values = sorted({round(values[k], 12) for values in joint.possible})
        said = f"{values[0]:+.4g}" if len(values) == 1 else f"{values[0]:.4g} to {values[-1]:.4g}"
        yield f"  one more {units.get(cause, 'unit')} of {cause} → {said} [{low:.4g}, {high:.4g}]"
    if not joint.identified:
        pairs = ", ".join(f"{a} — {b}" for a, b in joint.open_edges)
        yield f"not identified: {pairs} open"


def _list(
    rows: list[EffectRow], outcome: str, saved: SavedRun, given: list[str] | None
) -> list[str]:
    units = _units(saved, given or [])
    unit = units.get(outcome, "")
    if not rows:
        return [f"nothing in this graph can move {outcome}"]
    heads = [f"one more {units.get(row.cause, 'unit')} of {row.cause}" for row in rows]
    width = min(max(map(len, heads)), 60)
    lines = [f"what moves {outcome}{f' ({unit})' if unit else ''}, the surest and strongest first:"]
    lines += [f"  {head:<{width}}  {_span(row)}" for head, row in zip(heads, rows, strict=True)]
    if any(not row.identified for row in rows):
        lines.append("an effect that open edges leave open is a range over all graphs that fit")
    return lines


def _span(row: EffectRow) -> str:
    from analyticdag.effects.effect import HIDDEN

    low, high = row.low, row.high
    hidden = f", {HIDDEN}" if row.hidden else ""
    if row.identified:
        return f"{row.smallest:+.4g} [{low:.4g}, {high:.4g}]  ({row.standardized:+.2f} sd{hidden})"
    span = f"{row.smallest:.4g} to {row.largest:.4g} [{low:.4g}, {high:.4g}]"
    return f"{span}  (direction open{hidden})"
