"""Background knowledge from a file: TOML, JSON, or the format of Tetrad.

    required  = [["PKA", "Raf"], ["Raf", "Mek"]]      # or "PKA -> Raf"
    forbidden = [["Akt", "PKC"]]
    tiers     = [["PKC", "PKA"], ["Raf", "Mek"]]      # causes first
    max_parents = 4

Tetrad's text format is read too: `/knowledge`, then sections. In `addtemporal` a tier marked with *
forbids edges within it, one marked with - may only point at the next. `forbiddirect` and
`requiredirect` hold an edge a line; in `forbiddengroup` and `requiredgroup` two lines belong
together, causes and then effects, and stand for every edge from one of the first to one of the
second.
"""

from __future__ import annotations

import itertools
import shlex
from pathlib import Path
from typing import Any

from analyticdag._files import read_limited
from analyticdag._schema import checked_as, parsed_json, parsed_toml
from analyticdag.errors import InputError, KnowledgeError
from analyticdag.knowledge import Knowledge

_SHOWN = 5
_KEYS = {"required": "required_edges", "forbidden": "forbidden_edges"}
_EDGES = (*_KEYS, *_KEYS.values())
_KINDS: dict[str, Any] = {
    "required_edges": tuple[tuple[str | int, str | int], ...],
    "forbidden_edges": tuple[tuple[str | int, str | int], ...],
    "tiers": tuple[tuple[str | int, ...], ...],
    "max_parents": int | None,
}
# Every edge of 1,500 columns forbidden one by one, at 30 bytes.
_MAX_BYTES = 64 * 2**20
_MAX_EDGES = 10_000_000
_SECTIONS = ("addtemporal", "forbiddirect", "requiredirect", "forbiddengroup", "requiredgroup")


def read_knowledge(path: str | Path) -> Knowledge:
    """Read knowledge from a .toml or .json file, or from one that opens with /knowledge."""
    path = Path(path)
    try:
        text = read_limited(path, _MAX_BYTES, "name a file of knowledge").decode("utf-8-sig")
    except InputError as error:
        raise KnowledgeError(str(error)) from error
    except UnicodeDecodeError as error:
        raise KnowledgeError(f"{path.name} is not UTF-8 text; save it as UTF-8") from error
    if text.lstrip().startswith("/knowledge"):
        return parse_tetrad(text)
    try:
        is_json = path.suffix.lower() == ".json"
        record = parsed_json(text.encode()) if is_json else parsed_toml(text)
    except ValueError as error:
        raise KnowledgeError(
            f"{path.name} is neither TOML, JSON (*.json) nor Tetrad's format: {error}"
        ) from error
    return _from_record(record, path.name)


def _from_record(record: Any, name: str) -> Knowledge:
    if not isinstance(record, dict):
        raise KnowledgeError(f"{name} must hold keys such as required, forbidden and tiers")
    unknown = set(record) - {*_KEYS, *_KEYS.values(), "tiers", "max_parents"}
    if unknown:
        raise KnowledgeError(
            f"{name} has the unknown keys {sorted(unknown)}; the keys are required, forbidden, "
            "tiers and max_parents"
        )
    twice = [key for key, full in _KEYS.items() if key in record and full in record]
    if twice:
        raise KnowledgeError(f"{name} has both {twice[0]} and {_KEYS[twice[0]]}; keep one of them")
    try:
        values = {key: _pairs(own) if key in _EDGES else own for key, own in record.items()}
        renamed = {
            full: checked_as(values[key], _KINDS[full], key)
            for full, key in ((str(_KEYS.get(key, key)), key) for key in record)
        }
    except ValueError as error:
        raise KnowledgeError(
            f"{name}: {error}; required and forbidden take (cause, effect) pairs such as "
            '["a", "b"] or "a -> b", tiers lists of columns, max_parents a whole number'
        ) from error
    return Knowledge.from_dict(renamed)


def _pairs(value: Any) -> Any:
    """Read "PKA -> Raf" as a pair; anything else is for the schema to judge."""
    return [_edge(edge) for edge in value] if isinstance(value, list) else value


def _edge(edge: Any) -> Any:
    if isinstance(edge, str) and edge.count("->") == 1:
        return [end.strip() for end in edge.split("->")]
    return edge


def parse_tetrad(text: str) -> Knowledge:
    """Read the text of a Tetrad knowledge file."""
    sections: dict[str, list[list[str]]] = {name: [] for name in _SECTIONS}
    current: str | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.split("//")[0].strip()
        if not line or line == "/knowledge":
            continue
        if line.lower() in _SECTIONS:
            current = line.lower()
        elif current is None:
            raise KnowledgeError(
                f"line {number} of the Tetrad file, {line[:40]!r}, is in no section; the sections "
                f"are {', '.join(_SECTIONS)}"
            )
        else:
            sections[current].append(_words(line, number))
    tiers = _tetrad_tiers(sections["addtemporal"])
    forbidden: list[Any] = [
        *sections["forbiddirect"],
        *_edges_of_groups(sections["forbiddengroup"]),
        *_forbidden_by_marks(tiers),
    ]
    required: list[Any] = [
        *sections["requiredirect"],
        *_edges_of_groups(sections["requiredgroup"]),
    ]
    return Knowledge(
        required_edges=required,
        forbidden_edges=forbidden,
        tiers=[columns for _, columns in tiers],
    )


def _words(line: str, number: int) -> list[str]:
    try:
        words = shlex.split(line.replace("-->", " "))
    except ValueError as error:
        raise KnowledgeError(f"line {number} of the Tetrad file: {error}") from error
    if not words:
        raise KnowledgeError(f"line {number} of the Tetrad file names no column; name some")
    return words


def _tetrad_tiers(lines: list[list[str]]) -> list[tuple[str, list[str]]]:
    """Return (mark, columns) of each tier, in the order of the tiers' numbers."""
    tiers: dict[int, tuple[str, list[str]]] = {}
    for label, *columns in lines:
        number, mark = label.rstrip("*-"), label[len(label.rstrip("*-")) :]
        if not number.isdecimal() or len(number) > 9 or int(number) in tiers:
            raise KnowledgeError(
                f"a tier of a Tetrad file starts with a number of its own, not {label!r}"
            )
        tiers[int(number)] = mark, columns
    return [tiers[number] for number in sorted(tiers)]


def _edges_of_groups(lines: list[list[str]]) -> list[tuple[str, str]]:
    """Return the edges of groups, of which each is a line of causes and a line of effects."""
    if len(lines) % 2:
        raise KnowledgeError(
            f"a group of a Tetrad file is a line of causes and a line of effects, but the causes "
            f"{lines[-1][:_SHOWN]} have no effects after them; add that line"
        )
    pairs = list(zip(lines[::2], lines[1::2], strict=True))
    _refuse_flood(sum(len(causes) * len(effects) for causes, effects in pairs))
    return [
        (cause, effect)
        for causes, effects in pairs
        for cause, effect in itertools.product(causes, effects)
        if cause != effect
    ]


def _refuse_flood(n_edges: int) -> None:
    """A few lines of groups can stand for more edges than there is memory."""
    if n_edges > _MAX_EDGES:
        raise KnowledgeError(
            f"the groups and tiers of the Tetrad file stand for {n_edges} edges, more than "
            f"{_MAX_EDGES}; use plain tiers"
        )


def _forbidden_by_marks(tiers: list[tuple[str, list[str]]]) -> list[tuple[str, str]]:
    forbidden: list[tuple[str, str]] = []
    _refuse_flood(
        sum(len(columns) for mark, columns in tiers) ** 2 if any(m for m, _ in tiers) else 0
    )
    for k, (mark, columns) in enumerate(tiers):
        if "*" in mark:
            forbidden += itertools.permutations(columns, 2)
        if "-" in mark:
            later = [column for _, tier in tiers[k + 2 :] for column in tier]
            forbidden += itertools.product(columns, later)
    return forbidden
