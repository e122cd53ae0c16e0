"""The answer in words: what `fit` and `demo` print about a graph."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rich.console import Console

from analyticdag.cli.progress import Talk, line
from analyticdag.effects.effect import HIDDEN, one_line
from analyticdag.io.run import EdgeRecord, SavedRun
from analyticdag.report.cautions import explained, in_short, urgent, warnings_of
from analyticdag.report.text import count, link, percent, sentences

# As many as fit on a screen with the sentences and the paths.
SHOWN = 20


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
    short, mended = in_short(run), warnings_of(run).get("rows that belong together")
    told = [f"take care: {short} (the report says where, and what to do)"] if short else []
    return explained(run) if verbose else told + ([mended] if mended else [])


def _summary(run: SavedRun, folder: Path, page: Path) -> dict[str, Any]:
    edges = []
    for edge in run.edges:
        i, j, is_open = run.ends(edge)
        edges.append(
            {
                "source": run.names[i],
                "target": run.names[j],
                "direction": "open" if is_open else "directed",
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


def strongest_first(run: SavedRun) -> list[EdgeRecord]:
    """Return the edges by strength."""
    return sorted(run.edges, key=lambda edge: -edge.strength)


def size(run: SavedRun, edge: EdgeRecord) -> str:
    """Return how strong a link is; a sign belongs to the weight of a direction."""
    if run.is_open(edge) or edge.parts:  # nor has a category one
        return f"{edge.strength:.2f}"
    return f"{edge.weight if edge.standardized is None else edge.standardized:+.2f}"


def answer(run: SavedRun) -> list[str]:
    """Return the lines: the strongest links, how many more there are, and what to make of them."""
    head = f"{count(run.n_nodes, 'variable')}, {count(len(run.edges), 'link')}"
    rest = len(run.edges) - SHOWN
    more = [f"  and {count(rest, 'weaker one')} (edges.csv has all)"] if rest > 0 else []
    return [head, *_table(run), *more, *sentences(run)]


def _table(run: SavedRun) -> list[str]:
    """Return the strongest links with what is known of each, under a line of headings."""
    shown = strongest_first(run)[:SHOWN]
    if not shown:
        return []
    links = [one_line(link(run, edge)) for edge in shown]
    width = min(max(map(len, links)), 60)
    likely = "  likely" if any(edge.probability is not None for edge in run.edges) else ""
    return [
        f"  {'':<{width}}  strength{likely}",
        *(
            f"  {text:<{width}}  {size(run, edge):>8}{_remark(run, edge)}"
            for text, edge in zip(links, shown, strict=True)
        ),
    ]


def _remark(run: SavedRun, edge: EdgeRecord) -> str:
    is_open = run.is_open(edge)
    said = {"knowledge": "known", "assumption": f"if {edge.fixed_by}"}
    fixed = "direction open" if is_open else said.get(edge.kind, "") or _by_noise(edge)
    remarks = [text for text in (fixed, HIDDEN if edge.hidden_cause else "") if text]
    return _likely(likelihood(run, edge)) + (f"  ({'; '.join(remarks)})" if remarks else "")


def _by_noise(edge: EdgeRecord) -> str:
    """Say why an arrow that the shapes of the noise fixed has no share: the score cannot tell."""
    if edge.probability is None or edge.direction_probability is not None:
        return ""
    margin = "" if edge.margin is None else f", margin {edge.margin:.1f}"
    return f"linked: {percent(edge.probability)}; arrow by the shape of noise{margin}"


def likelihood(run: SavedRun, edge: EdgeRecord) -> float | None:
    """Return how likely a link is there as it is shown: with its arrow, if it has one."""
    return edge.probability if run.is_open(edge) else edge.direction_probability


def _likely(share: float | None) -> str:
    """Return how likely a link is, as it stands; nothing where that is not known."""
    return f"  {percent(share):>6}" if share is not None else ""
