"""Age causes blood pressure, and the data leave it open: nothing may say the reverse, anywhere."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

from analyticdag.effects import effects
from analyticdag.errors import OpenEdgesWarning
from analyticdag.io import load_run, to_dowhy, to_networkx

Command: TypeAlias = Callable[..., Any]  # the fixture of conftest.py

# Ways in which a text claims that blood pressure moves age; a line or two arcs claim nothing.
CLAIMS = (
    r"sbp\W{0,3}(→|->|=>|-->)\W{0,3}age\b(?!.{0,12}dir=none)",
    r"\bsbp,age,directed",
    r"sbp (causes|raises|increases|moves|drives) age",
    r"age (is caused|is moved|follows) (by|from) sbp",
    r'"source": ?"sbp", ?"target": ?"age", ?"direction": ?"directed"',
)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The order of the columns invites a search to begin with blood pressure."""
    rng = np.random.default_rng(5)
    age = rng.normal(50, 10, 800)
    sbp = 100 + 0.5 * age + rng.normal(0, 8, 800)
    chol, bmi = 3 + 0.04 * age + rng.normal(0, 0.7, 800), 22 + 0.08 * age + rng.normal(0, 3, 800)
    weight = 3 * bmi + rng.normal(0, 5, 800)
    salt = rng.normal(8, 2, 800)
    stroke = 0.05 * sbp + 0.3 * salt + rng.normal(0, 1, 800)
    path = tmp_path_factory.mktemp("health") / "health.csv"
    rows = np.column_stack([sbp, age, chol, bmi, weight, salt, stroke])
    header = "sbp,age,chol,bmi,weight,salt,stroke"
    np.savetxt(path, rows, delimiter=",", header=header, comments="", fmt="%.6g")
    return path


def claims(text: str) -> list[str]:
    return [match[0] for claim in CLAIMS for match in re.finditer(claim, text, re.IGNORECASE)]


def test_the_patterns_find_a_claim() -> None:
    for text in ("sbp → age", '"sbp" -> "age" [beta="0.5"]', "sbp,age,directed", "sbp causes age"):
        assert claims(text)
    for text in ("sbp — age", '"sbp" -> "age" [dir=none, label', "sbp,age,open", "age → sbp"):
        assert not claims(text)


def test_no_file_print_or_page_claims_it(command: Command, table: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    said = [command("fit", table, "--out", folder, "--loss", "likelihood-nv")]
    run = load_run(folder)
    assert {"sbp", "age"} in [set(run.edge_names(edge)) for edge in run.open_edges]
    assert len(run.open_edges) >= 4
    said += [
        command("fit", table, "--out", tmp_path / "two", "--loss", "likelihood-nv", "--json"),
        command("effect", folder, "--of", "sbp", "--on", "age"),
        command("effect", folder, "--of", "sbp", "--on", "age", "--json"),
        command("effects", folder, "--on", "age"),
        command("effect", folder, "--of", "age", "--on", "stroke"),
        command("check", folder, table),
        command("check", folder, table, "--json"),
        command("compare", folder, folder),
        command("report", folder, "--out", tmp_path / "page.html"),
    ]
    for result in said:
        assert result.code == 0, result.err
        assert claims(result.out) == []
        assert claims(result.err) == []
    files = [path for path in folder.rglob("*") if path.suffix != ".npz"]
    assert len(files) >= 6
    for path in (*files, tmp_path / "page.html"):
        assert claims(path.read_text("utf-8")) == [], path.name
    objects_agree(folder)


def objects_agree(folder: Path) -> None:
    """Neither do the objects that other packages get, without a warning."""
    run = load_run(folder)
    graph = to_networkx(run)
    assert graph.edges["sbp", "age"]["open"]
    assert "weight" not in graph.edges["sbp", "age"]
    with pytest.warns(OpenEdgesWarning, match="sbp|age"):
        to_dowhy(run)
    row = next(row for row in effects(run.to_estimator(), on="age") if row.cause == "sbp")
    assert not row.identified
    assert row.smallest <= 0.0 <= row.largest
    model = run.to_estimator()
    with pytest.warns(OpenEdgesWarning, match="sbp — age"):
        found = {outcome.name: outcome for outcome in model.intervene({"sbp": 150.0})}
    assert found["age"].smallest_mean < found["age"].largest_mean
