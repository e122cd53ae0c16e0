"""The examples in the documentation run as they are printed."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import pytest

from benchmarks.findings import FINDINGS
from benchmarks.report import fill

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    "README.md",
    "docs/getting-started.md",
    "docs/your-table.md",
    "docs/questions.md",
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


def test_the_readme_prints_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    example = examples("README.md")[0]
    assert len(example.splitlines()) <= 10
    exec(compile(example, "README.md", "exec"), {})
    text = (ROOT / "README.md").read_text("utf-8")
    shown = re.search(r"^```text\n(.*?)^```", text, re.M | re.S)
    assert shown is not None
    assert sorted(capsys.readouterr().out.splitlines()) == sorted(shown[1].splitlines())


@pytest.mark.parametrize("page", ["README.md", "docs/index.md", "docs/benchmarks/index.md"])
def test_measured_facts_are_those_of_the_records(page: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    assert "<!-- bench" in text
    assert fill(text, ROOT / "docs" / "benchmarks" / "records") == text


@pytest.mark.parametrize(
    "words", ["categorical", "missing", "confounder", "DoWhy", "How many rows do I need"]
)
def test_search_finds_a_page_by_the_question(words: str) -> None:
    """The search of the site ranks headings first."""
    headings = re.findall(r"^## (.*)$", (ROOT / "docs/questions.md").read_text("utf-8"), re.M)
    assert any(words in heading for heading in headings)


def test_every_finding_has_its_charts() -> None:
    figures = ROOT / "docs" / "benchmarks" / "figures"
    for finding in FINDINGS:
        if finding.records(figures.parent / "records"):
            for ending in ("", "-dark"):
                assert (figures / f"summary-{finding.key}{ending}.svg").is_file()


@pytest.mark.parametrize("notebook", sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")), ids=str)
def test_notebooks_run(notebook: Path, tmp_path: Path) -> None:
    nbclient = pytest.importorskip("nbclient")
    cells = nbclient.NotebookClient(nbformat_of(notebook), timeout=300, resources=at(tmp_path))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the kernel's own libraries
        cells.execute()


def nbformat_of(notebook: Path) -> Any:
    return pytest.importorskip("nbformat").read(notebook, as_version=4)


def at(folder: Path) -> dict[str, Any]:
    return {"metadata": {"path": str(folder)}}


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
