"""The examples in the documentation run as they are printed."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = ["README.md", "docs/getting-started.md", "docs/how-to-choose.md"]


def examples(page: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text("utf-8"), re.M | re.S)


@pytest.mark.parametrize("page", [page for page in PAGES if examples(page)])
def test_examples_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for number, example in enumerate(examples(page), start=1):
        exec(compile(example, f"{page}, example {number}", "exec"), names)


def test_links_between_pages_lead_somewhere() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    broken = [
        f"{page.relative_to(ROOT)} -> {target}"
        for page in pages
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]
    assert not broken


def paper_rows() -> list[list[str]]:
    """The rows of the tables with the columns paper, what it says, code, test."""
    text = (ROOT / "docs" / "from-the-paper-to-the-code.md").read_text(encoding="utf-8")
    rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("| ")]
    return [row for row in rows if len(row) == 4 and row[0].strip() != "paper"]


def exists(name: str) -> bool:
    """Whether a dotted name below analyticdag is a module or something inside one."""
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(["analyticdag", *parts[:cut]]))
        except ModuleNotFoundError:
            continue
        inside = parts[cut:]
        while inside and hasattr(found, inside[0]):
            found = getattr(found, inside.pop(0))
        return not inside
    return False


@pytest.mark.parametrize("row", paper_rows(), ids=lambda row: row[0].strip())
def test_the_paper_page_names_what_exists(row: list[str]) -> None:
    code, tests = (re.findall(r"`([\w./:]+)`", column) for column in row[2:])
    assert code, "every row names the code"
    assert [name for name in code if not exists(name)] == []
    for reference in tests:
        path, _, test = reference.partition("::")
        assert f"def {test}(" in (ROOT / path).read_text(encoding="utf-8"), reference
