"""All DAGs on a few nodes, by class, and their effects: by brute force, without the library."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np


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
    return graphs[_acyclic(graphs)]


def _acyclic(graphs: np.ndarray) -> np.ndarray:
    """Return which of the graphs (m, d, d) are DAGs: those without a walk of d steps."""
    walks = graphs.astype(np.float32)
    for _ in range(graphs.shape[1] - 1):
        walks = walks @ graphs.astype(np.float32)
    return ~walks.any(axis=(1, 2))


def classes(d: int, S: np.ndarray) -> list[Class]:
    """Return every class on d nodes; effects are those of least squares on the covariance S."""
    dags = all_dags(d)
    found = effects_of(dags, S)
    _, which = np.unique(_keys(dags, dags | dags.swapaxes(1, 2)), axis=0, return_inverse=True)
    order = np.argsort(which.ravel(), kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(which.ravel()))[:-1])
    return [Class(dags[part].any(axis=0), dags[part], found[part]) for part in parts]


def _keys(dags: np.ndarray, joined: np.ndarray) -> np.ndarray:
    """Return what tells classes apart: the skeleton and the v-structures (Verma and Pearl)."""
    joined = np.broadcast_to(joined, dags.shape)
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


def members(cpdag: np.ndarray) -> np.ndarray:
    """Return every DAG with this class (m, d, d), by trying all directions of its open edges."""
    rows, columns = np.nonzero(np.triu(cpdag & cpdag.T))
    turns = np.array(list(itertools.product((False, True), repeat=len(rows))), dtype=bool)
    graphs = np.repeat((cpdag & ~cpdag.T)[None], len(turns), axis=0)
    graphs[:, rows, columns], graphs[:, columns, rows] = ~turns, turns
    graphs = graphs[_acyclic(graphs)]
    # The v-structures of a class are those of the edges that it directs.
    joined, directed = cpdag | cpdag.T, cpdag & ~cpdag.T
    same = _keys(graphs, joined) == _keys(directed[None], joined)
    return graphs[same.all(axis=1)]
