"""`AnalyticDAG`, the scikit-learn estimator.

fit            -> check_table      -> Statistics ┐       (with interventions: by column)
fit, of batches, and partial_fit   -> Statistics ┼> Fit -> Learned -> attributes
fit_covariance -> check_covariance -> Statistics ┘
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from analyticdag._threads import one_blas_thread
from analyticdag._typing import BoolArray, FloatArray
from analyticdag._validation import (
    check_covariance,
    check_table,
    check_weights,
    column_names,
    remember_columns,
)
from analyticdag._watch import watched
from analyticdag.acyclicity import Acyclicity
from analyticdag.effects import Outcome, intervene, sample
from analyticdag.effects.families import Families
from analyticdag.effects.levels import LevelColumns
from analyticdag.errors import NotConvergedWarning, ParameterError
from analyticdag.fitting.checkpoint import held_checkpoint
from analyticdag.fitting.edges import FixedBy
from analyticdag.fitting.fitted import GraphEstimator
from analyticdag.fitting.rows import Seen
from analyticdag.fitting.statistics import Statistics
from analyticdag.fitting.tally import MetLevels
from analyticdag.functions import AnalyticFunction, Truncated
from analyticdag.interventions import equivalence_class, intervention_mask
from analyticdag.knowledge import Knowledge
from analyticdag.least_squares import weights_on_parents
from analyticdag.linear.blocks import judge_of, ladder_task
from analyticdag.linear.choice import LossChoice
from analyticdag.linear.edges import describe, edges_of
from analyticdag.linear.ignored import warn_about_ignored, warn_about_scale
from analyticdag.linear.judging import HasJudgedEdges, untied, with_sure_claims
from analyticdag.linear.ladder import HasLadder
from analyticdag.linear.learn import Learned, learned_by_path, learned_by_search
from analyticdag.linear.options import Options
from analyticdag.linear.prepare import Fit, prepared
from analyticdag.linear.ranks import ranks_instead
from analyticdag.linear.resume import with_rows
from analyticdag.linear.rows import (
    chosen,
    comes_in_batches,
    completed,
    from_batches,
    from_seen,
    mean_log_likelihood,
    predictions,
    refuse_beside_batches,
    used_rows,
)
from analyticdag.linear.selection import Selection
from analyticdag.losses import LossClass
from analyticdag.moments import Moments
from analyticdag.optimize.path import Minimiser
from analyticdag.optimize.trace import Status
from analyticdag.tables.recipe import Recipe


class AnalyticDAG(HasJudgedEdges, HasLadder, GraphEstimator):
    """Learn a linear DAG, x_j = Σ_i W[i, j] x_i + e_j, under an analytic acyclicity constraint.

    Parameters
    ----------
    loss : "auto" (BIC chooses), "mse", "likelihood-ev", "likelihood-nv", "logistic" or a class.
    constraint : what keeps cycles out: "exponential", "order-1", "order-2", … or a function.
    lambda1 : l1 penalty of the path; "auto" or "ebic", "cv", "stars"; None: 0.05, "logistic" 0.01.
    w_threshold : weights of the path below this, in absolute value, are no edges; or "auto".
    solver : "auto", "fast", "adam", "order", or a solver object such as `Adam(device="cuda")`.
    refine : search over orders for the best penalised score; False keeps the path's own answer.
    knowledge : edges that must or must not be there, tiers, most parents: a `Knowledge`, or None.
    candidates : None, "correlation", "markov", "pc" or a boolean (d, d) mask of possible edges.
    standardize : learn on columns scaled to variance one; `weights_` refer to those.
    random_state : seed of the search; None is a fixed seed.
    n_jobs : threads of the search, None for as many as BLAS may use; no result depends on it.
    verbose : 1 shows a bar on a terminal and in a notebook, elsewhere a line for every stage.
    checkpoint : file that keeps the path after every stage: a killed fit goes on when repeated.
    gamma : price of an edge in the search, more gives fewer edges; "auto" lets the data choose.
    min_effect : no edge has a smaller |partial correlation|; "auto" goes by misfit of the rows.
    effort : factor on how often the search begins anew until its best score has come back.
    missing : gaps (NaN): "error" refuses them, "drop" leaves out rows, "em" uses all there is.
    kinds : what columns of a data frame are, by name, such as {"smoker": "yes/no"}; or None.
    covariance : "sample", "rank" (columns that bend, wild cells) or "auto": as rows have it better.

    Notes
    -----
    "mse" is least squares; "likelihood-ev" and "likelihood-nv" are the Gaussian likelihood with
    equal and with unequal noise variances, "logistic" the Bernoulli likelihood of 0/1 data with
    intercepts by the path of Adam alone (refine is not read); a class of your own is one of
    `losses.Loss`. "auto" fits equal and unequal variances and lets BIC decide (`loss_` says
    which, `loss_choice_` by how much). After a search under unequal variances the shapes of the
    noise, where it is not Gaussian, fix directions that the class leaves open, and turn edges of
    the class that they clearly speak against (`noise_shape`); that needs at least 100 full rows.

    Solver "auto" searches from cheap orders and follows the path too where it can matter
    (`trace_.plan` says what was done and why); with refine=False it is "fast". "fast" follows the
    path with every stage solved to a tolerance (`Columns.tol`), "adam" as published in the paper's
    Algorithm 2; "order" follows no path. The stages and the start of a path, its device and its
    precision are set on the solver: `Columns(schedule=..., start=...)`, `Adam(start=...,
    device=..., dtype=...)`.

    With refine=True the score of the search alone decides which edges stay, and the path is a start
    of it. An edge costs log n + 4·gamma·log d for n rows and d columns; "auto" is as low as it can
    be while at most 20 % of the edges that just pay it are expected to be accidents
    (`search.price`). min_effect="auto" is 0 where the rows agree with the model, and grows with
    what they show of bent equations and pooled populations (`linear.misfit`).

    missing="em" takes maximum likelihood from the rows as they are, and counts only as many rows as
    the pairs of columns really have (`tables.gaps`). Kinds are "number", "count", "log", "yes/no",
    "ordered", "category", "days" (a date), or the levels of an ordered column from low to high;
    words, booleans and categoricals are understood without, two values are yes/no, and a table of
    nothing but codes (ten whole numbers at most) is ordered. The search reads yes/no and ordered
    columns by their levels and as cuts of normal variables, and takes the better graph; a category
    enters as one (`fitting.design`), with a strength between 0 and 1 for the weight of an edge, and
    coefficients as its `parts`. On yes/no a weight is a change of share. Of discrete columns alone,
    parents that act together are found by counts (`search.counts`).

    Attributes
    ----------
    weights_ : (d, d) floats, weights_[i, j] != 0 means i -> j.
    adjacency_matrix_ : (d, d) of 0 and 1.
    graph_ : networkx.DiGraph on the column names, edges with a `weight`.
    cpdag_ : (d, d) of 0 and 1, the equivalence class; an undirected edge is set both ways. With
        interventions, the class of the graphs that explain them too.
    class_graph_ : networkx.DiGraph, what is known given everything: data, knowledge, interventions,
        noise shapes, accepted assumptions. An edge that may point either way has both arcs, with
        open=True.
    interventions_ : (n, d) mask of what was perturbed; None where nothing was.
    causal_order_ : column indices, every cause before its effects: the certificate of a DAG.
    edges_ : tuple of Edge, by name: weight, standard error, partial correlation, what fixed the
        direction, whether it nearly was no edge, the margin by which the noise prefers its
        direction, and how probable it is (`linear.probabilities`), which is found out at the
        latest when this is first read. `edges_frame()` is a table of them.
    ladder_ : tuple of Rung, the graph, score and price of a falling series of prices.
    covariance_ : "sample" or "rank": what the graph was learned from.
    excess_ : by what evidence was divided as rows contradict the model; None if nothing is judged.
    removed_edges_ : list of (source, target) dropped to break cycles or to respect max_parents.
    h_ : the constraint at `weights_`; zero.
    loss_ : the name of the loss that was used; `loss_traits_` says what it assumes.
    loss_choice_ : LossChoice, the two scores behind "auto"; None with any other loss.
    selection_ : Selection, the series of lambdas behind "auto"; None where none was chosen.
    trace_ : Trace; what happened at every stage, and in the search which start won.
    status_ : Status; its value says what to do, and so does `advice_`.
    n_iter_ : steps (with "fast": sweeps) of the path in all; without a path, searches made.
    mean_, scale_, noise_variances_ : the rest of the model, as `score` uses it. The noise
        variances are those of the columns divided by `scale_`: their standard deviations with
        `standardize`, else one; or one power of two for all where all are far from one (1e±25).
    moments_ : Moments, the covariances and means that `effects` are computed from.
    reading_ : "levels", "cuts" or "counts": how discrete columns were read; None without such.
    level_columns_ : LevelColumns, the moments of a table with categories; else None.
    families_ : Families, the counts behind a graph by counts; else None.
    recipe_ : Recipe, how the columns become numbers; None where they are numbers.
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn.
    """

    def __init__(
        self,
        loss: str | LossClass = "auto",
        constraint: str | AnalyticFunction | Truncated = "order-2",
        lambda1: float | str | None = None,
        w_threshold: float | str = 0.3,
        solver: str | Minimiser = "auto",
        refine: bool = True,
        knowledge: Knowledge | None = None,
        candidates: str | BoolArray | None = None,
        standardize: bool = False,
        random_state: int | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        checkpoint: str | os.PathLike[str] | None = None,
        gamma: float | str | None = "auto",
        min_effect: float | str = "auto",
        effort: float = 1.0,
        missing: str = "error",
        kinds: Mapping[str, Any] | None = None,
        covariance: str = "auto",
    ) -> None:
        self.loss = loss
        self.constraint = constraint
        self.lambda1 = lambda1
        self.w_threshold = w_threshold
        self.solver = solver
        self.refine = refine
        self.knowledge = knowledge
        self.candidates = candidates
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.checkpoint = checkpoint
        self.gamma = gamma
        self.min_effect = min_effect
        self.effort = effort
        self.missing = missing
        self.kinds = kinds
        self.covariance = covariance

    interventions_: BoolArray | None
    loss_choice_: LossChoice | None
    selection_: Selection | None
    moments_: Moments
    level_columns_: LevelColumns | None
    families_: Families | None
    recipe_: Recipe | None
    covariance_: str
    excess_: float | None
    _seen: Seen | None = None  # rows in batches, which `partial_fit` goes on from
    _met: tuple[FloatArray | None, ...] | None = None  # of a table: columns of one or two values

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        return tags

    def fit(
        self, X: Any, y: None = None, sample_weight: Any = None, *, interventions: Any = None
    ) -> Self:
        """Learn the graph from a table of rows; X is not changed, y is ignored.

        X is an array or a data frame; or more rows than memory holds: the path of a Parquet, CSV or
        Feather file, any iterable of tables, or a Dask DataFrame. `sample_weight` acts like rows
        that are repeated so often, but no shape of noise fixes a direction; weight zero leaves out.

        `interventions` says for each row which column was perturbed, by name or index, None where
        none was; or it is a boolean (n, d) mask. A column's own equation is then learned from the
        rows that left it alone, and directions that the perturbed rows fix are fixed.
        """
        options = Options.of(self)
        self._seen = self._met = seen = None  # of an earlier partial_fit or fit
        if comes_in_batches(X):
            refuse_beside_batches(sample_weight, interventions)
            options.check_batches()
            statistics, seen = from_batches(self, X)
        else:
            statistics = self._of_table(X, sample_weight, interventions, options)
        return self._learn(statistics, options, X, seen)

    def _of_table(
        self, X: Any, sample_weight: Any, interventions: Any, options: Options
    ) -> Statistics:
        """Check a table and what comes with it, and reduce it to its statistics."""
        told = interventions is None  # what was set in some rows may lie far from the rest
        values = check_table(self, X, reset=True, sample_weight=sample_weight, codes=told)
        names = column_names(self, values.shape[1])
        perturbed = intervention_mask(interventions, names, len(values))
        if perturbed is not None:
            options.check_interventions()
        weights = check_weights(sample_weight, len(values))
        if weights is not None:
            options.check_weights()
        if options.missing != "error" and np.isnan(values).any():
            options.check_gaps()
        used = used_rows(options.missing, values, weights)
        values, perturbed, weights = (chosen(one, used) for one in (values, perturbed, weights))
        self._met = MetLevels.before_any_row(len(names)).with_rows(values).met
        with one_blas_thread():
            return Statistics.from_table(
                values, names, standardize=options.standardize, perturbed=perturbed, weights=weights
            )

    def partial_fit(self, X: Any, y: None = None, sample_weight: Any = None) -> Self:
        """Learn from these rows and all before them: those of `partial_fit`, and of a fit.

        Rows are added up, a sample of them is kept, and every call learns the graph anew. The rows
        of a call that raises an error do not count.
        """
        options = Options.of(self)
        options.check_batches()
        seen = with_rows(self, X, sample_weight)
        return self._learn(from_seen(self, seen), options, X, seen)

    def fit_covariance(self, S: Any, *, n_samples: int) -> Self:
        """Learn the graph from a covariance of `n_samples` rows that are not needed themselves."""
        options = Options.of(self)
        options.check_rows()
        values, n_samples, names = check_covariance(S, n_samples)
        remember_columns(self, names, len(values))
        self.recipe_ = self._seen = self._met = None
        statistics = Statistics.from_covariance(
            values, n_samples, column_names(self, len(values)), standardize=options.standardize
        )
        return self._learn(statistics, options, S)

    def score(self, X: Any, y: None = None, sample_weight: Any = None) -> float:
        """Return the mean log-likelihood of the rows of X, for data held out from the fit.

        The noise is Gaussian, with one variance for all columns under "likelihood-ev" and one for
        each column otherwise; after "logistic" the Bernoulli likelihood. Constant columns count
        for nothing. With gaps in X and missing="em" it is that of the cells that are there. Weights
        act like repeated rows.
        """
        check_is_fitted(self)
        values = check_table(self, X, reset=False)
        weights = check_weights(sample_weight, len(values))
        used = used_rows(self.missing, values, weights, least=1)
        return mean_log_likelihood(self, chosen(values, used), chosen(weights, used))

    def sample(
        self, n: int, do: Mapping[Hashable, Any] | None = None, *, seed: int | None = None
    ) -> Any:
        """Draw n rows from the learned equations; columns in `do` are set to its values.

        `do` sets a category or a yes/no column to a level, as in {"colour": "red"}; of such words
        the rows are a data frame. Where open edges matter, they are of one member, with a warning.
        """
        check_is_fitted(self)
        return sample(self, n, do, seed=seed)

    def intervene(self, do: Mapping[Hashable, Any], *, level: float = 0.95) -> list[Outcome]:
        """Return the distribution of every column when those in `do` are set to its values.

        Of levels, as in {"colour": "red"}, the shares. Where open edges matter, the range over
        all members of the class, and a warning.
        """
        check_is_fitted(self)
        return intervene(self, do, level=level)

    def predict(self, X: Any, target: Hashable | None = None) -> Any:
        """Return what the learned equations expect of `target`, or of every column, in each row.

        Of levels in words, their probabilities, in a data frame. From direct causes in `graph_`
        only; where open edges matter to a target, with a warning. For a gap (missing="em") stands
        what the rest of the row makes of it.
        """
        check_is_fitted(self)
        if self.loss_traits_.binary:
            raise ParameterError(f"predict is for linear equations, not for loss={self.loss_!r}")
        return predictions(self, completed(self, check_table(self, X, reset=False)), target)

    @property
    def slopes_(self) -> FloatArray:
        """Coefficients of the equations: `weights_`; of edges of categories, per unit of score."""
        if not any(edge.parts for edge in self._edges):
            return self.weights_
        return weights_on_parents(self.moments_, self.adjacency_matrix_ != 0)

    def _learn(
        self, statistics: Statistics, options: Options, like: Any, seen: Seen | None = None
    ) -> Self:
        """Learn from checked data; `like` is the caller's table, `seen` what is kept."""
        warn_about_scale(statistics, options, stacklevel=3)
        with watched(options.verbose), one_blas_thread(), held_checkpoint(options.checkpoint):
            fit = prepared(statistics, self.recipe_, options, like)
            learned = learned_by_search(fit) if options.refine else learned_by_path(fit)
            fit, learned = ranks_instead(fit, learned, self.recipe_)
            self._keep(fit, learned)
        self._seen = seen
        return self

    def _keep(self, fit: Fit, learned: Learned) -> None:
        """Set the learned attributes."""
        statistics, judge = fit.plain, judge_of(fit, learned)
        learned = with_sure_claims(learned, judge)
        described = describe(fit, learned, self.recipe_)
        # The graph, and its edges, whose probabilities are found out when somebody asks.
        self.interventions_ = statistics.perturbed
        finished = replace(learned.finished, weights=described.weights)
        cpdag = equivalence_class(finished.adjacency, statistics.perturbed)
        edges = edges_of(fit, learned, described, cpdag)
        self._keep_graph(statistics.names, finished, cpdag, edges)
        self._judge = untied(judge, statistics)
        self.excess_ = None if judge is None else judge.excess
        self._ladder, self._rungs = ladder_task(fit, learned), None
        # The equations, and what effects are computed from.
        W, pooled = described.slopes, learned.loss.variances == "equal"
        self.mean_, self.scale_ = statistics.undisturbed_mean(W), statistics.scale
        self.noise_variances_ = statistics.noise_variances(W, pooled=pooled)
        self.moments_, self.level_columns_ = statistics.moments, described.columns
        self.families_ = learned.families(self.class_graph_)
        # How it was found.
        self.covariance_ = "rank" if fit.statistics.ranks else "sample"
        self.reading_ = learned.reading_of(fit)
        self.loss_, self.loss_traits_ = learned.loss.name, learned.loss
        self.loss_choice_, self.selection_ = learned.choice, learned.selection
        self.trace_, self.status_, self.n_iter_ = learned.trace, learned.status, learned.n_iter
        self.h_ = float(Acyclicity(fit.options.function).value(finished.weights))
        if self.status_ is Status.SEARCHED and any(e.fixed_by is FixedBy.NOTHING for e in edges):
            self.status_ = Status.CLASS_FOUND
        self.advice_ = str(self.status_.value)
        if not self.status_.converged:
            warnings.warn(self.advice_, NotConvergedWarning, stacklevel=4)
        warn_about_ignored(self, path=bool(learned.trace.records), stacklevel=4)
        if self.status_ is Status.INTERRUPTED:
            raise KeyboardInterrupt(self.advice_)  # the caller's loop ends; the best so far is kept
