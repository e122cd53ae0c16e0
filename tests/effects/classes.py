"""All DAGs on a few nodes, by class; and covariances to compute their effects from."""

from __future__ import annotations

import itertools
from collections import defaultdict

import numpy as np

from analyticdag.graphs import is_dag, to_cpdag


def all_dags(d: int):
    """Yield every DAG on d nodes, as boolean matrices."""
    pairs = list(itertools.combinations(range(d), 2))
    for kinds in itertools.product((0, 1, 2), repeat=len(pairs)):
        graph = np.zeros((d, d), dtype=bool)
        for (i, j), kind in zip(pairs, kinds, strict=True):
            graph[i, j], graph[j, i] = kind == 1, kind == 2
        if is_dag(graph):
            yield graph


def classes(d: int) -> dict[bytes, list[np.ndarray]]:
    """Return the members of every class on d nodes, by the bytes of its CPDAG."""
    found = defaultdict(list)
    for graph in all_dags(d):
        found[(to_cpdag(graph) != 0).tobytes()].append(graph)
    return found


def random_dag(d: int, rng: np.random.Generator, share: float) -> np.ndarray:
    order = rng.permutation(d)
    upper = np.triu(rng.random((d, d)) < share, 1)
    graph = np.zeros((d, d), dtype=bool)
    graph[np.ix_(order, order)] = upper
    return graph


def members(cpdag: np.ndarray) -> list[np.ndarray]:
    """Return every DAG with this class, by trying all directions of its open edges."""
    undirected = np.argwhere(np.triu(cpdag & cpdag.T))
    found = []
    for turns in itertools.product((False, True), repeat=len(undirected)):
        graph = cpdag & ~cpdag.T
        for (i, j), turn in zip(undirected, turns, strict=True):
            graph[(j, i) if turn else (i, j)] = True
        if is_dag(graph) and np.array_equal(to_cpdag(graph) != 0, cpdag):
            found.append(graph)
    return found
