"""The paragraph of the report for the methods section of a paper."""

from __future__ import annotations

from collections.abc import Mapping

from analyticdag.io.run import SavedRun
from analyticdag.losses import loss_traits
from analyticdag.report.text import directions, is_counted, is_searched

CITATION = (
    "Zhang, Z., Ng, I., Gong, D., Liu, Y., Gong, M., Huang, B., Zhang, K., van den Hengel, A., "
    "and Shi, J. Q. (2025). Analytic DAG Constraints for Differentiable DAG Learning. "
    "International Conference on Learning Representations (ICLR)."
)

# What the nonlinear estimator's third kind of noise is called; the others are losses.
_LEARNED = {
    "likelihood-learned": "the Gaussian likelihood with a noise variance that the causes decide"
}


def methods(run: SavedRun) -> str:
    """Return a paragraph for the methods section of a paper."""
    if not run.loss:
        return (
            f"The graph of {run.n_nodes} variables and {len(run.edges)} edges was not learned by "
            "analyticdag; it is shown as it was given."
        )
    if "model" in run.parameters:
        return _nonlinear_methods(run)
    chosen = run.parameters.get("chosen") or {}
    p = {**run.parameters, **chosen}
    how = f", chosen by {str(chosen['criterion']).upper()}" if chosen else ""
    scaled = " after scaling every variable to unit variance" if p.get("standardize") else ""
    if p.get("covariance") == "rank":
        scaled += " by their rank correlations (nonparanormal)"
    solvers = {
        "Adam": "Adam through a sequence of problems with a growing weight of the constraint",
        "Columns": "column-wise minimisation through a sequence of problems with a growing weight "
        "of the constraint",
        "order": "a search over causal orders",
    }
    kind = str(p.get("solver")).partition("(")[0]
    kind = {"adam": "Adam", "fast": "Columns", "auto": "Columns"}.get(kind, kind)
    solver = solvers.get(kind, f"the solver {p.get('solver')}")
    begun = {"zero": " from zero", "variance": " from parents sorted by variance"}
    begun |= {"given": " from given weights", "series": " from the solution for a larger lambda1"}
    solver += begun.get(str(p.get("start")), "")
    refined = ", followed by a search over causal orders" if p.get("refine") else ""
    learned = _learned(run, "linear", scaled)
    text = (
        f"{learned}, minimising {_described(run.loss) or 'a score'} with an l1 penalty "
        f"(lambda1 = {_parameter(p.get('lambda1'))}{how}) under the analytic acyclicity constraint "
        f"{p.get('constraint', '')} (Zhang et al., 2025), solved by {solver}{refined}."
    )
    search = p.get("search") or {}
    if is_counted(run):
        text = (
            f"{_learned(run, 'discrete')} by a search over causal orders for the shortest "
            "description of the counts of all levels in every combination of causes (quotient "
            f"normalised maximum likelihood, Silander et al., 2018; gamma = "
            f"{_parameter(search['gamma'])}{_least_effect(search)}); {search['plan']}."
        )
        return text + _graph_and_assumptions(run, "")
    if search.get("plan"):
        text = (
            f"{learned} by a search over causal orders for the best extended BIC (gamma = "
            f"{_parameter(search['gamma'])}{_least_effect(search)}) with {_described(run.loss)}; "
            f"{search['plan']}."
        )
    if not p.get("refine") and p.get("w_threshold") is not None:
        text += f" Weights below {_parameter(p['w_threshold'])} in absolute value were set to zero."
    return text + _graph_and_assumptions(run, "linear effects and ")


def _learned(run: SavedRun, kind: str, scaled: str = "") -> str:
    rows = f"{run.audit.n_rows} observations of " if run.audit else ""
    version = run.manifest.get("versions", {}).get("analyticdag", "")
    return (
        f"A {kind} structural equation model was learned from {rows}{run.n_nodes} "
        f"variables{scaled} with analyticdag {version}".rstrip()
    )


def _graph_and_assumptions(run: SavedRun, assumed: str) -> str:
    found = directions(run) if run.edges else "It found no links."
    return f" {found} The interpretation as causes assumes {assumed}no unmeasured common causes."


def _least_effect(search: Mapping[str, float]) -> str:
    """Return the floor on effects in words, where there was one."""
    floor = search.get("min_effect") or 0.0
    return f", no partial correlation below {_parameter(floor)}" if floor else ""


def _nonlinear_methods(run: SavedRun) -> str:
    """Return the paragraph of a run of `NonlinearDAG`."""
    network = {
        "gran-dag": "GraN-DAG (Lachapelle et al., 2020)",
        "mlp": "the neural network of DAGMA (Bello et al., 2022)",
    }.get(str(run.parameters["model"]), "neural networks")
    pruning = run.parameters.get("pruning")
    pruned = (
        " Edges that an additive spline regression did not need in an F-test at level "
        f"{_parameter(0.001 if pruning is True else pruning)} were dropped."
    )
    searched = " A search over graphs by the BIC of regressions on splines went on from there."
    assumed = "noise that is added to smooth functions of the causes, and"
    return (
        f"{_learned(run, 'nonlinear')}, using {network} and {_described(run.loss)}, under the "
        f"analytic acyclicity constraint {run.parameters.get('constraint', '')} (Zhang et al., "
        f"2025).{pruned if pruning else ''}{searched if is_searched(run) else ''}"
        f"{_graph_and_assumptions(run, assumed)}"
    )


def _described(loss: str) -> str:
    return _LEARNED.get(loss) or loss_traits(loss).description


def _parameter(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
