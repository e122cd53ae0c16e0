"""`NonlinearDAG`, the scikit-learn estimator for nonlinear equations.

fit -> check_table -> Statistics -> learn (needs Torch) -> attributes
"""

from __future__ import annotations

import importlib
import math
import os
import warnings
from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy import stats
from sklearn.utils.validation import check_is_fitted

from analyticdag._parameters import level_of
from analyticdag._tables import constant_columns
from analyticdag._typing import BinaryArray, FloatArray
from analyticdag._validation import check_table, column_names
from analyticdag._watch import watched
from analyticdag.acyclicity import Acyclicity
from analyticdag.effects import Outcome
from analyticdag.effects.known import position_of
from analyticdag.errors import (
    DataError,
    MissingDependencyError,
    NotConvergedWarning,
    ScaleWarning,
)
from analyticdag.fitting.checkpoint import held_checkpoint
from analyticdag.fitting.edges import (
    NEAR,
    Edge,
    FixedBy,
    Strength,
    between_tied,
    directions,
    edge_table,
    near_border,
)
from analyticdag.fitting.finish import Finished
from analyticdag.fitting.fitted import GraphEstimator
from analyticdag.fitting.statistics import Statistics
from analyticdag.functions import AnalyticFunction, Truncated
from analyticdag.graphs import to_cpdag
from analyticdag.knowledge import Knowledge
from analyticdag.losses import loss_traits
from analyticdag.nonlinear.choice import VarianceChoice, choose_variance
from analyticdag.nonlinear.options import ADVICE, AUTO, LEVEL, LOSSES, NetworkOptions
from analyticdag.nonlinear.what_if import N_DRAWS, draw, outcomes

_NOT_SOLVED = (
    "the networks of these data did not stay finite; look for outliers in X, or for columns of "
    "very different size, or use dtype='float64'"
)


class NonlinearDAG(GraphEstimator):
    """Learn a DAG whose equations are neural networks: x_t = f_t(parents) + noise.

    Needs Torch: ``pip install 'analyticdag[nonlinear]'``.

    Parameters
    ----------
    model : "gran-dag" or "mlp"
        "gran-dag": GraN-DAG, two hidden layers of leaky ReLU under an augmented Lagrangian.
        "mlp": DAGMA's network, one hidden layer of sigmoids, along a path of problems.
    constraint : "exponential" (GraN-DAG's own), "order-1", "order-2", … or an AnalyticFunction
    variance : "auto", or
        gran-dag: "constant", one noise variance for each column, or "learned", a second output of
        the network, so that the noise may depend on the parents;
        mlp: "equal", one variance for all columns, which reads directions from the scales of the
        columns, or "constant", one for each.
        "auto" lets the data choose for mlp (`loss_choice_.reason` says why) and is "constant" for
        gran-dag. None: as the model was published, "constant" and "equal".
    hidden_units : units in each hidden layer; None for ten.
    lambda1 : mlp only; weight of the l1 penalty on the first layer. None for 0.01.
    w_threshold : mlp only; input weights with a norm below this are no edge. None for 0.1.
    neighbours : whether to keep only candidate parents that random trees find useful before
        training. None: for gran-dag from 50 columns on.
    pruning : whether to drop edges that an additive spline regression does not need, or the level
        of that test, above 0; True is 0.001.
    refine : whether to search on from the networks' graph, edge by edge, by the BIC of spline
        regressions. None: for mlp, whose published form ends with the networks; False gives that.
    max_steps : gran-dag: steps in all, None for 100,000; mlp: steps of a stage, None for 5,000.
    knowledge : Knowledge or None
    dtype : "float64" or "float32"
    device : "auto" (or None) for a GPU where Torch has one, or the name of a Torch device.
    random_state : seed of the first weights, the batches and the held-out rows. None is fixed.
    verbose : 1 shows a bar on a terminal and in a notebook, elsewhere a line for every stage.
    checkpoint : None, or a file that keeps the state after every stage; a fit that was killed goes
        on from there when repeated.

    Attributes
    ----------
    weights_ : (d, d) floats, the average absolute slope of t's mean in i, in the units of the
        data, with the sign of the average slope; of networks refitted to the final graph.
    p_values_ : (d, d) floats, of the test whether t needs i beside its other parents.
    variance_ : "equal", "constant" or "learned", as asked for or as the data chose.
    loss_choice_ : None, or what variance="auto" chose: its `reason` is a sentence, its `spread` the
        number behind it.
    noise_variances_ : (d,) floats, in the units of the data, zero for constant columns; with
        variance="learned" the mean over the rows.
    adjacency_matrix_, graph_, cpdag_, causal_order_, edges_, removed_edges_, h_, loss_, trace_,
    status_, n_iter_, mean_, scale_, interventions_ (always None), n_features_in_,
    feature_names_in_ : as for `AnalyticDAG`.
        `standard_error` of an edge is NaN; its partial correlation is that of the spline
        regression.
    """

    def __init__(
        self,
        model: str = "gran-dag",
        constraint: str | AnalyticFunction | Truncated = "order-1",
        variance: str | None = "auto",
        hidden_units: int | None = None,
        lambda1: float | None = None,
        w_threshold: float | None = None,
        neighbours: bool | None = None,
        pruning: bool | float = True,
        refine: bool | None = None,
        max_steps: int | None = None,
        knowledge: Knowledge | None = None,
        dtype: str = "float64",
        device: str | None = "auto",
        random_state: int | None = None,
        verbose: int = 0,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> None:
        self.model = model
        self.constraint = constraint
        self.variance = variance
        self.hidden_units = hidden_units
        self.lambda1 = lambda1
        self.w_threshold = w_threshold
        self.neighbours = neighbours
        self.pruning = pruning
        self.refine = refine
        self.max_steps = max_steps
        self.knowledge = knowledge
        self.dtype = dtype
        self.device = device
        self.random_state = random_state
        self.verbose = verbose
        self.checkpoint = checkpoint

    p_values_: FloatArray
    loss_choice_: VarianceChoice | None
    variance_: str

    def fit(self, X: Any, y: None = None) -> Self:
        """Learn the graph from a table of rows; X is not changed, y is ignored."""
        learn = _torch_side().learn
        values = check_table(self, X, reset=True)
        options = NetworkOptions.of(self, values.shape[1])
        names = column_names(self, values.shape[1])
        options, choice = _decided(options, values, names)
        statistics = Statistics.from_table(values, names, standardize=options.standardises)
        if statistics.looks_standardised and options.variance == "equal":
            warnings.warn(
                "variance='equal' reads directions from the scales of the columns, but all "
                "variances are the same; use variance='constant', or data in their own units",
                ScaleWarning,
                stacklevel=2,
            )
        if not options.standardises:
            statistics = _in_one_unit(statistics)
        known = options.knowledge.resolve(names).restricted_to(statistics.touchable)
        rows = (values - statistics.mean) / statistics.scale
        # The likelihood of a constant has no bound and would outweigh all other columns, so a
        # constant column is replaced by noise.
        noise = np.random.default_rng(options.seed).standard_normal(rows.shape)
        rows = np.where(statistics.constant, noise, rows)
        with watched(options.verbose), held_checkpoint(options.checkpoint):
            try:
                learned = learn(rows, ~statistics.constant, options, known)
            except np.linalg.LinAlgError as error:
                raise DataError(_NOT_SOLVED) from error
        self.loss_choice_ = choice
        self._keep(statistics, options, learned)
        return self

    def score(self, X: Any, y: None = None) -> float:
        """Return the mean log-likelihood of the rows of X, for data held out from the fit.

        The noise is Gaussian, with one variance for all columns under variance="equal". Constant
        columns count for nothing.
        """
        check_is_fitted(self)
        values = check_table(self, X, reset=False)
        with np.errstate(over="ignore"):  # what is not finite is refused below
            columns = self._model.log_likelihood((values - self.mean_) / self.scale_)
        found = float(np.sum((columns - np.log(self.scale_))[self._varies]))
        if not math.isfinite(found):
            raise DataError(
                "the likelihood of X cannot be computed, so far are its values from those of the "
                "fit; look for outliers, or for columns in other units"
            )
        return found

    def sample(
        self, n: int, do: Mapping[Hashable, float] | None = None, *, seed: int | None = None
    ) -> FloatArray:
        """Draw n rows from the learned equations; columns in `do` are set to its values."""
        check_is_fitted(self)
        return draw(self, self._model, n, do or {}, seed)

    def intervene(
        self, do: Mapping[Hashable, float], *, level: float = 0.95, seed: int | None = 0
    ) -> list[Outcome]:
        """Return the distribution of every column when those in `do` are set, from 10,000 draws."""
        check_is_fitted(self)
        level_of(level)
        return outcomes(self, draw(self, self._model, N_DRAWS, do, seed), level)

    def predict(self, X: Any, target: Hashable | None = None) -> FloatArray:
        """Return what the learned equations expect of `target`, or of every column, in each row.

        A column is predicted from its direct causes only; one without causes by its mean.
        """
        check_is_fitted(self)
        values = check_table(self, X, reset=False)
        mean, _ = self._model.expected((values - self.mean_) / self.scale_)
        expected: FloatArray = np.where(self._varies, mean, 0.0) * self.scale_ + self.mean_
        if target is None:
            return expected
        names = column_names(self, self.n_features_in_)
        return expected[:, position_of(names, target, "target")]

    def _keep(self, statistics: Statistics, options: NetworkOptions, learned: Any) -> None:
        """Set the learned attributes."""
        scale = statistics.scale
        weights = learned.finished.weights * scale[None, :] / scale[:, None]
        variances = np.where(statistics.constant, 0.0, learned.noise_variances * scale**2)
        if not (np.isfinite(weights).all() and np.isfinite(variances).all()):
            raise DataError(_NOT_SOLVED)
        finished = replace(learned.finished, weights=weights)
        cpdag = to_cpdag(finished.adjacency)
        edges = _edges(statistics, finished, cpdag, learned, options)
        self._keep_graph(statistics.names, finished, cpdag, edges)
        self.p_values_ = learned.tests.p_value
        self.h_ = float(Acyclicity(options.function).value(finished.adjacency.astype(float)))
        self.variance_, self.loss_ = options.variance, LOSSES[options.variance]
        self.loss_traits_ = loss_traits(self.loss_)
        self.selection_ = None
        self.trace_, self.status_, self.n_iter_ = learned.trace, learned.status, learned.n_iter
        self.mean_, self.scale_ = statistics.mean, scale
        self.noise_variances_ = variances
        self.interventions_ = None
        self._model, self._varies = learned.model, ~statistics.constant
        self.advice_ = ADVICE.get((options.model, self.status_), str(self.status_.value))
        if not self.status_.converged:
            warnings.warn(self.advice_, NotConvergedWarning, stacklevel=3)


def _in_one_unit(statistics: Statistics) -> Statistics:
    """Return statistics that scale all columns by one number, so that they vary by one on average.

    The scales of the columns stay what they are to each other, and grams or tonnes do not matter.
    """
    variances = np.diag(statistics.S)[~statistics.constant]
    unit = np.sqrt(variances.mean()) if len(variances) else 1.0
    return replace(statistics, scale=statistics.scale * unit)


def _decided(
    options: NetworkOptions, values: FloatArray, names: list[Hashable]
) -> tuple[NetworkOptions, VarianceChoice | None]:
    """Return the options with the variance that was asked for, or that the data choose."""
    if options.variance != AUTO:
        return options, None
    varies = ~constant_columns(values)
    known = options.knowledge.resolve(names).restricted_to(varies[:, None] & varies)
    centred = values - values.mean(axis=0)
    # One number for all columns: their scales to each other are what is looked at.
    rows = centred / max(float(np.abs(centred).max()), np.finfo(float).tiny)
    choice = choose_variance(options.model, rows, varies, known)
    return replace(options, variance=choice.variance), choice


def _torch_side() -> Any:
    """Import what needs Torch, or say how to get it."""
    try:
        return importlib.import_module("analyticdag.nonlinear.learn")
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise MissingDependencyError("torch", "nonlinear") from error


def _edges(
    statistics: Statistics,
    finished: Finished,
    cpdag: BinaryArray,
    learned: Any,
    options: NetworkOptions,
) -> tuple[Edge, ...]:
    """Return what is known about every edge."""
    names, tests = statistics.names, learned.tests
    W, equal = finished.weights, options.variance == "equal"
    allowed = options.knowledge.resolve(names).allowed
    otherwise = FixedBy.EQUAL_VARIANCES if equal else FixedBy.EQUATIONS
    labels = directions(finished.adjacency, cpdag, allowed, otherwise)
    labels = between_tied(labels, statistics.redundant.tied(len(names)))
    partial = np.sqrt(tests.partial_r2) * np.where(W < 0.0, -1.0, 1.0)
    strength = Strength(np.full_like(W, np.nan), partial)
    if learned.trace.search:
        price, samples = learned.trace.search[0].price, np.full(len(W), statistics.n_samples)
        near = near_border(W, strength, samples, threshold=0.0, price=price)
    else:
        level = LEVEL if options.level is None else options.level
        # In standard errors, as for linear edges: a p-value is the tail of that many.
        near = stats.norm.isf(tests.p_value / 2.0) - stats.norm.isf(level / 2.0) < NEAR
    return edge_table(names, W, strength, labels, near)
