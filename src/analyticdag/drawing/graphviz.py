"""Graphviz's `dot` for the layout, where it is installed: it crosses fewer edges than ours.

Only numbers go to it and come back: nodes are called n0, n1, …, so that no name of a column ever
reaches its parser. What is taken over is the layer and the place of each node, and where edges pass
the layers between; curves and everything else are drawn as always. When `dot` is missing, takes too
long, or answers what is not understood, the result is None, and our own layout takes over.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence

import numpy as np

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.drawing.layout import GAP, LAYER_GAP, Layout, framed

SECONDS = 10.0
# Graphviz counts in inches; a pixel is taken for one of its points.
_INCH = 72.0
# Where each piece of a curve is looked up.
_T = np.linspace(0.0, 1.0, 33)[:, None]


def graphviz_layout(
    adjacency: BoolArray,
    widths: Sequence[float],
    height: float,
    *,
    gap: float = GAP,
    layer_gap: float = LAYER_GAP,
) -> Layout | None:
    """Lay out a DAG with `dot`; boxes are `widths` wide and `height` high."""
    program = shutil.which("dot")
    if program is None or not adjacency.any():
        return None
    box = np.asarray(widths, dtype=np.float64)
    question = _question(adjacency, box, height, gap, layer_gap)
    try:
        answer = subprocess.run(
            [program, "-Tplain"],
            input=question,
            capture_output=True,
            timeout=SECONDS,
            check=True,
            text=True,
        ).stdout
        x, y, routes = _read(answer, len(box))
        return _with_bends(x, y, routes, adjacency, box, gap, layer_gap)
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, IndexError):
        return None


def _question(
    adjacency: BoolArray, box: FloatArray, height: float, gap: float, layer_gap: float
) -> str:
    """Return the graph in its language; nodes without an edge are placed by us."""
    connected: BoolArray = np.logical_or(adjacency.any(axis=0), adjacency.any(axis=1))
    lines = [
        f"digraph {{ nodesep={gap / _INCH:.3f}; ranksep={(layer_gap - height) / _INCH:.3f};",
        f'node [shape=box, label="", fixedsize=true, height={height / _INCH:.3f}];',
        *(f"n{k} [width={box[k] / _INCH:.3f}];" for k in np.flatnonzero(connected)),
        *(f"n{i} -> n{j};" for i, j in np.argwhere(adjacency)),
    ]
    return "\n".join([*lines, "}"])


def _read(
    answer: str, n_nodes: int
) -> tuple[FloatArray, FloatArray, dict[tuple[int, int], FloatArray]]:
    """Read the plain format: `node name x y …` and `edge tail head n x1 y1 … xn yn …`."""
    x, y = np.full(n_nodes, np.nan), np.full(n_nodes, np.nan)
    routes = {}
    for line in answer.replace("\\\n", "").splitlines():
        kind, *words = line.split()
        if kind == "node":
            node = int(words[0].removeprefix("n"))
            # Graphviz counts upwards from the bottom, a page downwards from the top.
            x[node], y[node] = float(words[1]) * _INCH, -float(words[2]) * _INCH
        elif kind == "edge":
            tail, head = (int(word.removeprefix("n")) for word in words[:2])
            numbers = np.array(words[3 : 3 + 2 * int(words[2])], dtype=np.float64)
            routes[tail, head] = _sampled(numbers.reshape(-1, 2) * [_INCH, -_INCH])
    return x, y, routes


def _sampled(control: FloatArray) -> FloatArray:
    """Return points of a curve of cubic Bézier pieces that share their ends."""
    pieces = [control[k : k + 4] for k in range(0, len(control) - 1, 3)]
    return np.concatenate(
        [
            (1 - _T) ** 3 * a + 3 * (1 - _T) ** 2 * _T * b + 3 * (1 - _T) * _T**2 * c + _T**3 * d
            for a, b, c, d in pieces
        ]
    )


def _with_bends(
    x: FloatArray,
    y: FloatArray,
    routes: dict[tuple[int, int], FloatArray],
    adjacency: BoolArray,
    box: FloatArray,
    gap: float,
    layer_gap: float,
) -> Layout:
    """Let every edge bend at the layers between its ends, where its route passes them."""
    drawn: BoolArray = np.logical_or(adjacency.any(axis=0), adjacency.any(axis=1))
    heights = np.unique(y[drawn].round(2))
    if not np.isfinite(heights).all():
        raise ValueError("dot left nodes out")
    layer: IntArray = np.where(drawn, np.searchsorted(heights, y.round(2)), 0)
    places, layers, chains = [np.nan_to_num(x)], [layer], []
    total = len(x)
    for tail, head in np.argwhere(adjacency).tolist():
        passed = np.arange(layer[tail] + 1, layer[head])
        route = routes[tail, head]
        # Routes may turn up again for a moment; a lookup wants them to fall.
        falling = np.maximum.accumulate(route[:, 1])
        places.append(np.interp(heights[passed], falling, route[:, 0]))
        layers.append(passed)
        chains.append(tuple(range(total, total + len(passed))))
        total += len(passed)
    return framed(
        np.concatenate(places),
        np.concatenate(layers),
        np.append(drawn, np.ones(total - len(x), dtype=bool)),
        box,
        tuple(chains),
        gap=gap,
        layer_gap=layer_gap,
    )
