"""The answer in words: what `fit` and `demo` print about a graph."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from analyticdag.cli.progress import line

if TYPE_CHECKING:
    from analyticdag.io.run import EdgeRecord, SavedRun

# As many as fit on a screen with the sentences and the paths.
SHOWN = 20


def tell(
    run: SavedRun, folder: Path, page: Path, talk: Console, *, as_json: bool, quiet: bool
) -> None:
    """Print the notes, then the answer, then where it was saved."""
    from analyticdag.report.text import count, notices

    for notice in notices(run):
        line(talk, f"note: {notice}")
    out = Console(highlight=False)
    if as_json:
        line(out, json.dumps(_summary(run, folder, page), ensure_ascii=True))
    elif not quiet:
        head = f"{count(run.n_nodes, 'variable')}, {count(len(run.edges), 'link')}"
        where = (f"saved   {folder}", f"report  {page}")
        line(out, "\n".join((head, *answer(run), *where)))


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
    from analyticdag.report.discrete import weight_notes
    from analyticdag.report.text import link, sentences

    if not run.edges:
        return ["No links found."]
    shown = strongest_first(run)[:SHOWN]
    links = [link(run, edge) for edge in shown]
    width = min(max(map(len, links)), 60)
    lines = [
        f"  {text:<{width}}  {size(run, edge):>6}{_remark(run, edge)}"
        for text, edge in zip(links, shown, strict=True)
    ]
    if len(run.edges) > SHOWN:
        lines.append(f"  and {len(run.edges) - SHOWN} weaker ones (edges.csv has all)")
    if any(edge.probability is not None for edge in run.edges):
        lines.append("Percent: how likely a link is there as it is shown.")
    return [*lines, *weight_notes(run), *sentences(run)]


def _remark(run: SavedRun, edge: EdgeRecord) -> str:
    from analyticdag.effects.effect import HIDDEN

    is_open = run.is_open(edge)
    said = {"knowledge": "known", "assumption": f"if {edge.fixed_by}"}
    fixed = "direction open" if is_open else said.get(edge.kind, "")
    remarks = [text for text in (fixed, HIDDEN if edge.hidden_cause else "") if text]
    likely = _likely(edge.probability if is_open else edge.direction_probability)
    return likely + (f"  ({'; '.join(remarks)})" if remarks else "")


def _likely(share: float | None) -> str:
    """Return how likely a link is, as it stands; nothing where that is not known."""
    from analyticdag.report.text import percent

    return f"  {percent(share):>6}" if share is not None else ""
