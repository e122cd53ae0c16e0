"""A saved run as a picture: what is written beside its edges and what is said about them.

The page shows the picture without a line of JavaScript; the viewer then takes hold of the very same
elements.
"""

from __future__ import annotations

from analyticdag.drawing.picture import Link, Picture, draw, short_number
from analyticdag.io.run import EdgeRecord, SavedRun


def picture_of(run: SavedRun, *, as_class: bool = False) -> Picture:
    """Draw a run; `as_class` leaves the heads of open edges away."""
    return draw(run.names, [_link(run, edge) for edge in run.edges], as_class=as_class)


def _link(run: SavedRun, edge: EdgeRecord) -> Link:
    i, j, is_open = run.ends(edge)
    # Without scales there is the weight alone; an open link and one of a category have no sign.
    plain = is_open or edge.parts
    given = edge.weight if edge.standardized is None else edge.standardized
    if is_open:
        about = f"{run.names[i]} — {run.names[j]}, strength {edge.strength:.3g}, direction open"
    else:
        what = "strength" if edge.parts else "weight"
        about = f"{run.names[i]} → {run.names[j]}, {what} {edge.weight:.4g}"
    return Link(
        source=edge.source,
        target=edge.target,
        weight=edge.weight,
        strength=edge.strength,
        kind=edge.kind,
        is_open=is_open,
        label=short_number(edge.strength if plain else given),
        description=about,
        signed=not edge.parts,
    )
