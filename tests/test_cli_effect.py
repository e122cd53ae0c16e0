"""`analyticdag effect`, `effects` and `check`, and `compare` link by link."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

from analyticdag import AnalyticDAG, Knowledge
from analyticdag._tables import NamedColumns
from analyticdag.io import record_of, save_run

Command: TypeAlias = Callable[..., Any]  # the fixture of conftest.py


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Rain and a sprinkler wet the grass, which has nothing to do with the news."""
    rng = np.random.default_rng(3)
    rain, sprinkler, news = rng.normal(size=(3, 500))
    wet = rain + sprinkler + 0.5 * rng.normal(size=500)
    rows = np.column_stack([rain, sprinkler, wet, news])
    path = tmp_path / "garden.csv"
    np.savetxt(path, rows, delimiter=",", header="rain,sprinkler,wet,news", comments="")
    return path


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in which rain and sprinkler cause wet, and wet — mud is what follows from it."""
    rng = np.random.default_rng(3)
    rain, sprinkler, e, f, g = rng.normal(size=(5, 500))
    wet = rain + sprinkler + 0.5 * e
    table = NamedColumns(
        np.column_stack([rain, sprinkler, wet, wet + f, rain + 0.5 * g]),
        ["rain", "sprinkler", "wet", "mud", "cloud"],
    )
    model = AnalyticDAG(loss="likelihood-nv").fit(table)
    return save_run(record_of(model), tmp_path_factory.mktemp("runs") / "garden")


def test_an_effect_in_words(command: Command, saved: Path) -> None:
    result = command(
        *("effect", saved, "--of", "sprinkler", "--on", "mud"),
        *("--unit", "sprinkler=litre", "--unit", "mud=cm"),
    )
    assert result.code == 0
    assert result.err == ""
    lines = result.out.splitlines()
    assert re.match(r"one more litre of sprinkler → \+\S+ \[\S+, \S+\] cm of mud", lines[0])
    assert lines[1].startswith("in standard deviations: +")
    assert any(text.startswith("  sprinkler → wet → mud  +") for text in lines)
    assert lines[-3] == "a regression of mud on sprinkler should adjust for rain"
    assert lines[-2].startswith("it is right without adjusting for anything too, but then its")
    assert lines[-1].startswith("the interval takes the graph as given")
    assert "analyticdag." not in result.out  # Python is no help here


def test_an_effect_as_json(command: Command, saved: Path) -> None:
    found = json.loads(command("effect", saved, "--of", "sprinkler", "--on", "mud", "--json").out)
    assert found["identified"]
    assert found["interval"][0] < found["value"] < found["interval"][1]
    assert found["direct"] + found["mediated"] == pytest.approx(found["value"])
    assert found["sentence"].startswith("one more unit of sprinkler → ")


def test_an_open_effect_names_what_would_settle_it(command: Command, saved: Path) -> None:
    result = command("effect", saved, "--of", "cloud", "--on", "rain")
    assert "one of 0, " in result.out
    assert "not identified: cloud — rain is open" in result.out
    assert "knowing the direction of cloud — rain alone would settle it" in result.out
    assert re.search(
        r"of the \d graphs that fit equally well \d (has|have) no effect of cloud on rain \(a "
        r"count of graphs, which is no probability\)",
        result.out,
    )


def test_what_moves_an_outcome(command: Command, saved: Path) -> None:
    result = command("effects", saved, "--on", "mud")
    lines = result.out.splitlines()
    assert lines[0] == "what moves mud, the surest and strongest first:"
    assert any(re.match(r"  one more unit of wet +\+\S+ \[.*sd\)", text) for text in lines)
    found = json.loads(command("effects", saved, "--on", "mud", "--json").out)
    sizes = [abs(row["standardized"]) for row in found["effects"]]
    assert sizes == sorted(sizes, reverse=True)
    nothing = command("effects", saved, "--on", "sprinkler")
    said = nothing.out.splitlines()
    assert said[0] == "no path leads to sprinkler in this graph, so nothing is said to move it"
    assert re.fullmatch(r"the link sprinkler → wet points the other way: .*\d\d %", said[1])
    assert len(said) == 2


@pytest.mark.parametrize(("of", "other_way"), [("wet", True), ("rain", False)])
def test_no_path_is_no_effect_if_the_graph_is_right(
    command: Command, saved: Path, of: str, other_way: bool
) -> None:
    lines = command("effect", saved, "--of", of, "--on", "sprinkler").out.splitlines()
    back = ", which leads from sprinkler to wet" if other_way else ""
    said, _, missed = lines[0].partition("; with a link that the search may have missed: ")
    no_effect = "so no effect if the graph is right"
    assert said == f"no path from {of} to sprinkler in this graph{back}, {no_effect}"
    assert bool(missed) is not other_way
    assert [text.startswith("the link sprinkler → wet points") for text in lines[1:]] == (
        [True] * other_way
    )
    joint = command("effect", saved, "--of", "rain", "--of", "wet", "--on", "sprinkler").out
    assert "  no path from wet to sprinkler beside the others, so no effect" in joint


def test_one_share_of_graphs_without_an_effect(command: Command, saved: Path) -> None:
    asked = ("--on", "rain", "--json")
    one = json.loads(command("effect", saved, "--of", "cloud", *asked).out)
    row = next(
        row
        for row in json.loads(command("effects", saved, *asked).out)["effects"]
        if row["cause"] == "cloud"
    )
    both = json.loads(command("effect", saved, "--of", "cloud", "--of", "wet", *asked).out)
    share = one["n_zero"] / one["n_members"]
    assert one["zero_share"] == row["zero_share"] == both["zero_share"][0] == share


def test_a_yes_no_cause_is_one_level_instead_of_the_other(command: Command, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(5)
    smokes = rng.integers(0, 2, 500)
    table = pandas.DataFrame(
        {"smoker": np.array(["no", "yes"])[smokes], "cough": 2.0 * smokes + rng.normal(size=500)}
    )
    known = Knowledge(tiers=[["smoker"], ["cough"]])
    run = save_run(record_of(AnalyticDAG(knowledge=known).fit(table)), tmp_path / "run")
    for asked in (("effects", run), ("effect", run, "--of", "smoker")):
        out = command(*asked, "--on", "cough").out
        assert "smoker: yes instead of no" in out
        assert "unit of smoker" not in out


def test_open_effects_are_listed_by_what_they_can_be(command: Command, tmp_path: Path) -> None:
    far, e, f = np.random.default_rng(4).normal(size=(3, 500))
    near = far + e
    table = NamedColumns(np.column_stack([far, near, near + f]), ["far", "near", "end"])
    run = save_run(record_of(AnalyticDAG(loss="likelihood-nv").fit(table)), tmp_path / "run")
    found = json.loads(command("effects", run, "--on", "end", "--json").out)["effects"]
    assert [row["cause"] for row in found] == ["near", "far"]
    assert {row["standardized"] for row in found} == {0.0}


def test_a_level_with_a_line_break_stays_on_its_line(command: Command, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(5)
    k = rng.integers(0, 3, 500)
    words = np.array(["red\nlight", "green", "blue"])[k]
    table = pandas.DataFrame({"colour": words, "speed": 3.0 * k + rng.normal(size=500)})
    known = Knowledge(tiers=[["colour"], ["speed"]])
    run = save_run(record_of(AnalyticDAG(knowledge=known).fit(table)), tmp_path / "run")
    for asked in (("effects", run), ("effect", run, "--of", "colour")):
        lines = command(*asked, "--on", "speed").out.splitlines()
        assert any("red\\nlight" in text for text in lines)
        assert not any(text.startswith("light") for text in lines)


def test_several_causes(command: Command, saved: Path) -> None:
    result = command("effect", saved, "--of", "rain", "--of", "sprinkler", "--on", "mud")
    assert "with the other causes held fixed" in result.out
    assert result.out.count("one more unit of") == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--of", "snow", "--on", "mud"), "cause='snow' is no column; the columns are 'rain'"),
        (("--of", "Sprink", "--on", "mud"), "is no column; did you mean 'sprinkler'?"),
        (("--of", "wet", "--on", "mud", "--unit", "Mud=cm"), "did you mean 'mud'?"),
        (("--of", "mud", "--on", "mud"), "name two different columns"),
        (("--of", "wet", "--on", "mud", "--unit", "litre"), "--unit takes NAME=UNIT"),
        (("--of", "wet", "--on", "mud", "--level", "95"), "level must be a number"),
        (("--on", "mud"), "Missing option '--of'"),
    ],
)
def test_bad_input_is_one_line(
    command: Command, saved: Path, words: tuple[str, ...], said: str
) -> None:
    result = command("effect", saved, *words)
    assert result.code == 2
    assert said in result.err
    assert result.err.count("\n") == 1
    assert result.out == ""


def test_a_run_that_is_not_there(command: Command, tmp_path: Path) -> None:
    result = command("effects", tmp_path / "none", "--on", "mud")
    assert result.code == 2
    assert "name the folder of a saved run" in result.err


def test_a_graph_that_fits(command: Command, table: Path, tmp_path: Path) -> None:
    graph = tmp_path / "good.csv"
    graph.write_text("source,target\nrain,wet\nsprinkler,wet\n")
    result = command("check", graph, table)
    assert result.code == 0
    assert "0 of 4 pairs that the graph does not join" in result.out
    assert "0 of 2 links are not needed" in result.out


def test_a_graph_that_does_not(command: Command, table: Path, tmp_path: Path) -> None:
    graph = tmp_path / "bad.csv"
    graph.write_text("source,target\nrain,wet\nnews,wet\n")
    result = command("check", graph, table, "--json")
    found = json.loads(result.out)
    assert any({t["first"], t["second"]} == {"sprinkler", "wet"} for t in found["violated"])
    assert found["unsupported"] == ["news → wet"]
    assert found["score"] > found["best_score"]
    shown = command("check", graph, table)
    assert "news → wet" in shown.out
    assert "partial correlation" in shown.out


def test_a_graph_is_checked_on_all_rows_with_gaps_or_without(
    command: Command, table: Path, tmp_path: Path
) -> None:
    graph, holes = tmp_path / "good.csv", tmp_path / "holes.csv"
    graph.write_text("source,target\nrain,wet\nsprinkler,wet\n")
    first, second, *rest = table.read_text().splitlines()
    holes.write_text("\n".join([first, "," + second.partition(",")[2], *rest]))
    result = command("check", graph, holes)
    assert result.code == 0, result.err
    assert "(--missing em)" in result.err
    dropped = command("check", graph, holes, "--missing", "drop")
    assert dropped.code == 0
    assert "only 499 of 500 rows are complete, and fewer rows need fewer links" in dropped.err
    assert dropped.out != result.out
    assert command("check", graph, holes, "--missing", "error").code == 2
    graph.write_text("source,target\nsnow,wet\n")
    other = command("check", graph, holes)  # other names are another table: that comes first
    assert other.code == 2
    assert "the nodes differ: only in the graph: ['snow']" in other.err


def test_a_run_is_checked_on_its_table_as_the_fit_read_it(command: Command, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(0, 11, 300)
    b = a + rng.integers(-2, 3, 300)
    income = np.exp(0.3 * b + rng.normal(0.0, 0.5, 300)).round(2)
    group = np.where(b + rng.normal(0.0, 2.0, 300) > 5, "high", "low")
    b = np.where(np.arange(300) < 20, -9, b + 2)
    rows = [f"{k * 7},{a[k]},{b[k]},{income[k]},{group[k]}" for k in range(300)]
    table, run = tmp_path / "t.csv", tmp_path / "run"
    table.write_text("\n".join(["user_id,a,b,income,group", *rows]))
    fitted = command("fit", table, "--out", run, "--log", "income")
    assert "holds -9 in 20 rows" in fitted.err
    result = command("check", run, table)
    assert result.code == 0, result.err
    assert "gaps in b 7%: maximum likelihood" in result.err
    by_hand = ("--drop", "user_id")
    other = command("check", run / "graph.graphml", table, "--na", "b=-9", *by_hand)
    assert other.code == 0
    assert other.out != result.out  # where income has no logarithm
    command("fit", table, "--out", tmp_path / "named", "--log", "income", "--na", "b=-9")
    assert command("check", tmp_path / "named", table).out == result.out
    table.write_text(table.read_text().replace(",high", ",higher", 1))
    assert "holds the text 'higher'" in command("check", run, table).err  # and is a gap


def test_a_half_empty_column_does_not_refute_the_graph_of_its_own_fit(
    command: Command, tmp_path: Path
) -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(600, 6))
    for k in range(1, 6):
        x[:, k] += 0.25 * x[:, k - 1]
    region = np.where(x[:, 5] > 1.0, "north", np.where(x[:, 5] > -0.5, "east", "west"))
    cells = np.char.mod("%.4f", x)
    cells[rng.random((600, 6)) < [0.0, 0.0, 0.0, 0.0, 0.7, 0.0]] = ""
    table, run = tmp_path / "t.csv", tmp_path / "run"
    rows = [",".join([*row, where]) for row, where in zip(cells, region, strict=True)]
    table.write_text("\n".join(["a,b,c,d,e,f,region", *rows]))
    assert command("fit", table, "--out", run).code == 0
    result = command("check", run, table)
    assert result.code == 0, result.err
    assert re.search(r"^0 of \d+ links are not needed", result.out, re.MULTILINE)
    dropped = command("check", run, table, "--missing", "drop")
    assert not re.search(r"^0 of \d+ links are not needed", dropped.out, re.MULTILINE)


def test_a_column_that_was_left_out_says_why(command: Command, tmp_path: Path) -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 60))
    rows = [f"P{k:03},{a:.3f},{a + b:.3f}" for k, (a, b) in enumerate(zip(x, y, strict=True))]
    table = tmp_path / "t.csv"
    table.write_text("\n".join(["Patient ID,x,y", *rows]))
    assert command("fit", table, "--out", tmp_path / "run").code == 0
    for words in (("effect", "--of", "Patient ID", "--on", "y"), ("effects", "--on", "Patient ID")):
        result = command(words[0], tmp_path / "run", *words[1:])
        assert result.code == 2
        assert (
            "not in the graph: 'Patient ID' is an identifier: left out (a different value in every"
        ) in result.err


def test_graphs_of_other_things_are_named_both(command: Command, tmp_path: Path) -> None:
    one, two, wide = (tmp_path / f"{name}.csv" for name in ("one", "two", "wide"))
    one.write_text("source,target\na,b\n")
    two.write_text("source,target\nx,y\n")
    wide.write_text("source,target\na,b\nb,c\n")
    result = command("compare", one, two)
    assert result.code == 2
    assert "['a', 'b']" in result.err
    assert "['x', 'y']" in result.err
    assert command("compare", one, wide).code == 0


def test_names_that_the_table_lacks(command: Command, table: Path, tmp_path: Path) -> None:
    graph = tmp_path / "other.csv"
    graph.write_text("source,target\nsnow,wet\n")
    result = command("check", graph, table)
    assert result.code == 2
    assert "snow" in result.err
    assert result.err.count("\n") == 1


def test_compare_explains_its_measures(command: Command) -> None:
    said = " ".join(command("compare", "--help").out.replace("│", " ").split())
    assert "shd_cpdag: the same where directions that no data can tell do not count" in said
    assert "tpr: share of the true arrows that were found" in said
    assert "fdr: share of the arrows found that are wrong" in said


def test_compare_lists_what_differs(command: Command, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("source,target\nx,y\ny,z\nz,w\n")
    (tmp_path / "b.csv").write_text(
        "source,target,direction\ny,x,directed\ny,z,open\nx,w,directed\n"
    )
    result = command("compare", tmp_path / "a.csv", tmp_path / "b.csv")
    for text in ("reversed    x → y, here y → x", "unoriented  y → z, here y — z"):
        assert text in result.out
    assert "extra       x → w" in result.out
    assert "missing     z → w" in result.out
    assert result.out.index("missing     z → w") < result.out.index("n_nodes")
    same = command("compare", tmp_path / "a.csv", tmp_path / "a.csv").out
    assert same.index("no link differs") < same.index("n_nodes")
    listed = json.loads(command("compare", tmp_path / "a.csv", tmp_path / "b.csv", "--json").out)
    assert len(listed["differences"]) == listed["shd"] == 4
