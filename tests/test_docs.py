"""The examples in the documentation run as they are printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    "README.md",
    "docs/getting-started.md",
    "docs/your-table.md",
    "docs/from-a-table-to-a-report.md",
    "docs/how-to-choose.md",
    "docs/what-the-data-can-tell.md",
    "docs/what-happens-if.md",
    "docs/sachs.md",
    "docs/nonlinear.md",
]


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
        for target in re.findall(r"\]\(([^)(#:\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]
    assert not broken


def paper_rows() -> list[list[str]]:
    """The rows of the tables with the columns paper, what it says, code, test."""
    text = (ROOT / "docs" / "from-the-paper-to-the-code.md").read_text(encoding="utf-8")
    rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("| ")]
    return [row for row in rows if len(row) == 4 and row[0].strip() != "paper"]


def everything_below(folder: str) -> str:
    files = sorted((ROOT / folder).rglob("*.py"))
    return "\n".join([f"# {file.stem}\n{file.read_text(encoding='utf-8')}" for file in files])


SOURCE, TESTS = everything_below("src"), everything_below("tests")


@pytest.mark.parametrize("row", paper_rows(), ids=lambda row: row[0].strip())
def test_the_paper_page_names_what_exists(row: list[str]) -> None:
    named = {part for name in re.findall(r"`([\w.]+)", row[2]) for part in name.split(".")}
    assert [part for part in named if not re.search(rf"\b{part}\b", SOURCE)] == []
    tests = re.findall(r"\b(test_\w+)(?!\.py)\b", row[3].replace(".py", ".py "))
    missing = [name for name in tests if f"def {name}(" not in TESTS and f"{name}.py" not in row[3]]
    assert missing == []
