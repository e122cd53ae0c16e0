"""Files too large for memory, on the command line: added up, with a sample to look at."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from analyticdag.io import load_run, read_table
from analyticdag.io.large import is_large, read_large
from analyticdag.simulate import simulate

Command = Callable[..., tuple[int, str, str]]
X = simulate("ER1", n_nodes=5, n_samples=900, noise_scale=(0.5, 2.0), seed=3).data


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("analyticdag.io.large.LARGE", 10_000)
    monkeypatch.setattr("analyticdag.tables.text.text_batches.__defaults__", (9000,))
    monkeypatch.setattr("analyticdag.fitting.rows.MOST_ROWS", 300)
    path = tmp_path / "x.csv"
    lines = [",".join(map(repr, row)) + f",p{k}" for k, row in enumerate(X.tolist())]
    path.write_text("\n".join(["a,b,c,d,e,patient_id", *lines]))
    return path


def test_a_large_file_is_added_up_and_says_so(file: Path, command: Command) -> None:
    code, out, err = command("fit", file, "--json")
    assert code == 0, err
    assert "x.csv is read in parts: its 900 rows are added up" in err
    assert "'patient_id' is an identifier: left out" in err
    saved = load_run(file.parent / "x-analyticdag")
    assert saved.fitted is not None
    assert saved.fitted.moments.n_samples == 900
    S = np.cov(X.T, bias=True)
    np.testing.assert_allclose(saved.fitted.moments.S, S, rtol=1e-10, atol=1e-10)
    assert saved.manifest["data"]["rows"] == 900
    assert saved.audit is not None
    assert saved.audit.n_rows == 900
    small = command("fit", file, "--json", "--resamples", "2", "--out", file.parent / "small")
    assert small[0] == 0, small[2]
    assert "is read in parts" not in small[2]  # resamples need the rows

    def joined(text: str) -> set[frozenset[str]]:
        return {frozenset((e["source"], e["target"])) for e in json.loads(text)["edges"]}

    assert joined(out) == joined(small[1])


def test_gaps_of_a_large_file_are_refused_or_left_out(file: Path, command: Command) -> None:
    text = file.read_text().splitlines()
    text[500] = ",".join(["", *text[500].split(",")[1:]])
    file.write_text("\n".join(text))
    code, _, err = command("fit", file)
    assert code == 2
    assert "column 'a' of x.csv has missing values" in err
    assert "--missing drop" in err
    code, _, err = command("fit", file, "--missing", "drop")
    assert code == 0, err
    assert "its 899 rows are added up" in err
    assert "1 rows with missing values left out" in err


def test_what_is_large(file: Path, tmp_path: Path) -> None:
    assert is_large(file)
    assert is_large(tmp_path)  # a folder of Parquet files
    assert not is_large("-")
    assert not is_large(tmp_path / "nothing.csv")
    packed = tmp_path / "x.csv.gz"
    packed.write_bytes(b"0" * 20_000)
    assert not is_large(packed)
    table = read_large(file)
    assert table.sha256 == read_table(file).sha256
    assert 200 < len(table.values) < 300
    assert table.n_rows == 900


def test_a_category_of_a_folder_is_one_not_its_codes(tmp_path: Path, command: Command) -> None:
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    region = rng.choice(["north", "south", "east", "west"], 600)
    wage = 3.0 * np.isin(region, ["north", "east"]) + rng.normal(size=600)
    table = pandas.DataFrame({"region": region, "wage": wage, "age": rng.normal(size=600)})
    (tmp_path / "parts").mkdir()
    table[:300].to_parquet(tmp_path / "parts" / "a.parquet")
    table[300:].to_parquet(tmp_path / "parts" / "b.parquet")
    code, _, err = command("fit", tmp_path / "parts", "--out", tmp_path / "run")
    assert code == 0, err
    (edge,) = load_run(tmp_path / "run").edges
    assert len(edge.parts) == 3


def test_a_category_of_more_rows_than_are_kept_is_learned_from_all(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    places, noise = rng.integers(0, 3, 1500), rng.normal(size=1500)
    y = np.round(2.0 * (places == 1) + noise, 6)
    said = np.where(y + rng.normal(size=1500) > 0.5, "yes", "no")
    lines = [f"{'abc'[k]},{v!r},{s}" for k, v, s in zip(places, y.tolist(), said, strict=True)]
    (tmp_path / "x.csv").write_text("\n".join(["b,y,said", *lines]))
    assert command("fit", tmp_path / "x.csv", "--out", tmp_path / "memory")[0] == 0
    monkeypatch.setattr("analyticdag.fitting.rows.MOST_ROWS", 400)
    monkeypatch.setattr("analyticdag.io.large.LARGE", 100)
    code, _, err = command("fit", tmp_path / "x.csv", "--out", tmp_path / "run")
    assert code == 0, err
    assert "x.csv is read in parts" in err
    run, same = load_run(tmp_path / "run"), load_run(tmp_path / "memory")
    assert [(e.source, e.target) for e in run.edges] == [(e.source, e.target) for e in same.edges]
    (edge,) = [one for one in run.edges if one.parts]
    assert len(edge.parts) == 2
    assert run.fitted is not None
    assert same.fitted is not None
    assert run.fitted.levels is not None
    assert same.fitted.levels is not None
    found, expected = run.fitted.levels.moments, same.fitted.levels.moments
    assert found.n_samples == 1500
    np.testing.assert_allclose(found.S, expected.S, rtol=1e-10, atol=1e-10)
    assert (tmp_path / "run" / "report.html").exists()
    code, _, err = command("effects", tmp_path / "run", "--on", "y")
    assert code == 0, err


def test_a_folder_where_single_rows_are_needed_is_refused_in_a_line(
    tmp_path: Path, command: Command
) -> None:
    code, _, err = command("stability", tmp_path)
    assert code == 2
    assert "is a folder, which only fit adds up" in err
