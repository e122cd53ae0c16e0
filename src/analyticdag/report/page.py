"""Put a run into the page.

Names are data: the template escapes everything (autoescape), the viewer's data travel as JSON in
which no tag can begin, and a content security policy lets only our own script and style run, by
their hashes, and nothing be fetched.

The picture of the graph needs no JavaScript; the viewer then takes hold of the very same elements.
"""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2
import markupsafe

from analyticdag._files import write_text
from analyticdag.drawing.picture import BOXES, Link, Picture, draw, short_number
from analyticdag.io.folder import made
from analyticdag.io.outputs import PAGE_MARK, reserved
from analyticdag.io.run import EdgeRecord, SavedRun
from analyticdag.io.state import RungRecord
from analyticdag.report.answers import answers
from analyticdag.report.cautions import explained, in_short, urgent, warnings_of
from analyticdag.report.discrete import level_counts, part_lines, sign_note, weight_notes
from analyticdag.report.methods import CITATION, methods
from analyticdag.report.plots import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    selection_panels,
    trace_panels,
)
from analyticdag.report.text import (
    certainty,
    choice_note,
    class_note,
    count,
    effects,
    ended,
    is_judged,
    is_searched,
    is_tied,
    link,
    percent,
    reason,
    sentences,
    strongest_first,
)

# In the order in which they build on each other.
SCRIPTS = (
    *("model.js", "shapes.js", "ladder.js", "view.js", "scatter.js", "controls.js", "effects.js"),
    *("table.js", "download.js", "start.js"),
)


def render_report(run: SavedRun) -> str:
    """Return the page of a run."""
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_asset),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = _number
    environment.filters["count"] = count
    environment.filters["percent"] = percent
    style = _asset("report.css")
    script = "(function () {\n'use strict';\n" + "\n".join(map(_asset, SCRIPTS)) + "\n})();"
    picture = picture_of(run)
    return environment.get_template("report.html").render(
        **_context(run, picture),
        style=markupsafe.Markup(style),
        script=markupsafe.Markup(script),
        policy=_policy(style, script),
        data=markupsafe.Markup(safe_json(viewer_data(run, picture))),
    )


def write_report(run: SavedRun, path: str | Path, *, overwrite: bool = False) -> Path:
    """Write the page of a run to a file, at once, and return the path.

    A file that is there already stays as it is, unless `overwrite` says otherwise.
    """
    path = Path(path)
    with made(path.parent), reserved(path, force=overwrite, inputs=(), marks=[PAGE_MARK]):
        write_text(path, render_report(run), overwrite=overwrite)
    return path


def _context(run: SavedRun, picture: Picture) -> dict[str, Any]:
    source = run.manifest.get("data", {}).get("source", "")
    arrows = [edge for edge in run.edges if not run.is_line(edge)]
    return {
        "run": run,
        "source": source,
        "title": f"Causal graph of {source}" if source else "Causal graph",
        "picture": picture,
        "class_note": class_note(run),
        "sentences": sentences(run),
        "large": run.n_nodes > BOXES,
        "stability": any(edge.stability is not None for edge in run.edges),
        "likely": any(map(is_judged, run.edges)),
        "own_rung": next((k for k, rung in enumerate(run.ladder) if _is_own(run, rung)), 0),
        "entries": _entries(run),
        "rows": _rows(run),
        "standardized": any(edge.standardized is not None for edge in run.edges),
        "weight_notes": weight_notes(run),
        "sign_note": sign_note(run),
        "parts": part_lines(run),
        "level_counts": level_counts(run),
        "urgent": urgent(run),
        "in_short": in_short(run),
        "warned": bool(warnings_of(run)),
        "notices": explained(run),
        "certainty": certainty(run),
        "kinds": {edge.kind for edge in arrows},
        "tied": any(map(is_tied, run.edges)),
        # Of links that are all lines there is neither a weight nor an error.
        "directed": bool(arrows),
        "errors": any(edge.standard_error is not None for edge in arrows),
        "ended": ended(run),
        "panels": trace_panels(run.trace),
        "selection_panels": selection_panels(run.selection),
        "searched": is_searched(run),
        "choice": choice_note(run),
        "plot": {
            "width": WIDTH,
            "height": HEIGHT,
            "left": LEFT,
            "right": WIDTH - RIGHT,
            "top": TOP,
            "bottom": HEIGHT - BOTTOM,
        },
        "table": run.manifest.get("table"),
        "methods": methods(run),
        "effects": effects(run),
        "citation": CITATION,
        "manifest": json.dumps(dict(run.manifest), indent=2, ensure_ascii=False),
    }


def viewer_data(run: SavedRun, picture: Picture) -> dict[str, Any]:
    """Return what the viewer needs: names, places and edges."""
    return {
        "effects": answers(run),
        "dots": picture.dots,
        "labelled": picture.labelled,
        "rows": run.audit.sample if run.audit else (),
        "size": [round(picture.width, 1), round(picture.height, 1)],
        "nodes": [
            {
                "name": node.name,
                "label": node.label,
                "x": round(node.x, 1),
                "y": round(node.y, 1),
                "w": round(node.width, 1),
                "h": node.height,
            }
            for node in picture.nodes
        ],
        "edges": [
            {
                "s": edge.source,
                "t": edge.target,
                "weight": edge.weight,
                "strength": edge.strength,
                "standardized": edge.standardized,
                "stability": edge.stability,
                "fixedBy": edge.fixed_by,
                "kind": edge.kind,
                "error": edge.standard_error,
                "near": bool(edge.near_threshold),
                "open": run.is_open(edge),
                "line": run.is_line(edge),
                "tied": is_tied(edge),
                "directionStability": edge.direction_stability,
                "probability": edge.probability,
                "directionProbability": edge.direction_probability,
                "margin": edge.margin,
                "bends": [[round(x, 1), round(y, 1)] for x, y in curve.bends],
            }
            for edge, curve in zip(run.edges, picture.curves, strict=True)
        ],
        "ladder": [
            {"effect": rung.min_effect, "edges": rung.edges, "own": _is_own(run, rung)}
            for rung in run.ladder
        ],
    }


def _rows(run: SavedRun) -> list[dict[str, Any]]:
    """Return the rows of the table of links, with the place of each in the run."""
    place = {(edge.source, edge.target): k for k, edge in enumerate(run.edges)}
    return [
        {
            "place": place[edge.source, edge.target],
            "edge": edge,
            "text": link(run, edge),
            "line": run.is_line(edge),
            "reason": reason(run, edge),
        }
        for edge in strongest_first(run)
    ]


def _is_own(run: SavedRun, rung: RungRecord) -> bool:
    """Whether a rung of the ladder is the graph of the run."""
    return [edge[:2] for edge in rung.edges] == [(edge.source, edge.target) for edge in run.edges]


def _entries(run: SavedRun) -> list[float | None]:
    """Return for every edge the partial correlation of the rung at which it enters."""
    effect = {rung.price: rung.min_effect for rung in run.ladder}
    return [None if edge.enters_at is None else effect.get(edge.enters_at) for edge in run.edges]


def safe_json(value: Any) -> str:
    """Return JSON that can stand inside a script element: no tag, comment or line end in it."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _policy(style: str, script: str) -> str:
    def digest(text: str) -> str:
        # As the browser hashes it: after the line ends of the file were made plain.
        return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

    return (
        f"default-src 'none'; style-src 'sha256-{digest(style)}'; "
        f"script-src 'sha256-{digest(script)}'; img-src blob: data:; base-uri 'none'; "
        "form-action 'none'"
    )


def _asset(name: str) -> str:
    return files("analyticdag.report").joinpath("assets", name).read_text(encoding="utf-8")


def _number(value: float | None, digits: int = 4) -> str:
    return "" if value is None else f"{value:.{digits}g}"


def picture_of(run: SavedRun) -> Picture:
    """Draw a run."""
    return draw(run.names, [_link(run, edge) for edge in run.edges])


def _link(run: SavedRun, edge: EdgeRecord) -> Link:
    line = run.is_line(edge)
    # Without scales there is the weight alone; a line and a link of a category have no sign.
    plain = line or edge.parts
    given = edge.weight if edge.standardized is None else edge.standardized
    if line:
        known = "open" if edge.kind == "open" else "unsure"
        about = f"strength {edge.strength:.3g}, direction {known}"
    else:
        about = f"{'strength' if edge.parts else 'weight'} {edge.weight:.4g}"
    return Link(
        source=edge.source,
        target=edge.target,
        weight=edge.weight,
        strength=edge.strength,
        kind="identity" if is_tied(edge) else "open" if line else edge.kind,
        is_open=line,
        label="" if is_tied(edge) else short_number(edge.strength if plain else given),
        description=f"{link(run, edge)}, {about}",
        signed=not edge.parts,
    )
