"""Where to draw the nodes: layers from the causal order, few crossings, straight long edges.

The classical recipe of Sugiyama for layered drawings, with causes above their effects:

1. *Layers*: the longest path from a source; sources are then pulled down to their effects.
2. *Dummies*: an edge over several layers becomes a chain of invisible nodes, so that it takes
   part in the ordering and is drawn around the nodes between.
3. *Order*: sweeps down and up, each layer sorted by the mean place of its neighbours.
4. *Places*: each layer as near to its neighbours as its order and the gaps allow, which is an
   isotonic regression.

Nodes without an edge are set apart, in rows below the drawing.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.optimize import isotonic_regression

from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.graphs import topological_order

# Between boxes side by side, from layer to layer, and around the drawing, in pixels.
GAP, LAYER_GAP, MARGIN = 28.0, 92.0, 36.0
# A chain of invisible nodes is cheap one by one; a thousand long edges are not.
MAX_DUMMIES = 20_000
_SWEEPS = 12


@dataclass(frozen=True, eq=False)
class Layout:
    """Centres of the nodes, and for each edge the points it passes on its way."""

    x: FloatArray
    y: FloatArray
    width: float
    height: float
    bends: tuple[tuple[tuple[float, float], ...], ...]


@dataclass(frozen=True, eq=False)
class _Layered:
    """Nodes and dummies: the layer of each, and the edges between neighbouring layers."""

    layer: IntArray
    widths: FloatArray
    is_dummy: BoolArray
    down: sparse.csr_array
    chains: tuple[tuple[int, ...], ...]


def layered_layout(
    adjacency: BoolArray,
    widths: Sequence[float],
    *,
    gap: float = GAP,
    layer_gap: float = LAYER_GAP,
    lane: float = 10.0,
) -> Layout:
    """Lay out a DAG; `widths` are those of the boxes, `lane` that of a passing edge."""
    box = np.asarray(widths, dtype=np.float64)
    connected: BoolArray = np.logical_or(adjacency.any(axis=0), adjacency.any(axis=1))
    layered = _with_dummies(adjacency, _layers(adjacency), box, lane)
    drawn = np.append(connected, np.ones(len(layered.layer) - len(box), dtype=bool))
    x = _places(layered, _ordered(layered, drawn), gap)
    return framed(x, layered.layer, drawn, box, layered.chains, gap=gap, layer_gap=layer_gap)


def framed(
    x: FloatArray,
    layer: IntArray,
    drawn: BoolArray,
    box: FloatArray,
    chains: tuple[tuple[int, ...], ...],
    *,
    gap: float,
    layer_gap: float,
) -> Layout:
    """Make a page of places: nodes first, then the bends that `chains` lists for each edge.

    Nodes that are not `drawn` are set in rows below the others.
    """
    d = len(box)
    # A drawing much wider than high is stretched: its edges would be nearly horizontal.
    depth = int(layer.max(initial=0)) + 1
    wide = float(np.ptp(x[drawn])) if drawn.any() else 0.0
    layer_gap = float(np.clip(wide / (2.0 * depth), layer_gap, 5.0 * layer_gap))
    y: FloatArray = layer.astype(np.float64) * layer_gap
    half = np.append(box / 2.0, np.zeros(len(x) - d))
    x = x - (float(np.min((x - half)[drawn])) if drawn.any() else 0.0)
    right = max(float(np.max((x + half)[drawn], initial=0.0)), _target_width(box, gap))
    bottom = float(np.max(y[drawn], initial=-layer_gap)) + layer_gap
    _place_isolated(x, y, ~drawn, box, right, bottom)
    x, y = x + MARGIN, y + MARGIN
    return Layout(
        x=x[:d],
        y=y[:d],
        width=float(np.max((x + half), initial=0.0)) + MARGIN,
        height=float(np.max(y, initial=0.0)) + MARGIN,
        bends=tuple(tuple((float(x[k]), float(y[k])) for k in chain) for chain in chains),
    )


def _target_width(box: FloatArray, gap: float) -> float:
    """A width at which rows of all boxes would be about twice as wide as high."""
    return float(np.sqrt(2.0 * 50.0 * (box + gap).sum())) if len(box) else 0.0


def _layers(adjacency: BoolArray) -> IntArray:
    order = topological_order(adjacency)
    layer = np.zeros(len(adjacency), dtype=np.int64)
    for node in order:
        parents = np.flatnonzero(adjacency[:, node])
        if len(parents):
            layer[node] = layer[parents].max() + 1
    # A cause right above its first effect needs no long edge; those further up follow it.
    for node in order[::-1]:
        children = np.flatnonzero(adjacency[node])
        if len(children) and not adjacency[:, node].any():
            layer[node] = layer[children].min() - 1
    return layer


def _with_dummies(adjacency: BoolArray, layer: IntArray, box: FloatArray, lane: float) -> _Layered:
    tails, heads = np.nonzero(adjacency)
    spans = layer[heads] - layer[tails]
    # Too many: only the shorter edges get chains, the others are drawn straight.
    longest = np.inf
    if (spans - 1).sum() > MAX_DUMMIES:
        sizes = np.sort(spans)
        longest = float(sizes[np.searchsorted(np.cumsum(sizes - 1), MAX_DUMMIES)])
    layers, total = [layer], len(adjacency)
    links: list[tuple[int, int]] = []
    chains: list[tuple[int, ...]] = []
    for tail, head, span in zip(tails, heads, spans, strict=True):
        if span > longest:
            chains.append(())
            continue
        chain = tuple(range(total, total + int(span) - 1))
        total += len(chain)
        layers.append(layer[tail] + np.arange(1, span))
        path = (int(tail), *chain, int(head))
        links += list(itertools.pairwise(path))
        chains.append(chain)
    widths = np.concatenate([box, np.full(total - len(box), lane)])
    rows, columns = np.array(links, dtype=np.int64).reshape(-1, 2).T
    down = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(total, total))
    is_dummy: BoolArray = np.arange(total) >= len(box)
    return _Layered(np.concatenate(layers), widths, is_dummy, down, tuple(chains))


def _ordered(layered: _Layered, drawn: BoolArray) -> list[IntArray]:
    """Return the nodes of each layer from left to right, with few crossings."""
    depth = int(layered.layer.max(initial=-1)) + 1
    layers = [np.flatnonzero((layered.layer == k) & drawn) for k in range(depth)]
    up = layered.down.T.tocsr()
    best, fewest = layers, _crossings(layered, layers)
    for sweep in range(_SWEEPS):
        downward = sweep % 2 == 0
        layers = _sweep(layers, up if downward else layered.down, downward, len(layered.layer))
        crossings = _crossings(layered, layers)
        if crossings < fewest:
            best, fewest = layers, crossings
        if fewest == 0:
            break
    return best


def _sweep(
    layers: list[IntArray], neighbours: sparse.csr_array, downward: bool, size: int
) -> list[IntArray]:
    """Sort each layer by the mean place of its neighbours in the one before."""
    place = np.zeros(size)
    for nodes in layers:
        place[nodes] = _centred(len(nodes))
    degree = np.diff(neighbours.indptr)
    result = list(layers)
    for k in range(len(layers)) if downward else range(len(layers) - 1, -1, -1):
        nodes = layers[k]
        total = neighbours[nodes] @ place
        mean = np.where(degree[nodes] > 0, total / np.maximum(degree[nodes], 1), place[nodes])
        result[k] = nodes[np.argsort(mean, kind="stable")]
        place[result[k]] = _centred(len(nodes))
    return result


def _centred(count: int) -> FloatArray:
    return np.arange(count, dtype=np.float64) - (count - 1) / 2.0


def _crossings(layered: _Layered, layers: list[IntArray]) -> int:
    """Count pairs of edges that cross between neighbouring layers."""
    place = np.zeros(len(layered.layer))
    for nodes in layers:
        place[nodes] = np.arange(len(nodes))
    tails, heads = layered.down.nonzero()
    total = 0
    level = layered.layer[tails]
    for k in np.unique(level):
        here = level == k
        a, b = place[tails[here]], place[heads[here]]
        b = b[np.lexsort((b, a))]
        # Edges sorted by their upper end cross as often as their lower ends are out of order.
        total += int(sum(np.count_nonzero(b[:i] > b[i]) for i in range(1, len(b))))
    return total


def _places(layered: _Layered, layers: list[IntArray], gap: float) -> FloatArray:
    x = np.zeros(len(layered.layer))
    offsets = []
    for nodes in layers:
        room = _room(layered.widths[nodes], layered.is_dummy[nodes], gap)
        offsets.append(room)
        x[nodes] = room - (room[-1] / 2.0 if len(room) else 0.0)
    both = (layered.down + layered.down.T).tocsr()
    degree = np.maximum(np.diff(both.indptr), 1)
    for sweep in range(_SWEEPS):
        wanted = (both @ x) / degree
        order = range(len(layers)) if sweep % 2 == 0 else range(len(layers) - 1, -1, -1)
        for k in order:
            nodes, room = layers[k], offsets[k]
            if not len(nodes):
                continue
            wanted[nodes] = (both[nodes] @ x) / degree[nodes]
            weights = np.where(layered.is_dummy[nodes], 4.0, 1.0)
            x[nodes] = isotonic_regression(wanted[nodes] - room, weights=weights).x + room
    return x


def _room(widths: FloatArray, is_dummy: BoolArray, gap: float) -> FloatArray:
    """Return the places of boxes side by side; lines may run closer together than boxes."""
    if not len(widths):
        return widths
    between = np.where(is_dummy[1:] & is_dummy[:-1], gap / 3.0, gap)
    return np.append(0.0, np.cumsum((widths[1:] + widths[:-1]) / 2.0 + between))


def _place_isolated(
    x: FloatArray, y: FloatArray, isolated: BoolArray, box: FloatArray, right: float, top: float
) -> None:
    """Set the nodes without an edge in rows below the drawing."""
    left = 0.0
    for node in np.flatnonzero(isolated):
        if left and left + box[node] > right:
            left, top = 0.0, top + 48.0
        x[node], y[node] = left + box[node] / 2.0, top
        left += box[node] + 14.0
