"""The graph as a picture: boxes, curves and arrow heads, as numbers that anybody can draw.

A page writes them down as SVG, `figure.py` hands them to matplotlib. Up to `BOXES` nodes are boxes
with their names; more are dots.
"""

from __future__ import annotations

import math
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from analyticdag.drawing.graphviz import graphviz_layout
from analyticdag.drawing.layout import layered_layout

BOXES = 120
LABELLED_EDGES = 40
_LABEL_LENGTH = 18
_BOX_HEIGHT = 30.0
_DOT = 7.0
_HEAD = 9.0

Point = tuple[float, float]


@dataclass(frozen=True)
class Link:
    """One edge to draw, between columns by index.

    `kind` says what its direction rests on ("data", "knowledge", "assumption", "open"), or that it
    is there only by an "identity" of columns: then its strength says nothing. `label` is
    written beside it, `description` appears when one points at it. The weight of an edge of a
    category is a strength: it is not `signed`.
    """

    source: int
    target: int
    weight: float
    strength: float
    kind: str
    is_open: bool
    label: str
    description: str
    signed: bool = True

    @property
    def sign(self) -> str:
        """What it is painted by: "pos", "neg", or "none"."""
        return "none" if not self.signed else "neg" if self.weight < 0 else "pos"


@dataclass(frozen=True)
class Node:
    """One node: centre, size of its box (a dot when round), and the text that fits."""

    index: int
    name: str
    label: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Curve:
    """One edge: its path, arrow head, where its label is written, and how thick it is."""

    index: int
    link: Link
    path: str
    head: str
    label_at: Point
    thickness: float
    bends: tuple[Point, ...]

    @property
    def classes(self) -> str:
        """The classes by which a page paints it."""
        link = self.link
        return f"edge {link.sign}{' open' if link.is_open else ''} by-{link.kind}"


@dataclass(frozen=True)
class Picture:
    """Everything to draw, in pixels."""

    nodes: tuple[Node, ...]
    curves: tuple[Curve, ...]
    width: float
    height: float
    dots: bool
    labelled: bool


def draw(names: Sequence[str], links: Sequence[Link], *, use_graphviz: bool = True) -> Picture:
    """Lay out a DAG and compute its shapes; an open edge has no arrow head."""
    dots = len(names) > BOXES
    labels = [short_label(name) for name in names]
    adjacency = np.zeros((len(names), len(names)), dtype=bool)
    adjacency[[link.source for link in links], [link.target for link in links]] = True
    widths = [2 * _DOT if dots else _text_width(label) + 24.0 for label in labels]
    height = 2 * _DOT if dots else _BOX_HEIGHT
    gaps = {"gap": 8.0, "layer_gap": 60.0} if dots else {}
    layout = graphviz_layout(adjacency, widths, height, **gaps) if use_graphviz else None
    if layout is None:
        layout = layered_layout(adjacency, widths, lane=1.0 if dots else 10.0, **gaps)
    # Layouts list their bends by rows of the matrix.
    rank = {pair: k for k, pair in enumerate(map(tuple, np.argwhere(adjacency).tolist()))}
    bends = [layout.bends[rank[link.source, link.target]] for link in links]
    nodes = tuple(
        Node(k, name, labels[k], float(layout.x[k]), float(layout.y[k]), widths[k], height)
        for k, name in enumerate(names)
    )
    curves = _curves(links, nodes, bends)
    labelled = len(curves) <= LABELLED_EDGES and not dots
    return Picture(nodes, curves, layout.width, layout.height, dots, labelled)


def short_label(name: str) -> str:
    """Return a name as it fits into a box: one line, cut with an ellipsis."""
    text = " ".join("".join(c if c.isprintable() else " " for c in name).split()) or "(blank)"
    return text if len(text) <= _LABEL_LENGTH else text[: _LABEL_LENGTH - 1] + "…"


def _text_width(text: str) -> float:
    """Estimate a width at 13 pixels; there is no font to ask."""
    return sum(14.0 if unicodedata.east_asian_width(c) in "WF" else 8.0 for c in text)


def _curves(
    links: Sequence[Link], nodes: Sequence[Node], bends: Sequence[tuple[Point, ...]]
) -> tuple[Curve, ...]:
    strengths = [0.0 if link.kind == "identity" else link.strength for link in links]
    strongest = max(strengths, default=0.0) or 1.0
    curves = []
    for k, (link, route) in enumerate(zip(links, _routes(links, nodes, bends), strict=True)):
        # Without a head the line goes all the way.
        path = curve_path(route, 0.0 if link.is_open else _HEAD)
        thickness = round(1.2 + 2.6 * math.sqrt(strengths[k] / strongest), 2)
        place = _label_place(route, k)
        curves.append(Curve(k, link, path, head_path(route), place, thickness, bends[k]))
    return tuple(curves)


def short_number(number: float) -> str:
    """Return a number as it fits beside an edge."""
    return f"{number:.2f}" if abs(number) >= 0.005 else f"{number:.1g}"


def _routes(
    links: Sequence[Link], nodes: Sequence[Node], bends: Sequence[tuple[Point, ...]]
) -> list[list[Point]]:
    """Return the points of every edge, from the border of its cause to that of its effect."""
    leaving: dict[int, list[tuple[float, int]]] = defaultdict(list)
    arriving: dict[int, list[tuple[float, int]]] = defaultdict(list)
    towards, back = [], []
    for k, (edge, points) in enumerate(zip(links, bends, strict=True)):
        source, target = nodes[edge.source], nodes[edge.target]
        towards.append(points[0] if points else (target.x, target.y))
        back.append(points[-1] if points else (source.x, source.y))
        leaving[edge.source].append((towards[k][0], k))
        arriving[edge.target].append((back[k][0], k))
    out = _shifts(nodes, leaving)
    into = _shifts(nodes, arriving)
    return [
        [
            _port(nodes[edge.source], towards[k], out[k], 0.0),
            *bends[k],
            _port(nodes[edge.target], back[k], into[k], 1.0),
        ]
        for k, edge in enumerate(links)
    ]


def _shifts(nodes: Sequence[Node], ends: Mapping[int, list[tuple[float, int]]]) -> dict[int, float]:
    """Return how far from the middle of its node each edge ends, so that heads stay apart.

    Several edges are spread in the order they come from; one alone leans towards its other end.
    """
    shifts = {}
    for index, places in ends.items():
        node = nodes[index]
        reach = max(node.width / 2.0 - 10.0, 0.0)
        gap = min(15.0, 2.0 * reach / max(len(places) - 1, 1))
        for rank, (x, k) in enumerate(sorted(places)):
            lean = min(max((x - node.x) * 0.22, -reach), reach)
            shifts[k] = lean if len(places) == 1 else (rank - (len(places) - 1) / 2.0) * gap
    return shifts


def _port(node: Node, other: Point, shift: float, clearance: float) -> Point:
    side = 1.0 if other[1] >= node.y else -1.0
    return node.x + shift, node.y + side * (node.height / 2.0 + clearance)


def curve_path(route: Sequence[Point], head: float = _HEAD) -> str:
    """Return a smooth path through the points that leaves and arrives vertically."""
    *before, (x, y) = route
    end = (x, y - math.copysign(head * 0.7, y - before[-1][1]))  # where the head begins
    points = [*before, end]
    slopes = [0.0, *(_slope(*points[k - 1 : k + 2]) for k in range(1, len(points) - 1)), 0.0]
    parts = [f"M{points[0][0]:.1f},{points[0][1]:.1f}"]
    for (x, y), (u, v), m, n in zip(points, points[1:], slopes, slopes[1:], strict=False):
        # A vertical end may bend over half of the way, a passage over a third (Hermite).
        p, q = (v - y) / (3.0 if m else 2.0), (v - y) / (3.0 if n else 2.0)
        parts.append(f"C{x + m * p:.1f},{y + p:.1f} {u - n * q:.1f},{v - q:.1f} {u:.1f},{v:.1f}")
    return " ".join(parts)


def _slope(a: Point, b: Point, c: Point) -> float:
    """Return how far a curve leans at b; upright where it turns back, so that it never swings."""
    if (b[0] - a[0]) * (c[0] - b[0]) <= 0.0 or c[1] == a[1]:
        return 0.0
    return (c[0] - a[0]) / (c[1] - a[1])


def head_path(route: Sequence[Point]) -> str:
    """Return the arrow head at the end of a route, pointing along it."""
    (_, v), (x, y) = route[-2], route[-1]
    back = y - math.copysign(_HEAD, y - v)
    half = _HEAD * 0.42
    return f"M{x:.1f},{y:.1f} L{x - half:.1f},{back:.1f} L{x + half:.1f},{back:.1f} Z"


def _label_place(route: Sequence[Point], index: int) -> Point:
    # Neighbouring edges carry their weights at different heights, or the numbers would collide.
    share = 0.5 + 0.13 * ((index % 3) - 1)
    middle = (len(route) - 1) // 2
    (x, y), (u, v) = route[middle], route[middle + 1]
    ease = share * share * (3.0 - 2.0 * share)
    return round(x + (u - x) * ease, 1), round(y + (v - y) * share, 1)
