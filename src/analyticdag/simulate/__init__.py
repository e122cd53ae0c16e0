"""Data with a known causal graph: a random DAG, weights on it, equations, noise.

    simulate("ER2", n_nodes=100, n_samples=1000, noise="gumbel", seed=7)

is four independent draws, each with its own generator derived from the seed: the *graph*
(``random_graphs``), the *weights*, the *noise* (``noise``) and, for nonlinear equations, the
*functions* (``mechanisms``). Another noise or another number of rows therefore leaves the
graph and the weights as they were. Nothing touches NumPy's global state.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike

from analyticdag._parameters import flag, shown, whole
from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.errors import ParameterError
from analyticdag.graphs import to_networkx
from analyticdag.graphs.convert import square_matrix
from analyticdag.simulate.mechanisms import (
    MechanismName,
    check_mechanism,
    run_equations,
    signed_uniform,
)
from analyticdag.simulate.noise import NoiseName, NoiseScale, check_noise, draw_noise, node_scales
from analyticdag.simulate.random_graphs import check_generator, parse_code, random_dag

# A matrix of this many nodes takes 80 GB, a table of so many cells as well.
MOST_NODES, MOST_CELLS = 100_000, 10**10
# Beyond this, squares are no numbers any more, and no fit could use the data.
LARGEST_VALUE = 1e150

__all__ = ["Simulation", "random_dag", "sample", "simulate"]


@dataclass(frozen=True)
class Simulation:
    """What ``simulate`` drew, and every setting it was drawn with.

    ``weights`` are those of the equations, before any standardisation; with nonlinear
    equations, which have none, they are 0/1. ``noise_scale`` has one entry per node.
    """

    weights: FloatArray = field(repr=False, compare=False)
    data: FloatArray = field(repr=False, compare=False)
    noise_scale: FloatArray = field(repr=False, compare=False)
    code: str
    n_nodes: int
    n_samples: int
    noise: str
    mechanism: str
    standardize: bool
    weight_range: tuple[float, float]
    seed: int | tuple[int, ...] | None

    @property
    def graph(self) -> nx.DiGraph:
        """The true graph on the nodes 0 … d-1, with ``weight`` on each edge."""
        return to_networkx(self.weights)

    @property
    def adjacency_matrix(self) -> IntArray:
        """The true graph as 0/1 entries, [i, j] for i -> j."""
        edges: IntArray = (self.weights != 0.0).astype(np.int64)
        return edges


def simulate(
    graph: str = "ER2",
    *,
    n_nodes: int,
    n_samples: int,
    noise: NoiseName = "gaussian",
    standardize: bool = False,
    seed: int | Sequence[int] | None = 0,
    weight_range: tuple[float, float] = (0.5, 2.0),
    noise_scale: NoiseScale = 1.0,
    mechanism: MechanismName = "linear",
) -> Simulation:
    """Draw a random DAG and data from it; ``.weights`` and ``.data`` hold them.

    Parameters
    ----------
    graph
        Family and edges per node: ``"ER2"``, ``"SF4"``, ``"BP1"``.
    noise
        ``"gaussian"``, ``"exponential"``, ``"gumbel"``, ``"uniform"``, or ``"binary"`` for
        0/1 data. Not centred, with scale parameter ``noise_scale`` (see ``simulate.noise``).
    standardize
        Give every column mean 0 and variance 1, which hides the scale of the noise.
    seed
        A number, a sequence of numbers, or None for a different draw each time.
    weight_range
        Weights are ±U(low, high).
    noise_scale
        A number for all nodes (equal variances), a tuple (low, high) to draw one for each
        node (unequal variances), or a list or array with one for each node.
    mechanism
        ``"linear"``, ``"mlp"``, ``"gp"`` or ``"additive"``.
    """
    parse_code(graph)
    d = whole("n_nodes", n_nodes, 1, MOST_NODES)
    checked_seed = _check_seed(seed)
    # The order of the children is part of the contract: a new one goes to the end.
    graph_rng, weights_rng, scale_rng, noise_rng, functions_rng = _children(checked_seed, 5)
    low, high = _check_weight_range(weight_range)
    edges = random_dag(graph, d, graph_rng)
    linear = mechanism == "linear"
    weights = _draw_weights(edges, low, high, weights_rng) if linear else edges.astype(np.float64)
    scales = node_scales(noise_scale, d, scale_rng)
    data = sample(
        weights, n_samples, noise=noise, standardize=standardize, noise_scale=scales,
        mechanism=mechanism, rng=noise_rng, functions_rng=functions_rng,
    )  # fmt: skip
    return Simulation(
        weights=weights, data=data, noise_scale=scales, code=graph, n_nodes=d,
        n_samples=len(data), noise=noise, mechanism=mechanism, standardize=standardize,
        weight_range=(low, high), seed=checked_seed,
    )  # fmt: skip


def sample(
    weights: ArrayLike,
    n_samples: int,
    *,
    rng: np.random.Generator,
    noise: NoiseName = "gaussian",
    standardize: bool = False,
    noise_scale: NoiseScale = 1.0,
    mechanism: MechanismName = "linear",
    functions_rng: np.random.Generator | None = None,
) -> FloatArray:
    """Draw (n_samples, d) data from a given DAG; the options are those of ``simulate``.

    ``functions_rng`` draws the functions of a nonlinear mechanism; by default ``rng`` does.
    """
    W = square_matrix(weights, "weights")
    n = whole("n_samples", n_samples, 1, MOST_CELLS // max(len(W), 1))
    standardize = flag("standardize", standardize)
    check_generator("rng", rng)
    if functions_rng is not None:
        check_generator("functions_rng", functions_rng)
    check_noise(noise)
    check_mechanism(mechanism)
    scales = node_scales(noise_scale, len(W), rng)
    binary = noise == "binary"
    if binary and not (scales == 1.0).all():
        raise ParameterError("binary data have no noise scale; leave noise_scale at 1")
    if standardize and (binary or n < 2):
        raise ParameterError(
            "standardize needs continuous data of at least 2 rows; "
            f"got noise={noise!r}, n_samples={n}; leave standardize=False"
        )
    with np.errstate(over="ignore", invalid="ignore"):  # looked for below
        X = run_equations(
            W,
            draw_noise(noise, scales, n, rng),
            mechanism=mechanism,
            binary=binary,
            functions_rng=rng if functions_rng is None else functions_rng,
        )
    if not np.abs(X).max(initial=0.0) < LARGEST_VALUE:
        raise ParameterError(
            "effects grow along the paths of this graph until they are no numbers any more; use "
            "smaller weights (weight_range), a smaller noise_scale, or fewer edges"
        )
    if standardize:
        X -= X.mean(axis=0)
        X /= X.std(axis=0)
    return X


def _draw_weights(
    edges: BoolArray, low: float, high: float, rng: np.random.Generator
) -> FloatArray:
    weights = np.zeros(edges.shape)
    weights[edges] = signed_uniform(low, high, int(edges.sum()), rng)
    return weights


def _check_seed(seed: Any) -> int | tuple[int, ...] | None:
    if seed is None:
        return None
    numbers: int | tuple[int, ...]
    try:
        many = np.iterable(seed)
        numbers = tuple(map(operator.index, seed)) if many else operator.index(seed)
        np.random.SeedSequence(numbers)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            "seed must be a non-negative whole number, a sequence of them, or None; "
            f"got {shown(seed)}"
        ) from error
    return numbers


def _children(seed: int | tuple[int, ...] | None, count: int) -> list[np.random.Generator]:
    children = np.random.SeedSequence(seed).spawn(count)
    return [np.random.default_rng(child) for child in children]


def _check_weight_range(weight_range: tuple[float, float]) -> tuple[float, float]:
    try:
        low, high = (float(bound) for bound in weight_range)
    except (TypeError, ValueError, OverflowError) as error:
        raise ParameterError(
            f"weight_range must be (low, high); got {shown(weight_range)}"
        ) from error
    if not 0.0 < low <= high < np.inf:
        raise ParameterError(
            "weights are ±U(low, high): weight_range needs 0 < low <= high; "
            f"got {shown(weight_range)}"
        )
    return low, high
