from __future__ import annotations

from pathlib import Path

import pytest

from analyticdag.errors import KnowledgeError
from analyticdag.io import parse_tetrad, read_knowledge
from analyticdag.knowledge import Knowledge

TOML = """
required = [["a", "b"], "b -> c"]
forbidden = [["d", "a"]]
tiers = [["a", "b"], ["c"]]
max_parents = 2
"""
SAME = Knowledge([("a", "b"), ("b", "c")], [("d", "a")], [["a", "b"], ["c"]], 2)

TETRAD = """\
/knowledge
addtemporal
2 c
1* a b   // no edges within
3- d
4 e
5 "two words"

forbiddirect
c e

requiredirect
a c
"""


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_toml_and_json(tmp_path: Path) -> None:
    assert read_knowledge(write(tmp_path, "k.toml", TOML)) == SAME
    json = '{"required": [["a", "b"], ["b", "c"]], "forbidden_edges": [["d", "a"]], '
    json += '"tiers": [["a", "b"], ["c"]], "max_parents": 2}'
    assert read_knowledge(write(tmp_path, "k.json", json)) == SAME


def test_tetrad(tmp_path: Path) -> None:
    knowledge = read_knowledge(write(tmp_path, "k.txt", TETRAD))
    assert knowledge.tiers == (("a", "b"), ("c",), ("d",), ("e",), ("two words",))
    assert knowledge.required_edges == (("a", "c"),)
    assert set(knowledge.forbidden_edges) == {
        ("c", "e"),
        ("a", "b"),
        ("b", "a"),
        ("d", "two words"),
    }


def test_tetrad_groups_are_causes_and_then_effects() -> None:
    knowledge = parse_tetrad(
        "/knowledge\nforbiddengroup\na b\nc d\nd\na\nrequiredgroup\na\n b e\nrequiredirect\nb f\n"
    )
    assert set(knowledge.forbidden_edges) == {
        ("a", "c"),
        ("a", "d"),
        ("b", "c"),
        ("b", "d"),
        ("d", "a"),
    }
    assert set(knowledge.required_edges) == {("a", "b"), ("a", "e"), ("b", "f")}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("requires = []", r"unknown keys \['requires'\]; the keys are required"),
        ("required = [", "neither TOML, JSON"),
        ("required = ['a to b']", r"required\[0\] must be a list.* take \(cause, effect\) pairs"),
        ("required = [['a', ['b']]]", r"required\[0\]\[1\] must be a whole number, not \['b'\]"),
        ("[required]\na = 1", "required must be a list, not {'a': 1}"),
        ("[[tiers]]\na = 1", r"tiers\[0\] must be a list"),
        ("max_parents = 2.5", "max_parents must be a whole number, not 2.5"),
        ("required = [['a', 'b']]\nrequired_edges = []", "has both required and required_edges"),
        ("required = " + "[" * 5000 + "]" * 5000, "nor Tetrad's format: it is nested too deeply$"),
        ("required = " + "[" * 30 + "]" * 30, "nested too deeply"),
        ("/knowledge\nforbiddirect\n-->", "line 3 of the Tetrad file names no column"),
        (
            "/knowledge\nforbiddengroup\n" + 2 * (" ".join(map(str, range(4000))) + "\n"),
            "stand for 16000000 edges",
        ),
        (
            "/knowledge\nforbiddengroup\na b\n\nrequiredirect\na b",
            r"causes \['a', 'b'\] have no effects",
        ),
        ("/knowledge\na b", "line 2 .* is in no section"),
        ("/knowledge\naddtemporal\none a", "starts with a number of its own, not 'one'"),
        ("/knowledge\nforbiddirect\n'a b", "line 3 of the Tetrad file: No closing quotation"),
        ("/knowledge\nforbiddirect\na b c", "pairs"),
    ],
)
def test_refusals(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(KnowledgeError, match=message):
        read_knowledge(write(tmp_path, "k.toml", text))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(KnowledgeError, match="cannot read"):
        read_knowledge(tmp_path / "absent.toml")
    (tmp_path / "latin.toml").write_bytes(b"# \xe9")
    with pytest.raises(KnowledgeError, match="not UTF-8"):
        read_knowledge(tmp_path / "latin.toml")
    with pytest.raises(KnowledgeError, match="must hold keys"):
        read_knowledge(write(tmp_path, "list.json", "[]"))


def test_an_empty_tetrad_file_knows_nothing() -> None:
    assert parse_tetrad("/knowledge\naddtemporal\n") == Knowledge()
