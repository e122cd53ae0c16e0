"""The answer in words: what `fit` and `demo` print about a graph."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rich.console import Console

from analyticdag._tables import one_line
from analyticdag.cli.progress import Talk, line
from analyticdag.effects.effect import HIDDEN
from analyticdag.io.run import EdgeRecord, SavedRun
from analyticdag.report.cautions import explained, in_short, urgent, warnings_of
from analyticdag.report.discrete import sign_note
from analyticdag.report.text import (
    count,
    is_judged,
    is_tied,
    link,
    percent,
    sentences,
    strongest_first,
)

# As many as fit on a screen with the sentences and the paths.
SHOWN = 20
# Checks whose warning an option of the command would mend.
_MENDED = ("rows that belong together", "heavy tails")


def tell(
    run: SavedRun, folder: Path, page: Path, talk: Talk, *, as_json: bool, quiet: bool
) -> None:
    """Print the answer, what to be careful about, and where it was saved.

    What must not be missed comes first of all.
    """
    out = Console(highlight=False)
    _note(talk, urgent(run))
    if not (as_json or quiet):
        line(out, "\n".join(answer(run)))
    _note(talk, _cautions(run, verbose=talk.verbose))
    if as_json:
        line(out, json.dumps(_summary(run, folder, page), ensure_ascii=True))
    elif not quiet:
        line(out, f"saved   {folder}\nreport  {page}")


def _note(talk: Talk, notices: list[str]) -> None:
    for notice in notices:
        line(talk, f"note: {notice}")


def _cautions(run: SavedRun, *, verbose: bool) -> list[str]:
    """Return what else to know, in a line or in full; what an option would mend always in full."""
    short, warned = in_short(run), warnings_of(run)
    told = [f"take care: {short} (the report says where, and what to do)"] if short else []
    mended = [warned[name] for name in _MENDED if name in warned]
    return explained(run) if verbose else told + mended


def _summary(run: SavedRun, folder: Path, page: Path) -> dict[str, Any]:
    edges = []
    for edge in run.edges:
        is_open = edge.kind == "open"
        i, j, _ = run.ends(edge, member=not is_open)
        direction = "open" if is_open else "unsure" if run.is_line(edge) else "directed"
        edges.append(
            {
                "source": run.names[i],
                "target": run.names[j],
                "direction": direction,
                "weight": None if is_open else edge.weight,
                "strength": edge.strength,
                "fixed_by": edge.fixed_by,
                "probability": edge.probability,
                "direction_probability": None if is_open else edge.direction_probability,
                "margin": None if is_open else edge.margin,
            }
        )
    return {
        "names": list(run.names),
        "n_nodes": run.n_nodes,
        "n_edges": len(run.edges),
        "edges": edges,
        # An order of one member would say more than is known.
        "causal_order": None if run.open_edges else [run.names[k] for k in run.order],
        "loss": run.loss,
        "h": run.h,
        "status": run.status,
        "converged": run.converged,
        "seconds": run.manifest["seconds"],
        "out": str(folder),
        "report": str(page),
    }


def size(run: SavedRun, edge: EdgeRecord) -> str:
    """Return how strong a link is; a sign belongs to the weight of a direction."""
    if run.is_line(edge) or edge.parts:  # nor has a category one
        return f"{edge.strength:.2f}"
    return f"{edge.weight if edge.standardized is None else edge.standardized:+.2f}"


def answer(run: SavedRun) -> list[str]:
    """Return the lines: the strongest links, how many more there are, and what to make of them."""
    head = f"{count(run.n_nodes, 'variable')}, {count(len(run.edges), 'link')}"
    rest = len(run.edges) - SHOWN
    more = [f"  and {count(rest, 'weaker one')} (edges.csv has all)"] if rest > 0 else []
    signs = list(filter(None, [sign_note(run)]))
    return [head, *_table(run), *more, *signs, *sentences(run)]


def _table(run: SavedRun) -> list[str]:
    """Return the strongest links with what is known of each, under a line of headings."""
    shown = strongest_first(run)[:SHOWN]
    if not shown:
        return []
    links = [one_line(link(run, edge)) for edge in shown]
    width = min(max(map(len, links)), 60)
    judged = any(map(is_judged, run.edges))
    resampled = any(edge.stability is not None for edge in run.edges)
    rows = [
        f"  {text:<{width}}  {size(run, edge):>8}{_likely(run, edge) if judged else ''}"
        f"{_came_back(edge) if resampled else ''}{_remark(run, edge, judged=judged)}"
        for text, edge in zip(links, shown, strict=True)
    ]
    head = f"  {'':<{width}}  strength{'  linked  this way' if judged else ''}"
    head += "  came back" if resampled else ""
    return [head, *(row.rstrip() for row in rows)]


def _likely(run: SavedRun, edge: EdgeRecord) -> str:
    linked, this_way = likelihoods(run, edge)
    return f"  {linked:>6}  {this_way:>8}"


def _came_back(edge: EdgeRecord) -> str:
    """Say in which share of the resamples the two were linked."""
    share = "" if edge.stability is None else f"{edge.stability:.0%}".replace("%", " %")
    return f"  {share:>9}"


def likelihoods(run: SavedRun, edge: EdgeRecord) -> tuple[str, str]:
    """Return how likely two are linked, and how likely this way; a line has no way."""
    known = edge.kind == "knowledge"
    linked = percent(edge.probability) if is_judged(edge) or not known else "known"
    way = "" if run.is_line(edge) else percent(edge.direction_probability)
    return linked, "known" if known else way


def _remark(run: SavedRun, edge: EdgeRecord, *, judged: bool) -> str:
    remarks = [_fixed(run, edge, judged=judged), HIDDEN if edge.hidden_cause else ""]
    told = "; ".join(filter(None, remarks))
    return f"  ({told})" if told else ""


def _fixed(run: SavedRun, edge: EdgeRecord, *, judged: bool) -> str:
    """Say what a direction rests on, where the columns do not."""
    if is_tied(edge):
        return "only by an identity of columns"
    if run.is_open(edge):
        return "direction open"
    if run.is_line(edge):
        return "direction unsure"
    if edge.kind == "knowledge":
        return "" if judged else "known"
    return f"if {edge.fixed_by}" if edge.kind == "assumption" else _by_noise(edge)


def _by_noise(edge: EdgeRecord) -> str:
    """Say why an arrow that the shapes of the noise fixed has no share: the score cannot tell."""
    if not is_judged(edge) or edge.direction_probability is not None:
        return ""
    margin = "" if edge.margin is None else f", by {edge.margin:.1f} standard errors"
    return f"arrow by the shape of noise{margin}"
