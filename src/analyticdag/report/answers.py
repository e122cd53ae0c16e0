"""What the page answers when a cause and an outcome are chosen: computed here, shown by its script.

All pairs are computed when the page is written, so that it needs nothing but itself. A page of many
columns would grow with their square: beyond `MOST_COLUMNS` it names the command that answers.
"""

from __future__ import annotations

import shlex
from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import numpy as np

from analyticdag.effects import Known, total_effect
from analyticdag.effects.effect import lines
from analyticdag.errors import AnalyticDAGError
from analyticdag.io.run import SavedRun

# 30 columns are 870 pairs, some 400 bytes each.
MOST_COLUMNS = 30
# What one more of a column is, where the table tells.
_KIND_UNITS = {"log": "unit of the logarithm", "days": "day", "ordered": "level"}
# Options of a command that a new fit must not repeat, and whether a value follows.
_NOT_AGAIN = {"--out": True, "--knowledge": True, "--report": True, "--force": False}


def units_of(run: SavedRun) -> dict[Hashable, str]:
    """Return what columns are measured in, where the table says so."""
    columns = () if run.look is None else run.look.columns
    units = {column.name: column.unit or _KIND_UNITS.get(column.kind, "") for column in columns}
    return {name: text for name, text in units.items() if text and name in run.names}


def answers(run: SavedRun) -> dict[str, Any]:
    """Return what the page's script shows: effects of all pairs, suspicions, and how to go on."""
    known = _known(run) if run.n_nodes <= MOST_COLUMNS else None
    return {
        "limit": MOST_COLUMNS,
        "answered": known is not None,
        "pairs": [] if known is None else list(_pairs(run, known)),
        "hidden": [] if known is None else [list(pair) for pair in known.hidden_pairs],
        "knowledge": _knowledge(run.parameters.get("knowledge")),
        "command": _command(run.manifest.get("command")),
    }


def _known(run: SavedRun) -> Known | None:
    """Return what effects are computed from; None where the run cannot tell."""
    if run.fitted is None:
        return None
    try:
        return Known.of(run.to_estimator())
    except AnalyticDAGError:  # log-odds, for instance, have no effects in units
        return None


def _pairs(run: SavedRun, known: Known) -> Iterator[dict[str, Any]]:
    units = units_of(run)
    for x, y in np.argwhere(~np.eye(run.n_nodes, dtype=bool)).tolist():
        try:
            effect = total_effect(known, run.names[x], run.names[y])
        except AnalyticDAGError as error:  # too many open edges
            yield {"x": x, "y": y, "say": [str(error)], "on": []}
            continue
        if not effect.is_nowhere or effect.rests_on:
            way = known.between(x, y)
            way[x] = way.any()
            # What the interval takes as given stands in the page, once.
            said = list(lines(effect, units))
            on = [] if effect.tied else _carrying(run, known, way, x)
            yield {"x": x, "y": y, "say": said, "on": on}


def _carrying(run: SavedRun, known: Known, way: Any, x: int) -> list[int]:
    """Return the edges on which the effect of x can travel, by their place in the run."""
    return [
        k
        for k, edge in enumerate(run.edges)
        if way[edge.source]
        and way[edge.target]
        and (
            (known.edges[edge.source, edge.target] and edge.target != x)
            or (known.edges[edge.target, edge.source] and edge.source != x)
        )
    ]


def _knowledge(given: Any) -> dict[str, Any]:
    """Return what was known already, in the keys of a knowledge file."""
    known = given if isinstance(given, Mapping) else {}
    return {
        "required": [list(map(str, edge)) for edge in known.get("required_edges") or ()],
        "forbidden": [list(map(str, edge)) for edge in known.get("forbidden_edges") or ()],
        "tiers": [list(map(str, tier)) for tier in known.get("tiers") or ()],
        "max_parents": known.get("max_parents"),
    }


def _command(given: Any) -> str:
    """Return the command that fits again with a knowledge file; in Python where there was none."""
    words = shlex.split(given) if isinstance(given, str) else []
    if words[:2] != ["analyticdag", "fit"]:
        return 'AnalyticDAG(knowledge=read_knowledge("knowledge.toml")).fit(table)'
    kept, skip = [], False
    for word in words:
        name, equals, _ = word.partition("=")
        if skip or name in _NOT_AGAIN:
            skip = not skip and _NOT_AGAIN.get(name, False) and not equals
        else:
            kept.append(word)
    return shlex.join([*kept, "--knowledge", "knowledge.toml"])
