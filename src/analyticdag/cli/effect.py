"""``analyticdag effect`` and ``effects``: what happens to Y if X is changed, from a saved run."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from analyticdag.cli import options
from analyticdag.cli.progress import line

if TYPE_CHECKING:
    from analyticdag.effects import EffectRow, JointEffect
    from analyticdag.io import SavedRun

_GIVEN = "the interval takes the graph as given: it is too narrow where a link may be wrong"

Run = Annotated[Path, typer.Argument(help="Folder of a saved run.")]
On = Annotated[str, typer.Option("--on", help="The outcome.")]
Level = Annotated[float, typer.Option(help="Confidence of the intervals.")]
Units = Annotated[
    list[str] | None,
    typer.Option(
        "--unit", help="What a column is measured in: NAME=UNIT; repeatable.", show_default="unit"
    ),
]


def effect_command(
    run: Run,
    of: Annotated[list[str], typer.Option("--of", help="The cause; repeated: several at once.")],
    on: On,
    level: Level = 0.95,
    unit: Units = None,
    as_json: options.AsJson = False,
) -> None:
    """Say what one more unit of a cause does to an outcome, as far as RUN can tell."""
    from analyticdag.effects import joint_effect, total_effect
    from analyticdag.effects.effect import lines
    from analyticdag.io import load_run
    from analyticdag.report.cautions import wrong_model

    saved = load_run(run)
    _refuse_left_out(saved, [*of, on])
    model, units = saved.to_estimator(), _units(saved, unit or [])
    if len(of) > 1:
        joint = joint_effect(model, of, on, level=level)
        _tell(as_json, asdict(joint), [*_joint_words(joint, units), *wrong_model(saved)])
    else:
        effect = total_effect(model, of[0], on, level=level)
        sentence, told = effect.sentence(units), list(lines(effect, units))
        if effect.is_nowhere and not effect.rests_on:
            told += _other_way(saved, of[0], on)
        elif not effect.is_nowhere and not effect.tied:
            told.append(_GIVEN)
        told += wrong_model(saved)
        _tell(as_json, {**effect.as_dict(), "sentence": sentence}, told)


def effects_command(
    run: Run,
    on: On,
    level: Level = 0.95,
    unit: Units = None,
    as_json: options.AsJson = False,
) -> None:
    """List what moves an outcome, the strongest first, as far as RUN can tell."""
    from analyticdag._schema import plain
    from analyticdag.effects import Known, effects
    from analyticdag.io import load_run
    from analyticdag.report.cautions import wrong_model

    saved = load_run(run)
    _refuse_left_out(saved, [on])
    known = Known.of(saved.to_estimator())
    rows = effects(known, on=on, level=level)
    listed = [plain(row._asdict()) for row in rows]
    for record, row in zip(listed, rows, strict=True):
        record["rests_on"] = row.rests_on and plain(row.rests_on._asdict())
    told = [*_list(rows, on, saved, unit), *wrong_model(saved)]
    _tell(as_json, {"outcome": on, "level": level, "effects": listed}, told)


def _tell(as_json: bool, record: Mapping[str, Any], lines: list[str]) -> None:
    from analyticdag._tables import one_line

    told = "\n".join(map(one_line, lines))
    line(Console(highlight=False), json.dumps(record, ensure_ascii=True) if as_json else told)


def _refuse_left_out(saved: SavedRun, asked: list[str]) -> None:
    """Refuse a column that was left out of the fit, and say why it was."""
    from analyticdag.errors import InputError

    for decision in () if saved.look is None else saved.look.decisions:
        if decision.column in asked and decision.column not in saved.names:
            raise InputError(f"not in the graph: {decision}")


def _units(saved: SavedRun, given: list[str]) -> dict[Hashable, str]:
    """Return what columns are measured in: as the table says, and as the user does."""
    from analyticdag._tables import meant
    from analyticdag.errors import InputError
    from analyticdag.report.answers import units_of

    units = units_of(saved)
    for word in given:
        name, sign, text = word.partition("=")
        if not sign or not text:
            raise InputError(f"--unit takes NAME=UNIT of a column, as age=year; got {word!r}")
        if name not in saved.names:
            raise InputError(f"--unit: {name!r} is no column; {meant(name, saved.names)}")
        units[name] = text
    return units


def _joint_words(joint: JointEffect, units: Mapping[Any, str]) -> Iterator[str]:
    from analyticdag.effects.effect import change, level_of_column, pairs_text

    on = f"{joint.outcome} ({units[joint.outcome]})" if joint.outcome in units else joint.outcome
    if joint.outcome_level:
        on = f"the share of {level_of_column(joint.outcome_level, joint.outcome)}"
    yield f"on {on}, with the other causes held fixed:"
    for k, cause in enumerate(joint.causes):
        low, high = joint.intervals[k]
        if joint.zero_share[k] == 1.0:
            yield f"  no path from {cause} to {joint.outcome} beside the others, so no effect"
            continue
        values = sorted({round(values[k], 12) for values in joint.possible})
        said = f"{values[0]:+.4g}" if len(values) == 1 else f"{values[0]:.4g} to {values[-1]:.4g}"
        head = change(cause, *joint.steps[k], units)
        yield f"  {head} → {said} [{low:.4g}, {high:.4g}]"
    if not joint.identified:
        yield f"not identified: {pairs_text(joint.open_edges)} open"


def _other_way(saved: SavedRun, *ends: str) -> list[str]:
    """Say of each arrow from the last of these columns, to the first of two, how likely it is."""
    from analyticdag.report.text import percent

    told = []
    for edge in saved.edges:
        source, target = saved.edge_names(edge)
        if source == ends[-1] and target in (ends[:-1] or saved.names):
            likely = percent(edge.direction_probability)
            told.append(
                f"the link {source} → {target} points the other way{f': {likely}' * bool(likely)}"
            )
    return told


def _list(
    rows: list[EffectRow], outcome: str, saved: SavedRun, given: list[str] | None
) -> list[str]:
    units = _units(saved, given or [])
    unit = units.get(outcome, "")
    if not rows:
        nothing = f"no path leads to {outcome} in this graph, so nothing is said to move it"
        return [nothing, *_other_way(saved, outcome)]
    lines = []
    told = [row for row in rows if not row.tied]
    if told:
        heads = [_head(row, units) for row in told]
        width = min(max(map(len, heads)), 60)
        said = (
            f"what moves {outcome}{f' ({unit})' if unit else ''}, the surest and strongest first:"
        )
        lines = [said]
        lines += [f"  {head:<{width}}  {_span(row)}" for head, row in zip(heads, told, strict=True)]
        if any(not row.identified for row in told):
            lines.append("an effect that open edges leave open is a range over all graphs that fit")
        lines.append(_GIVEN)
    return [*lines, *_untold(rows)]


def _untold(rows: list[EffectRow]) -> Iterator[str]:
    """Say of which causes there is no number, and why; of those with the same reason in a line."""
    for why in dict.fromkeys(row.tied for row in rows if row.tied):
        causes = ", ".join(str(row.cause) for row in rows if row.tied == why)
        yield f"no number for {causes}: {why}"


def _head(row: EffectRow, units: Mapping[Hashable, str]) -> str:
    from analyticdag.effects.effect import change

    head = change(row.cause, row.cause_level, row.reference, units)
    return f"{head}, share of {row.outcome_level}" if row.outcome_level else head


def _span(row: EffectRow) -> str:
    from analyticdag.effects.effect import HIDDEN

    low, high = row.low, row.high
    about = f", {HIDDEN}" if row.hidden else ""
    about += f", rests on {row.rests_on}" if row.rests_on else ""
    if row.identified:
        return f"{row.smallest:+.4g} [{low:.4g}, {high:.4g}]  ({row.standardized:+.2f} sd{about})"
    span = f"{row.smallest:.4g} to {row.largest:.4g} [{low:.4g}, {high:.4g}]"
    return f"{span}  (direction open{about})"
