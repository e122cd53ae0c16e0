"""What a "learn" cell may call, by name: our estimator, honest baselines, and the peers.

A learner is a function ``(X, seed, **options) -> matrix``: entry (i, j) is non-zero for i -> j,
and an undirected edge (of a method that returns an equivalence class) has both entries set. It may
return ``(matrix, numbers)`` instead, with numbers of its own for the record, such as its steps.
Peers are adapters of a few lines around the real packages, imported when called; without them
the cell is recorded as missing. To add one, write such a function and add one line to METHODS.
"""

from __future__ import annotations

import io
import itertools
import math
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from analyticdag._typing import FloatArray
from analyticdag.baselines import BASELINES
from analyticdag.candidates import candidate_mask
from analyticdag.errors import ParameterError
from analyticdag.extended_bic import edge_price
from analyticdag.linear import AnalyticDAG
from analyticdag.linear.options import solver_with
from analyticdag.optimize.adam import Adam
from analyticdag.optimize.path import schedule_of
from analyticdag.optimize.schedule import Schedule
from analyticdag.search import default_gamma
from benchmarks.nonlinear import dagma_nonlinear, nonlinear
from benchmarks.optional import optional
from benchmarks.parts import composed_path, search_from, start_alone
from benchmarks.plan import Method
from benchmarks.tasks import find_function

__all__ = ["METHODS", "Answer", "Learner", "find_method", "shortened"]

Answer: TypeAlias = FloatArray | tuple[FloatArray, dict[str, Any]]
Learner: TypeAlias = Callable[..., Answer]


def find_method(name: str) -> Learner:
    """The learner with this name, or the function at ``package.module:function``."""
    if name in METHODS:
        return METHODS[name]
    if ":" in name:
        return find_function(name)
    raise ParameterError(
        f"no method is called {name!r}; known: {', '.join(sorted(METHODS))}; "
        "or give your own as 'package.module:function'"
    )


def _analyticdag(
    X: FloatArray,
    seed: int,
    steps: int | None = None,
    adam: dict[str, Any] | None = None,
    start: str | None = None,
    shrink: float | None = None,
    stages: str | None = None,
    **options: Any,
) -> Answer:
    """Our estimator. A plan may limit the steps of a stage, change the settings of Adam, choose
    the start of the exact path, give it the paper's five stages, let s fall by a factor wherever
    mu falls by ten, and name a constraint of its own as "package.module:name".
    """
    if adam is not None:
        options["solver"] = Adam(**adam)
    if start is not None:
        options["solver"] = "fast"
    if options.get("solver") != "order":  # the search alone has no stages
        options["solver"] = solver_with(options.get("solver"), max_steps=steps, start=start)
    if stages is not None:
        options["solver"] = replace(options["solver"], schedule=getattr(Schedule, stages)())
    if shrink is not None:
        options["solver"] = _shrinking(options["solver"], shrink)
    if ":" in str(options.get("constraint", "")):
        options["constraint"] = find_function(options["constraint"])
    model = AnalyticDAG(random_state=seed, **options).fit(X)
    return model.weights_, {"steps": model.n_iter_, "status": model.status_.name.lower()}


def _shrinking(solver: Any, factor: float) -> Any:
    """The solver with s = factor^k in the stage with mu = 10^-k."""
    stages = [
        replace(stage, s=factor ** -math.log10(stage.mu)) for stage in schedule_of(solver).stages
    ]
    return replace(solver, schedule=Schedule(stages))


def _path(X: FloatArray, seed: int, **options: Any) -> Answer:
    """The path alone, as the paper publishes it: least squares, Adam, no search afterwards."""
    paper: dict[str, Any] = {"loss": "mse", "refine": False}
    if not {"adam", "start"} & set(options):
        paper["solver"] = "adam"
    return _analyticdag(X, seed, **{**paper, **options})


def _baseline(name: str) -> Learner:
    """One of ``analyticdag.baselines``, which have no randomness."""

    def learner(X: FloatArray, seed: int, steps: int | None = None, **options: Any) -> FloatArray:
        if steps is not None:
            options["schedule"] = Schedule.paper().with_steps(steps)
        return BASELINES[name](X, **options)

    return learner


def _dagma(X: FloatArray, seed: int, **options: Any) -> Answer:
    model = optional("dagma.linear", "dagma").DagmaLinear(loss_type=options.pop("loss_type", "l2"))
    if "candidates" in options:
        mask = candidate_mask(options.pop("candidates"), np.cov(X.T, bias=True), len(X))
        options["exclude_edges"] = tuple(map(tuple, np.argwhere(~mask).tolist()))
    update, steps = model._adam_update, itertools.count()

    def counted(*arguments: Any) -> Any:
        next(steps)
        return update(*arguments)

    model._adam_update = counted  # the package keeps no count of its steps
    with redirect_stderr(io.StringIO()):  # its progress bar cannot be turned off
        weights: FloatArray = model.fit(X, **options)
    return weights, {"steps": next(steps)}


def _flop(
    X: FloatArray, seed: int, lambda_bic: float | str = 2.0, restarts: int = 20
) -> FloatArray:
    """FLOP charges lambda_bic·log n for an edge; "ebic" makes that the price our search charges."""
    if lambda_bic == "ebic":
        n, d = X.shape
        lambda_bic = edge_price(n, d, default_gamma("unequal")) / math.log(n)
    graph = optional("flopsearch", "flopsearch").flop(X, lambda_bic, restarts=restarts)
    return np.asarray(graph != 0, dtype=float)


def _pc(X: FloatArray, seed: int, **options: Any) -> FloatArray:
    search = optional("causallearn.search.ConstraintBased.PC", "causal-learn")
    return _from_causal_learn(search.pc(X, show_progress=False, **options).G)


def _pc_compiled(X: FloatArray, seed: int) -> FloatArray:
    """The same algorithm in C++ (package pybnesian), as ``candidates="pc"`` calls it."""
    return candidate_mask("pc", np.cov(X.T, bias=True), len(X)).astype(float)


def _ges(X: FloatArray, seed: int, **options: Any) -> FloatArray:
    search = optional("causallearn.search.ScoreBased.GES", "causal-learn")
    return _from_causal_learn(search.ges(X, **options)["G"])


def _boss(X: FloatArray, seed: int, **options: Any) -> FloatArray:
    search = optional("causallearn.search.PermutationBased.BOSS", "causal-learn")
    with _global_seed(seed):
        return _from_causal_learn(search.boss(X, verbose=False, **options))


def _grasp(X: FloatArray, seed: int, **options: Any) -> FloatArray:
    search = optional("causallearn.search.PermutationBased.GRaSP", "causal-learn")
    with _global_seed(seed):
        return _from_causal_learn(search.grasp(X, verbose=False, **options))


@contextmanager
def _global_seed(seed: int) -> Iterator[None]:
    """For a peer that draws from Python's global generator: the state is put back afterwards."""
    before = random.getstate()
    random.seed(seed)
    try:
        yield
    finally:
        random.setstate(before)


def _from_causal_learn(graph: Any) -> FloatArray:
    """causal-learn writes the mark at node j of the edge i - j into entry (j, i): 1 is a head."""
    marks = np.asarray(graph.graph)
    arrow = marks.T == 1
    undirected = (marks == -1) & (marks.T == -1)
    return np.asarray(arrow | undirected, dtype=float)


def _xges(X: FloatArray, seed: int) -> FloatArray:
    # Not in the extra: it pins numpy below 2. `pip install --no-deps xges sortedcontainers` works.
    with redirect_stderr(io.StringIO()):  # it hangs a handler of its own on its logger
        pdag = optional("xges", "xges").XGES().fit(X)
    return np.asarray(pdag.to_adjacency_matrix() != 0, dtype=float)


def _direct_lingam(X: FloatArray, seed: int) -> FloatArray:
    # Not in the extra: it pins scipy below ours. An environment of its own has it.
    model = optional("lingam", "lingam").DirectLiNGAM(random_state=seed)
    weights: FloatArray = model.fit(X).adjacency_matrix_.T  # its rows are effects
    return weights


def _ica_lingam(X: FloatArray, seed: int) -> FloatArray:
    model = optional("lingam", "lingam").ICALiNGAM(random_state=seed)
    weights: FloatArray = model.fit(X).adjacency_matrix_.T
    return weights


def _variance_sort(X: FloatArray, seed: int) -> FloatArray:
    weights: FloatArray = optional("CausalDisco.baselines", "CausalDisco").var_sort_regress(X)
    return weights


def _r2_sort(X: FloatArray, seed: int) -> FloatArray:
    weights: FloatArray = optional("CausalDisco.baselines", "CausalDisco").r2_sort_regress(X)
    return weights


METHODS: dict[str, Learner] = {
    "analyticdag": _analyticdag,
    "path": _path,
    "start": start_alone,
    "composed-path": composed_path,
    "search": search_from,
    # The package dagma has that name; our composition of the same method is told apart.
    **{"our-dagma" if name == "dagma" else name: _baseline(name) for name in BASELINES},
    "dagma": _dagma,
    "nonlinear": nonlinear,
    "dagma-nonlinear": dagma_nonlinear,
    "flop": _flop,
    "pc": _pc,
    "pc-compiled": _pc_compiled,
    "ges": _ges,
    "boss": _boss,
    "grasp": _grasp,
    "xges": _xges,
    "direct-lingam": _direct_lingam,
    "ica-lingam": _ica_lingam,
    "var-sort-regress": _variance_sort,
    "r2-sort-regress": _r2_sort,
}

_SHORT: dict[str, dict[str, Any]] = {
    "analyticdag": {"steps": 10},
    "path": {"steps": 10},
    "composed-path": {"steps": 10},
    "search": {"steps": 10},
    "our-dagma": {"steps": 10},
    "tmpi": {"steps": 10},
    "golem": {"steps": 10},
    "logistic": {"steps": 10},
    "dagma": {"warm_iter": 10, "max_iter": 10},
    "nonlinear": {"max_steps": 10},
    "dagma-nonlinear": {"warm_iter": 10, "max_iter": 10},
}


def shortened(method: Method) -> dict[str, Any]:
    """Options that make a run short: a warm-up has to import, not to learn."""
    if method.options.get("solver") == "order":
        return {}  # the search alone is short, and takes no steps
    return _SHORT.get(method.call, {})
