"""Codes for "missing" among numbers: found, named by the user, never taken for numbers unsaid."""

from __future__ import annotations

import json
import re
import shlex
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analyticdag import AnalyticDAG
from analyticdag.errors import DataError, DataWarning, ParameterError
from analyticdag.io import load_run
from analyticdag.io.large import read_large
from analyticdag.tables import Cells, look_at, read_batches
from analyticdag.tables.codes import Codes
from analyticdag.tables.suspects import suspects, suspects_of

Command = Callable[..., tuple[int, str, str]]
N = 600


def heart(code: float | None = None, seed: int = 0) -> pd.DataFrame:
    """Age, pressure and cholesterol, a chain; a twentieth of the cells is a code."""
    rng = np.random.default_rng(seed)
    age = rng.normal(50, 10, N).round(1)
    bp = (80 + 0.8 * age + rng.normal(0, 8, N)).round(1)
    table = pd.DataFrame(
        {"age": age, "bp": bp, "chol": (3 + 0.02 * bp + rng.normal(0, 0.4, N)).round(2)}
    )
    if code is not None:
        table = table.mask(rng.random(table.shape) < 0.05, code)
    return table


def cells_of(frame: pd.DataFrame) -> Cells:
    columns = tuple(frame[name].astype(str).tolist() for name in frame)
    return Cells(tuple(frame), columns, range(2, 2 + len(frame)))


def coded(values: np.ndarray, code: float, rows: int = 30) -> np.ndarray:
    return np.concatenate([np.full(rows, code), values])


WHOLE = np.random.default_rng(1).normal(50, 10, N).round()
SCALE = np.tile([1.0, 2.0, 3.0, 4.0, 5.0], N // 5)


@pytest.mark.parametrize(
    ("values", "code", "certain"),
    [
        (WHOLE, -999.0, True),
        (WHOLE, 9999.0, True),
        (WHOLE, -1.0, True),
        (WHOLE, 99.0, False),
        (WHOLE, 150.0, False),  # no classic code, but far
        (WHOLE / 100, 99.0, True),
        (SCALE, 99.0, True),
        (SCALE, -9.0, True),
        (SCALE, 9.0, False),
        (np.tile([1.0, 2.0], 100), 9.0, False),
    ],
)
def test_codes_are_found(values: np.ndarray, code: float, certain: bool) -> None:
    (found,) = suspects(coded(values, code))
    assert (found.value, found.rows, found.certain) == (code, 30, certain)
    assert (found.low, found.high) == (values.min(), values.max())


def test_several_codes_are_found_at_both_ends() -> None:
    several = np.concatenate([np.full(9, -999.0), np.full(9, 9999.0), WHOLE])
    assert [one.value for one in suspects(several)] == [-999.0, 9999.0]
    answers = np.concatenate([np.full(9, 8.0), np.full(9, 9.0), SCALE])
    assert [one.value for one in suspects(answers)] == [8.0, 9.0]


@pytest.mark.parametrize(
    "values",
    [
        WHOLE,
        coded(WHOLE, 0.0, 200),  # zero is often zero
        np.maximum(WHOLE, 40.0),
        np.minimum(WHOLE, 60.0),
        SCALE,
        np.tile([-1.0, 0.0, 1.0], 50),
        np.tile([0.0, 1.0, 3.0, 9.0], 50),
        np.tile([1.0, 2.0, 4.0, 8.0], 50),
        np.random.default_rng(0).poisson(3, N) * 1.0,
        np.full(N, -999.0),
        coded(WHOLE, 150.0, 3),
        coded(WHOLE, 63.5, 30),
    ],
)
def test_ordinary_columns_raise_no_alarm(values: np.ndarray) -> None:
    assert suspects(values) == ()


def test_what_is_certain_in_one_column_is_a_code_in_others_even_inside() -> None:
    table = heart(99)
    found = suspects_of({name: table[name].to_numpy() for name in table})
    assert [one.value for every in found.values() for one in every] == [99.0, 99.0, 99.0]
    assert all(one.certain for every in found.values() for one in every)
    alone = suspects_of({"age": table["age"].to_numpy(), "bp": table["bp"].to_numpy()})
    assert {name: every[0].certain for name, every in alone.items()} == {"age": False}


@pytest.mark.parametrize("code", [-999, 9999, 99, -1])
def test_the_command_reads_codes_as_gaps_and_finds_the_links(
    command: Command, tmp_path: Path, code: int
) -> None:
    path = tmp_path / "t.csv"
    heart(code).to_csv(path, index=False)
    status, out, err = command("fit", path, "--json", "--no-refit")
    assert status == 0, err
    links = {frozenset((edge["source"], edge["target"])) for edge in json.loads(out)["edges"]}
    assert links == {frozenset(("age", "bp")), frozenset(("bp", "chol"))}
    assert re.search(
        rf"'chol' holds {code} in \d+ rows, far from the rest \(.* to .*\): taken", err
    )
    run = load_run(tmp_path / "t-analyticdag")
    assert any(f"holds {code} in" in what for what, _ in run.manifest["table"]["decisions"])
    words = shlex.split(run.manifest["table"]["explicit"])
    assert f"chol={code}" in words
    status, again, err = command(*words[1:], "--out", tmp_path / "again")
    assert status == 0, err
    assert json.loads(again)["edges"] == json.loads(out)["edges"]
    assert f"'chol' ({(heart(code)['chol'] == code).sum()} rows)" in err


def test_kind_keeps_the_numbers_and_what_is_uncertain_is_told(
    command: Command, tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    table = heart()
    table.loc[:29, "age"] = 99.0
    table.loc[:29, "chol"] = 999.0
    table.to_csv(path, index=False)
    status, _, err = command("fit", path, "--kind", "chol=number", "--no-refit")
    assert status == 0, err
    for name, code in (("age", 99), ("chol", 999)):
        said = f"note: '{name}' holds {code} in 30 rows, far from the rest"
        cure = f"if that is a code for a missing value, repeat with --na {name}={code}"
        assert any(said in line and cure in line for line in err.splitlines())
    run = load_run(tmp_path / "t-analyticdag")
    assert run.audit.columns[2].maximum == 999.0
    assert any("'age' holds 99" in note for note in run.audit.notes)


def test_codes_that_are_asked_for_are_gaps_in_all_columns_or_in_one() -> None:
    frame = pd.DataFrame(
        {"a": WHOLE, "b": WHOLE[::-1], "c": np.tile(["x", "y", "unknown"], N // 3)}
    )
    frame.loc[:4, ["a", "b"]] = 77.0
    frame.loc[:4, "c"] = "x"
    look, values = look_at(cells_of(frame), na=Codes.read(["a=77", "unknown,-5"]))
    assert look.gaps == {
        "a": int((frame["a"] == 77.0).sum()),
        "c": int((frame["c"] == "unknown").sum()),
    }
    assert np.isnan(values[:5, 0]).all()
    assert look.columns[2].levels == ("x", "y")
    assert "77 in" not in str(look.decisions[0])
    assert str(look.decisions[-1]).endswith("taken as missing, as asked")
    nothing, _ = look_at(cells_of(frame), na=Codes.read(["-5"]))
    assert str(nothing.decisions[-1]) == "--na -5: no cell holds it"


def test_a_code_is_none_in_an_identifier() -> None:
    places = [str(k + 1) for k in range(N)]
    frame = pd.DataFrame({"respondent": places, "a": WHOLE, "b": np.tile([1, 2, 3, 4, 9], N // 5)})
    look, _ = look_at(cells_of(frame), na=Codes.read(["9"]))
    assert look.columns[0].kind == "identifier"
    assert look.recipe.names == ("a", "b")
    assert str(look.decisions[-1]) == "9 in 'b' (120 rows): taken as missing, as asked"
    asked, _ = look_at(cells_of(frame), na=Codes.read(["9"]), kinds={"respondent": "number"})
    assert asked.gaps == {"respondent": 1, "b": 120}


def test_codes_are_found_however_numbers_are_written() -> None:
    texts = [f"{v:,.0f}" for v in 1000.0 * WHOLE] + ["9,999,999.0", "-999"] * 10
    other = [f"{v}" for v in range(len(texts))]
    cells = Cells(("a", "b"), (texts, other), range(len(texts)))
    look, values = look_at(cells, na=Codes.read(["a=9999999,-999"]))
    assert look.gaps == {"a": 20}
    assert np.isnan(values[-20:, 0]).all()


def test_a_recipe_remembers_codes_in_batches_and_later_rows(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    heart(-999).to_csv(path, index=False)
    (batch,) = read_batches(path, na=Codes.read(["-999"]))
    assert np.isnan(batch.values).sum() == (heart(-999) == -999).to_numpy().sum()
    table = read_large(path, missing="drop", na=Codes.read([], guess=True))
    assert table.n_rows == int((heart(-999) != -999).all(axis=1).sum())
    with pytest.raises(DataError, match="has missing values"):
        read_large(path, na=Codes.read(["age=-999"]))
    words = heart(-999).astype({"age": str}).replace({"age": "-999.0"}, "refused")
    words.to_csv(path, index=False)
    (batch,) = read_batches(path, na=Codes.read(["refused"]))
    assert np.isnan(batch.values[:, 0]).sum() == (heart(-999)["age"] == -999).sum()


def test_python_warns_and_changes_no_cell(tmp_path: Path) -> None:
    table = heart()
    table.loc[:29, "age"] = -999.0
    said = r"column 'age' holds -999 in 30 rows, far from the rest .* put NaN in its place"
    with pytest.warns(DataWarning, match=said):
        model = AnalyticDAG().fit(table)
    assert model.mean_[0] < 40.0
    words = table.assign(sex=np.tile(["m", "f"], N // 2))
    table.to_csv(tmp_path / "t.csv", index=False)
    for source in (words, iter([words]), tmp_path / "t.csv"):
        with pytest.warns(DataWarning, match=said):
            AnalyticDAG().fit(source)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        AnalyticDAG(missing="em").fit(table.replace(-999, np.nan))


@pytest.mark.parametrize("words", ["", "a=", "=5", "1,,2"])
def test_what_is_no_code_is_refused(words: str) -> None:
    with pytest.raises(ParameterError, match="--na must be a value that means missing"):
        Codes.read([words])


def test_an_unknown_column_is_refused() -> None:
    with pytest.raises(DataError, match=r"cannot look for codes in \['d'\]: the columns are 'age'"):
        look_at(cells_of(heart()), na=Codes.read(["d=5"]))


def test_a_graph_is_checked_without_codes(command: Command, tmp_path: Path) -> None:
    heart(-999).to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "g.csv").write_text("source,target\nage,bp\nbp,chol\n")
    _, _, err = command("check", tmp_path / "g.csv", tmp_path / "t.csv")
    assert "note: 'age' holds -999 in" in err
    files = (tmp_path / "g.csv", tmp_path / "t.csv")
    words = ("check", *files, "--na", "-999", "--missing", "drop")
    status, out, err = command(*words)
    assert status == 0
    assert "holds -999" not in err
    assert "0 of 1 pairs" in out


def test_a_scale_that_goes_below_zero_loses_nothing() -> None:
    rng = np.random.default_rng(0)
    for values in (rng.integers(-3, 16, 500), np.rint(rng.gamma(2.0, 3.0, 500)) - 1.0):
        assert not any(one.certain for one in suspects(values.astype(float)))


def test_a_code_that_leaves_next_to_nothing_is_not_read_as_gaps() -> None:
    values = np.full(400, -999.0)
    values[:5] = np.arange(5.0)
    assert not any(one.certain for one in suspects(values))
