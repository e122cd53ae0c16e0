"""Random DAGs, named by a code such as ``"ER2"``, ``"SF4"``, ``"SC1"``, ``"UD1.5"``, and weights.

The number k after the letters asks for k edges per node (the field's custom: ER2 has 2d
edges, an average degree of 4). ER, SF and BP follow the simulators of NOTEARS and DAGMA, so that
results compare:

- ER  Erdős–Rényi: exactly k·d edges, every set of that size equally likely, directed along
  a random order;
- SF  scale-free (Barabási–Albert): nodes arrive one by one and point to k older ones, chosen
  in proportion to in-degree + 1; old nodes become hubs with very many *parents*. The first k
  arrivals find fewer older ones, so there are k·d - k(k+1)/2 edges;
- SC  the same with every edge reversed, as where a few genes or prices drive many others: old nodes
  become hubs with very many *children*, and SC1 is a tree;
- BP  bipartite: exactly k·d edges from a fifth of the nodes to the others;
- UD  uneven degrees, as in networks of measured things: exactly k·d edges, k need not be whole;
  some nodes have many causes and some many effects. Every node has a weight as a cause and one as
  an effect, both log-normal, and pairs are drawn in proportion to the product of the two.

Labels are permuted at the end: the position of a node says nothing about its place.

The sizes of the weights are uniform, or effects over decades; columns may have units of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from analyticdag._parameters import shown, whole
from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.errors import ParameterError
from analyticdag.graphs import topological_order
from analyticdag.simulate.mechanisms import signed_uniform

# Deviation of the logarithms of UD's weights: one node in 40 weighs seven times the median.
_UNEVENNESS = 1.0


def random_dag(code: str, n_nodes: int, rng: np.random.Generator) -> BoolArray:
    """Draw the adjacency matrix of a random DAG, e.g. ``random_dag("ER2", 100, rng)``."""
    family, k = parse_code(code)
    n_nodes = whole("n_nodes", n_nodes, 1)
    check_generator("rng", rng)
    tails, heads = _FAMILIES[family](n_nodes, k, rng)
    label = rng.permutation(n_nodes)
    edges = np.zeros((n_nodes, n_nodes), dtype=np.bool_)
    edges[label[tails], label[heads]] = True
    return edges


def check_generator(name: str, rng: Any) -> None:
    """Refuse what numbers cannot be drawn from."""
    if not isinstance(rng, np.random.Generator):
        raise ParameterError(f"{name} must be a numpy.random.default_rng(seed), not {shown(rng)}")


def parse_code(code: str) -> tuple[str, float]:
    """Split ``"ER2"`` into ``("ER", 2)``."""
    pattern = r"([A-Z]+)([0-9]{1,9})(\.[0-9]{1,3})?"
    match = re.fullmatch(pattern, code) if isinstance(code, str) else None
    if match is None or match[1] not in _FAMILIES or (match[3] and match[1] != "UD"):
        raise ParameterError(
            f"unknown graph {shown(code)}; write one of {', '.join(_FAMILIES)} and the number of "
            "edges per node, e.g. 'ER2' (with UD it may have decimals)"
        )
    return match[1], float(match[2] + match[3]) if match[3] else int(match[2])


def _erdos_renyi(d: int, k: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    n_pairs = d * (d - 1) // 2
    _check_room("ER", k, d, largest=(d - 1) // 2)
    pairs = rng.choice(n_pairs, size=k * d, replace=False, shuffle=False) if k else np.arange(0)
    # Pair p counts the entries above the diagonal column by column: head h starts at h(h-1)/2.
    starts = np.arange(d) * (np.arange(d) - 1) // 2
    heads = np.searchsorted(starts, pairs, side="right") - 1
    return pairs - starts[heads], heads


def _scale_free(d: int, k: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    _check_room("SF", k, d, largest=d - 1)
    tails: list[int] = []
    heads: list[int] = []
    urn: list[int] = []  # every node once, and once more for each edge that points to it
    for node in range(d):
        chosen: set[int] = set()
        while len(chosen) < min(node, k):
            chosen.add(urn[int(rng.integers(len(urn)))])
        tails += [node] * len(chosen)
        heads += sorted(chosen)
        urn += [*sorted(chosen), node]
    return np.array(tails, dtype=np.int64), np.array(heads, dtype=np.int64)


def _scale_free_causes(d: int, k: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    _check_room("SC", k, d, largest=d - 1)
    heads, tails = _scale_free(d, k, rng)
    return tails, heads


def _bipartite(d: int, k: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    n_top = max(1, d // 5)
    n_bottom = d - n_top
    _check_room("BP", k, d, largest=n_top * n_bottom // d)
    cells = rng.choice(n_top * n_bottom, size=k * d, replace=False) if k else np.arange(0)
    return cells // max(n_bottom, 1), n_top + cells % max(n_bottom, 1)


def _uneven(d: int, k: float, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    _check_room("UD", k, d, largest=(d - 1) / 2)
    tails, heads = np.triu_indices(d, 1)
    cause, effect = np.exp(rng.normal(0.0, _UNEVENNESS, size=(2, d)))
    # The largest of log weight + Gumbel noise: a weighted draw without replacement.
    keys = np.log(cause[tails] * effect[heads]) + rng.gumbel(size=len(tails))
    chosen = np.argsort(-keys, kind="stable")[: round(k * d)]
    return tails[chosen], heads[chosen]


def _check_room(family: str, k: float, d: int, largest: float) -> None:
    if k > largest:
        raise ParameterError(
            f"{family}{k:g} does not fit on {d} nodes: at most {family}{largest:g} does; "
            "ask for fewer edges per node or for more nodes"
        )


_FAMILIES: dict[str, Callable[[int, Any, np.random.Generator], tuple[IntArray, IntArray]]] = {
    "ER": _erdos_renyi,
    "SF": _scale_free,
    "BP": _bipartite,
    "UD": _uneven,
    "SC": _scale_free_causes,
}


def uniform_weights(
    edges: BoolArray, low: float, high: float, rng: np.random.Generator
) -> FloatArray:
    """Draw ±U(low, high) for every edge."""
    weights = np.zeros(edges.shape)
    weights[edges] = signed_uniform(low, high, int(edges.sum()), rng)
    return weights


def effect_weights(
    edges: BoolArray, sizes: tuple[float, float], scales: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Draw the size of every effect, log-uniform, and return the weights that give it.

    An effect is in noise scales of the child per standard deviation of the parent, so that a
    parent far down the graph, which varies a lot, has no larger effects than the others.
    """
    size = draw_units(sizes, int(edges.sum()), rng)
    weights = np.zeros(edges.shape)
    weights[edges] = np.where(rng.random(len(size)) < 0.5, -size, size)
    mixing = np.diag(scales)  # column j: how x_j depends on the standard noise of every node
    for j in topological_order(edges):
        parents = np.flatnonzero(edges[:, j])
        if len(parents):
            sd = np.linalg.norm(mixing[:, parents], axis=0)
            weights[parents, j] *= scales[j] / sd
            mixing[:, j] += mixing[:, parents] @ weights[parents, j]
    return weights


def draw_units(bounds: tuple[float, float], size: int, rng: np.random.Generator) -> FloatArray:
    """Draw log-uniform factors."""
    low, high = np.log(bounds)
    return np.asarray(np.exp(rng.uniform(low, high, size=size)), dtype=np.float64)


def check_range(name: str, bounds: tuple[float, float]) -> tuple[float, float]:
    """Read (low, high), both positive."""
    try:
        low, high = (float(bound) for bound in bounds)
    except (TypeError, ValueError, OverflowError) as error:
        raise ParameterError(f"{name} must be (low, high); got {shown(bounds)}") from error
    if not 0.0 < low <= high < np.inf:
        raise ParameterError(f"{name} needs 0 < low <= high; got {shown(bounds)}")
    return low, high
