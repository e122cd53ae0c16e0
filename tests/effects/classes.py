"""All DAGs on a few nodes, by class, and their effects: by brute force, without the library."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from analyticdag.graphs import is_dag, to_cpdag


class Class(NamedTuple):
    """A class of DAGs: what its members share, the members, and their effects [member, x, y]."""

    edges: np.ndarray  # open ones in both entries
    members: np.ndarray
    effects: np.ndarray


def all_dags(d: int) -> np.ndarray:
    """Return every DAG on d nodes, as boolean matrices (m, d, d)."""
    rows, columns = np.triu_indices(d, 1)
    kinds = np.array(list(itertools.product((0, 1, 2), repeat=len(rows))), dtype=np.int8)
    graphs = np.zeros((len(kinds), d, d), dtype=bool)
    graphs[:, rows, columns], graphs[:, columns, rows] = kinds == 1, kinds == 2
    walks = np.eye(d, dtype=np.float32)
    for _ in range(d):
        walks = walks @ graphs.astype(np.float32)
    return graphs[~walks.any(axis=(1, 2))]  # a DAG has no walk of d steps


def classes(d: int, S: np.ndarray) -> list[Class]:
    """Return every class on d nodes; effects are those of least squares on the covariance S."""
    dags = all_dags(d)
    found = effects_of(dags, S)
    _, which = np.unique(_keys(dags), axis=0, return_inverse=True)
    order = np.argsort(which.ravel(), kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(which.ravel()))[:-1])
    return [Class(dags[part].any(axis=0), dags[part], found[part]) for part in parts]


def _keys(dags: np.ndarray) -> np.ndarray:
    """Return what tells classes apart: the skeleton and the v-structures (Verma and Pearl)."""
    joined = dags | dags.swapaxes(1, 2)
    both = dags[:, :, None, :] & dags[:, None, :, :]  # i -> k and j -> k
    meet = both & ~joined[:, :, :, None] & ~np.eye(dags.shape[1], dtype=bool)[None, :, :, None]
    return np.packbits(np.hstack([joined.reshape(len(dags), -1), meet.reshape(len(dags), -1)]), 1)


def effects_of(dags: np.ndarray, S: np.ndarray) -> np.ndarray:
    """Return total effects (m, d, d): every node regressed on its parents, paths summed."""
    d = len(S)
    slopes = {}
    for k in range(d + 1):
        for parents in itertools.combinations(range(d), k):
            inside = np.linalg.inv(S[np.ix_(parents, parents)]) if k else np.zeros((0, 0))
            slopes[sum(1 << p for p in parents)] = parents, inside
    table = np.zeros((d, 2**d, d))  # node, parents as bits, coefficients
    for code, (parents, inside) in slopes.items():
        for node in set(range(d)) - set(parents):
            table[node, code, list(parents)] = inside @ S[list(parents), node]
    codes = (dags * (1 << np.arange(d))[None, :, None]).sum(axis=1)
    W = table[np.arange(d)[None], codes].swapaxes(1, 2)
    return np.linalg.inv(np.eye(d) - W)


def random_dag(d: int, rng: np.random.Generator, share: float) -> np.ndarray:
    order = rng.permutation(d)
    upper = np.triu(rng.random((d, d)) < share, 1)
    graph = np.zeros((d, d), dtype=bool)
    graph[np.ix_(order, order)] = upper
    return graph


def members(cpdag: np.ndarray) -> Iterator[np.ndarray]:
    """Yield every DAG with this class, by trying all directions of its open edges."""
    undirected = np.argwhere(np.triu(cpdag & cpdag.T))
    for turns in itertools.product((False, True), repeat=len(undirected)):
        graph = cpdag & ~cpdag.T
        for (i, j), turn in zip(undirected, turns, strict=True):
            graph[(j, i) if turn else (i, j)] = True
        if is_dag(graph) and np.array_equal(to_cpdag(graph) != 0, cpdag):
            yield graph
