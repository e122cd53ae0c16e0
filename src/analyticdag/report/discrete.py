"""What weights mean where variables are yes/no, ordered or categories, and parts by level."""

from __future__ import annotations

from analyticdag._tables import first_few
from analyticdag.drawing.picture import short_label
from analyticdag.effects.effect import level_of_column
from analyticdag.io.run import EdgeRecord, SavedRun
from analyticdag.report.text import is_counted, link, listing
from analyticdag.tables.recipe import Column, Kind

# Levels that the table of columns lists.
LISTED = 8
_MEANING = {
    Kind.YES_NO: "Yes/no variables ({names}) count as 0 and 1: a weight on one is the change of "
    "the share of its 1 for one more unit of the cause, one from it the difference between its two "
    "values.",
    Kind.ORDERED: "Ordered variables ({names}) count as 0, 1, 2, …: a weight is per level.",
    Kind.CATEGORY: "A link of a category ({names}) has a strength between 0 and 1 for a weight, "
    "and no sign; what each level does, beside its most frequent one, stands below.",
}


COUNTED = (
    "Every combination of causes was counted, since causes act together: a link has a strength "
    "between 0 and 1 for a weight, and no sign; what it does on average is told under What if."
)


def weight_notes(run: SavedRun) -> list[str]:
    """Return a sentence for each kind of discrete variable that has a link."""
    if is_counted(run):
        return [COUNTED] if run.edges else []
    if run.look is None:
        return []
    linked = {run.names[k] for edge in run.edges for k in (edge.source, edge.target)}
    columns = [column for column in run.look.columns if column.name in linked]
    notes = []
    for kind, meaning in _MEANING.items():
        names = [_with_its_one(column) for column in columns if column.kind == kind]
        if names:
            notes.append(meaning.format(names=listing(names)))
    return notes


def _with_its_one(column: Column) -> str:
    return f"{column.name}: {column.counted} = 1" if column.counted else column.name


def sign_note(run: SavedRun) -> str:
    """Say which level of each yes/no variable a sign is about; nothing where none has a sign."""
    signed = (edge for edge in run.edges if not (run.is_line(edge) or edge.parts))
    ends = {run.names[k] for edge in signed for k in (edge.source, edge.target)}
    columns = () if run.look is None or is_counted(run) else run.look.columns
    told = [
        level_of_column(column.counted, column.name)
        for column in columns
        if column.counted and column.name in ends
    ]
    if not told:
        return ""
    return f"For a yes/no variable a sign is about one level: {listing(told)}."


def level_counts(run: SavedRun) -> list[str]:
    """Return of each column how many rows have which level; nothing of numbers."""
    if run.look is None or run.audit is None:
        return [""] * run.n_nodes
    levels = {column.name: column.levels for column in run.look.columns}
    return [
        _counted(levels.get(name, ()), column.counts)
        for name, column in zip(run.names, run.audit.columns, strict=True)
    ]


def _counted(levels: tuple[str, ...], counts: tuple[int, ...]) -> str:
    if len(levels) != len(counts):
        return ""
    pairs = sorted(zip(counts, levels, strict=True), key=lambda pair: -pair[0])
    return first_few([f"{short_label(level)} {number}" for number, level in pairs], LISTED)


def part_lines(run: SavedRun) -> list[tuple[str, str]]:
    """Return the parts of links of categories; an open link has none, they need a direction."""
    return [(link(run, edge), _parts(edge)) for edge in run.edges if _has_parts(run, edge)]


def _has_parts(run: SavedRun, edge: EdgeRecord) -> bool:
    return bool(edge.parts) and not run.is_line(edge)


def _parts(edge: EdgeRecord) -> str:
    return ", ".join(f"{short_label(label)} {size:+.3g}" for label, size in edge.parts)
