"""What to know before a graph is believed: in full, and in a few plain words above the graph."""

from __future__ import annotations

from analyticdag._tables import first_few
from analyticdag.diagnostics.scale import SORTED
from analyticdag.drawing.picture import short_label
from analyticdag.io.audit import Audit
from analyticdag.io.run import SavedRun
from analyticdag.losses import loss_traits
from analyticdag.report.text import SHOWN, count, listing, sentence

# Evidence that counts five sixths or less: of 140 simulated tables that agreed with the model the
# furthest had 1.01 (docs/figures/edge_probabilities.py).
_CLEARLY = 1.2
# As many as leave room for the graph on the first screen of a phone.
_NAMED = 3
# What a warning of a check comes to, for somebody who does not know its name.
_PLAIN = {
    "few values": "some columns may be codes for categories",
    "duplicate columns": "some columns are copies of others",
    "collinearity": "some columns nearly follow from others",
    "rows against columns": "there are few rows for so many columns",
    "varsortability": "the arrows may only follow the scales of the columns",
    "standardised refit": "in other units the graph would be another one",
    "heavy tails": "a few rows weigh a lot",
    "residual correlation": "links may be missing, or a common cause was not measured",
    "residual independence": "some effects are not straight lines",
    "rows that belong together": "rows are not independent of each other",
}


def urgent(run: SavedRun) -> list[str]:
    """Return what must not be missed: the fit did not finish, or its model does not hold."""
    if run.converged:
        return wrong_model(run)
    return [f"The solver did not finish ({run.status}): {run.advice}.", *wrong_model(run)]


def in_short(run: SavedRun) -> str:
    """Return what else there is to know, in a few words; nothing if there is nothing."""
    dropped = ["links were dropped that would have closed cycles"] if run.removed_edges else []
    words = dropped + [_PLAIN.get(name, name) for name in warnings_of(run)]
    others = len(explained(run)) - len(words)
    if others:
        words.append(count(others, "note") + " on the table")
    more = [f"and {len(words) - _NAMED} more"] if len(words) > _NAMED else []
    return "; ".join(words[:_NAMED] + more)


def warnings_of(run: SavedRun) -> dict[str, str]:
    """Return the advice of the checks that warn, by their names."""
    checks = run.diagnostics or ()
    return {check["name"]: check["advice"] for check in checks if check["level"] == "warning"}


def notices(run: SavedRun) -> list[str]:
    """Return all of it in full; the fewer the better."""
    return urgent(run) + explained(run)


def explained(run: SavedRun) -> list[str]:
    """Return in full what `in_short` says in a few words."""
    found = []
    if run.removed_edges:
        edges = [f"{short_label(a)} → {short_label(b)}" for a, b in run.removed_edges]
        listed = first_few(edges, SHOWN)
        found.append(f"Edges dropped to break cycles or keep to a limit: {listed}.")
    if run.diagnostics:
        found += [sentence(note) for note in (run.audit.notes if run.audit else ())]
        # The name goes first: advice may begin with that of a column, which must stay as it is.
        found += [sentence(f"{name}: {advice}") for name, advice in warnings_of(run).items()]
    elif run.audit is not None:
        found += audit_notices(run.audit, run)
    return found


def wrong_model(run: SavedRun) -> list[str]:
    """Say that the rows contradict the model, and what that does to the arrows."""
    excess = (run.parameters.get("search") or {}).get("excess")
    directed = [edge.direction_probability for edge in run.edges if not run.is_line(edge)]
    arrows = [share for share in directed if share is not None]
    if excess is None or excess < _CLEARLY or not arrows:
        return []
    wrong = round(sum(1.0 - share for share in arrows))
    verb = "is" if wrong == 1 else "are"
    hints = (
        f"Of {count(len(arrows), 'arrow')} about {wrong} {verb} expected not to be there, or not "
        "that way round; take the others as hints."
        if wrong
        else "Take the arrows as hints."
    )
    return [
        "The model is clearly wrong for these rows: they do not look like linear effects plus "
        f"independent noise. {hints}"
    ]


def audit_notices(audit: Audit, run: SavedRun) -> list[str]:
    """Return what is unusual about the data, and what it means for this method."""
    found = [sentence(note) for note in audit.notes]
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
    if loss_traits(run.loss).reads_scales and v is not None and v >= SORTED:
        return [
            f"Varsortability is {v:.2f}: sorting the columns by variance alone would give nearly "
            "the same directions. If the scales are units of measurement, do not read causes from "
            "them."
        ]
    return []
