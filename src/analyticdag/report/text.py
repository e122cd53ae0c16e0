"""What the report says in words: the sentences that matter most.

Sentences are built from saved records only, so a report made years later says the same.
"""

from __future__ import annotations

from collections import Counter

from analyticdag._tables import first_few
from analyticdag.drawing.picture import short_label
from analyticdag.fitting.edges import SURE, FixedBy, is_below, is_unlikely, kind_of
from analyticdag.io.run import EdgeRecord, SavedRun
from analyticdag.tables.recipe import COUNTS

# Names that one sentence lists.
SHOWN = 6
# How a fit ended well, without the names of Python's attributes.
_ENDED = {
    "SEARCHED": "The search ended with the best graph from all of its starts.",
    "CLASS_FOUND": "The search ended with the best graph from all of its starts. Where the data "
    "leave directions open, it stands for all graphs that fit as well.",
    "CONVERGED": "The last stage met its tolerance and left no cycle.",
    "CYCLES_LEFT": "The last stage met its tolerance but left cycles; their weakest links were "
    "dropped.",
}
_UNSURE = "unsure"
_TIED = "the columns determine each other, so any links among them fit as well"


def percent(share: float | None) -> str:
    """Return a probability in percent, never as certain."""
    return "" if share is None else "> 99 %" if share > 0.99 else f"{share:.0%}".replace("%", " %")


def class_note(run: SavedRun) -> str:
    """Say why some links have no arrow head; nothing where all have one."""
    ways, of = _ways(run) if run.loss else Counter[str](), count(len(run.edges), "link")
    why = {
        "open": "the reverse fits these data as well, and no assumption or knowledge was given "
        "that decides",
        "unlikely": "an arrow is less likely than not",
        "identity": _TIED,
    }
    said = [
        f"{ways[way]} of {of} {'carries' if ways[way] == 1 else 'carry'} no arrow head: {words}."
        for way, words in why.items()
        if ways[way]
    ]
    return " ".join(said)


def link(run: SavedRun, edge: EdgeRecord) -> str:
    """Return "cause → effect", or "one — other" where it is drawn as a line."""
    ends = (edge.source, edge.target)
    if run.is_line(edge):  # in the order of the columns, which says nothing about causes
        return " — ".join(run.names[k] for k in sorted(ends))
    return " → ".join(run.names[k] for k in ends)


def strongest_first(run: SavedRun) -> list[EdgeRecord]:
    """Return the edges by strength, as print and page list them; those of an identity last."""
    return sorted(run.edges, key=lambda edge: (is_tied(edge), -edge.strength))


def is_tied(edge: EdgeRecord) -> bool:
    """Whether a link is there only by an identity of columns: its strength says nothing."""
    return edge.fixed_by == FixedBy.IDENTITY


def sentences(run: SavedRun) -> list[str]:
    """Return what matters most about a graph, for somebody who reads nothing else."""
    if not run.loss:
        return []
    if not run.edges:
        return [nothing_found(run)]
    said = [directions(run)]
    if any(map(_is_to_judge, run.edges)) and not any(map(is_judged, run.edges)):
        why = " (too many links)" if run.parameters.get("search") else ""
        said.append(f"How likely each link is was not computed{why}.")
    wrong = round(sum(1.0 - edge.probability for edge in run.edges if edge.probability is not None))
    if wrong:
        verb = "is" if wrong == 1 else "are"
        said.append(f"About {wrong} of these links {verb} expected not to be real.")
    if run.parameters.get("covariance") == "rank":
        said.append(
            "Links were learned from ranks; strengths are of straight lines on the numbers."
        )
    said.append("Links are causes only if nothing unmeasured moves both of their ends.")
    return said


def is_judged(edge: EdgeRecord) -> bool:
    """Whether it was computed how likely a link is."""
    return edge.probability is not None


def _is_to_judge(edge: EdgeRecord) -> bool:
    """Whether data could say how likely a link is: nobody gave it, and no identity makes it."""
    return edge.kind != "knowledge" and edge.fixed_by != FixedBy.IDENTITY


def _ways(run: SavedRun) -> Counter[str]:
    """Count links by what is known of their direction: the one rule for all that speaks of it."""
    return Counter(_way(run, edge) for edge in run.edges)


def _way(run: SavedRun, edge: EdgeRecord) -> str:
    if is_tied(edge):
        return "identity"
    if run.is_open(edge):
        return "open"
    if is_unlikely(edge.fixed_by, edge.direction_probability):
        return "unlikely"
    if edge.kind != "data":
        return edge.kind
    if edge.direction_probability is None and edge.margin is None:
        return "unjudged"
    return "unsure" if is_below(edge.direction_probability, SURE) else "fixed"


def directions(run: SavedRun) -> str:
    """Say how many directions are fixed, and what the others rest on."""
    ways = _ways(run)
    fixed = f"the data fix the direction of {ways['fixed'] or 'none'}"
    if ways["unjudged"]:
        verb = "has" if ways["unjudged"] == 1 else "have"
        fixed = f"{ways['unjudged']} {verb} an arrow"
    if ways["knowledge"]:
        fixed += f", your knowledge that of {ways['knowledge']}"
    if ways["unsure"]:
        verb = "is" if ways["unsure"] == 1 else "are"
        fixed += f"; {count(ways['unsure'], 'arrow')} {verb} less than {percent(SURE)} likely"
    if ways["assumption"]:
        verb = "rests" if ways["assumption"] == 1 else "rest"
        fixed += f"; {count(ways['assumption'], 'arrow')} {verb} on an assumption"
    return f"Of {count(len(run.edges), 'link')} {fixed}.{_lines(ways)}"


def _lines(ways: Counter[str]) -> str:
    """Say in a sentence why links are drawn as lines, as far as some are."""
    lines, same, said = ways["open"] + ways["unlikely"], ways["identity"], []
    if lines:
        are, they = ("is a line", "it points") if lines == 1 else ("are lines", "they point")
        said.append(f"{count(lines, 'link')} {are}: the data do not decide which way {they}")
    if same:
        said.append(
            f"{count(same, 'link')} only {'repeats' if same == 1 else 'repeat'} an identity"
        )
    return f" {'; '.join(said)}." if said else ""


def choice_note(run: SavedRun) -> str:
    """Say what "auto" decided, and why: the model, the loss, the noise variances."""
    model = run.manifest.get("model_choice")
    told = [sentence(f"model: {model}")] if isinstance(model, str) else []
    return " ".join([*told, *_variances_note(run)])


def _variances_note(run: SavedRun) -> list[str]:
    choice = run.loss_choice
    if choice is None:
        return []
    if choice["kurtosis"] is None:  # of a NonlinearDAG, which compares no scores
        return [sentence(str(choice["reason"]))]
    return [
        f"Equal or unequal noise variances: {choice['reason']}. BIC with equal variances "
        f"{_decimal(choice['equal'])}, with unequal {_decimal(choice['unequal'])}; the smaller is "
        "better, and the test allows for the tails of the noise (mean kurtosis "
        f"{_decimal(choice['kurtosis'])}, a Gaussian has 3)."
    ]


def certainty(run: SavedRun) -> list[tuple[str, str, int, str]]:
    """Return (label, kind, edges, meaning) for each way a direction can be fixed."""
    counts = Counter(reason(run, edge) for edge in run.edges)
    meaning = {
        FixedBy.COLLIDER: "by the data, if the links are right: it meets another arrow at a "
        "variable whose two causes are not joined, and every graph that fits equally well has that",
        FixedBy.ORIENTATION_RULES: "by the data, if the links are right: turned round, it would "
        "close a cycle or make a meeting of arrows that the data rule out",
        FixedBy.INTERVENTIONS: "by the data: rows in which one end was perturbed and the "
        "other was not would look different if it pointed the other way",
        FixedBy.NOISE_SHAPE: "by the data, if effects are linear: turned round, the noise "
        "would have a less likely shape, by a clear margin; or it follows from such an edge",
        FixedBy.KNOWLEDGE: "fixed by what you said beforehand, or implied by it",
        FixedBy.EQUAL_VARIANCES: "left open by the data: only the assumption that all noise has "
        "the same variance, in the units of the columns, prefers this way round",
        FixedBy.EQUATIONS: "left open by the data: only the assumption of a smooth function of the "
        "causes plus noise prefers this way round",
        FixedBy.NOTHING: "left open: the reverse fits the data as well",
        FixedBy.IDENTITY: f"left open: {_TIED}",
    }
    rows = [(str(label), kind_of(label), counts[label], text) for label, text in meaning.items()]
    unlikely = "left open: the arrow that the fit has here is less likely than not"
    return [*rows, (_UNSURE, "open", counts[_UNSURE], unlikely)]


def reason(run: SavedRun, edge: EdgeRecord) -> str:
    """Return what fixed a direction, as page and print say it."""
    unsure = run.is_line(edge) and edge.kind != "open"
    return _UNSURE if unsure else edge.fixed_by


def effects(run: SavedRun) -> str:
    """Say what the model takes effects to be."""
    if "model" in run.parameters:
        return "smooth functions of the causes plus noise"
    return "effects of any form" if is_counted(run) else "linear effects"


def is_counted(run: SavedRun) -> bool:
    """Whether every combination of causes was counted, in a table of discrete columns alone."""
    return (run.parameters.get("search") or {}).get("reading") == COUNTS


def is_searched(run: SavedRun) -> bool:
    """Whether a search by a score decided about the edges."""
    p = run.parameters
    if "model" in p and p.get("refine") is None:
        return "refine" in p and p["model"] == "mlp"  # what None stands for
    return bool(p.get("refine")) or p.get("solver") == "order"


def ended(run: SavedRun) -> str:
    """Say how the fit ended; in its own words where it did not end well."""
    return _ENDED.get(run.status) or sentence(run.advice)


def nothing_found(run: SavedRun) -> str:
    """Say what an empty graph means, and what would let links through."""
    rungs = [rung for rung in run.ladder if not rung.edges]
    if rungs and run.audit is not None:
        return (
            f"No links found: none is stronger than a correlation of {rungs[-1].min_effect:.2g}, "
            f"and weaker ones are hard to tell from chance in {count(run.audit.n_rows, 'row')}."
        )
    if is_searched(run):
        return "No links found: none explains enough to be told from chance."
    if "model" in run.parameters:
        return "No links found. A larger level of the tests (pruning), or none, lets more through."
    return "No links found. A smaller lambda1 or a smaller w_threshold lets more through."


def count(number: int, one: str) -> str:
    """Return "1 edge" or "2 edges"."""
    return f"{number} {one}" if number == 1 else f"{number} {one}s"


def _decimal(value: float | None) -> str:
    return "not finite" if value is None else f"{value:.1f}"


def sentence(note: str) -> str:
    """Return a note with a capital letter and a full stop."""
    return note[:1].upper() + note[1:].rstrip(".") + "."


def listing(items: list[str]) -> str:
    """Return the first of some names, as they fit into a sentence."""
    return first_few([short_label(item) for item in items], SHOWN)
