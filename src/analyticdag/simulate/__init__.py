"""Data with a known causal graph: a random DAG, weights on it, equations, noise.

    simulate("ER2", n_nodes=100, n_samples=1000, noise="gumbel", seed=7)

is four independent draws, each with its own generator derived from the seed: the *graph* and the
*weights* (``random_graphs``), the *noise* (``noise``) and, for nonlinear equations, the *functions*
(``mechanisms``). Another noise or another number of rows therefore
leaves the graph and the weights as they were. Nothing touches NumPy's global state.

    simulate("UD1.5", n_nodes=50, n_samples=1000, effects=(0.02, 2.0), units=(0.1, 10.0))

is closer to measured tables: uneven degrees, effects over two decades with as many weak as strong
ones, columns in units of their own. ``violations`` lists what measured tables do besides; with
``discrete=0.5`` half of the columns are yes/no, ordered or categories (``mechanisms``).
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike

from analyticdag._parameters import choice, flag, number, shown, whole
from analyticdag._typing import BoolArray, FloatArray, IntArray
from analyticdag.errors import ParameterError
from analyticdag.graphs import to_networkx
from analyticdag.graphs.convert import square_matrix
from analyticdag.simulate.mechanisms import (
    WEIGHTED,
    MechanismName,
    draw_kinds,
    record_by_level,
    run_conditional,
    run_equations,
)
from analyticdag.simulate.noise import NoiseName, NoiseScale, draw_noise, node_scales
from analyticdag.simulate.random_graphs import (
    check_generator,
    check_range,
    draw_units,
    effect_weights,
    parse_code,
    random_dag,
    uniform_weights,
)
from analyticdag.simulate.violations import add_hidden_causes, pool_regimes, to_codes

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
    effects: tuple[float, float] | None = None
    units: tuple[float, float] | None = None
    levels: int | None = None
    hidden: int = 0
    regimes: int = 1
    kinds: tuple[str, ...] | None = None

    @property
    def graph(self) -> nx.DiGraph:
        """The true graph on the nodes 0 … d-1, with ``weight`` on each edge."""
        return to_networkx(self.weights)

    @property
    def adjacency_matrix(self) -> IntArray:
        """The true graph as 0/1 entries, [i, j] for i -> j."""
        return (self.weights != 0.0).astype(np.int64)


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
    effects: tuple[float, float] | None = None,
    units: tuple[float, float] | None = None,
    levels: int | None = None,
    hidden: int = 0,
    regimes: int = 1,
    discrete: float = 0.0,
) -> Simulation:
    """Draw a random DAG and data from it; ``.weights`` and ``.data`` hold them.

    Parameters
    ----------
    graph
        Family and edges per node: ``"ER2"``, ``"SF4"``, ``"SC1"``, ``"BP1"``, ``"UD1.5"``.
    noise
        "gaussian", "exponential", "gumbel", "uniform", "laplace", "student", "mixed", "binary".
    standardize
        Give every column mean 0 and variance 1, which hides the scale of the noise.
    seed
        A number, a sequence of numbers, or None for a different draw each time.
    weight_range
        Weights are ±U(low, high), unless there are ``effects``.
    noise_scale
        One number for all nodes, a tuple (low, high) to draw one for each, or all of them.
    mechanism
        ``"linear"``, ``"bent"``, ``"conditional"`` (mixed), ``"mlp"``, ``"gp"``, ``"additive"``.
    effects
        (low, high): sizes of effects, in noise scales of the child per sd of the parent.
    units
        (low, high): columns, their noise and weights are in units of their own, log-uniform.
    levels
        Record columns as so many codes 0, 1, …; None for the values themselves.
    hidden
        Unseen causes, each of three columns.
    regimes
        Pool the rows of so many regimes, which differ in the noise of some columns.
    discrete
        Share of the columns that are yes/no, ordered or categories; ``.kinds`` says which.
    """
    parse_code(graph)
    d, used = whole("n_nodes", n_nodes, 1, MOST_NODES), _check_seed(seed)
    # The order of the children is part of the contract: a new one goes to the end.
    graph_rng, weights_rng, scale_rng, noise_rng, functions_rng, *others = _children(used, 7)
    wanted = check_range("weight_range", weight_range)
    sizes, factors = _check_sizes(mechanism, noise, effects=effects, units=units)
    scales = node_scales(noise_scale, d, scale_rng)
    kinds = draw_kinds(d, number("discrete", discrete, 0.0, 1.0), others[1]) if discrete else None
    edges = random_dag(graph, d, graph_rng)
    weights = _weights(edges, mechanism, wanted, sizes, scales, weights_rng)
    data = sample(
        weights, n_samples, noise=noise, standardize=standardize, noise_scale=scales,
        mechanism=mechanism, rng=noise_rng, functions_rng=functions_rng, levels=levels,
        hidden=hidden, regimes=regimes, kinds=kinds,
    )  # fmt: skip
    drawn = Simulation(
        weights=weights, data=data, noise_scale=scales, code=graph, n_nodes=d, n_samples=len(data),
        noise=noise, mechanism=mechanism, standardize=standardize, weight_range=wanted, seed=used,
        effects=sizes, units=factors, levels=levels, hidden=hidden, regimes=regimes, kinds=kinds,
    )  # fmt: skip
    return drawn if factors is None else _in_units(drawn, draw_units(factors, d, others[0]))


def _in_units(drawn: Simulation, unit: FloatArray) -> Simulation:
    """Multiply columns, noise and weights by the unit of each column; codes have none."""
    if drawn.kinds is not None:
        unit = np.where(np.array(drawn.kinds) == "number", unit, 1.0)
    return replace(
        drawn,
        weights=drawn.weights * unit / unit[:, None],
        noise_scale=drawn.noise_scale * unit,
        data=drawn.data if drawn.standardize or drawn.levels else drawn.data * unit,
    )


def _weights(
    edges: BoolArray,
    mechanism: MechanismName,
    weight_range: tuple[float, float],
    effects: tuple[float, float] | None,
    scales: FloatArray,
    rng: np.random.Generator,
) -> FloatArray:
    """Draw the weights; equations that have none get 0 and 1."""
    if mechanism not in WEIGHTED:
        return edges.astype(np.float64)
    if effects is None:
        return uniform_weights(edges, *weight_range, rng)
    return effect_weights(edges, effects, scales, rng)


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
    levels: int | None = None,
    hidden: int = 0,
    regimes: int = 1,
    kinds: tuple[str, ...] | None = None,
) -> FloatArray:
    """Draw (n_samples, d) data from a given DAG; the options are those of ``simulate``.

    ``functions_rng`` draws the functions of a nonlinear mechanism, hidden causes, regimes and
    levels; by default ``rng`` does. ``kinds`` are as in ``Simulation.kinds``.
    """
    W = square_matrix(weights, "weights")
    n = whole("n_samples", n_samples, 1, MOST_CELLS // max(len(W), 1))
    standardize = flag("standardize", standardize)
    check_generator("rng", rng)
    if functions_rng is not None:
        check_generator("functions_rng", functions_rng)
    choice("noise", noise, get_args(NoiseName))
    choice("mechanism", mechanism, get_args(MechanismName))
    hidden = whole("hidden", hidden, 0, MOST_NODES)
    regimes = whole("regimes", regimes, 1, MOST_NODES)
    levels = None if levels is None else whole("levels", levels, 2, what="None, or a whole number")
    scales = node_scales(noise_scale, len(W), rng)
    others = rng if functions_rng is None else functions_rng
    binary = noise == "binary"
    if binary and not (scales == 1.0).all():
        raise ParameterError("binary data have no noise scale; leave noise_scale at 1")
    if standardize and (binary or n < 2):
        raise ParameterError(
            "standardize needs continuous data of at least 2 rows; "
            f"got noise={noise!r}, n_samples={n}; leave standardize=False"
        )
    _check_codes(noise, levels, hidden, regimes, kinds, standardize=standardize)
    E = draw_noise(noise, scales, n, rng)
    E = add_hidden_causes(E, scales, hidden, others) if hidden else E
    E = pool_regimes(E, scales, regimes, others) if regimes > 1 else E
    with np.errstate(over="ignore", invalid="ignore"):  # looked for below
        if mechanism == "conditional":
            X = run_conditional(W, E, kinds or ("number",) * len(W), others)
        else:
            X = run_equations(W, E, mechanism=mechanism, binary=binary, functions_rng=others)
    if not np.abs(X).max(initial=0.0) < LARGEST_VALUE:
        raise ParameterError(
            "effects grow along the paths of this graph until they are no numbers any more; use "
            "smaller weights (weight_range), a smaller noise_scale, or fewer edges"
        )
    if kinds is not None and mechanism != "conditional":
        X = record_by_level(X, kinds, others)
    if levels is not None:
        X = to_codes(X, levels)
    if standardize:
        X -= X.mean(axis=0)
        X /= X.std(axis=0)
    return X


def _check_sizes(
    mechanism: str, noise: str, **asked: tuple[float, float] | None
) -> tuple[tuple[float, float] | None, ...]:
    """Refuse sizes and units where edges or columns have none; return the others, checked."""
    checked = tuple(value and check_range(name, value) for name, value in asked.items())
    for name in (name for name, value in asked.items() if value is not None):
        if noise == "binary" or mechanism not in WEIGHTED:
            raise ParameterError(
                f"{name} is for linear or bent equations of continuous data; got "
                f"mechanism={mechanism!r}, noise={noise!r}; leave {name} out"
            )
    return checked


def _check_codes(
    noise: str,
    levels: int | None,
    hidden: int,
    regimes: int,
    kinds: tuple[str, ...] | None,
    *,
    standardize: bool,
) -> None:
    """Refuse what codes cannot be, or have done to them."""
    if noise == "binary" and (levels is not None or hidden or regimes > 1 or kinds is not None):
        raise ParameterError(
            "levels, hidden, regimes and discrete are for continuous data; leave them out with "
            "noise='binary'"
        )
    if kinds is not None and (standardize or levels is not None):
        raise ParameterError(
            "discrete columns are codes: leave standardize=False and levels=None with discrete"
        )


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
