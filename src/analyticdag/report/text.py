"""What the report says in words: warnings, what they mean here, and the methods paragraph.

Sentences are built from saved records only, so a report made years later says the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from analyticdag.drawing.picture import short_label
from analyticdag.fitting.edges import FixedBy, kind_of
from analyticdag.io.audit import Audit
from analyticdag.io.run import EdgeRecord, SavedRun
from analyticdag.losses import loss_traits

CITATION = (
    "Zhang, Z., Ng, I., Gong, D., Liu, Y., Gong, M., Huang, B., Zhang, K., van den Hengel, A., "
    "and Shi, J. Q. (2025). Analytic DAG Constraints for Differentiable DAG Learning. "
    "International Conference on Learning Representations (ICLR)."
)

# What the nonlinear estimator's third kind of noise is called; the others are losses.
_LEARNED = {
    "likelihood-learned": "the Gaussian likelihood with a noise variance that the causes decide"
}
_SHOWN = 6
# Evidence that counts two thirds or less: no simulated table that agreed with the model came near
# (docs/figures/edge_probabilities.py).
_CLEARLY = 1.5
# From here on the data are said to fix a direction: at most one such arrow in ten is wrong.
_SURE = 0.9


def _described(loss: str) -> str:
    return _LEARNED.get(loss) or loss_traits(loss).description


def notices(run: SavedRun) -> list[str]:
    """Return what to know before looking at the graph; the fewer the better."""
    found = []
    if not run.converged:
        found.append(f"The solver did not finish ({run.status}): {run.advice}.")
    found += wrong_model(run)
    if run.removed_edges:
        edges = ", ".join(f"{short_label(a)} → {short_label(b)}" for a, b in run.removed_edges[:6])
        more = f" and {len(run.removed_edges) - 6} more" if len(run.removed_edges) > 6 else ""
        found.append(f"Edges dropped to break cycles or keep to a limit: {edges}{more}.")
    if run.diagnostics:
        found += [_sentence(note) for note in (run.audit.notes if run.audit else ())]
        warned = [check for check in run.diagnostics if check["level"] == "warning"]
        # The name goes first: advice may begin with that of a column, which must stay as it is.
        found += [_sentence(f"{check['name']}: {check['advice']}") for check in warned]
    elif run.audit is not None:
        found += audit_notices(run.audit, run)
    return found


def wrong_model(run: SavedRun) -> list[str]:
    """Say that the rows contradict the model, and what that does to the arrows."""
    excess = (run.parameters.get("search") or {}).get("excess")
    directed = [edge.direction_probability for edge in run.edges if not run.is_open(edge)]
    arrows = [share for share in directed if share is not None]
    if excess is None or excess < _CLEARLY or not arrows:
        return []
    wrong = round(sum(1.0 - share for share in arrows))
    return [
        "The model is clearly wrong for these rows: they do not look like linear effects plus "
        "independent noise (relations that bend, columns of few values, or rows of different "
        f"origin). Of {count(len(arrows), 'arrow')} about {wrong} are expected not to be there, or "
        "not that way round; take the others as hints."
    ]


def percent(share: float | None) -> str:
    """Return a probability in percent, never as certain."""
    return "" if share is None else "> 99 %" if share > 0.99 else f"{share:.0%}".replace("%", " %")


def audit_notices(audit: Audit, run: SavedRun) -> list[str]:
    """Return what is unusual about the data, and what it means for this method."""
    found = [_sentence(note) for note in audit.notes]
    constant = [run.names[k] for k, column in enumerate(audit.columns) if column.constant]
    if constant:
        found.append(f"Constant columns, kept as nodes without edges: {listing(constant)}.")
    if audit.copies:
        pairs = [f"{run.names[i]} and {run.names[j]}" for i, j in audit.copies]
        found.append(
            f"Copies of each other, so edges between them are arbitrary: {listing(pairs)}."
        )
    if audit.collinear:
        found.append(
            "Some columns are exact combinations of others: edges among them are arbitrary."
        )
    if audit.n_rows <= len(audit.columns):
        found.append("There are no more rows than columns: expect edges that another sample lacks.")
    return found + scale_notices(audit, run)


def scale_notices(audit: Audit, run: SavedRun) -> list[str]:
    """Return what the scales of the columns mean for the loss that was used."""
    standardised = audit.standardised or bool(run.parameters.get("standardize"))
    if loss_traits(run.loss).reads_scales and standardised:
        return [
            "All columns have the same variance, and this loss reads directions from scales: the "
            "directions below carry little information. Use loss likelihood-nv, or data in units "
            "that mean something."
        ]
    v = audit.varsortability
    if loss_traits(run.loss).reads_scales and v is not None and v > 0.9:
        return [
            f"Varsortability is {v:.2f}: sorting the columns by variance alone would give nearly "
            "the same directions. If the scales are units of measurement, do not read causes from "
            "them."
        ]
    return []


def is_class(run: SavedRun) -> bool:
    """Whether the result is an equivalence class, of which the graph is one member."""
    return bool(run.open_edges)


def class_note(run: SavedRun) -> str:
    """Say why the class is shown first."""
    is_open = len(run.open_edges)
    return (
        f"{is_open} of {count(len(run.edges), 'link')} carry no arrow head: the reverse fits these "
        "data as well, and no assumption or knowledge was given that decides."
    )


def link(run: SavedRun, edge: EdgeRecord) -> str:
    """Return "cause → effect", or "one — other" where the direction is open."""
    i, j, is_open = run.ends(edge)
    return f"{run.names[i]} {'—' if is_open else '→'} {run.names[j]}"


def sentences(run: SavedRun) -> list[str]:
    """Return what matters most about a graph, for somebody who reads nothing else."""
    kinds = Counter("open" if run.is_open(edge) else edge.kind for edge in run.edges)
    if not run.edges or not run.loss:
        return []
    unsure = sum(map(_is_unsure, run.edges))
    fixed = kinds["data"] - unsure or "none"
    said = [f"Of {count(len(run.edges), 'link')} the data fix the direction of {fixed}."]
    if kinds["knowledge"]:
        said[0] = f"{said[0][:-1]}, your knowledge that of {kinds['knowledge']}."
    if unsure:
        verb = "is" if unsure == 1 else "are"
        said.append(f"{count(unsure, 'more arrow')} {verb} less than {percent(_SURE)} likely.")
    if kinds["assumption"]:
        said.append(f"{kinds['assumption']} point as they do only if an assumption holds.")
    if kinds["open"]:
        said.append("A line without an arrow fits the data as well in either direction.")
    wrong = round(sum(1.0 - edge.probability for edge in run.edges if edge.probability is not None))
    if wrong:
        verb = "is" if wrong == 1 else "are"
        said.append(f"About {wrong} of these links {verb} expected not to be real.")
    said.append("Arrows are causes only if nothing unmeasured moves both ends of a link.")
    return said


def _is_unsure(edge: EdgeRecord) -> bool:
    """Whether the class has an arrow by the data that is not likely enough to call it fixed."""
    likely = edge.direction_probability
    return edge.kind == "data" and likely is not None and likely < _SURE


def choice_note(run: SavedRun) -> str:
    """Say what "auto" decided, and why: the model, the loss, the noise variances."""
    model = run.manifest.get("model_choice")
    told = [_sentence(f"model: {model}")] if isinstance(model, str) else []
    return " ".join([*told, *_variances_note(run)])


def _variances_note(run: SavedRun) -> list[str]:
    choice = run.loss_choice
    if choice is None:
        return []
    if choice["kurtosis"] is None:  # of a NonlinearDAG, which compares no scores
        return [_sentence(str(choice["reason"]))]
    return [
        f"Equal or unequal noise variances: {choice['reason']}. BIC with equal variances "
        f"{_decimal(choice['equal'])}, with unequal {_decimal(choice['unequal'])}; the smaller is "
        "better, and the test allows for the tails of the noise (mean kurtosis "
        f"{_decimal(choice['kurtosis'])}, a Gaussian has 3)."
    ]


def certainty(run: SavedRun) -> list[tuple[str, str, int, str]]:
    """Return (label, kind, edges, meaning) for each way a direction can be fixed."""
    counts = Counter(edge.fixed_by for edge in run.edges)
    meaning = {
        FixedBy.COLLIDER: "fixed by the data: it meets another arrow at a variable whose two "
        "causes are not joined, and every graph that fits equally well has that",
        FixedBy.ORIENTATION_RULES: "fixed by the data: turned round, it would close a cycle or "
        "make a meeting of arrows that the data rule out",
        FixedBy.INTERVENTIONS: "fixed by the data: rows in which one end was perturbed and the "
        "other was not would look different if it pointed the other way",
        FixedBy.NOISE_SHAPE: "fixed by the data, if effects are linear: turned round, the noise "
        "would have a less likely shape, by a clear margin; or it follows from such an edge",
        FixedBy.KNOWLEDGE: "fixed by what you said beforehand, or implied by it",
        FixedBy.EQUAL_VARIANCES: "left open by the data: only the assumption that all noise has "
        "the same variance, in the units of the columns, prefers this way round",
        FixedBy.EQUATIONS: "left open by the data: only the assumption of a smooth function of the "
        "causes plus noise prefers this way round",
        FixedBy.NOTHING: "left open: the reverse fits the data as well",
    }
    return [(str(label), kind_of(label), counts[label], text) for label, text in meaning.items()]


def effects(run: SavedRun) -> str:
    """Say what the model takes effects to be."""
    if "model" in run.parameters:
        return "smooth functions of the causes plus noise"
    return "linear effects"


def is_searched(run: SavedRun) -> bool:
    """Whether a search by a score decided about the edges."""
    p = run.parameters
    if "model" in p and p.get("refine") is None:
        return "refine" in p and p["model"] == "mlp"  # what None stands for
    return bool(p.get("refine")) or p.get("solver") == "order"


def no_edges(run: SavedRun) -> str:
    """Say what an empty graph means and what would let more edges through."""
    if not run.loss:
        return ""
    if is_searched(run):
        return "None explains enough to be worth its price in the score."
    if "model" in run.parameters:
        return "A larger level of the tests (pruning), or none, lets more through."
    return "A smaller lambda1 or a smaller w_threshold lets more through."


def methods(run: SavedRun) -> str:
    """Return a paragraph for the methods section of a paper."""
    if "model" in run.parameters:
        return nonlinear_methods(run)
    chosen = run.parameters.get("chosen") or {}
    p = {**run.parameters, **chosen}
    how = f", chosen by {str(chosen['criterion']).upper()}" if chosen else ""
    rows = f"{run.audit.n_rows} observations of " if run.audit else ""
    version = run.manifest.get("versions", {}).get("analyticdag", "")
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
    learned = (
        f"A linear structural equation model was learned from {rows}{run.n_nodes} "
        f"variables{scaled} with analyticdag {version}".rstrip()
    )
    text = (
        f"{learned}, minimising {_described(run.loss) or 'a score'} with an l1 penalty "
        f"(lambda1 = {_parameter(p.get('lambda1'))}{how}) under the analytic acyclicity constraint "
        f"{p.get('constraint', '')} (Zhang et al., 2025), solved by {solver}{refined}."
    )
    search = p.get("search") or {}
    if search.get("plan"):
        text = (
            f"{learned} by a search over causal orders for the best extended BIC (gamma = "
            f"{_parameter(search['gamma'])}{_least_effect(search)}) with {_described(run.loss)}; "
            f"{search['plan']}."
        )
    if not p.get("refine") and p.get("w_threshold") is not None:
        text += f" Weights below {_parameter(p['w_threshold'])} in absolute value were set to zero."
    data = sum(not run.cpdag[edge.target, edge.source] for edge in run.edges)
    return (
        text + f" The graph has {len(run.edges)} edges, {data} of them directed in its equivalence "
        "class (CPDAG). The interpretation as causes assumes linear effects and no unmeasured "
        "common causes."
    )


def _least_effect(search: Mapping[str, float]) -> str:
    """Return the floor on effects in words, where there was one."""
    floor = search.get("min_effect") or 0.0
    return f", no partial correlation below {_parameter(floor)}" if floor else ""


def nonlinear_methods(run: SavedRun) -> str:
    """Return the paragraph of a run of `NonlinearDAG`."""
    rows = f"{run.audit.n_rows} observations of " if run.audit else ""
    version = run.manifest.get("versions", {}).get("analyticdag", "")
    network = {
        "gran-dag": "GraN-DAG (Lachapelle et al., 2020)",
        "mlp": "the neural network of DAGMA (Bello et al., 2022)",
    }.get(str(run.parameters["model"]), "neural networks")
    data = sum(not run.cpdag[edge.target, edge.source] for edge in run.edges)
    pruning = run.parameters.get("pruning")
    pruned = (
        " Edges that an additive spline regression did not need in an F-test at level "
        f"{_parameter(0.001 if pruning is True else pruning)} were dropped."
    )
    searched = " A search over graphs by the BIC of regressions on splines went on from there."
    return (
        f"A nonlinear structural equation model was learned from {rows}{run.n_nodes} variables "
        f"with analyticdag {version}".rstrip()
        + f", using {network} and "
        f"{_described(run.loss)}, under the analytic acyclicity constraint "
        f"{run.parameters.get('constraint', '')} (Zhang et al., 2025)."
        f"{pruned if pruning else ''}{searched if is_searched(run) else ''} The graph has "
        f"{len(run.edges)} edges, {data} of them directed in its equivalence class (CPDAG). The "
        "interpretation as causes assumes noise that is added to smooth functions of the causes, "
        "and no unmeasured common causes."
    )


def foreign_methods(run: SavedRun) -> str:
    """Return the paragraph of a graph that was not learned here."""
    return (
        f"The graph of {run.n_nodes} variables and {len(run.edges)} edges was not learned by "
        "analyticdag; it is shown as it was given."
    )


def count(number: int, one: str) -> str:
    """Return "1 edge" or "2 edges"."""
    return f"{number} {one}" if number == 1 else f"{number} {one}s"


def _decimal(value: float | None) -> str:
    return "not finite" if value is None else f"{value:.1f}"


def _parameter(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _sentence(note: str) -> str:
    return note[:1].upper() + note[1:].rstrip(".") + "."


def listing(items: list[str]) -> str:
    """Return the first of some names, as they fit into a sentence."""
    more = f" and {len(items) - _SHOWN} more" if len(items) > _SHOWN else ""
    return ", ".join(short_label(item) for item in items[:_SHOWN]) + more
