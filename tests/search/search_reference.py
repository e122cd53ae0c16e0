"""Plain NumPy versions of what the kernels do: slow, short, and easy to believe."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np

from analyticdag.search import blocks, counts, graph, kernels, setting, starts


def use_kernels(kind, monkeypatch):
    """Let the search use its kernels "as built", or "interpreted": their source, as it is."""
    chosen = kernels if kind == "as built" else _interpreted()
    for module in (setting, blocks, counts, graph, starts):
        monkeypatch.setattr(module, "kernels", chosen)
    return chosen


def _interpreted():
    home = Path(setting.__file__).parent / "kernels.py"
    spec = importlib.util.spec_from_file_location("interpreted", home)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def covariance(rng, n_nodes=8, n_samples=200, degree=2.0):
    """Covariance of data from a random linear model; the weights, too."""
    W = np.triu(rng.uniform(0.5, 2.0, (n_nodes, n_nodes)), 1)
    W *= rng.random((n_nodes, n_nodes)) < degree / max(n_nodes - 1, 1)
    W *= rng.choice([-1.0, 1.0], W.shape)
    X = rng.normal(size=(n_samples, n_nodes)) @ np.linalg.inv(np.eye(n_nodes) - W)
    shuffle = rng.permutation(n_nodes)
    return np.cov(X[:, shuffle].T, bias=True), W[np.ix_(shuffle, shuffle)]


def residual(S, node, parents):
    """Residual variance of a node on its parents."""
    parents = list(parents)
    if not parents:
        return S[node, node]
    weights = np.linalg.solve(S[np.ix_(parents, parents)], S[parents, node])
    return S[node, node] - weights @ S[parents, node]


def conditional(S, given):
    """Covariance of all variables given some."""
    given = list(given)
    if not given:
        return S.copy()
    return S - S[:, given] @ np.linalg.solve(S[np.ix_(given, given)], S[given])


def node_score(S, n, price, node, parents, equal):
    r = residual(S, node, parents)
    return n * (r if equal else np.log(r)) + price * len(list(parents))


def grow_shrink(S, n, price, node, candidates, equal=False, required=()):
    """Add the best candidate while it pays, drop the worst parent while that pays, repeat."""
    parents = set(required)
    while True:
        start = node_score(S, n, price, node, parents, equal)
        for step in ("add", "drop"):
            while True:
                now = node_score(S, n, price, node, parents, equal)
                pool = set(candidates) - parents if step == "add" else parents - set(required)
                change = {
                    p: node_score(S, n, price, node, parents ^ {p}, equal) - now for p in pool
                }
                best = min(change, key=change.get, default=None)
                if best is None or change[best] >= -1e-9:
                    break
                parents ^= {best}
        if node_score(S, n, price, node, parents, equal) >= start - 1e-9:
            return parents
