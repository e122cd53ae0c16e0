"""A picture in matplotlib. The colours are those of the report."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from analyticdag.drawing.picture import Curve, Node, Picture
from analyticdag.errors import MissingDependencyError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_GREY, _INK = "#8b9199", "#1e2329"
_COLOURS = {"pos": "#2458a6", "neg": "#b3471d", "none": _GREY}
# A pixel of the picture is taken for a point, of which an inch has 72; a figure stays on a screen.
_INCH, _LARGEST = 72.0, 14.0


def to_axes(picture: Picture, axes: Axes | None) -> Axes:
    """Draw the picture into `axes`, or into a new figure of its size; return the axes."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise MissingDependencyError("matplotlib", "plots") from error
    if axes is None:
        scale = min(1.0, _LARGEST * _INCH / max(picture.width, picture.height))
        size = (picture.width * scale / _INCH, picture.height * scale / _INCH)
        axes = pyplot.figure(figsize=size, layout="constrained").add_subplot()
    # Letters and lines are in points: they shrink with the picture, or boxes would overflow.
    shrink = _points_per_pixel(picture, axes)
    for curve in picture.curves:
        _draw_edge(axes, curve, shrink, labelled=picture.labelled)
    for node in picture.nodes:
        _draw_node(axes, node, shrink, dots=picture.dots)
    axes.set(xlim=(0.0, picture.width), ylim=(picture.height, 0.0), aspect="equal")
    axes.set_axis_off()
    return axes


def _points_per_pixel(picture: Picture, axes: Axes) -> float:
    figure: Any = axes.get_figure()
    frame = axes.get_position()
    width, height = figure.get_size_inches() * _INCH
    across = width * frame.width / picture.width
    return float(min(across, height * frame.height / picture.height, 1.0))


def _draw_edge(axes: Axes, curve: Curve, shrink: float, *, labelled: bool) -> None:
    from matplotlib.patches import PathPatch

    link = curve.link
    colour = _GREY if link.is_open else _COLOURS[link.sign]
    line: Any = {"edgecolor": colour, "zorder": 1}
    axes.add_patch(
        PathPatch(_path(curve.path), facecolor="none", lw=curve.thickness * shrink, **line)
    )
    if not link.is_open:
        inside = colour if link.kind == "data" else "white"
        axes.add_patch(PathPatch(_path(curve.head), facecolor=inside, lw=shrink, **line))
    if labelled and link.label:
        x, y = curve.label_at
        around = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
        look: Any = {"fontsize": 11 * shrink, "ha": "center", "va": "center", "bbox": around}
        axes.text(x, y, link.label, color=_INK, zorder=2, parse_math=False, **look)


def _path(text: str) -> Any:
    """Return SVG path data of ours (a line of cubic curves, or a closed triangle) as a Path."""
    from matplotlib.path import Path

    points = np.array(re.findall(r"-?[\d.]+", text), dtype=np.float64).reshape(-1, 2)
    if "C" in text:
        return Path(points, [Path.MOVETO, *[Path.CURVE4] * (len(points) - 1)])
    return Path([*points, points[0]], closed=True)


def _draw_node(axes: Axes, node: Node, shrink: float, *, dots: bool) -> None:
    from matplotlib.patches import Circle, FancyBboxPatch

    if dots:
        axes.add_patch(Circle((node.x, node.y), node.width / 2.0, color=_GREY, zorder=3))
        return
    corner = (node.x - node.width / 2.0 + 6.0, node.y - node.height / 2.0 + 6.0)
    look: Any = {
        "boxstyle": "round,pad=6,rounding_size=6",
        "facecolor": "white",
        "edgecolor": _GREY,
    }
    axes.add_patch(FancyBboxPatch(corner, node.width - 12.0, node.height - 12.0, zorder=3, **look))
    text: Any = {"ha": "center", "va": "center", "color": _INK, "zorder": 4}
    # A name is data: a dollar sign in it begins no formula.
    axes.text(node.x, node.y, node.label, fontsize=11 * shrink, parse_math=False, **text)
